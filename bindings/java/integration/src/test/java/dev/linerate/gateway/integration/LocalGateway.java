package dev.linerate.gateway.integration;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** Runs {@code linerate gateway serve} on a free port until closed. */
final class LocalGateway implements AutoCloseable {
    private static final String READY = "listening on ";

    private final Child child;
    private final String url;

    private LocalGateway(Child child, String url) {
        this.child = child;
        this.url = url;
    }

    /** Starts the gateway, which ends by itself after two minutes at most. */
    static LocalGateway start(String... options) throws IOException {
        List<String> command = new ArrayList<>(List.of(command().toString(), "gateway", "serve", "--for", "120"));
        command.addAll(Arrays.asList(options));
        Child child = Child.start(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT));
        try {
            return new LocalGateway(child, address(child.process().getInputStream()));
        } catch (IOException | RuntimeException failure) {
            child.close();
            throw failure;
        }
    }

    /** Runs {@code linerate gateway generate}; returns the file of the first connection. */
    static Path generate(Path folder, String... options) throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(List.of(command().toString(), "gateway", "generate", "-q", "-o", folder.toString()));
        command.addAll(Arrays.asList(options));
        try (Child child = Child.start(new ProcessBuilder(command).inheritIO())) {
            if (!child.process().waitFor(60, TimeUnit.SECONDS) || child.process().exitValue() != 0) {
                throw new IOException("linerate gateway generate makes no traffic");
            }
        }
        return folder.resolve("shard-0.msgs");
    }

    /** Runs {@code linerate gateway stats} and returns its output. */
    static String stats(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(command().toString(), "gateway", "stats"));
        command.addAll(Arrays.asList(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        try (Child child = Child.start(builder)) {
            String said = new String(child.process().getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!child.process().waitFor(60, TimeUnit.SECONDS) || child.process().exitValue() != 0) {
                throw new IOException("linerate gateway stats fails: " + said);
            }
            return said;
        }
    }

    private static String address(InputStream output) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(output, StandardCharsets.UTF_8));
        String line = lines.readLine();
        if (line == null || !line.startsWith(READY)) {
            throw new IOException("linerate gateway serve says " + line);
        }
        return line.substring(READY.length()).trim();
    }

    /**
     * Returns the program {@code linerate}: that of the variable LINERATE_BIN, or the newest cargo
     * build. Without a build the test is skipped.
     */
    private static Path command() {
        String named = System.getenv("LINERATE_BIN");
        if (named != null) {
            return Path.of(named);
        }
        String target = System.getenv("CARGO_TARGET_DIR");
        Path built = target != null ? Path.of(target) : Path.of(System.getProperty("linerate.workspace"), "target");
        return Stream.of("release", "debug")
                .map(profile -> built.resolve(profile).resolve("linerate"))
                .filter(Files::isExecutable)
                .max((one, other) -> Long.compare(
                        one.toFile().lastModified(), other.toFile().lastModified()))
                .orElseGet(() -> Assumptions.abort("there is no linerate in " + built
                        + ": run cargo build --package linerate, or set LINERATE_BIN"));
    }

    /** The address, such as {@code ws://127.0.0.1:40000}. */
    String url() {
        return url;
    }

    int port() {
        return Integer.parseInt(url.substring(url.lastIndexOf(':') + 1));
    }

    @Override
    public void close() {
        child.close();
    }
}
