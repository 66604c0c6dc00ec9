package dev.linerate.gateway;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Streams of payloads. */
class StreamTest {
    private static final int LENGTH = Hello.TEXT.length;

    private static InputStream hello(GatewayDecompressor decompressor) throws IOException {
        decompressor.reset();
        return decompressor.open(Hello.wire(decompressor.transport()));
    }

    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void readsNeverReturnZero(Transport transport) throws Exception {
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            for (int size = 1; size <= LENGTH + 1; size++) {
                InputStream in = hello(decompressor);
                byte[] part = new byte[size];
                ByteArrayOutputStream all = new ByteArrayOutputStream();
                for (int count = in.read(part); count >= 0; count = in.read(part)) {
                    assertEquals(Math.min(size, LENGTH - all.size()), count);
                    all.write(part, 0, count);
                }
                assertArrayEquals(Hello.TEXT, all.toByteArray());
                assertEquals(-1, in.read(part));
                assertEquals(-1, in.read());
                assertEquals(0, in.available());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void singleBytes(Transport transport) throws Exception {
        byte[] payload = {0, 1, 127, -128, -1};
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            InputStream in = decompressor.open(Traffic.first(transport, payload));
            for (byte value : payload) {
                assertEquals(value & 0xff, in.read());
            }
            assertEquals(-1, in.read());
            assertEquals(-1, in.read());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void skipAndAvailable(Transport transport) throws Exception {
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            InputStream in = hello(decompressor);
            assertEquals(LENGTH, in.available());
            assertEquals(0, in.skip(0));
            assertEquals(0, in.skip(-5));
            assertEquals(10, in.skip(10));
            assertEquals(LENGTH - 10, in.available());
            assertEquals(Hello.TEXT[10] & 0xff, in.read());
            assertEquals(LENGTH - 11, in.skip(Long.MAX_VALUE));
            assertEquals(0, in.skip(1));
            assertEquals(0, in.available());
            assertEquals(-1, in.read());
        }
    }

    @Test
    void emptyAndBadRanges() throws Exception {
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZSTD)) {
            InputStream in = hello(decompressor);
            byte[] into = new byte[5];
            assertEquals(0, in.read(into, 0, 0));
            assertEquals(0, in.read(into, 5, 0));
            assertEquals(0, in.read(new byte[0]));
            assertThrows(NullPointerException.class, () -> in.read(null, 0, 0));
            assertThrows(IndexOutOfBoundsException.class, () -> in.read(into, 0, 6));
            assertThrows(IndexOutOfBoundsException.class, () -> in.read(into, -1, 2));
            assertThrows(IndexOutOfBoundsException.class, () -> in.read(into, 2, -1));
            assertThrows(IndexOutOfBoundsException.class, () -> in.read(into, Integer.MAX_VALUE, 1));
            assertArrayEquals(Hello.TEXT, in.readAllBytes());
            assertEquals(0, in.read(into, 0, 0));
        }
    }

    /** Readers stop early, as a parser does that throws. The next message is not affected. */
    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void earlyClose(Transport transport) throws Exception {
        List<byte[]> payloads = Traffic.payloads();
        List<byte[]> frames = Traffic.frames(transport);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            for (int i = 0; i < frames.size(); i++) {
                int enough = new int[] {0, 1, 10, 100, 1 << 20}[i % 5];
                InputStream in = decompressor.open(frames.get(i));
                byte[] begin = in.readNBytes(enough);
                assertArrayEquals(Arrays.copyOf(payloads.get(i), begin.length), begin);
                // A third of the streams is not closed.
                if (i % 3 != 0) {
                    in.close();
                    in.close();
                    assertThrows(IOException.class, in::read);
                    assertThrows(IOException.class, () -> in.read(new byte[1]));
                    assertThrows(IOException.class, () -> in.read(new byte[0]));
                    assertThrows(IOException.class, () -> in.skip(1));
                    assertThrows(IOException.class, in::available);
                }
            }
        }
    }

    /** Regression: one object for all messages let an old reader read later payloads. */
    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void earlierStreamThrowsAfterTheNextMessage(Transport transport) throws Exception {
        List<byte[]> payloads = Traffic.payloads();
        List<byte[]> frames = Traffic.frames(transport);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            InputStream first = decompressor.open(frames.get(0));
            assertEquals('{', first.read());
            InputStream second = decompressor.open(frames.get(1));
            assertFails(first);
            assertArrayEquals(payloads.get(1), second.readAllBytes());
            // This also holds for a stream that was read to its end, or closed.
            InputStream third = decompressor.open(frames.get(2));
            assertFails(second);
            third.close();
            InputStream fourth = decompressor.open(frames.get(3));
            assertFails(third);
            assertArrayEquals(payloads.get(3), fourth.readAllBytes());
        }
    }

    /** Some parsers close their input late, when the next message has already been opened. */
    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void lateCloseOfAnEarlierStreamDoesNotEndTheNext(Transport transport) throws Exception {
        List<byte[]> payloads = Traffic.payloads();
        List<byte[]> frames = Traffic.frames(transport);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            InputStream first = decompressor.open(frames.get(0));
            InputStream second = decompressor.open(frames.get(1));
            first.close();
            assertArrayEquals(payloads.get(1), second.readAllBytes());
            second.close();
            InputStream third = decompressor.open(frames.get(2));
            second.close();
            assertArrayEquals(payloads.get(2), third.readAllBytes());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void nextMessageEndsTheStream(Transport transport) throws Exception {
        List<byte[]> payloads = Traffic.payloads();
        List<byte[]> frames = Traffic.frames(transport);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            InputStream stream = decompressor.open(frames.get(0));
            assertArrayEquals(payloads.get(1), decompressor.decompress(frames.get(1)));
            assertFails(stream);
            stream = decompressor.open(frames.get(2));
            decompressor.decompress(frames.get(3), new ReusableBuffer());
            assertFails(stream);
            stream = decompressor.open(frames.get(4));
            decompressor.reset();
            assertFails(stream);
        }
    }

    /**
     * The array of a {@link ReusableBuffer} holds the next payload after the next message. A stream
     * of the payload before must not return it.
     */
    @Test
    void bufferStreamThrowsAfterTheNextPayload() throws Exception {
        ReusableBuffer buffer = new ReusableBuffer();
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZSTD)) {
            byte[] wire = Hello.wire(Transport.ZSTD);
            decompressor.decompress(wire, buffer);
            InputStream stream = buffer.stream();
            assertEquals('{', stream.read());
            decompressor.reset();
            decompressor.decompress(wire, buffer);
            assertFails(stream);
            assertArrayEquals(Hello.TEXT, buffer.stream().readAllBytes());
            buffer.trim(0);
            assertFails(stream);
            assertEquals(-1, buffer.stream().read());
        }
    }

    private static void assertFails(InputStream stream) {
        assertThrows(IOException.class, stream::read);
        assertThrows(IOException.class, () -> stream.read(new byte[9]));
        assertThrows(IOException.class, () -> stream.skip(1));
        assertThrows(IOException.class, stream::available);
    }

    @Test
    void incompleteMessageHasNoStream() throws Exception {
        byte[] wire = Hello.wire(Transport.ZLIB);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZLIB)) {
            assertNull(decompressor.open(wire, 0, 50));
            try (InputStream in = decompressor.open(wire, 50, wire.length - 50)) {
                assertArrayEquals(Hello.TEXT, in.readAllBytes());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void emptyMessage(Transport transport) throws Exception {
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            InputStream in = decompressor.open(Traffic.first(transport, new byte[0]));
            assertEquals(0, in.available());
            assertEquals(-1, in.read(new byte[9]));
            assertEquals(-1, in.read());
        }
    }

    /**
     * Open streams have distinct arrays, even if there are more streams than the pool has arrays.
     */
    @Test
    void manyOpenStreams() throws Exception {
        List<GatewayDecompressor> decompressors = new ArrayList<>();
        List<InputStream> streams = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            byte[] payload = new byte[1000];
            Arrays.fill(payload, (byte) i);
            GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZSTD);
            decompressors.add(decompressor);
            streams.add(decompressor.open(Traffic.first(Transport.ZSTD, payload)));
        }
        for (int i = 0; i < 100; i++) {
            assertEquals(i, streams.get(i).read());
        }
        for (int i = 99; i >= 0; i--) {
            for (byte value : streams.get(i).readAllBytes()) {
                assertEquals(i, value);
            }
            decompressors.get(i).close();
        }
    }
}
