package dev.linerate.gateway.hostile;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.linerate.gateway.Checks;
import dev.linerate.gateway.DecompressionException;
import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.Transport;
import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Messages that contain more or less than exactly one payload. */
class StreamEndTest {
    /** Other decoders decoded only the first of two zstd frames. */
    @Test
    void twoFramesInOneMessageAreBothDecoded() throws IOException {
        byte[] both = Wire.concat(Wire.storedFrame(16, true, "{\"a\":1,"), Wire.storedFrame(16, false, "\"b\":2}"));
        for (Form form : Form.values()) {
            try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZSTD)) {
                assertArrayEquals(Wire.utf8("{\"a\":1,\"b\":2}"), form.decode(decompressor, both), form.name());
                Wire.assertGoodConnection(decompressor);
            }
        }
    }

    /** Without checks the two messages are one payload; checks detect that there are two. */
    @Test
    void twoMessagesInOneAreDecodedOrDetected() throws IOException {
        for (Transport transport : new Transport[] {Transport.ZLIB, Transport.ZSTD}) {
            byte[][] payloads = Wire.events(3);
            byte[][] frames = Wire.stream(transport, payloads);
            byte[] both = Wire.concat(frames[1], frames[2]);
            try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
                decompressor.decompress(frames[0]);
                assertArrayEquals(Wire.concat(payloads[1], payloads[2]), decompressor.decompress(both), transport.name());
            }
            try (GatewayDecompressor decompressor =
                    GatewayDecompressor.builder(transport).checks(Checks.JSON).build()) {
                decompressor.decompress(frames[0]);
                DecompressionException e = assertThrows(DecompressionException.class, () -> decompressor.decompress(both));
                assertEquals(DecompressionException.Kind.CORRUPT, e.kind());
                assertEquals(1, e.messageIndex());
                assertEquals(frames[0].length, e.offset());
                Wire.assertGoodConnection(decompressor);
            }
        }
    }

    /** A zstd message is exactly one websocket message, so a part of one is an error. */
    @Test
    void truncatedZstdMessageIsAnError() throws IOException {
        byte[][] frames = Wire.stream(Transport.ZSTD, Wire.events(4));
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZSTD)) {
            for (int cut = 1; cut < frames[3].length; cut++) {
                Form form = Form.values()[cut % Form.values().length];
                decompressor.reset();
                for (int k = 0; k < 3; k++) {
                    decompressor.decompress(frames[k]);
                }
                byte[] part = Wire.prefix(frames[3], cut);
                DecompressionException e =
                        assertThrows(DecompressionException.class, () -> form.decode(decompressor, part), "cut at " + cut);
                assertEquals(DecompressionException.Kind.TRUNCATED, e.kind(), e::toString);
                assertEquals(3, e.messageIndex());
            }
            Wire.assertGoodConnection(decompressor);
        }
    }

    /**
     * A part of a zlib message waits for the rest, wherever it is split; a new connection discards
     * it.
     */
    @Test
    void truncatedZlibMessageWaitsForTheRest() throws IOException {
        byte[][] payloads = Wire.events(5);
        byte[][] frames = Wire.stream(Transport.ZLIB, payloads);
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZLIB)) {
            for (int cut = 0; cut <= frames[3].length; cut++) {
                Form form = Form.values()[cut % Form.values().length];
                byte[] part = Wire.prefix(frames[3], cut);
                byte[] rest = Arrays.copyOfRange(frames[3], cut, frames[3].length);
                decompressor.reset();
                for (int k = 0; k < 3; k++) {
                    decompressor.decompress(frames[k]);
                }
                if (cut < frames[3].length) {
                    assertNull(form.decode(decompressor, part), "cut at " + cut);
                    assertArrayEquals(payloads[3], form.decode(decompressor, rest), "cut at " + cut);
                } else {
                    assertArrayEquals(payloads[3], form.decode(decompressor, part));
                }
                assertArrayEquals(payloads[4], form.decode(decompressor, frames[4]), "after a cut at " + cut);
                decompressor.reset();
                decompressor.decompress(frames[0]);
                form.decode(decompressor, Wire.prefix(frames[1], frames[1].length / 2));
                decompressor.reset();
                assertArrayEquals(payloads[0], form.decode(decompressor, frames[0]), "after half a message");
            }
            Wire.assertGoodConnection(decompressor);
        }
    }

    /**
     * A zlib message without its end looks like an incomplete one. Checks detect it within the next
     * two messages, unless 5 bytes or fewer are missing.
     */
    @Test
    void checksDetectAZlibMessageWithoutItsEnd() throws IOException {
        byte[][] payloads = Wire.events(6);
        byte[][] frames = Wire.stream(Transport.ZLIB, payloads);
        int length = frames[3].length;
        try (GatewayDecompressor decompressor =
                GatewayDecompressor.builder(Transport.ZLIB).checks(Checks.JSON_SEQUENCE).build()) {
            for (int cut = 1; cut < length; cut++) {
                decompressor.reset();
                for (int k = 0; k < 3; k++) {
                    decompressor.decompress(frames[k]);
                }
                assertNull(decompressor.decompress(Wire.prefix(frames[3], cut)));
                DecompressionException error = null;
                try {
                    decompressor.decompress(frames[4]);
                    decompressor.decompress(frames[5]);
                } catch (DecompressionException e) {
                    error = e;
                }
                // The last 5 bytes of a message contain no text, so the first bytes of the next
                // message may complete a message without them.
                assertTrue(error != null || cut >= length - 5, "cut at " + cut + " of " + length);
            }
            Wire.assertGoodConnection(decompressor);
        }
    }
}
