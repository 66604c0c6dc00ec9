package dev.linerate.gateway.hostile;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.Transport;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Readers that stop early, throw, or read in unusual ways. */
class ReaderTest {
    private static final int[] STOPS = {0, 1, 10, 100};

    /** Unread bytes do not appear in the next message or damage it. */
    @Test
    void readersMayStopEarly() throws IOException {
        byte[][] payloads = large(20);
        for (Transport transport : new Transport[] {Transport.ZLIB, Transport.ZSTD}) {
            byte[][] frames = Wire.stream(transport, payloads);
            for (int stop : STOPS) {
                for (boolean close : new boolean[] {true, false}) {
                    try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
                        for (int k = 0; k < frames.length; k++) {
                            InputStream stream = decompressor.open(frames[k]);
                            boolean whole = k % 2 == 1;
                            byte[] given = whole ? Form.all(stream) : exactly(stream, stop);
                            assertArrayEquals(whole ? payloads[k] : Arrays.copyOf(payloads[k], stop), given, "message " + k);
                            if (close) {
                                stream.close();
                                stream.close();
                            }
                        }
                        Wire.assertGoodConnection(decompressor);
                    }
                }
            }
        }
    }

    @Test
    void parsersMayThrow() throws IOException {
        byte[][] payloads = large(20);
        for (Transport transport : new Transport[] {Transport.ZLIB, Transport.ZSTD}) {
            byte[][] frames = Wire.stream(transport, payloads);
            try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
                for (int k = 0; k < frames.length; k++) {
                    byte[] frame = frames[k];
                    if (k % 3 == 0) {
                        assertThrows(NumberFormatException.class, () -> {
                            try (InputStream stream = decompressor.open(frame)) {
                                exactly(stream, 37);
                                throw new NumberFormatException("a parser gives up");
                            }
                        });
                    } else {
                        assertArrayEquals(payloads[k], Form.STREAM.decode(decompressor, frame), "message " + k);
                    }
                }
            }
        }
    }

    /** Jackson treats a read of 0 bytes as an error. */
    @Test
    void readReturnsBytesOrTheEnd() throws IOException {
        byte[][] payloads = large(6);
        for (Transport transport : new Transport[] {Transport.ZLIB, Transport.ZSTD}) {
            byte[][] frames = Wire.stream(transport, payloads);
            try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
                for (int k = 0; k < frames.length; k++) {
                    try (InputStream stream = decompressor.open(frames[k])) {
                        assertEquals(0, stream.read(new byte[8], 3, 0));
                        assertTrue(stream.available() >= 0);
                        assertEquals(payloads[k][0], (byte) stream.read());
                        long skipped = stream.skip(5);
                        assertTrue(skipped >= 0 && skipped <= 5);
                        byte[] rest = Form.all(stream);
                        assertArrayEquals(Arrays.copyOfRange(payloads[k], 1 + (int) skipped, payloads[k].length), rest);
                        assertEquals(-1, stream.read());
                        assertEquals(-1, stream.read(new byte[8]));
                        assertEquals(0, stream.skip(5));
                        assertThrows(IndexOutOfBoundsException.class, () -> stream.read(new byte[8], 4, 5));
                        assertThrows(NullPointerException.class, () -> stream.read(null, 0, 1));
                    }
                }
            }
        }
    }

    /** After a reset a stream returns nothing of the old or the new connection. */
    @Test
    void resetWhileAStreamIsOpen() throws IOException {
        byte[][] payloads = large(4);
        for (Transport transport : new Transport[] {Transport.ZLIB, Transport.ZSTD}) {
            byte[][] frames = Wire.stream(transport, payloads);
            try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
                InputStream old = decompressor.open(frames[0]);
                exactly(old, 10);
                decompressor.reset();
                try {
                    assertEquals(-1, old.read(new byte[8]));
                } catch (IOException e) {
                    // The stream may also throw.
                }
                for (int k = 0; k < frames.length; k++) {
                    assertArrayEquals(payloads[k], Form.STREAM.decode(decompressor, frames[k]), "message " + k);
                }
            }
        }
    }

    /** Payloads of which every second one is longer than the first array of a stream, 64 KiB. */
    private static byte[][] large(int n) {
        byte[][] payloads = new byte[n][];
        for (int k = 0; k < n; k++) {
            payloads[k] = Wire.sized(k % 2 == 0 ? 97_724 : 1_033 + k);
        }
        return payloads;
    }

    private static byte[] exactly(InputStream stream, int n) throws IOException {
        byte[] found = new byte[n];
        for (int at = 0; at < n; ) {
            int read = stream.read(found, at, n - at);
            assertTrue(read > 0, "read gave " + read);
            at += read;
        }
        return found;
    }
}
