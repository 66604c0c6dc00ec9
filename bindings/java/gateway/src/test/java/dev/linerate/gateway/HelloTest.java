package dev.linerate.gateway;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.nio.ByteBuffer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The first message of a connection, compressed by zlib and libzstd. */
class HelloTest {
    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void newArray(Transport transport) throws Exception {
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            assertArrayEquals(Hello.TEXT, decompressor.decompress(Hello.wire(transport)));
            assertEquals(1, decompressor.messages());
            assertEquals(Hello.wire(transport).length, decompressor.compressedBytes());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void reusableBuffer(Transport transport) throws Exception {
        // Capacities below, at and above the length of the payload.
        for (int capacity : new int[] {0, 1, Hello.TEXT.length - 1, Hello.TEXT.length, 1000}) {
            try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
                ReusableBuffer into = new ReusableBuffer(capacity);
                assertEquals(Hello.TEXT.length, decompressor.decompress(Hello.wire(transport), into));
                assertArrayEquals(Hello.TEXT, into.toByteArray());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void directBuffer(Transport transport) throws Exception {
        for (int capacity : new int[] {0, 1, Hello.TEXT.length - 1, Hello.TEXT.length, 1000}) {
            try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
                ByteBuffer frame = Hello.direct(transport);
                DirectBuffer into = new DirectBuffer(capacity);
                assertTrue(decompressor.decompress(frame, into));
                assertEquals(0, frame.remaining());
                byte[] payload = new byte[into.buffer().remaining()];
                into.buffer().get(payload);
                assertArrayEquals(Hello.TEXT, payload);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void stream(Transport transport) throws Exception {
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            try (InputStream in = decompressor.open(Hello.wire(transport))) {
                assertArrayEquals(Hello.TEXT, in.readAllBytes());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void envelope(Transport transport) throws Exception {
        try (GatewayDecompressor decompressor =
                GatewayDecompressor.builder(transport).checks(Checks.JSON_SEQUENCE).build()) {
            assertEquals(-1, decompressor.lastOpcode());
            decompressor.decompress(Hello.wire(transport));
            assertEquals(10, decompressor.lastOpcode());
            assertEquals(-1, decompressor.lastSequence());
            assertNull(decompressor.lastEvent());
        }
    }
}
