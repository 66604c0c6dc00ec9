package dev.linerate.gateway.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.github.luben.zstd.Zstd;
import dev.linerate.gateway.GatewayDecompressor;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A child process with a timeout. */
final class Child {
    private Child() {}

    /** Runs the child and returns its output. Fails unless it exits with 0 within the timeout. */
    static String run(int seconds, List<String> options, Class<?> program, String... arguments) throws Exception {
        Path output = Files.createTempFile("linerate-child", ".txt");
        try {
            Process process = start(output, options, program, arguments);
            boolean ended = process.waitFor(seconds, TimeUnit.SECONDS);
            if (!ended) {
                // A hanging virtual machine does not react to destroy().
                process.destroyForcibly().waitFor();
            }
            String printed = new String(Files.readAllBytes(output), StandardCharsets.UTF_8);
            assertTrue(ended, () -> program.getSimpleName() + " hangs; it printed:\n" + tail(printed));
            assertEquals(0, process.exitValue(), () -> program.getSimpleName() + " failed:\n" + tail(printed));
            return printed;
        } finally {
            Files.deleteIfExists(output);
        }
    }

    private static Process start(Path output, List<String> options, Class<?> program, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        if (Runtime.version().feature() >= 22) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        String library = System.getProperty("linerate.native.path");
        if (library != null) {
            command.add("-Dlinerate.native.path=" + library);
        }
        command.addAll(List.of("-cp", classPath(), program.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
    }

    /** Class path of all that the programs need, even what this process has on its module path. */
    private static String classPath() {
        return Stream.of(Child.class, GatewayDecompressor.class, Zstd.class, Test.class, org.opentest4j.AssertionFailedError.class,
                        org.junit.platform.commons.util.ExceptionUtils.class, org.apiguardian.api.API.class)
                .map(Child::place)
                .distinct()
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static String place(Class<?> type) {
        try {
            return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String tail(String text) {
        return text.substring(Math.max(0, text.length() - 4000));
    }
}
