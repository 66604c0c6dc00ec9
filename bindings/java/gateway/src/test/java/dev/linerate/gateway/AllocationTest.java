package dev.linerate.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Allocation per message: exactly zero, or the documented number of bytes. */
class AllocationTest {
    private static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static final int ROUNDS = 20;

    /** Bytes of a stream object: header, two references, two ints, a boolean. */
    private static final long STREAM = 32;

    private static InputStream kept;

    /** One message of a repeating sequence. */
    interface Step {
        int message(int index) throws Exception;
    }

    /**
     * Bytes that this thread allocates while it decodes the sample. The virtual machine itself may
     * allocate a little when it compiles, so the smallest value of 20 rounds counts, which at least
     * 16 of them must have.
     */
    private static long allocated(GatewayDecompressor decompressor, int count, Step step) throws Exception {
        long[] bytes = new long[ROUNDS];
        long payload = 0;
        for (int round = 0; round < ROUNDS; round++) {
            decompressor.reset();
            long before = THREADS.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < count; i++) {
                payload += step.message(i);
            }
            bytes[round] = THREADS.getCurrentThreadAllocatedBytes() - before;
        }
        assertTrue(payload > 0);
        Arrays.sort(bytes);
        assertEquals(bytes[0], bytes[ROUNDS * 3 / 4], () -> Arrays.toString(bytes));
        return bytes[0];
    }

    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void reusableBuffer(Transport transport) throws Exception {
        byte[][] frames = Traffic.frames(transport).toArray(new byte[0][]);
        ReusableBuffer into = new ReusableBuffer();
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            assertEquals(
                    0, allocated(decompressor, frames.length, i -> decompressor.decompress(frames[i], into)));
            assertEquals(0, allocated(decompressor, frames.length, i -> {
                decompressor.decompress(frames[i], into);
                return into.stream().read() + into.stream().available();
            }));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void directBuffer(Transport transport) throws Exception {
        List<byte[]> bytes = Traffic.frames(transport);
        ByteBuffer[] frames = new ByteBuffer[bytes.size()];
        for (int i = 0; i < frames.length; i++) {
            frames[i] = ByteBuffer.allocateDirect(bytes.get(i).length);
            frames[i].put(bytes.get(i));
        }
        DirectBuffer into = new DirectBuffer(100);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            assertEquals(0, allocated(decompressor, frames.length, i -> {
                frames[i].clear();
                return decompressor.decompress(frames[i], into) ? into.buffer().remaining() : 0;
            }));
        }
    }

    /** Frames in any kind of memory, whole or in two parts, allocate nothing. */
    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void partsInBuffers(Transport transport) throws Exception {
        List<byte[]> bytes = Traffic.frames(transport);
        ReusableBuffer into = new ReusableBuffer();
        DirectBuffer direct = new DirectBuffer(100);
        for (PartsTest.Memory memory : PartsTest.Memory.values()) {
            ByteBuffer[] frames = new ByteBuffer[bytes.size()];
            for (int i = 0; i < frames.length; i++) {
                frames[i] = memory.of(bytes.get(i), 0, bytes.get(i).length);
            }
            try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
                assertEquals(0, allocated(decompressor, frames.length, i -> {
                    ByteBuffer part = frames[i];
                    int begin = part.position();
                    int end = part.limit();
                    part.limit(begin + (end - begin) / 2);
                    decompressor.decompress(part, false, into);
                    part.limit(end);
                    int length = decompressor.decompress(part, true, into);
                    part.position(begin);
                    return length;
                }));
                assertEquals(0, allocated(decompressor, frames.length, i -> {
                    int begin = frames[i].position();
                    boolean whole = decompressor.decompress(frames[i], direct);
                    frames[i].position(begin);
                    return whole ? direct.length() : 0;
                }));
            }
        }
    }

    /** Only a stream object is allocated per message, however large the message is. */
    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void stream(Transport transport) throws Exception {
        byte[][] frames = Traffic.frames(transport).toArray(new byte[0][]);
        byte[] part = new byte[8000];
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            long streams = frames.length * STREAM;
            assertEquals(streams, allocated(decompressor, frames.length, i -> {
                InputStream in = keep(decompressor.open(frames[i]));
                int length = 0;
                for (int count = in.read(part); count >= 0; count = in.read(part)) {
                    length += count;
                }
                in.close();
                return length;
            }));
            // A stream that is not read to its end allocates the same.
            assertEquals(
                    streams,
                    allocated(decompressor, frames.length, i -> keep(decompressor.open(frames[i])).read()));
        }
    }

    /** Keeps the optimizer from removing the stream object. */
    private static InputStream keep(InputStream stream) {
        kept = stream;
        return stream;
    }

    /** {@code decompress(byte[])} allocates only the array that it returns. */
    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void newArray(Transport transport) throws Exception {
        byte[][] frames = Traffic.frames(transport).toArray(new byte[0][]);
        long arrays = 0;
        for (byte[] payload : Traffic.payloads()) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            byte[] copy = payload.clone();
            arrays += THREADS.getCurrentThreadAllocatedBytes() - before;
            assertEquals(payload.length, copy.length);
        }
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            assertEquals(
                    arrays, allocated(decompressor, frames.length, i -> decompressor.decompress(frames[i]).length));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void questions(Transport transport) throws Exception {
        byte[] wire = Hello.wire(transport);
        ReusableBuffer into = new ReusableBuffer();
        try (GatewayDecompressor decompressor =
                GatewayDecompressor.builder(transport).checks(Checks.JSON_SEQUENCE).build()) {
            assertEquals(0, allocated(decompressor, 1, i -> {
                decompressor.decompress(wire, into);
                return decompressor.lastOpcode()
                        + (int) (decompressor.lastSequence()
                                + decompressor.messages()
                                + decompressor.compressedBytes()
                                + decompressor.memory());
            }));
        }
    }
}
