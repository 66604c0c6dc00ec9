package dev.linerate.gateway;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.linerate.gateway.DecompressionException.Kind;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.zip.Deflater;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Errors are the same in every form, and persist until a reset. */
class ErrorsTest {
    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static DecompressionException assertFails(GatewayDecompressor decompressor, Form form, byte[] frame) {
        return assertThrows(DecompressionException.class, () -> form.decode(decompressor, frame));
    }

    @ParameterizedTest
    @MethodSource("dev.linerate.gateway.FormsTest#everyForm")
    void errorsPersist(Transport transport, Form form) throws Exception {
        byte[] garbage = new byte[40];
        Arrays.fill(garbage, (byte) 0xff);
        List<byte[]> frames = Traffic.frames(transport);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            form.decode(decompressor, frames.get(0));
            DecompressionException first = assertFails(decompressor, form, garbage);
            assertEquals(Kind.CORRUPT, first.kind());
            assertEquals(1, first.messageIndex());
            int begin = frames.get(0).length;
            assertTrue(first.offset() >= begin && first.offset() <= begin + garbage.length);
            assertTrue(first.getMessage().startsWith("message 1: "), first.getMessage());
            for (Form next : Form.values()) {
                DecompressionException again = assertFails(decompressor, next, frames.get(1));
                assertEquals(first.getMessage(), again.getMessage());
                assertEquals(first.kind(), again.kind());
                assertEquals(first.offset(), again.offset());
                assertEquals(first.messageIndex(), again.messageIndex());
            }
            decompressor.reset();
            assertArrayEquals(Hello.TEXT, form.decode(decompressor, Hello.wire(transport)));
        }
    }

    @ParameterizedTest
    @EnumSource
    void truncatedMessage(Form form) throws Exception {
        byte[] frame = Hello.wire(Transport.ZSTD);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZSTD)) {
            // The lengths include no bytes at all, and only the header of the frame.
            for (int length = 0; length < frame.length; length++) {
                DecompressionException error = assertFails(decompressor, form, Arrays.copyOf(frame, length));
                assertEquals(Kind.TRUNCATED, error.kind());
                assertEquals(0, error.messageIndex());
                decompressor.reset();
            }
        }
    }

    /**
     * A decoder that waits for the marker of a flush would wait for ever, since none follows the
     * end of the stream.
     */
    @ParameterizedTest
    @EnumSource
    void zlibStreamThatEndsIsAnErrorAtOnce(Form form) throws Exception {
        Deflater deflater = new Deflater();
        deflater.setInput(Hello.TEXT);
        deflater.finish();
        byte[] buffer = new byte[1000];
        int length = deflater.deflate(buffer);
        byte[] frame = Arrays.copyOf(buffer, length);
        deflater.end();
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZLIB)) {
            assertEquals(Kind.CORRUPT, assertFails(decompressor, form, frame).kind());
        }
    }

    @ParameterizedTest
    @MethodSource("dev.linerate.gateway.FormsTest#everyForm")
    void limitIsExact(Transport transport, Form form) throws Exception {
        for (int size : new int[] {0, 1, 1000, 65_536, 70_000, 1_500_000}) {
            try (GatewayDecompressor decompressor =
                    GatewayDecompressor.builder(transport).maxMessage(size).build()) {
                byte[] payload = new byte[size];
                assertArrayEquals(payload, form.decode(decompressor, Traffic.first(transport, payload)));
                decompressor.reset();
                DecompressionException error =
                        assertFails(decompressor, form, Traffic.first(transport, new byte[size + 1]));
                assertEquals(Kind.LIMIT, error.kind());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void fragmentsHaveTheSameLimit(Form form) throws Exception {
        byte[] frame = Traffic.first(Transport.ZLIB, new byte[1001]);
        try (GatewayDecompressor decompressor =
                GatewayDecompressor.builder(Transport.ZLIB).maxMessage(1000).build()) {
            DecompressionException error =
                    assertThrows(
                            DecompressionException.class,
                            () -> {
                                for (byte part : frame) {
                                    assertNull(form.decode(decompressor, new byte[] {part}));
                                }
                            });
            assertEquals(Kind.LIMIT, error.kind());
        }
    }

    @ParameterizedTest
    @CsvSource({"16, 17", "17, 18", "10, 11", "20, 27"})
    void windows(int allowed, int requested) throws Exception {
        try (GatewayDecompressor decompressor =
                GatewayDecompressor.builder(Transport.ZSTD).windowLog(allowed).build()) {
            // The frame has an empty block.
            byte[] empty = Arrays.copyOf(Traffic.zstdHeader(allowed), 9);
            assertEquals(0, decompressor.decompress(empty).length);
            decompressor.reset();
            long before = decompressor.memory();
            DecompressionException error =
                    assertFails(decompressor, Form.NEW_ARRAY, Traffic.zstdHeader(requested));
            assertEquals(Kind.LIMIT, error.kind());
            assertEquals(before, decompressor.memory());
        }
    }

    @Test
    void dictionaries() throws Exception {
        byte[] frame = {0x28, (byte) 0xb5, 0x2f, (byte) 0xfd, 1, 0x30, 5};
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZSTD)) {
            assertEquals(Kind.UNSUPPORTED, assertFails(decompressor, Form.NEW_ARRAY, frame).kind());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void checks(Transport transport) throws Exception {
        byte[] noObject = Traffic.first(transport, ascii("{\"op\":1"));
        byte[] term = Traffic.first(transport, new byte[] {(byte) 131, 116, 0, 0, 0, 0});
        for (Checks checks : Checks.values()) {
            try (GatewayDecompressor decompressor =
                    GatewayDecompressor.builder(transport).checks(checks).build()) {
                if (checks == Checks.NONE) {
                    decompressor.decompress(noObject);
                } else {
                    assertEquals(Kind.CORRUPT, assertFails(decompressor, Form.NEW_ARRAY, noObject).kind());
                }
                decompressor.reset();
                if (checks == Checks.JSON || checks == Checks.JSON_SEQUENCE) {
                    assertEquals(Kind.CORRUPT, assertFails(decompressor, Form.NEW_ARRAY, term).kind());
                } else {
                    decompressor.decompress(term);
                }
            }
        }
    }

    @Test
    void sequence() throws Exception {
        byte[] event = Traffic.first(Transport.ZLIB, ascii("{\"op\":0,\"s\":8,\"t\":\"READY\",\"d\":1}"));
        try (GatewayDecompressor decompressor =
                GatewayDecompressor.builder(Transport.ZLIB).checks(Checks.JSON_SEQUENCE).build()) {
            decompressor.decompress(event);
            assertEquals(0, decompressor.lastOpcode());
            assertEquals(8, decompressor.lastSequence());
            assertEquals("READY", decompressor.lastEvent());

            decompressor.reset();
            assertEquals(-1, decompressor.lastSequence());
            assertNull(decompressor.lastEvent());
            decompressor.resumeAfter(7);
            decompressor.decompress(event);

            decompressor.reset();
            decompressor.resumeAfter(6);
            DecompressionException error = assertFails(decompressor, Form.NEW_ARRAY, event);
            assertEquals(Kind.CORRUPT, error.kind());
            assertTrue(error.getMessage().contains("sequence number"), error.getMessage());
        }
    }

    @Test
    void partsAboveTheLimitAreAnErrorOfTheirFeedMessageOnly() throws Exception {
        byte[] empty = {1, 0, 0, -1, -1};
        int most = 64 << 10;
        try (GatewayDecompressor decompressor =
                GatewayDecompressor.builder(Transport.RAW_DEFLATE).maxMessage(0).build()) {
            for (int message = 0; message < 6; message += 2) {
                assertNull(decompressor.decompress(ByteBuffer.allocate(most), false));
                for (boolean last : new boolean[] {false, false, true}) {
                    DecompressionException e = assertThrows(
                            DecompressionException.class, () -> decompressor.decompress(ByteBuffer.allocate(1), last));
                    assertEquals(Kind.LIMIT, e.kind());
                    assertEquals(message, e.messageIndex());
                }
                assertEquals(0, decompressor.decompress(empty).length);
                assertEquals(message + 2, decompressor.messages());
                assertEquals((most + 3 + empty.length) * (message / 2 + 1), decompressor.compressedBytes());
            }
        }
    }

    /** Regression: the first part of the message after a damaged one threw the exception again. */
    @Test
    void partAfterADamagedFeedMessageIsTaken() throws Exception {
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.RAW_DEFLATE)) {
            assertThrows(DecompressionException.class, () -> decompressor.decompress(new byte[] {6}));
            assertNull(decompressor.decompress(ByteBuffer.wrap(new byte[] {1, 0}), false));
            assertEquals(0, decompressor.decompress(ByteBuffer.wrap(new byte[] {0, -1, -1}), true).length);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void recording(Transport transport) throws Exception {
        byte[] wire = Hello.wire(transport);
        try (GatewayDecompressor decompressor =
                GatewayDecompressor.builder(transport).keepRecent(10, 1 << 20).build()) {
            decompressor.decompress(wire);
            byte[] file = decompressor.recording();
            assertEquals(8 + 18 + wire.length, file.length);
            assertEquals("LGWR", new String(file, 0, 4, StandardCharsets.US_ASCII));
            assertEquals(transport.ordinal(), file[5]);
            assertArrayEquals(wire, Arrays.copyOfRange(file, 26, file.length));
            decompressor.reset();
            assertEquals(8, decompressor.recording().length);
        }
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            assertThrows(IllegalStateException.class, decompressor::recording);
        }
    }

    @Test
    void invalidArgumentsThrow() {
        assertThrows(NullPointerException.class, () -> GatewayDecompressor.create(null));
        GatewayDecompressor.Builder builder = GatewayDecompressor.builder(Transport.ZSTD);
        assertThrows(IllegalArgumentException.class, () -> builder.maxMessage(-1));
        assertThrows(IllegalArgumentException.class, () -> builder.windowLog(9));
        assertThrows(IllegalArgumentException.class, () -> builder.windowLog(28));
        assertThrows(NullPointerException.class, () -> builder.checks(null));
        assertThrows(IllegalArgumentException.class, () -> builder.keepRecent(-1, 1));
        assertThrows(IllegalArgumentException.class, () -> builder.keepRecent(1, -1));
        assertThrows(IllegalArgumentException.class, () -> new ReusableBuffer(-1));
        assertThrows(IllegalArgumentException.class, () -> new ReusableBuffer().trim(-1));
        assertThrows(IllegalArgumentException.class, () -> new DirectBuffer(-1));
        assertThrows(IllegalArgumentException.class, () -> new DirectBuffer(9).trim(-1));
        assertThrows(IllegalArgumentException.class, () -> Transport.ofQueryName("deflate"));
        for (Transport transport : Transport.values()) {
            assertEquals(transport, Transport.ofQueryName(transport.queryName()));
        }
    }

    /** Invalid arguments decode nothing and do not change the decompressor. */
    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void frames(Transport transport) throws Exception {
        byte[] wire = Hello.wire(transport);
        int[][] ranges = {
            {-1, 1}, {0, -1}, {0, wire.length + 1}, {wire.length, 1}, {wire.length + 1, 0},
            {Integer.MAX_VALUE, Integer.MAX_VALUE}, {Integer.MIN_VALUE, 0}, {1, Integer.MAX_VALUE}
        };
        ReusableBuffer into = new ReusableBuffer();
        DirectBuffer direct = new DirectBuffer(9);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            for (int[] range : ranges) {
                assertThrows(
                        IndexOutOfBoundsException.class, () -> decompressor.decompress(wire, range[0], range[1]));
                assertThrows(
                        IndexOutOfBoundsException.class,
                        () -> decompressor.decompress(wire, range[0], range[1], into));
                assertThrows(
                        IndexOutOfBoundsException.class, () -> decompressor.open(wire, range[0], range[1]));
            }
            assertThrows(NullPointerException.class, () -> decompressor.decompress(null));
            assertThrows(NullPointerException.class, () -> decompressor.open(null));
            assertThrows(NullPointerException.class, () -> decompressor.decompress(wire, null));
            assertThrows(NullPointerException.class, () -> decompressor.decompress(null, direct));
            ByteBuffer frame = Hello.direct(transport);
            assertThrows(NullPointerException.class, () -> decompressor.decompress(frame, null));
            assertThrows(
                    IllegalArgumentException.class, () -> decompressor.decompress(direct.buffer(), direct));
            assertThrows(IllegalArgumentException.class, () -> decompressor.resumeAfter(-1));
            assertEquals(0, decompressor.compressedBytes());
            assertFalse(decompressor.isClosed());
            assertArrayEquals(Hello.TEXT, decompressor.decompress(wire));
        }
    }
}
