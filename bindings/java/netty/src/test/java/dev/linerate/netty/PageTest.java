package dev.linerate.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs the two programs of docs/websocket/netty.md unchanged. */
class PageTest {
    private static final String BEGIN = "```java\n";

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({"Echo,again and again and again and again", "News,BTC-USD 97012.55 97012.50 97012.60"})
    void exampleOfThePageRuns(String name, String output) throws Exception {
        String page = Files.readString(Path.of(System.getProperty("linerate.workspace"), "docs/websocket/netty.md"));
        List<String> examples = Arrays.stream(page.split(BEGIN, -1))
                .skip(1)
                .map(part -> part.split("```")[0])
                .filter(code -> code.contains("public class " + name + " "))
                .toList();
        assertEquals(1, examples.size());
        Path source = Files.writeString(folder.resolve(name + ".java"), examples.get(0));
        String classes = System.getProperty("java.class.path");
        String[] arguments = {"-cp", classes, "-d", folder.toString(), source.toString()};
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments));

        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        String library = System.getProperty("linerate.native.path");
        if (library != null) {
            command.add("-Dlinerate.native.path=" + library);
        }
        command.addAll(List.of("-cp", folder + System.getProperty("path.separator") + classes, name));
        Path said = folder.resolve("output");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        try {
            assertTrue(process.waitFor(120, TimeUnit.SECONDS));
        } finally {
            process.destroyForcibly();
        }
        String lines = Files.readString(said, StandardCharsets.UTF_8);
        assertTrue(lines.lines().anyMatch(output::equals), lines);
    }
}
