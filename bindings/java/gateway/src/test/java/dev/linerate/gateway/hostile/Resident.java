package dev.linerate.gateway.hostile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Resident memory of this process. */
final class Resident {
    private static final Path STATUS = Path.of("/proc/self/status");

    private Resident() {}

    /** Whether the system tells the resident memory of a process, as Linux does. */
    static boolean isKnown() {
        return Files.isReadable(STATUS);
    }

    static long kilobytes() throws IOException {
        for (String line : Files.readAllLines(STATUS)) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", ""));
            }
        }
        throw new IOException(STATUS + " has no VmRSS");
    }
}
