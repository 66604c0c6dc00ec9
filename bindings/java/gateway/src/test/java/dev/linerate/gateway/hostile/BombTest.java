package dev.linerate.gateway.hostile;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.linerate.gateway.DecompressionException;
import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.Transport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Random;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Decompression bombs, and windows that would allocate much memory before decoding. */
class BombTest {
    @Test
    void zlibBombOfOneGibibyteIsAnError() throws IOException {
        ByteArrayOutputStream bomb = new ByteArrayOutputStream();
        try (OutputStream encoder = new DeflaterOutputStream(bomb, new Deflater(1), true)) {
            byte[] zeros = new byte[1 << 20];
            for (int k = 0; k < 1024; k++) {
                encoder.write(zeros);
            }
            encoder.flush();
            refuses(Transport.ZLIB, bomb.toByteArray());
        }
    }

    /** The bomb has 16,384 blocks, each of one byte that is repeated 65,536 times. */
    @Test
    void zstdBombOfOneGibibyteIsAnError() throws IOException {
        ByteArrayOutputStream bomb = new ByteArrayOutputStream();
        bomb.write(Wire.prefix(Wire.storedFrame(16, false, ""), 6));
        int header = 65_536 << 3 | 1 << 1;
        for (int k = 0; k < 16_384; k++) {
            bomb.write(new byte[] {(byte) header, (byte) (header >> 8), (byte) (header >> 16), 'x'});
        }
        refuses(Transport.ZSTD, bomb.toByteArray());
    }

    private static void refuses(Transport transport, byte[] bomb) throws IOException {
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            for (Form form : Form.values()) {
                decompressor.reset();
                assertLimit(() -> form.decode(decompressor, bomb));
                assertTrue(decompressor.memory() < 200_000, form + " holds " + decompressor.memory());
                // The error persists until a reset.
                assertLimit(() -> form.decode(decompressor, bomb));
            }
            Wire.assertGoodConnection(decompressor);
        }
    }

    @Test
    void limitIsExactToTheByte() throws IOException {
        int limit = 100_000;
        for (Transport transport : new Transport[] {Transport.ZLIB, Transport.ZSTD}) {
            try (GatewayDecompressor decompressor = GatewayDecompressor.builder(transport).maxMessage(limit).build()) {
                for (Form form : Form.values()) {
                    byte[] longest = Wire.sized(limit);
                    decompressor.reset();
                    assertArrayEquals(longest, form.decode(decompressor, Wire.stream(transport, longest)[0]), transport + ", " + form);
                    decompressor.reset();
                    byte[] oneMore = Wire.stream(transport, Wire.sized(limit + 1))[0];
                    assertLimit(() -> form.decode(decompressor, oneMore));
                }
                Wire.assertGoodConnection(decompressor);
            }
        }
    }

    @Test
    void endlessMessageIsAnError() throws IOException {
        byte[] noise = new byte[60_000];
        new Random(1).nextBytes(noise);
        byte[] whole = Wire.stream(Transport.ZLIB, Wire.concat(noise, noise))[0];
        byte[] half = Wire.prefix(whole, whole.length / 2);
        try (GatewayDecompressor decompressor =
                GatewayDecompressor.builder(Transport.ZLIB).maxMessage(100_000).build()) {
            DecompressionException e = assertThrows(DecompressionException.class, () -> {
                for (int k = 0; k < 100; k++) {
                    decompressor.decompress(half);
                }
            });
            assertTrue(e.kind() == DecompressionException.Kind.LIMIT || e.kind() == DecompressionException.Kind.CORRUPT, e::toString);
            assertTrue(decompressor.memory() < 400_000, "holds " + decompressor.memory());
            Wire.assertGoodConnection(decompressor);
        }
    }

    @Test
    void largeWindowsAreErrorsBeforeAllocation() throws IOException {
        for (int windowLog : new int[] {17, 20, 27, 30, 41}) {
            byte[] frame = Wire.storedFrame(windowLog, false, "{}");
            try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZSTD)) {
                DecompressionException e =
                        assertThrows(DecompressionException.class, () -> decompressor.decompress(frame), "window log " + windowLog);
                // libzstd itself rejects windows of 4 GiB and more.
                DecompressionException.Kind kind =
                        windowLog < 32 ? DecompressionException.Kind.LIMIT : DecompressionException.Kind.UNSUPPORTED;
                assertEquals(kind, e.kind(), e::toString);
                assertTrue(decompressor.memory() < 20_000, "holds " + decompressor.memory());
                Wire.assertGoodConnection(decompressor);
            }
        }
        try (GatewayDecompressor decompressor =
                GatewayDecompressor.builder(Transport.ZSTD).windowLog(17).build()) {
            assertArrayEquals(Wire.utf8("{}"), decompressor.decompress(Wire.storedFrame(17, false, "{}")));
        }
    }

    private static void assertLimit(Executable decode) {
        DecompressionException e = assertThrows(DecompressionException.class, decode);
        assertEquals(DecompressionException.Kind.LIMIT, e.kind(), e::toString);
    }
}
