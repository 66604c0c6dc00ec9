package dev.linerate.gateway.hostile;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.linerate.gateway.Checks;
import dev.linerate.gateway.DecompressionException;
import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.Transport;
import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Lost messages and flipped bits: neither stream format has a checksum for each message. */
class LossTest {
    private static final int MESSAGES = 200;
    private static final int LOST = 100;

    /**
     * Payloads after the lost message may be wrong without an error (docs/gateway/index.md). Those
     * before it are correct.
     */
    @Test
    void lostMessageMayGoUndetectedWithoutChecks() throws IOException {
        byte[][] payloads = Wire.events(MESSAGES);
        for (Transport transport : new Transport[] {Transport.ZLIB, Transport.ZSTD}) {
            byte[][] frames = Wire.stream(transport, payloads);
            int wrong = 0;
            DecompressionException error = null;
            try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
                for (int k = 0; k < MESSAGES && error == null; k++) {
                    if (k == LOST) {
                        continue;
                    }
                    try {
                        byte[] given = decompressor.decompress(frames[k]);
                        assertNotNull(given);
                        boolean right = Arrays.equals(payloads[k], given);
                        assertTrue(right || k > LOST, "message " + k);
                        wrong += right ? 0 : 1;
                    } catch (DecompressionException e) {
                        assertTrue(k > LOST, e::toString);
                        error = e;
                    }
                }
                assertTrue(wrong > 0 || error != null, "a message lost changes what comes after it");
                System.out.println(transport + ", one message of " + MESSAGES + " lost, no checks: " + wrong
                        + " wrong in silence, then " + (error == null ? "no error" : error.getMessage()));
                Wire.assertGoodConnection(decompressor);
            }
        }
    }

    /**
     * The loss is an error when the next message is decoded: if its payload is an object, its
     * sequence number is not the expected one.
     */
    @Test
    void checksDetectALostMessageAtTheNextEvent() throws IOException {
        byte[][] payloads = Wire.events(MESSAGES);
        for (Transport transport : new Transport[] {Transport.ZLIB, Transport.ZSTD}) {
            byte[][] frames = Wire.stream(transport, payloads);
            try (GatewayDecompressor decompressor =
                    GatewayDecompressor.builder(transport).checks(Checks.JSON_SEQUENCE).build()) {
                for (int k = 0; k < LOST; k++) {
                    assertArrayEquals(payloads[k], decompressor.decompress(frames[k]));
                    assertEquals(k == 0 ? -1 : k, decompressor.lastSequence());
                }
                DecompressionException e =
                        assertThrows(DecompressionException.class, () -> decompressor.decompress(frames[LOST + 1]), transport.name());
                assertEquals(DecompressionException.Kind.CORRUPT, e.kind());
                assertEquals(LOST, e.messageIndex());
                // The error persists until a reset.
                DecompressionException again = assertThrows(DecompressionException.class, () -> decompressor.decompress(frames[LOST]));
                assertEquals(e.getMessage(), again.getMessage());
                assertSame(e.kind(), again.kind());
                Wire.assertGoodConnection(decompressor);
            }
        }
    }

    /**
     * 60 bits, spread over one message, are flipped one at a time. Each gives a
     * DecompressionException, a payload, or an incomplete message.
     */
    @Test
    void checksDetectMoreFlippedBits() throws IOException {
        byte[][] payloads = Wire.events(50);
        for (Transport transport : new Transport[] {Transport.ZLIB, Transport.ZSTD}) {
            byte[][] frames = Wire.stream(transport, payloads);
            int[] plain = flips(transport, Checks.NONE, payloads, frames);
            int[] checked = flips(transport, Checks.JSON_SEQUENCE, payloads, frames);
            System.out.println(transport + ", 60 bits changed: " + summary(plain) + "; with checks " + summary(checked));
            assertTrue(plain[0] > 0, "some are noticed without checks");
            assertTrue(checked[0] > plain[0], "checks notice more");
            assertTrue(checked[0] >= 30, "checks notice half of them at least");
        }
    }

    private static String summary(int[] outcomes) {
        return outcomes[0] + " errors, " + outcomes[1] + " wrong in silence, " + outcomes[2] + " without effect, "
                + outcomes[3] + " that wait for more";
    }

    /** Counts of flips: error, wrong payload, correct payload, incomplete message. */
    private static int[] flips(Transport transport, Checks checks, byte[][] payloads, byte[][] frames) throws IOException {
        int target = frames.length - 1;
        int bits = frames[target].length * 8;
        int[] outcomes = new int[4];
        try (GatewayDecompressor decompressor = GatewayDecompressor.builder(transport).checks(checks).build()) {
            for (int flip = 0; flip < 60; flip++) {
                decompressor.reset();
                for (int k = 0; k < target; k++) {
                    decompressor.decompress(frames[k]);
                }
                Form form = Form.values()[flip % Form.values().length];
                try {
                    byte[] given = form.decode(decompressor, Wire.flipped(frames[target], (int) ((long) flip * bits / 60)));
                    outcomes[given == null ? 3 : Arrays.equals(given, payloads[target]) ? 2 : 1]++;
                } catch (DecompressionException e) {
                    assertNotNull(e.kind());
                    assertEquals(target, e.messageIndex());
                    outcomes[0]++;
                }
            }
            Wire.assertGoodConnection(decompressor);
        }
        return outcomes;
    }
}
