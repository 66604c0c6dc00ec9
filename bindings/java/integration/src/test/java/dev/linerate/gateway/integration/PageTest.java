package dev.linerate.gateway.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Compiles examples of docs/gateway/java.md and its reference unchanged, and runs two of them. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PageTest {
    private static final String PAGE = "docs/gateway/java.md";
    private static final String REFERENCE = "docs/gateway/java-reference.md";

    /** Names of the hosts to which JDA connects by default. */
    private static final String[] NAMES = {"dns:discord.com", "dns:gateway.discord.gg"};

    @TempDir
    Path folder;

    /** All hosts of Discord are redirected to a local gateway. */
    @Test
    void botOfThePageRuns() throws Exception {
        Path classes = compiled(example(PAGE, "public class Bot"));
        Traffic traffic = new Traffic(10);
        String messages = traffic.write(folder.resolve("traffic.msgs")).toString();
        Certificates certificates = new Certificates(folder, NAMES);
        try (LocalGateway gateway = LocalGateway.start("--messages", messages);
                SecureFront discord = SecureFront.proxy(gateway, certificates);
                Child bot = Child.start(new ProcessBuilder(discord(classes, certificates, discord.port()))
                        .redirectErrorStream(true))) {
            assertSays(bot.process(), traffic.contents());
        }
    }

    /**
     * The port number is replaced. Imports, a class, and the lines that print the status and end
     * the program are added.
     */
    @Test
    void exampleOfBotTestsRuns() throws Exception {
        try (LocalGateway gateway = LocalGateway.start()) {
            String example =
                    example(PAGE, "any.token").replace(":40000", ":" + gateway.port());
            Path classes = compiled(String.join(
                    "\n",
                    "import com.neovisionaries.ws.client.WebSocketFactory;",
                    "import dev.linerate.gateway.Transport;",
                    "import dev.linerate.gateway.jda.GatewaySockets;",
                    "import net.dv8tion.jda.api.*;",
                    "import net.dv8tion.jda.api.requests.RestConfig;",
                    "import net.dv8tion.jda.api.utils.*;",
                    "class Bot {",
                    "public static void main(String[] arguments) throws Exception {",
                    example,
                    "System.out.println(jda.awaitReady().getStatus());",
                    "jda.shutdownNow();",
                    "}}"));
            try (Child bot = Child.start(
                    new ProcessBuilder(java(List.of(), classes)).redirectErrorStream(true))) {
                assertSays(bot.process(), List.of("CONNECTED"));
            }
        }
    }

    /**
     * The examples that are not whole classes. Declarations around them stand for the bot's own
     * code.
     */
    @Test
    void partialExamplesCompile() throws Exception {
        String gateway = "import dev.linerate.gateway.*;\n";
        for (String word : List.of("// Jackson", ".dropEvents(")) {
            compiled(String.join(
                    "\n",
                    "import com.fasterxml.jackson.databind.*;",
                    "import java.io.IOException;",
                    example(PAGE, word).replaceFirst("\n\n", "\nclass Bot {\n"),
                    "ObjectMapper parser = new ObjectMapper();",
                    "void handle(JsonNode message) {}",
                    "}"));
        }
        compiled(gateway + "class Bot {\n" + example(REFERENCE, ".keepRecent(") + "}");
        compiled(String.join(
                "\n",
                gateway,
                "import java.io.IOException;",
                "import java.nio.file.*;",
                "class Bot {",
                "Bot() throws IOException {}",
                example(REFERENCE, "new Dictionaries("),
                "}"));
        compiled(String.join(
                "\n",
                gateway,
                "import dev.linerate.gateway.micrometer.GatewayMetrics;",
                "import io.micrometer.core.instrument.MeterRegistry;",
                "import java.io.IOException;",
                "import java.nio.file.Paths;",
                "class Bot {",
                "Bot() throws IOException {}",
                example(REFERENCE, ".recordStats("),
                "}"));
        compiled(String.join(
                "\n",
                gateway,
                "import dev.linerate.netty.GatewayHandler;",
                "import discord4j.common.ReactorResources;",
                "import discord4j.gateway.GatewayReactorResources;",
                "import reactor.netty.NettyPipeline;",
                "import reactor.netty.http.client.HttpClient;",
                "class Bot {",
                example(PAGE, "GatewayReactorResources resources"),
                "}"));
        compiled(String.join(
                "\n",
                gateway,
                "import com.neovisionaries.ws.client.WebSocketFactory;",
                "import dev.linerate.gateway.jda.GatewaySockets;",
                "import net.dv8tion.jda.api.*;",
                "import net.dv8tion.jda.api.utils.*;",
                "class Bot {",
                "void connect(String token, org.slf4j.Logger log) {",
                example(PAGE, "GatewaySockets sockets"),
                "}}"));
    }

    @Test
    void everyExampleIsTested() throws Exception {
        assertExamples(
                PAGE,
                "public class Example",
                "public class Bot",
                "GatewaySockets sockets",
                "GatewayReactorResources resources",
                "// Jackson",
                "public class GatewayListener",
                ".dropEvents(",
                "any.token");
        assertExamples(REFERENCE, "new Dictionaries(", ".recordStats(", ".keepRecent(");
    }

    /** Asserts that a page has one example with each of these words, and no others. */
    private static void assertExamples(String file, String... words) throws IOException {
        for (String word : words) {
            example(file, word);
        }
        String page = Files.readString(Path.of(System.getProperty("linerate.workspace"), file));
        assertEquals(words.length, page.split("```java\n", -1).length - 1, file);
    }

    /** Returns the code block of a page that contains a word. */
    private static String example(String file, String word) throws IOException {
        String text = Files.readString(Path.of(System.getProperty("linerate.workspace"), file));
        Matcher block = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(text);
        List<String> examples = new ArrayList<>();
        while (block.find()) {
            if (block.group(1).contains(word)) {
                examples.add(block.group(1));
            }
        }
        assertEquals(1, examples.size(), "examples with " + word + " in " + file);
        return examples.get(0);
    }

    private Path compiled(String example) throws IOException {
        Path source = Files.writeString(folder.resolve("Bot.java"), example);
        int failures = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-proc:none", "-cp", System.getProperty("java.class.path"), "-d", folder.toString(), source
                        .toString());
        assertEquals(0, failures);
        return folder;
    }

    /** Returns the command that runs the bot with all host names of Discord on this machine. */
    private List<String> discord(Path classes, Certificates certificates, int proxy) throws IOException {
        Path hosts = Files.writeString(folder.resolve("hosts"), "127.0.0.1 discord.com gateway.discord.gg\n");
        List<String> options = List.of(
                "-Djdk.net.hosts.file=" + hosts,
                "-DsocksProxyHost=127.0.0.1",
                "-DsocksProxyPort=" + proxy,
                "-Djavax.net.ssl.trustStore=" + certificates.file(),
                "-Djavax.net.ssl.trustStorePassword=" + Certificates.PASSWORD);
        return java(options, classes, "no.real.token");
    }

    private static List<String> java(List<String> options, Path classes, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        String library = System.getProperty("linerate.native.path");
        if (library != null) {
            command.add("-Dlinerate.native.path=" + library);
        }
        command.add("-cp");
        command.add(classes + System.getProperty("path.separator") + System.getProperty("java.class.path"));
        command.add("Bot");
        command.addAll(List.of(arguments));
        return command;
    }

    /** Reads the bot's output until it has printed every message, in order. */
    private static void assertSays(Process bot, List<String> contents) throws IOException {
        List<String> output = new ArrayList<>();
        BufferedReader lines = new BufferedReader(new InputStreamReader(bot.getInputStream(), StandardCharsets.UTF_8));
        int found = 0;
        for (String line; found < contents.size() && (line = lines.readLine()) != null; ) {
            output.add(line);
            if (line.equals(contents.get(found))) {
                found++;
            }
        }
        assertTrue(found == contents.size(), () -> String.join("\n", output));
    }
}
