package dev.linerate.gateway;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.Inflater;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages that are compressed once for many encoders. */
class PreparedMessageTest {
    private static final byte[] TAIL = {0, 0, -1, -1};

    private static byte[] text(int number) {
        String text = "{\"op\":0,\"s\":" + number + ",\"t\":\"TYPING_START\",\"d\":{\"user_id\":\"" + 7919L * number + "\"}}";
        return text.repeat(2 + number % 3 * 60).getBytes(StandardCharsets.UTF_8);
    }

    private static DeflateEncoder encoder(int bits) {
        return DeflateOptions.windowBits(bits).answer("permessage-deflate; client_max_window_bits").newEncoder();
    }

    private static byte[] written(ByteBuffer into) {
        byte[] bytes = new byte[into.position()];
        into.flip().get(bytes);
        return bytes;
    }

    private static byte[] inflate(Inflater peer, byte[] encoded) throws Exception {
        byte[] all = Arrays.copyOf(encoded, encoded.length + TAIL.length);
        System.arraycopy(TAIL, 0, all, encoded.length, TAIL.length);
        peer.setInput(all);
        byte[] message = new byte[100_000];
        return Arrays.copyOf(message, peer.inflate(message));
    }

    @ParameterizedTest
    @ValueSource(ints = {9, 10, 11, 15})
    void preparedMessagesBetweenOthersAreInflated(int bits) throws Exception {
        Inflater peer = new Inflater(true);
        try (DeflateEncoder encoder = encoder(bits)) {
            assertEquals(bits, encoder.windowBits());
            for (int i = 0; i < 60; i++) {
                byte[] text = text(i % 7);
                ByteBuffer into = ByteBuffer.allocateDirect(text.length);
                if (i % 3 == 0) {
                    assertTrue(encoder.encode(ByteBuffer.wrap(text), into));
                } else {
                    ByteBuffer direct = ByteBuffer.allocateDirect(text.length).put(text).flip();
                    try (PreparedMessage message = new PreparedMessage(i % 2 == 0 ? ByteBuffer.wrap(text) : direct)) {
                        assertEquals(text.length, message.length());
                        int length = encoder.encode(message, into);
                        assertEquals(length, into.position());
                    }
                }
                assertArrayEquals(text, inflate(peer, written(into)));
            }
        }
        peer.end();
    }

    @Test
    void bytesAreTheSameForEncodersWithTheSameWindowAndWrittenIfThereIsRoom() {
        byte[] text = text(1);
        try (DeflateEncoder one = encoder(11);
                DeflateEncoder other = encoder(11);
                PreparedMessage message = new PreparedMessage(ByteBuffer.wrap(text))) {
            ByteBuffer into = ByteBuffer.allocateDirect(text.length);
            int length = one.encode(message, into);
            byte[] bytes = written(into);
            assertEquals(length, bytes.length);
            for (int room : new int[] {0, length - 1, length, length + 5}) {
                into = ByteBuffer.allocateDirect(room);
                assertEquals(length, other.encode(message, into));
                assertEquals(room < length ? 0 : length, into.position());
                assertArrayEquals(room < length ? new byte[0] : bytes, written(into));
            }
        }
    }

    @Test
    void messagesThatDoNotBecomeSmallerAreSentAsTheyAre() {
        byte[] noise = new byte[300];
        new Random(3).nextBytes(noise);
        try (DeflateEncoder encoder = encoder(15)) {
            for (byte[] content : new byte[][] {noise, {1}, {}}) {
                try (PreparedMessage message = new PreparedMessage(ByteBuffer.wrap(content))) {
                    ByteBuffer into = ByteBuffer.allocateDirect(1000);
                    assertEquals(-1, encoder.encode(message, into));
                    assertEquals(0, into.position());
                }
            }
        }
    }

    @Test
    void mistakesChangeNothing() {
        long live = NativeDeflate.live();
        DeflateEncoder encoder = encoder(15);
        PreparedMessage message = new PreparedMessage(ByteBuffer.wrap(text(1)));
        assertEquals(live + 2, NativeDeflate.live());
        ByteBuffer into = ByteBuffer.allocateDirect(1000);
        assertThrows(IllegalArgumentException.class, () -> encoder.encode(message, ByteBuffer.allocate(1000)));
        assertThrows(IllegalArgumentException.class, () -> encoder.encode(message, into.asReadOnlyBuffer()));
        message.close();
        message.close();
        assertEquals(live + 1, NativeDeflate.live());
        assertThrows(IllegalStateException.class, () -> encoder.encode(message, into));
        encoder.close();
        try (PreparedMessage open = new PreparedMessage(ByteBuffer.wrap(text(1)))) {
            assertThrows(IllegalStateException.class, () -> encoder.encode(open, into));
        }
        assertEquals(live, NativeDeflate.live());
    }

    /** A message may be closed while threads encode it: they finish, or get an exception. */
    @Test
    void threadsEncodeAMessageThatIsClosedMeanwhile() throws Exception {
        long live = NativeDeflate.live();
        int threads = 4;
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        for (int round = 0; round < 50; round++) {
            PreparedMessage message = new PreparedMessage(ByteBuffer.wrap(text(2)));
            List<Future<Integer>> encoded = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                int bits = 9 + i / 2;
                encoded.add(pool.submit(() -> {
                    int count = 0;
                    try (DeflateEncoder encoder = encoder(bits)) {
                        for (; count < 200; count++) {
                            ByteBuffer into = ByteBuffer.allocateDirect(count % 2 * 10_000);
                            assertTrue(encoder.encode(message, into) > 0);
                        }
                    } catch (IllegalStateException e) {
                        assertEquals("this message is closed", e.getMessage());
                    }
                    return count;
                }));
            }
            Thread.sleep(0, 500_000);
            message.close();
            for (Future<Integer> each : encoded) {
                each.get();
            }
        }
        pool.shutdown();
        assertEquals(live, NativeDeflate.live());
    }
}
