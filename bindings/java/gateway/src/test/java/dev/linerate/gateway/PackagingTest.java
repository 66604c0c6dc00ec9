package dev.linerate.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.DataInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files in the jar besides the classes, and the class file versions. */
class PackagingTest {
    private static final String LIBRARY =
            "dev/linerate/gateway/natives/" + NativeLoader.platform() + "/" + System.mapLibraryName("linerate_java");

    private static InputStream resource(String name) {
        InputStream in = PackagingTest.class.getClassLoader().getResourceAsStream(name);
        assertNotNull(in, name);
        return in;
    }

    private static String metadata(String name, String key) throws Exception {
        try (InputStream in = resource("META-INF/native-image/dev.linerate/linerate-gateway/" + name)) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            Matcher value = Pattern.compile("\"" + key + "\": \"([^\"]*)\"").matcher(text);
            assertTrue(value.find(), text);
            return value.group(1);
        }
    }

    @Test
    void libraryOfThisPlatform() throws Exception {
        try (InputStream in = resource(LIBRARY)) {
            assertTrue(in.readAllBytes().length > 10_000);
        }
    }

    /** GraalVM includes only registered resources in a native image. */
    @Test
    void nativeImage() throws Exception {
        String glob = metadata("reachability-metadata.json", "glob");
        assertTrue(FileSystems.getDefault().getPathMatcher("glob:" + glob).matches(Path.of(LIBRARY)), glob);
        assertTrue(LIBRARY.matches(metadata("resource-config.json", "pattern")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"GatewayDecompressor", "DeflateEncoder", "NativeLoader", "PayloadStream", "DecompressionException$Kind", "StatsRecorder"})
    void classesForJava8(String name) throws Exception {
        assertEquals(52, version("dev/linerate/gateway/" + name + ".class"));
    }

    @Test
    void moduleForJava9() throws Exception {
        assertEquals(53, version("module-info.class"));
    }

    /** The version of a class file in the classes under test. */
    private static int version(String name) throws Exception {
        Path classes =
                Path.of(GatewayDecompressor.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        try (DataInputStream data = new DataInputStream(Files.newInputStream(classes.resolve(name)))) {
            assertEquals(0xcafebabe, data.readInt());
            data.readUnsignedShort();
            return data.readUnsignedShort();
        }
    }

    @Test
    void licences() throws Exception {
        for (String name : new String[] {"META-INF/LICENSE-MIT", "META-INF/LICENSE-APACHE"}) {
            try (InputStream in = resource(name)) {
                assertFalse(in.readAllBytes().length == 0);
            }
        }
    }
}
