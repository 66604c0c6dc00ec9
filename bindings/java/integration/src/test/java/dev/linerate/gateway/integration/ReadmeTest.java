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

/**
 * The example of the README, compiled and run as it stands there: it believes that it talks to Discord, but all
 * addresses are those of a local gateway.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReadmeTest {
    /** Every address that JDA knows by itself. */
    private static final String[] NAMES = {"dns:discord.com", "dns:gateway.discord.gg"};

    @TempDir
    Path folder;

    @Test
    void theExampleRunsAsItStands() throws Exception {
        Path classes = compiled(example());
        Traffic traffic = new Traffic(10);
        String messages = traffic.write(folder.resolve("traffic.msgs")).toString();
        Certificates certificates = new Certificates(folder, NAMES);
        try (LocalGateway gateway = LocalGateway.start("--messages", messages);
                SecureFront discord = SecureFront.proxy(gateway, certificates);
                Child bot = Child.start(new ProcessBuilder(command(classes, certificates, discord.port()))
                        .redirectErrorStream(true))) {
            assertSays(bot.process(), traffic.contents());
        }
    }

    private static String example() throws IOException {
        String readme = Files.readString(Path.of(System.getProperty("linerate.workspace"), "README.md"));
        Matcher block = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(readme);
        List<String> examples = new ArrayList<>();
        while (block.find()) {
            if (block.group(1).contains("GatewaySockets")) {
                examples.add(block.group(1));
            }
        }
        assertEquals(1, examples.size(), "examples for JDA in the README");
        return examples.get(0);
    }

    private Path compiled(String example) throws IOException {
        Path source = Files.writeString(folder.resolve("Bot.java"), example);
        int failures = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-cp", System.getProperty("java.class.path"), "-d", folder.toString(), source
                        .toString());
        assertEquals(0, failures);
        return folder;
    }

    private List<String> command(Path classes, Certificates certificates, int proxy) throws IOException {
        Path hosts = Files.writeString(folder.resolve("hosts"), "127.0.0.1 discord.com gateway.discord.gg\n");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Djdk.net.hosts.file=" + hosts);
        command.add("-DsocksProxyHost=127.0.0.1");
        command.add("-DsocksProxyPort=" + proxy);
        command.add("-Djavax.net.ssl.trustStore=" + certificates.file());
        command.add("-Djavax.net.ssl.trustStorePassword=" + Certificates.PASSWORD);
        String library = System.getProperty("linerate.native.path");
        if (library != null) {
            command.add("-Dlinerate.native.path=" + library);
        }
        command.add("-cp");
        command.add(classes + System.getProperty("path.separator") + System.getProperty("java.class.path"));
        command.add("Bot");
        command.add("no.real.token");
        return command;
    }

    /** Reads what the bot says until every message was in it. */
    private static void assertSays(Process bot, List<String> contents) throws IOException {
        List<String> said = new ArrayList<>();
        BufferedReader lines = new BufferedReader(new InputStreamReader(bot.getInputStream(), StandardCharsets.UTF_8));
        int found = 0;
        for (String line; found < contents.size() && (line = lines.readLine()) != null; ) {
            said.add(line);
            if (line.equals(contents.get(found))) {
                found++;
            }
        }
        assertTrue(found == contents.size(), () -> String.join("\n", said));
    }
}
