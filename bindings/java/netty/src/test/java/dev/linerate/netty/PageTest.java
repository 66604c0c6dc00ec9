package dev.linerate.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the example of the documentation unchanged. */
class PageTest {
    private static final String BEGIN = "```java\n";

    @TempDir
    Path folder;

    @Test
    void exampleOfThePageRuns() throws Exception {
        String page = Files.readString(Path.of(System.getProperty("linerate.workspace"), "docs/websocket/netty.md"));
        String[] parts = page.split(BEGIN, -1);
        assertEquals(2, parts.length, "one example");
        Path source = Files.writeString(folder.resolve("Echo.java"), parts[1].split("```")[0]);
        String classes = System.getProperty("java.class.path");
        String[] arguments = {"-cp", classes, "-d", folder.toString(), source.toString()};
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments));

        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        String library = System.getProperty("linerate.native.path");
        if (library != null) {
            command.add("-Dlinerate.native.path=" + library);
        }
        command.addAll(List.of("-cp", folder + System.getProperty("path.separator") + classes, "Echo"));
        Path output = folder.resolve("output");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertTrue(process.waitFor(120, TimeUnit.SECONDS));
        } finally {
            process.destroyForcibly();
        }
        String said = Files.readString(output, StandardCharsets.UTF_8);
        assertTrue(said.lines().anyMatch("again and again and again and again"::equals), said);
    }
}
