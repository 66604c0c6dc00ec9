package dev.linerate.gateway;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.linerate.gateway.DecompressionException.Kind;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Websocket messages in buffers of any kind and in parts. */
class PartsTest {
    /** A form in which parts are decoded. {@code take} returns null for an incomplete message. */
    enum Into {
        NEW_ARRAY {
            @Override
            byte[] take(GatewayDecompressor decompressor, ByteBuffer part, boolean last) throws IOException {
                return decompressor.decompress(part, last);
            }
        },
        REUSABLE {
            private final ReusableBuffer into = new ReusableBuffer(100);

            @Override
            byte[] take(GatewayDecompressor decompressor, ByteBuffer part, boolean last) throws IOException {
                int length = decompressor.decompress(part, last, into);
                assertEquals(Math.max(length, 0), into.length());
                return length < 0 ? null : into.toByteArray();
            }
        },
        DIRECT {
            private final DirectBuffer into = new DirectBuffer(100);

            @Override
            byte[] take(GatewayDecompressor decompressor, ByteBuffer part, boolean last) throws IOException {
                if (!decompressor.decompress(part, last, into)) {
                    assertEquals(0, into.length());
                    return null;
                }
                byte[] payload = new byte[into.length()];
                into.buffer().get(payload);
                return payload;
            }
        },
        STREAM {
            @Override
            byte[] take(GatewayDecompressor decompressor, ByteBuffer part, boolean last) throws IOException {
                try (InputStream in = decompressor.open(part, last)) {
                    return in == null ? null : in.readAllBytes();
                }
            }
        };

        abstract byte[] take(GatewayDecompressor decompressor, ByteBuffer part, boolean last)
                throws IOException;
    }

    /** A kind of buffer. The memory of each has other bytes before and after the content. */
    enum Memory {
        DIRECT,
        DIRECT_READ_ONLY,
        /** The kind that {@code java.net.http.WebSocket} delivers. */
        HEAP,
        HEAP_SLICE,
        HEAP_READ_ONLY,
        HEAP_READ_ONLY_SLICE;

        ByteBuffer of(byte[] bytes, int offset, int length) {
            int capacity = length + 9;
            boolean direct = this == DIRECT || this == DIRECT_READ_ONLY;
            ByteBuffer memory = direct ? ByteBuffer.allocateDirect(capacity) : ByteBuffer.allocate(capacity);
            while (memory.hasRemaining()) {
                memory.put((byte) 0xee);
            }
            memory.position(4).limit(4 + length);
            memory.put(bytes, offset, length).position(4);
            boolean slice = this == HEAP_SLICE || this == HEAP_READ_ONLY_SLICE;
            ByteBuffer part = slice ? memory.slice() : memory;
            return name().contains("READ_ONLY") ? part.asReadOnlyBuffer() : part;
        }
    }

    static Stream<Arguments> everyFormAndMemory() {
        return Arrays.stream(Into.values())
                .flatMap(into -> Arrays.stream(Memory.values()).map(memory -> Arguments.of(into, memory)));
    }

    private static byte[] take(
            GatewayDecompressor decompressor, Into into, Memory memory, byte[] frame, int from, int to, boolean last)
            throws IOException {
        ByteBuffer part = memory.of(frame, from, to - from);
        byte[] payload = into.take(decompressor, part, last);
        assertEquals(0, part.remaining());
        return payload;
    }

    @Test
    void rangesBeyondArraysAndBuffersThrow() {
        for (boolean direct : new boolean[] {true, false}) {
            Object memory = direct ? ByteBuffer.allocateDirect(9) : new byte[9];
            Parts.checkRange(memory, direct, 4, 5);
            assertThrows(IndexOutOfBoundsException.class, () -> Parts.checkRange(memory, direct, 4, 6));
        }
    }

    /** Regression: only frames in direct buffers were accepted. */
    @ParameterizedTest
    @MethodSource("everyFormAndMemory")
    void frameInAnyKindOfBufferIsTaken(Into into, Memory memory) throws Exception {
        List<byte[]> payloads = Traffic.payloads();
        for (Transport transport : new Transport[] {Transport.ZLIB, Transport.ZSTD}) {
            List<byte[]> frames = Traffic.frames(transport);
            try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
                for (int i = 0; i < frames.size(); i++) {
                    byte[] frame = frames.get(i);
                    assertArrayEquals(
                            payloads.get(i),
                            take(decompressor, into, memory, frame, 0, frame.length, true),
                            "message " + i);
                }
            }
        }
    }

    /** Regression: {@code decompress(ByteBuffer, DirectBuffer)} accepted only direct frames. */
    @Test
    void heapFrameIntoADirectBufferIsAccepted() throws Exception {
        DirectBuffer into = new DirectBuffer(1000);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZSTD)) {
            for (Memory memory : Memory.values()) {
                byte[] wire = Hello.wire(Transport.ZSTD);
                assertTrue(decompressor.decompress(memory.of(wire, 0, wire.length), into));
                assertEquals(ByteBuffer.wrap(Hello.TEXT), into.buffer());
                decompressor.reset();
            }
        }
    }

    /** Regression: a zstd message in two parts was a persistent error. */
    @ParameterizedTest
    @MethodSource("dev.linerate.gateway.FormsTest#everyForm")
    void messageInTwoPartsDecodesWithTheLastPart(Transport transport, Form whole) throws Exception {
        List<byte[]> payloads = Traffic.payloads();
        List<byte[]> frames = Traffic.frames(transport);
        Into into = Into.values()[whole.ordinal()];
        byte[] frame = frames.get(1);
        int step = Math.max(1, frame.length / 300);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            for (int split = 0; split <= frame.length; split += split < 100 ? 1 : step) {
                Memory memory = Memory.values()[split % Memory.values().length];
                String where = "split at " + split;
                byte[] first = frames.get(0);
                for (int at = 0; at < first.length; at++) {
                    assertNull(take(decompressor, into, memory, first, at, at + 1, false));
                }
                assertArrayEquals(payloads.get(0), take(decompressor, into, memory, first, 0, 0, true), where);
                assertNull(take(decompressor, into, memory, frame, 0, split, false), where);
                assertEquals(1, decompressor.messages());
                assertArrayEquals(
                        payloads.get(1), take(decompressor, into, memory, frame, split, frame.length, true), where);
                // Methods without the flag `last` take a part as the last one of its message; later
                // messages are not affected.
                byte[] third = frames.get(2);
                int half = third.length / 2;
                assertNull(take(decompressor, into, memory, third, 0, half, false), where);
                assertArrayEquals(
                        payloads.get(2), whole.decode(decompressor, third, half, third.length - half), where);
                assertArrayEquals(payloads.get(3), whole.decode(decompressor, frames.get(3)), where);
                assertEquals(
                        first.length + frame.length + third.length + frames.get(3).length,
                        decompressor.compressedBytes());
                decompressor.reset();
            }
        }
    }

    /**
     * Two messages of a stream in one websocket message are one payload, even if a part ends where
     * the first of them ends.
     */
    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void partThatEndsWithAMessageWaitsForTheLastPart(Transport transport) throws Exception {
        List<byte[]> payloads = Traffic.payloads();
        List<byte[]> frames = Traffic.frames(transport);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            assertNull(decompressor.decompress(ByteBuffer.wrap(frames.get(0)), false));
            byte[] both = decompressor.decompress(ByteBuffer.wrap(frames.get(1)), true);
            byte[] first = payloads.get(0);
            assertArrayEquals(first, Arrays.copyOf(both, first.length));
            assertArrayEquals(payloads.get(1), Arrays.copyOfRange(both, first.length, both.length));
            assertEquals(1, decompressor.messages());
        }
    }

    /** A zlib message may also be sent in several websocket messages. */
    @Test
    void zlibMessageInFragmentsAndPartsDecodesWithTheLast() throws Exception {
        byte[] wire = Hello.wire(Transport.ZLIB);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZLIB)) {
            for (int i = 0; i < wire.length; i++) {
                byte[] payload = decompressor.decompress(ByteBuffer.wrap(wire, i, 1), i % 3 == 2 || i == wire.length - 1);
                assertArrayEquals(i == wire.length - 1 ? Hello.TEXT : null, payload);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("everyFormAndMemory")
    void longMessageInPartsOfAnySizeDecodes(Into into, Memory memory) throws Exception {
        Random random = new Random(5);
        byte[] payload = new byte[3 << 20];
        random.nextBytes(payload);
        byte[] frame = Traffic.first(Transport.ZSTD, payload);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZSTD)) {
            int at = 0;
            for (int next; (next = at + random.nextInt(1 << 20)) < frame.length; at = next) {
                assertNull(take(decompressor, into, memory, frame, at, next, false));
            }
            assertTrue(decompressor.memory() > at);
            assertArrayEquals(payload, take(decompressor, into, memory, frame, at, frame.length, true));
            assertTrue(decompressor.memory() < 90 << 10);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void endlessPartsAreAnError(Transport transport) throws Exception {
        try (GatewayDecompressor decompressor =
                GatewayDecompressor.builder(transport).maxMessage(100_000).build()) {
            ByteBuffer part = ByteBuffer.allocate(10_000);
            DecompressionException error = assertThrows(DecompressionException.class, () -> {
                while (true) {
                    part.clear();
                    assertNull(decompressor.decompress(part, false));
                    assertTrue(decompressor.memory() < 400_000);
                }
            });
            assertEquals(Kind.LIMIT, error.kind());
            assertEquals(170_000, error.offset());
            assertEquals(0, part.position());
            // The parts are freed, and the error persists.
            assertTrue(decompressor.memory() < 20_000);
            for (boolean last : new boolean[] {false, true}) {
                DecompressionException again =
                        assertThrows(DecompressionException.class, () -> decompressor.decompress(part, last));
                assertEquals(error.getMessage(), again.getMessage());
            }
            decompressor.reset();
            assertArrayEquals(Hello.TEXT, decompressor.decompress(Hello.wire(transport)));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void resetDiscardsParts(Transport transport) throws Exception {
        byte[] wire = Hello.wire(transport);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            long before = decompressor.memory();
            assertNull(decompressor.decompress(ByteBuffer.wrap(wire, 0, 50), false));
            decompressor.reset();
            assertEquals(before, decompressor.memory());
            assertArrayEquals(Hello.TEXT, decompressor.decompress(wire));
        }
    }

    @ParameterizedTest
    @EnumSource
    void messageInPartsThatIsTruncatedIsAnErrorWithTheLast(Into into) throws Exception {
        byte[] wire = Hello.wire(Transport.ZSTD);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZSTD)) {
            assertNull(into.take(decompressor, ByteBuffer.wrap(wire, 0, 50), false));
            ByteBuffer part = ByteBuffer.wrap(wire, 50, 20).asReadOnlyBuffer();
            DecompressionException error =
                    assertThrows(DecompressionException.class, () -> into.take(decompressor, part, true));
            assertEquals(Kind.TRUNCATED, error.kind());
            assertEquals(50, part.position());
            assertEquals(20, part.remaining());
        }
    }

    @Test
    void partEndsTheStreamOfThePreviousMessage() throws Exception {
        List<byte[]> frames = Traffic.frames(Transport.ZSTD);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZSTD)) {
            InputStream stream = decompressor.open(frames.get(0));
            assertNull(decompressor.open(ByteBuffer.wrap(frames.get(1), 0, 5), false));
            assertThrows(IOException.class, stream::read);
        }
    }

    @Test
    void badArgumentsDecodeNothing() throws Exception {
        byte[] wire = Hello.wire(Transport.ZSTD);
        DirectBuffer direct = new DirectBuffer(1000);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZSTD)) {
            ByteBuffer part = ByteBuffer.wrap(wire).asReadOnlyBuffer();
            for (Into into : Into.values()) {
                assertThrows(NullPointerException.class, () -> into.take(decompressor, null, true));
            }
            assertThrows(
                    NullPointerException.class, () -> decompressor.decompress(part, true, (ReusableBuffer) null));
            assertThrows(
                    NullPointerException.class, () -> decompressor.decompress(part, true, (DirectBuffer) null));
            ByteBuffer same = direct.buffer();
            assertThrows(IllegalArgumentException.class, () -> decompressor.decompress(same, false, direct));
            assertSame(same, direct.buffer());
            assertArrayEquals(Hello.TEXT, decompressor.decompress(part, true));
        }
        GatewayDecompressor closed = GatewayDecompressor.create(Transport.ZSTD);
        closed.close();
        for (Into into : Into.values()) {
            assertThrows(
                    IllegalStateException.class, () -> into.take(closed, ByteBuffer.wrap(wire), false));
        }
    }
}
