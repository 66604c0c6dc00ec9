package dev.linerate.gateway;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Every form returns the same payloads, however frames are split. */
class FormsTest {
    static Stream<Arguments> everyForm() {
        return Arrays.stream(new Transport[] {Transport.ZLIB, Transport.ZSTD})
                .flatMap(transport -> Arrays.stream(Form.values()).map(form -> Arguments.of(transport, form)));
    }

    @ParameterizedTest
    @MethodSource("everyForm")
    void sample(Transport transport, Form form) throws Exception {
        List<byte[]> payloads = Traffic.payloads();
        List<byte[]> frames = Traffic.frames(transport);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            // The second round is a new connection.
            for (int round = 0; round < 2; round++) {
                long compressed = 0;
                for (int i = 0; i < frames.size(); i++) {
                    assertArrayEquals(payloads.get(i), form.decode(decompressor, frames.get(i)), "message " + i);
                    compressed += frames.get(i).length;
                }
                assertEquals(frames.size(), decompressor.messages());
                assertEquals(compressed, decompressor.compressedBytes());
                assertTrue(decompressor.memory() > 32 << 10 && decompressor.memory() < 90 << 10);
                decompressor.reset();
                assertEquals(0, decompressor.messages());
                assertEquals(0, decompressor.compressedBytes());
            }
        }
        assertTrue(GatewayDecompressor.sharedMemory() > 0);
    }

    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void formsMayAlternate(Transport transport) throws Exception {
        List<byte[]> payloads = Traffic.payloads();
        List<byte[]> frames = Traffic.frames(transport);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            for (int i = 0; i < frames.size(); i++) {
                Form form = Form.values()[i % Form.values().length];
                assertArrayEquals(payloads.get(i), form.decode(decompressor, frames.get(i)), "message " + i);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("everyForm")
    void partOfAnArray(Transport transport, Form form) throws Exception {
        byte[] wire = Hello.wire(transport);
        byte[] around = new byte[wire.length + 20];
        Arrays.fill(around, (byte) 0xff);
        System.arraycopy(wire, 0, around, 7, wire.length);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            assertArrayEquals(Hello.TEXT, form.decode(decompressor, around, 7, wire.length));
        }
    }

    @ParameterizedTest
    @EnumSource
    void splitAtEveryByte(Form form) throws Exception {
        List<byte[]> frames = Traffic.frames(Transport.ZLIB).subList(0, 2);
        List<byte[]> payloads = Traffic.payloads();
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZLIB)) {
            for (int split = 0; split < frames.get(1).length; split++) {
                assertArrayEquals(payloads.get(0), form.decode(decompressor, frames.get(0)));
                byte[] frame = frames.get(1);
                assertNull(form.decode(decompressor, frame, 0, split));
                assertEquals(1, decompressor.messages());
                assertArrayEquals(
                        payloads.get(1), form.decode(decompressor, frame, split, frame.length - split));
                decompressor.reset();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void splitAnywhere(Form form) throws Exception {
        List<byte[]> payloads = Traffic.payloads();
        List<byte[]> frames = Traffic.frames(Transport.ZLIB);
        Random random = new Random(8);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZLIB)) {
            for (int i = 0; i < frames.size(); i++) {
                byte[] frame = frames.get(i);
                int at = 0;
                byte[] payload = null;
                while (at < frame.length) {
                    assertNull(payload);
                    int length = Math.min(1 + random.nextInt(1 + frame.length / 3), frame.length - at);
                    payload = form.decode(decompressor, frame, at, length);
                    at += length;
                }
                assertArrayEquals(payloads.get(i), payload, "message " + i);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("everyForm")
    void sizes(Transport transport, Form form) throws Exception {
        int[] around = {0, 1, 2048, 4000, 8000, 8192, 65536, 131072, 1 << 20, 3 << 20};
        Random random = new Random(3);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            for (int size : around) {
                for (int length = Math.max(0, size - 1); length <= size + 1; length++) {
                    byte[] payload = new byte[length];
                    random.nextBytes(payload);
                    byte[] frame = Traffic.first(transport, payload);
                    assertArrayEquals(payload, form.decode(decompressor, frame), "of " + length + " bytes");
                    decompressor.reset();
                }
            }
        }
    }

    @Test
    void buffersHoldTheLastPayload() throws Exception {
        byte[] first = Hello.wire(Transport.ZLIB);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZLIB)) {
            ReusableBuffer into = new ReusableBuffer();
            byte[] array = into.array();
            assertEquals(64 << 10, array.length);
            decompressor.decompress(first, into);
            assertSame(array, into.array());
            assertEquals(Hello.TEXT.length, into.length());
            assertEquals(ByteBuffer.wrap(Hello.TEXT), into.toByteBuffer());
            assertArrayEquals(Hello.TEXT, into.stream().readAllBytes());
            assertArrayEquals(Hello.TEXT, into.stream().readAllBytes());
            assertSame(into.stream(), into.stream());

            DirectBuffer direct = new DirectBuffer(1000);
            ByteBuffer memory = direct.buffer();
            assertEquals(0, memory.remaining());
            decompressor.reset();
            decompressor.decompress(Hello.direct(Transport.ZLIB), direct);
            assertSame(memory, direct.buffer());
            assertEquals(ByteBuffer.wrap(Hello.TEXT), memory);

            // An incomplete message clears the previous payload.
            assertEquals(-1, decompressor.decompress(new byte[0], into));
            assertEquals(0, into.length());
            assertEquals(-1, into.stream().read());
            assertEquals(0, into.toByteArray().length);
            assertEquals(false, decompressor.decompress(ByteBuffer.allocateDirect(0), direct));
            assertEquals(0, direct.length());
            assertEquals(0, direct.buffer().remaining());
        }
    }

    @Test
    void trimFreesMemoryOfBuffers() throws Exception {
        byte[] payload = new byte[300_000];
        byte[] frame = Traffic.first(Transport.ZSTD, payload);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZSTD)) {
            ReusableBuffer into = new ReusableBuffer();
            decompressor.decompress(frame, into);
            assertEquals(512 << 10, into.array().length);
            into.trim(512 << 10);
            assertEquals(300_000, into.length());
            into.trim(1000);
            assertEquals(1000, into.array().length);
            assertEquals(0, into.length());

            DirectBuffer direct = new DirectBuffer(10);
            ByteBuffer source = ByteBuffer.allocateDirect(frame.length);
            source.put(frame).flip();
            decompressor.reset();
            decompressor.decompress(source, direct);
            assertEquals(512 << 10, direct.buffer().capacity());
            direct.trim(1000);
            assertEquals(1000, direct.buffer().capacity());
            assertEquals(0, direct.length());
        }
    }

    @Test
    void directFrames() throws Exception {
        byte[] wire = Hello.wire(Transport.ZSTD);
        ByteBuffer memory = ByteBuffer.allocateDirect(wire.length + 9).order(ByteOrder.LITTLE_ENDIAN);
        memory.position(4);
        memory.put(wire).flip().position(4);
        DirectBuffer into = new DirectBuffer(0);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZSTD)) {
            for (ByteBuffer frame : List.of(memory.duplicate(), memory.slice(), memory.asReadOnlyBuffer())) {
                assertTrue(decompressor.decompress(frame, into));
                assertEquals(0, frame.remaining());
                assertEquals(ByteBuffer.wrap(Hello.TEXT), into.buffer());
                decompressor.reset();
            }
        }
    }

    /** The frame is copied before anything is written. */
    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void frameAndPayloadMayShareMemory(Transport transport) throws Exception {
        byte[] wire = Hello.wire(transport);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            ReusableBuffer buffer = new ReusableBuffer();
            System.arraycopy(wire, 0, buffer.array(), 10, wire.length);
            decompressor.decompress(buffer.array(), 10, wire.length, buffer);
            assertArrayEquals(Hello.TEXT, buffer.toByteArray());

            decompressor.reset();
            DirectBuffer direct = new DirectBuffer(1000);
            ByteBuffer frame = direct.buffer().duplicate();
            frame.clear();
            frame.put(wire).flip();
            assertTrue(decompressor.decompress(frame, direct));
            assertEquals(ByteBuffer.wrap(Hello.TEXT), direct.buffer());
        }
    }

    @Test
    void capacityIsTheNextPowerOfTwo() {
        int[][] pairs = {{0, 2}, {1, 2}, {2, 2}, {3, 4}, {65536, 65536}, {65537, 131072}, {1 << 30, 1 << 30}};
        for (int[] pair : pairs) {
            assertEquals(pair[1], ReusableBuffer.grown(pair[0]));
        }
        assertEquals(Integer.MAX_VALUE - 8, ReusableBuffer.grown((1 << 30) + 1));
    }
}
