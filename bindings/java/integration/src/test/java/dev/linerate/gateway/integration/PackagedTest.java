package dev.linerate.gateway.integration;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.linerate.gateway.Transport;
import dev.linerate.gateway.jda.BufferedDecompressor;
import dev.linerate.gateway.jda.GatewaySockets;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Content of the adapter's jar. */
class PackagedTest {
    @Test
    void noClassOfJdaIsInTheAdapter() throws Exception {
        URI place = GatewaySockets.class.getProtectionDomain().getCodeSource().getLocation().toURI();
        Path adapter = Path.of(place);
        if (Files.isDirectory(adapter)) {
            assertPackages(adapter);
        } else {
            try (FileSystem jar = FileSystems.newFileSystem(adapter)) {
                assertPackages(jar.getPath("/"));
            }
        }
    }

    private static void assertPackages(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            List<String> packages = files.filter(file -> file.toString().endsWith(".class"))
                    .map(file -> String.valueOf(root.relativize(file).getParent()).replace('\\', '/'))
                    .distinct()
                    .sorted()
                    .collect(Collectors.toList());
            assertEquals(List.of("dev/linerate/gateway/jda", "null"), packages);
        }
    }

    /** The test double that the adapter is compiled against must not be packaged either. */
    @Test
    void releasedJdaHasNoInterfaceForDecompressors() {
        assertThrows(NoClassDefFoundError.class, () -> new BufferedDecompressor(Transport.ZSTD));
        assertDoesNotThrow(() -> GatewaySockets.of(Transport.ZSTD));
    }
}
