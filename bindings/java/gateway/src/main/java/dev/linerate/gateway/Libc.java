package dev.linerate.gateway;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

/**
 * The C library of this process. A library that was linked with glibc does not load beside musl.
 */
final class Libc {
    private Libc() {}

    static boolean isMusl() {
        return isMusl(Paths.get("/proc/self/maps"));
    }

    /**
     * Whether musl's dynamic linker, such as {@code /lib/ld-musl-x86_64.so.1}, is among the files
     * that a process has mapped, which {@code mappings} lists.
     */
    static boolean isMusl(Path mappings) {
        try {
            // The names of mapped files need not be UTF-8, and any byte is valid ISO 8859-1.
            return new String(Files.readAllBytes(mappings), StandardCharsets.ISO_8859_1).contains("/ld-musl-");
        } catch (IOException e) {
            // The list cannot be read, for example without /proc. Most systems have glibc, so this
            // one is taken to have it.
            return false;
        }
    }
}
