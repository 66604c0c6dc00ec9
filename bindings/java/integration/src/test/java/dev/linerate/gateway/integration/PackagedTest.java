package dev.linerate.gateway.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.jda.GatewaySockets;
import dev.linerate.gateway.micrometer.GatewayMetrics;
import dev.linerate.netty.GatewayHandler;
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

/** The jars have the licences, and that for JDA has no class of JDA. */
class PackagedTest {
    @Test
    void noClassOfJdaIsInTheAdapter() throws Exception {
        inJarOf(GatewaySockets.class, PackagedTest::assertPackages);
    }

    @Test
    void licencesAreInEveryJar() throws Exception {
        for (Class<?> one : List.of(
                GatewayDecompressor.class, GatewaySockets.class, GatewayMetrics.class, GatewayHandler.class)) {
            inJarOf(one, root -> {
                for (String name : new String[] {"LICENSE-MIT", "LICENSE-APACHE"}) {
                    assertTrue(Files.exists(root.resolve("META-INF").resolve(name)), one + ": " + name);
                }
            });
        }
    }

    private interface Check {
        void in(Path root) throws IOException;
    }

    /** Checks a jar, or the folder of classes that it is made of. */
    private static void inJarOf(Class<?> one, Check check) throws Exception {
        URI place = one.getProtectionDomain().getCodeSource().getLocation().toURI();
        Path path = Path.of(place);
        if (Files.isDirectory(path)) {
            check.in(path);
        } else {
            try (FileSystem jar = FileSystems.newFileSystem(path)) {
                check.in(jar.getPath("/"));
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
}
