package dev.linerate.gateway;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A child process with the same virtual machine, which must end within 120 seconds. */
final class Child {
    private static final long SECONDS = 120;

    final int exitCode;
    /** What the child has printed to standard output and standard error, in one text. */
    final String output;

    private Child(int exitCode, String output) {
        this.exitCode = exitCode;
        this.output = output;
    }

    /** Runs {@code main} with the class path of this process. */
    static Child run(List<String> options, Class<?> main, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.addAll(options);
        command.addAll(Arrays.asList("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(Arrays.asList(arguments));
        return run(command);
    }

    /** Runs Java with these arguments. */
    static Child run(List<String> arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx256m");
        if (Runtime.version().feature() >= 22) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.addAll(arguments);
        Path output = Files.createTempFile("linerate-child-", ".txt");
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
            if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
                throw new AssertionError("the child did not end within " + SECONDS + " s: " + command);
            }
            return new Child(
                    process.exitValue(), new String(Files.readAllBytes(output), StandardCharsets.UTF_8).trim());
        } finally {
            Files.delete(output);
        }
    }
}
