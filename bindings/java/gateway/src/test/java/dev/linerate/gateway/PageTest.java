package dev.linerate.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the first example of docs/gateway/java.md. */
@Tag("children")
class PageTest {
    @TempDir Path folder;

    @Test
    void example() throws Exception {
        Path page = Path.of(System.getProperty("linerate.testdata"), "..", "docs", "gateway", "java.md");
        Matcher block = Pattern.compile("```java\n([^`]*public class Example \\{[^`]*)```").matcher(Files.readString(page));
        assertTrue(block.find());
        Path source = Files.writeString(folder.resolve("Example.java"), block.group(1));
        List<String> arguments = Arrays.asList("-cp", System.getProperty("java.class.path"), source.toString());
        Child child = Child.run(arguments);
        assertEquals(0, child.exitCode, child.output);
        assertEquals(
                Arrays.asList("{\"op\":10,\"d\":{}}", "{\"op\":11,\"d\":null}"),
                Arrays.asList(child.output.split("\\R")));
    }
}
