package dev.linerate.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Finds the C library of a process by its mapped files (proc(5)). */
class LibcTest {
    @TempDir Path folder;

    private boolean isMusl(String mappings) throws Exception {
        return Libc.isMusl(Files.write(folder.resolve("maps"), mappings.getBytes("UTF-8")));
    }

    @Test
    void muslIsKnownByItsDynamicLinker() throws Exception {
        assertTrue(isMusl(
                "55d5c0a00000-55d5c0a01000 r--p 00000000 08:01 131 /usr/lib/jvm/java-21-openjdk/bin/java\n"
                        + "7f6f2c0d5000-7f6f2c0e9000 r--p 00000000 08:01 97 /lib/ld-musl-x86_64.so.1\n"));
        assertFalse(isMusl("7f1c8a400000-7f1c8a428000 r--p 00000000 08:01 52 /usr/lib/x86_64-linux-gnu/libc.so.6\n"
                + "7f1c8a6f0000-7f1c8a6f1000 r--p 00000000 08:01 49 /usr/lib64/ld-linux-x86-64.so.2\n"));
        assertFalse(Libc.isMusl(folder.resolve("absent")));
    }

    @Test
    void platformHasItAtTheEnd() {
        assertEquals(Libc.isMusl(), NativeLoader.platform().endsWith("-musl"));
    }
}
