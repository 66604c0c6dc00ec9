package dev.linerate.gateway.integration;

import java.io.BufferedReader;
import java.io.IOException;
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

/** {@code linerate gateway serve} on a free port of this machine, for as long as it is open. */
final class LocalGateway implements AutoCloseable {
    private static final String READY = "listening on ";

    private final Process process;
    private final String url;

    private LocalGateway(Process process, String url) {
        this.process = process;
        this.url = url;
    }

    /** Starts it; it ends by itself after two minutes at most. */
    static LocalGateway start(String... options) throws IOException {
        List<String> command = new ArrayList<>(List.of(command().toString(), "gateway", "serve", "--for", "120"));
        command.addAll(Arrays.asList(options));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            BufferedReader lines =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            String line = lines.readLine();
            if (line == null || !line.startsWith(READY)) {
                throw new IOException(command + " says " + line);
            }
            return new LocalGateway(process, line.substring(READY.length()).trim());
        } catch (IOException | RuntimeException failure) {
            process.destroyForcibly();
            throw failure;
        }
    }

    /** The command: that of LINERATE_BIN, or what cargo has built last. Without one the test is skipped. */
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

    /** Such as {@code ws://127.0.0.1:40000}. */
    String url() {
        return url;
    }

    int port() {
        return Integer.parseInt(url.substring(url.lastIndexOf(':') + 1));
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
            }
        } catch (InterruptedException interrupted) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
