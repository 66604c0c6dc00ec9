package dev.linerate.gateway.integration;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** A child process that ends with the tests. */
final class Child implements AutoCloseable {
    private final Process process;
    private final Thread atExit;

    private Child(Process process) {
        this.process = process;
        atExit = new Thread(process::destroyForcibly);
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    static Child start(ProcessBuilder command) throws IOException {
        return new Child(command.start());
    }

    Process process() {
        return process;
    }

    /** Terminates the process, forcibly if it does not end within 10 seconds. */
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
        Runtime.getRuntime().removeShutdownHook(atExit);
    }
}
