package dev.linerate.gateway;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Payloads go to buffers that the caller passes. */
class BuffersTest {
    private static final int BEFORE = 7;

    /** A buffer with other bytes before and after its content. */
    private static ByteBuffer buffer(boolean direct, int room) {
        int size = BEFORE + room + 9;
        ByteBuffer buffer = direct ? ByteBuffer.allocateDirect(size) : ByteBuffer.allocate(size + 3);
        if (!direct) {
            buffer.position(3);
            buffer = buffer.slice();
        }
        while (buffer.hasRemaining()) {
            buffer.put((byte) 0x55);
        }
        buffer.position(BEFORE);
        buffer.limit(BEFORE + room);
        return buffer;
    }

    /**
     * The payload, after checking that nothing around it was written. Only in a direct buffer, in
     * which payloads are decoded, may the bytes between the payload and the limit have changed.
     */
    private static byte[] payload(ByteBuffer buffer, int room) {
        assertEquals(BEFORE + room, buffer.limit());
        int end = buffer.position();
        ByteBuffer all = buffer.duplicate();
        all.clear();
        for (int i = 0; i < all.limit(); i++) {
            if (i < BEFORE || i >= (buffer.isDirect() ? BEFORE + room : end)) {
                assertEquals(0x55, all.get(i), "byte " + i);
            }
        }
        byte[] payload = new byte[end - BEFORE];
        all.position(BEFORE);
        all.get(payload);
        return payload;
    }

    @ParameterizedTest
    @CsvSource({"ZLIB,true", "ZLIB,false", "ZSTD,true", "ZSTD,false"})
    void wholeConnectionsIntoBuffers(Transport transport, boolean direct) throws IOException {
        List<byte[]> payloads = Traffic.payloads();
        List<byte[]> frames = Traffic.frames(transport);
        try (GatewayDecompressor gateway = GatewayDecompressor.create(transport)) {
            for (int i = 0; i < frames.size(); i++) {
                int length = payloads.get(i).length;
                int room = length + (i % 3 == 0 ? 5 : 0);
                ByteBuffer part = ByteBuffer.wrap(frames.get(i));
                if (i % 5 == 4) {
                    ByteBuffer small = buffer(direct, length - 1);
                    assertThrows(BufferOverflowException.class, () -> gateway.decompress(part, true, small));
                    assertEquals(0, payload(small, length - 1).length);
                    assertThrows(BufferOverflowException.class, () -> gateway.fetch(small));
                    assertEquals(length, gateway.pendingLength());
                    ByteBuffer into = buffer(direct, room);
                    assertEquals(length, gateway.fetch(into));
                    assertArrayEquals(payloads.get(i), payload(into, room));
                } else {
                    ByteBuffer into = buffer(direct, room);
                    assertEquals(length, gateway.decompress(part, true, into));
                    assertArrayEquals(payloads.get(i), payload(into, room));
                }
                assertEquals(0, part.remaining());
                assertEquals(-1, gateway.pendingLength());
                assertEquals(-1, gateway.fetch(buffer(direct, 9)));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void partsAndEmptyPayloads(Transport transport) throws IOException {
        byte[] frame = Traffic.frames(transport).get(0);
        byte[] payload = Traffic.payloads().get(0);
        try (GatewayDecompressor gateway = GatewayDecompressor.create(transport)) {
            ByteBuffer into = ByteBuffer.allocateDirect(payload.length);
            assertEquals(-1, gateway.decompress(ByteBuffer.wrap(frame, 0, 10), false, into));
            assertEquals(0, into.position());
            ByteBuffer rest = ByteBuffer.wrap(frame, 10, frame.length - 10).asReadOnlyBuffer();
            assertEquals(payload.length, gateway.decompress(rest, true, into));
            assertEquals(0, into.remaining());
            gateway.reset();
            ByteBuffer none = ByteBuffer.allocate(0);
            byte[] empty = Traffic.first(transport, new byte[0]);
            assertEquals(0, gateway.decompress(ByteBuffer.wrap(empty), true, none));
        }
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void mistakesAndDamageChangeNothing(Transport transport) throws IOException {
        byte[] frame = Traffic.frames(transport).get(0);
        byte[] payload = Traffic.payloads().get(0);
        GatewayDecompressor gateway = GatewayDecompressor.create(transport);
        ByteBuffer part = ByteBuffer.wrap(frame);
        ByteBuffer into = ByteBuffer.allocate(payload.length);
        assertThrows(ReadOnlyBufferException.class, () -> gateway.decompress(part, true, into.asReadOnlyBuffer()));
        assertThrows(ReadOnlyBufferException.class, () -> gateway.fetch(into.asReadOnlyBuffer()));
        assertThrows(IllegalArgumentException.class, () -> gateway.decompress(part, true, part));
        assertEquals(0, part.position());
        assertEquals(payload.length, gateway.decompress(part, true, into));
        assertArrayEquals(payload, into.array());

        byte[] damaged = Arrays.copyOf(frame, 8);
        damaged[0] = 6;
        damaged[4] = damaged[5] = 0;
        damaged[6] = damaged[7] = -1;
        gateway.reset();
        for (int i = 0; i < 2; i++) {
            ByteBuffer wrong = ByteBuffer.wrap(damaged);
            ByteBuffer untouched = ByteBuffer.allocate(10);
            assertThrows(DecompressionException.class, () -> gateway.decompress(wrong, true, untouched));
            assertEquals(0, wrong.position());
            assertEquals(0, untouched.position());
        }
        gateway.close();
        assertThrows(IllegalStateException.class, () -> gateway.decompress(part, true, into));
        assertThrows(IllegalStateException.class, () -> gateway.fetch(into));
        assertThrows(IllegalStateException.class, gateway::pendingLength);
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void pendingPayloadSurvivesABufferThatIsTooSmallForIt(Transport transport) throws IOException {
        try (GatewayDecompressor gateway = GatewayDecompressor.create(transport)) {
            ByteBuffer part = ByteBuffer.wrap(Traffic.first(transport, new byte[50]));
            assertThrows(BufferOverflowException.class, () -> gateway.decompress(part, true, ByteBuffer.allocate(9)));
            long connection = gateway.enter();
            try {
                ByteBuffer direct = ByteBuffer.allocateDirect(50);
                assertEquals(Native.DEFECT, Native.fetchTo(connection, direct, true, 1));
                assertThrows(
                        IndexOutOfBoundsException.class, () -> Native.fetchTo(connection, new byte[50], false, 1));
            } finally {
                gateway.exit();
            }
            assertEquals(50, gateway.pendingLength());
            assertEquals(50, gateway.fetch(ByteBuffer.allocateDirect(50)));
            assertEquals(-1, gateway.pendingLength());
        }
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void aPendingPayloadEndsWithTheNextMessage(Transport transport) throws IOException {
        List<byte[]> frames = Traffic.frames(transport);
        try (GatewayDecompressor gateway = GatewayDecompressor.create(transport)) {
            ByteBuffer none = ByteBuffer.allocate(0);
            assertThrows(
                    BufferOverflowException.class,
                    () -> gateway.decompress(ByteBuffer.wrap(frames.get(0)), true, none));
            assertArrayEquals(Traffic.payloads().get(1), gateway.decompress(frames.get(1)));
            assertEquals(-1, gateway.pendingLength());
        }
    }
}
