package dev.linerate.gateway;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** permessage-deflate without frames. */
class DeflateTest {
    private static byte[] message(int number) {
        String text = "{\"op\":0,\"s\":" + number + ",\"t\":\"TYPING_START\",\"d\":{\"user_id\":\"" + 7919L * number + "\"}}";
        return text.repeat(1 + number % 4 * 50).getBytes(StandardCharsets.UTF_8);
    }

    private static DeflateAgreement[] agree(DeflateOptions server, DeflateOptions client) {
        DeflateAgreement there = server.answer(client.offer());
        return new DeflateAgreement[] {there, client.agree(there.answer())};
    }

    private static byte[] decode(DeflateDecoder decoder, byte[] encoded, int room) throws Exception {
        ByteBuffer part = ByteBuffer.wrap(encoded);
        ByteBuffer all = ByteBuffer.allocate(100_000);
        boolean isDone = false;
        while (!isDone) {
            ByteBuffer into = ByteBuffer.allocateDirect(room);
            isDone = decoder.decode(part, true, into);
            all.put(into.flip());
        }
        assertFalse(part.hasRemaining());
        byte[] message = new byte[all.position()];
        all.flip().get(message);
        return message;
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 9, 10, 11, 12, 13, 14, 15})
    void messagesWithEveryWindow(int bits) throws Exception {
        DeflateAgreement[] sides = agree(DeflateOptions.windowBits(bits), DeflateOptions.windowBits(bits));
        assertEquals(bits, sides[0].encoderWindowBits());
        assertEquals(bits, sides[1].decoderWindowBits());
        try (DeflateEncoder encoder = sides[0].newEncoder(); DeflateDecoder decoder = sides[1].newDecoder()) {
            for (int i = 0; i < 40; i++) {
                byte[] message = message(i);
                ByteBuffer input = i % 2 == 0 ? ByteBuffer.wrap(message) : ByteBuffer.allocateDirect(message.length);
                input = i % 2 == 0 ? input.asReadOnlyBuffer() : input.put(message).flip();
                ByteBuffer into = ByteBuffer.allocateDirect(message.length + 3);
                into.position(3);
                assertTrue(encoder.encode(input, into));
                byte[] encoded = new byte[into.position() - 3];
                into.flip().position(3).get(encoded);
                assertTrue(encoded.length < message.length);
                assertArrayEquals(message, decode(decoder, encoded, new int[] {1, 100, 100_000}[i % 3]));
            }
        }
    }

    /** The memory of both directions of a connection that has had messages and is idle. */
    @Test
    void nativeMemoryOfAConnection() throws Exception {
        for (int bits : new int[] {8, 10, 11, 15}) {
            DeflateAgreement[] sides = agree(DeflateOptions.windowBits(bits), DeflateOptions.windowBits(bits));
            try (DeflateEncoder encoder = sides[0].newEncoder(); DeflateDecoder decoder = sides[1].newDecoder()) {
                for (int i = 0; i < 400; i++) {
                    byte[] message = message(i);
                    ByteBuffer into = ByteBuffer.allocateDirect(message.length);
                    assertTrue(encoder.encode(ByteBuffer.wrap(message), into));
                    byte[] encoded = new byte[into.position()];
                    into.flip().get(encoded);
                    decode(decoder, encoded, 100_000);
                }
                long most = 1200 + (2L << bits) + Math.min(2L << bits, 8 << 10);
                long memory = encoder.memory() + decoder.memory();
                assertTrue(memory > 2L << bits && memory <= most, bits + " bits: " + memory + " bytes");
            }
        }
        assertTrue(GatewayDecompressor.sharedMemory() > 100_000);
    }

    @Test
    void negotiation() {
        assertEquals(
                "permessage-deflate; client_max_window_bits=10; server_max_window_bits=10, "
                        + "permessage-deflate; client_max_window_bits=10; server_no_context_takeover",
                DeflateOptions.windowBits(10).offer());
        assertNull(DeflateOptions.windowBits(10).answer("permessage-bzip2"));
        assertNull(DeflateOptions.windowBits(10).agree(""));
        assertThrows(
                IllegalArgumentException.class,
                () -> DeflateOptions.windowBits(10).agree("permessage-deflate; server_max_window_bits=11"));
        DeflateAgreement agreement = DeflateOptions.windowBits(11).answer("permessage-deflate");
        assertEquals("permessage-deflate; client_no_context_takeover; server_max_window_bits=11", agreement.answer());
        assertTrue(agreement.encoderTakeover());
        assertFalse(agreement.decoderTakeover());
    }

    @Test
    void optionsThatAreNotAllowed() {
        DeflateOptions.Builder builder = DeflateOptions.builder();
        assertThrows(IllegalArgumentException.class, () -> builder.encoderWindowBits(7));
        assertThrows(IllegalArgumentException.class, () -> builder.decoderWindowBits(16));
        assertThrows(IllegalArgumentException.class, () -> builder.level(10));
        assertThrows(IllegalArgumentException.class, () -> builder.smallest(-1));
        assertThrows(IllegalArgumentException.class, () -> builder.messageLimit(-1));
        assertThrows(IllegalArgumentException.class, () -> builder.ratioLimit(0));
        for (int level = 0; level <= 9; level++) {
            // Each encoder is closed, because the test closedCodecs counts the open ones.
            try (DeflateEncoder encoder = builder.level(level).build().answer("permessage-deflate").newEncoder()) {
                assertTrue(encoder.memory() > 0);
            }
        }
    }

    @Test
    void errorsPersistAndSayWhereTheyAre() throws Exception {
        DeflateAgreement agreement = DeflateOptions.windowBits(15).answer("permessage-deflate");
        try (DeflateDecoder decoder = agreement.newDecoder()) {
            decode(decoder, new byte[] {0}, 10);
            for (int i = 0; i < 2; i++) {
                DecompressionException e =
                        assertThrows(DecompressionException.class, () -> decode(decoder, new byte[] {6}, 10));
                assertEquals(DecompressionException.Kind.CORRUPT, e.kind());
                assertEquals(2, e.offset());
                assertEquals(1, e.messageIndex());
            }
        }
    }

    @Test
    void outputNeedsADirectBufferWithRoom() {
        DeflateAgreement agreement = DeflateOptions.windowBits(15).answer("permessage-deflate");
        try (DeflateEncoder encoder = agreement.newEncoder(); DeflateDecoder decoder = agreement.newDecoder()) {
            ByteBuffer heap = ByteBuffer.allocate(100);
            ByteBuffer readOnly = ByteBuffer.allocateDirect(100).asReadOnlyBuffer();
            for (ByteBuffer into : new ByteBuffer[] {heap, readOnly}) {
                assertThrows(IllegalArgumentException.class, () -> encoder.encode(heap, into));
                assertThrows(IllegalArgumentException.class, () -> encoder.encodePart(heap, true, into));
                assertThrows(IllegalArgumentException.class, () -> decoder.decode(heap, true, into));
            }
            ByteBuffer small = ByteBuffer.allocateDirect(DeflateEncoder.bound(100) - 1);
            assertThrows(IllegalArgumentException.class, () -> encoder.encodePart(heap, true, small));
            assertThrows(IllegalArgumentException.class, () -> DeflateEncoder.bound(-1));
            assertThrows(IllegalArgumentException.class, () -> DeflateEncoder.bound(Integer.MAX_VALUE));
            // Without room the encoder says that the message should be sent uncompressed.
            assertFalse(encoder.encode(heap, ByteBuffer.allocateDirect(0)));
        }
    }

    /** Another thread may change the limit of a buffer between the reads of position and length. */
    @Test
    void rangeBeyondABufferIsNotEncoded() throws Exception {
        DeflateAgreement agreement = DeflateOptions.windowBits(15).answer("permessage-deflate");
        try (DeflateEncoder encoder = agreement.newEncoder()) {
            ByteBuffer into = ByteBuffer.allocateDirect(1000);
            for (boolean direct : new boolean[] {true, false}) {
                Object part = direct ? ByteBuffer.allocateDirect(100) : new byte[100];
                for (boolean whole : new boolean[] {true, false}) {
                    assertThrows(
                            IndexOutOfBoundsException.class,
                            () -> DeflateEncoder.run(0, part, direct, 1, 100, whole, true, into));
                }
            }
            assertTrue(encoder.encode(ByteBuffer.allocate(100), into));
        }
    }

    @Test
    void closedCodecs() {
        long live = NativeDeflate.live();
        DeflateAgreement agreement = DeflateOptions.windowBits(15).answer("permessage-deflate");
        DeflateEncoder encoder = agreement.newEncoder();
        DeflateDecoder decoder = agreement.newDecoder();
        assertEquals(live + 2, NativeDeflate.live());
        encoder.close();
        decoder.close();
        decoder.close();
        assertEquals(live, NativeDeflate.live());
        ByteBuffer buffer = ByteBuffer.allocateDirect(10);
        assertThrows(IllegalStateException.class, () -> encoder.encode(buffer, buffer));
        assertThrows(IllegalStateException.class, () -> decoder.decode(buffer, true, buffer));
        assertThrows(IllegalStateException.class, encoder::memory);
    }
}
