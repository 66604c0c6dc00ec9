package dev.linerate.gateway.jda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.linerate.gateway.DecompressionException;
import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.Transport;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class FrameStreamTest {
    /** Payload lengths, among them those around which frame headers and buffers grow. */
    private static final int[] ALL_SIZES = {121, 1, 125, 126, 9000, 65_535, 65_536, 200_000, 36};

    private static final int[] SMALL_SIZES = {121, 1, 126, 4000};

    private static final byte[] PING = "still there?".getBytes(StandardCharsets.US_ASCII);

    private static FrameStream stream(InputStream delegate, Transport transport, boolean etf) {
        GatewayConnection connection = new GatewayConnection(GatewaySockets.of(transport), etf);
        return new FrameStream(delegate, () -> connection);
    }

    /** The bytes that a server sends, and those that the client should receive. */
    private static byte[][] conversation(Transport transport, int opcode, int... sizes) throws IOException {
        Gateway gateway = new Gateway(transport);
        Wire sent = new Wire().answer(Wire.UPGRADE);
        Wire seen = new Wire().answer(Wire.UPGRADE);
        for (int size : sizes) {
            byte[] payload = Gateway.text(size, size);
            sent.frame(Wire.BINARY, gateway.frame(payload));
            seen.frame(opcode, payload);
            byte[] compressed = gateway.frame(payload);
            int piece = compressed.length / 3 + 1;
            sent.frame(false, Wire.BINARY, Arrays.copyOf(compressed, piece));
            sent.frame(Wire.PING, PING);
            seen.frame(Wire.PING, PING);
            sent.frame(true, 0, Arrays.copyOfRange(compressed, piece, compressed.length));
            seen.frame(opcode, payload);
            sent.pieces(Wire.TEXT, payload, 5000);
            seen.pieces(Wire.TEXT, payload, 5000);
        }
        sent.frame(Wire.CLOSE, new byte[] {0x0f, (byte) 0xa0});
        seen.frame(Wire.CLOSE, new byte[] {0x0f, (byte) 0xa0});
        return new byte[][] {sent.bytes(), seen.bytes()};
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void compressedMessagesBecomeTextAndOtherFramesAreUnchanged(Transport transport) throws IOException {
        byte[][] small = conversation(transport, Wire.TEXT, SMALL_SIZES);
        for (int maxPart : new int[] {1, 2, 3, 7, 100}) {
            assertSeen(small, Wire.slowly(small[0], maxPart, true), transport, 1000);
            assertSeen(small, Wire.slowly(small[0], 1000, false), transport, maxPart);
        }
        byte[][] all = conversation(transport, Wire.TEXT, ALL_SIZES);
        for (int maxPart : new int[] {100, 8192, 1 << 20}) {
            assertSeen(all, Wire.slowly(all[0], maxPart, true), transport, 8192);
            assertSeen(all, Wire.slowly(all[0], 1 << 20, false), transport, maxPart);
        }
    }

    private static void assertSeen(byte[][] conversation, InputStream delegate, Transport transport, int maxPart)
            throws IOException {
        assertArrayEquals(conversation[1], Wire.all(stream(delegate, transport, false), maxPart));
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void etfMessagesStayBinary(Transport transport) throws IOException {
        byte[][] conversation = conversation(transport, Wire.BINARY, ALL_SIZES);
        InputStream delegate = Wire.slowly(conversation[0], 1000, false);
        assertArrayEquals(conversation[1], Wire.all(stream(delegate, transport, true), 1000));
    }

    @Test
    void transportsOfFeedsAreNotThoseOfGateways() {
        assertThrows(IllegalArgumentException.class, () -> GatewaySockets.of(Transport.GZIP));
        assertThrows(NullPointerException.class, () -> GatewaySockets.of((Transport) null));
    }

    @Test
    void zlibMessagesMayBeFragmented() throws IOException {
        Gateway gateway = new Gateway(Transport.ZLIB);
        byte[] payload = Gateway.text(5000, 1);
        byte[] compressed = gateway.frame(payload);
        Wire sent = new Wire().answer(Wire.UPGRADE);
        for (int at = 0; at < compressed.length; at += 100) {
            sent.frame(Wire.BINARY, Arrays.copyOfRange(compressed, at, Math.min(at + 100, compressed.length)));
        }
        InputStream stream = stream(Wire.slowly(sent.bytes(), 50, false), Transport.ZLIB, false);
        assertArrayEquals(
                new Wire().answer(Wire.UPGRADE).frame(Wire.TEXT, payload).bytes(), Wire.all(stream, 8192));
    }

    @Test
    void oneByteAtATime() throws IOException {
        byte[][] conversation = conversation(Transport.ZSTD, Wire.TEXT, ALL_SIZES);
        InputStream stream = stream(Wire.slowly(conversation[0], 1 << 20, false), Transport.ZSTD, false);
        for (byte expected : conversation[1]) {
            assertEquals(expected & 0xff, stream.read());
        }
        assertEquals(-1, stream.read());
    }

    @Test
    void availableCountsReadyBytes() throws IOException {
        byte[] payload = Gateway.text(5000, 1);
        byte[] sent = new Wire()
                .answer(Wire.UPGRADE)
                .frame(Wire.BINARY, new Gateway(Transport.ZSTD).frame(payload))
                .bytes();
        InputStream stream = stream(Wire.slowly(sent, 1 << 20, false), Transport.ZSTD, false);
        assertEquals(Wire.UPGRADE.length(), stream.read(new byte[1000]));
        assertEquals(0, stream.available());
        assertEquals(0x81, stream.read());
        assertEquals(3 + payload.length, stream.available());
        assertEquals(3, stream.read(new byte[1000]));
        assertEquals(payload.length, stream.available());
        assertEquals(0, stream.read(new byte[0]));
        assertThrows(IndexOutOfBoundsException.class, () -> stream.read(new byte[4], 2, 3));
    }

    @ParameterizedTest
    @ValueSource(strings = {"HTTP/1.1 404 Not Found\r\nX: 1\r\n\r\n", "HTTP/1.0 101 no\n\n", "\r\n\r\n", "nothing"})
    void otherResponsesAreUnchanged(String head) throws IOException {
        byte[] frame = new Gateway(Transport.ZSTD).frame("{}");
        byte[] sent = new Wire().answer(head).frame(Wire.BINARY, frame).bytes();
        assertArrayEquals(sent, Wire.all(stream(Wire.slowly(sent, 9, false), Transport.ZSTD, false), 100));
    }

    @Test
    void otherConnectionsAreUnchanged() throws IOException {
        byte[] sent = conversation(Transport.ZLIB, Wire.TEXT, SMALL_SIZES)[0];
        for (int maxPart : new int[] {1, 100, 1 << 20}) {
            FrameStream stream = new FrameStream(Wire.slowly(sent, maxPart, false), () -> null);
            assertArrayEquals(sent, Wire.all(stream, 8192));
        }
    }

    /** The websocket client itself reports such frames. */
    @Test
    void invalidFramesArePassedThrough() throws IOException {
        byte[] compressed = new Gateway(Transport.ZSTD).frame("{}");
        byte[] masked = {(byte) 0x82, (byte) 0x81, 1, 2, 3, 4, 5};
        byte[] endless = {(byte) 0x82, 127, -1, -1, -1, -1, -1, -1, -1, -1, 5};
        byte[] reserved = new Wire().frame(Wire.BINARY, compressed).bytes();
        reserved[0] |= 0x40;
        byte[] continued = new Wire().frame(true, 0, compressed).bytes();
        for (byte[] odd : new byte[][] {masked, endless, reserved, continued}) {
            byte[] sent = new Wire().answer(Wire.UPGRADE).raw(odd).bytes();
            assertArrayEquals(sent, Wire.all(stream(Wire.slowly(sent, 3, false), Transport.ZSTD, false), 100));
        }
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void connectionEndWithinAFrameIsEndOfStream(Transport transport) throws IOException {
        byte[] payload = Gateway.text(300, 1);
        Gateway gateway = new Gateway(transport);
        byte[] head = Wire.UPGRADE.getBytes(StandardCharsets.ISO_8859_1);
        byte[] whole = new Wire()
                .raw(head)
                .pieces(Wire.BINARY, gateway.frame(payload), 60)
                .frame(Wire.BINARY, gateway.frame(payload))
                .bytes();
        byte[] seen = new Wire().raw(head).frame(Wire.TEXT, payload).frame(Wire.TEXT, payload).bytes();
        for (int length = 0; length < whole.length; length++) {
            InputStream stream = stream(Wire.slowly(Arrays.copyOf(whole, length), 40, false), transport, false);
            byte[] read = Wire.all(stream, 1000);
            // A truncated frame header is passed through.
            int same = Math.min(read.length, seen.length);
            while (same > head.length && read[same - 1] != seen[same - 1]) {
                same--;
            }
            assertTrue(read.length - same < 14, "at " + length);
            assertArrayEquals(Arrays.copyOf(seen, same), Arrays.copyOf(read, same));
        }
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void damagedStreamIsReportedOnceAndThrownByEveryRead(Transport transport) throws IOException {
        Gateway gateway = new Gateway(transport);
        byte[] first = gateway.frame(Gateway.text(500, 1));
        byte[] bad = gateway.frame(Gateway.text(500, 2));
        bad[0] ^= 6;
        byte[] sent = new Wire()
                .answer(Wire.UPGRADE)
                .frame(Wire.BINARY, first)
                .frame(Wire.BINARY, bad)
                .frame(Wire.BINARY, gateway.frame("{}"))
                .bytes();
        for (int maxPart : new int[] {10, 1 << 20}) {
            List<DecompressionException> reported = new ArrayList<>();
            GatewayConnection connection = new GatewayConnection(
                    GatewaySockets.of(transport).onError(reported::add), false);
            FrameStream stream = new FrameStream(Wire.slowly(sent, maxPart, false), () -> connection);
            byte[] expected = new Wire()
                    .answer(Wire.UPGRADE)
                    .frame(Wire.TEXT, Gateway.text(500, 1))
                    .bytes();
            byte[] read = new byte[expected.length];
            for (int at = 0; at < read.length; ) {
                at += stream.read(read, at, read.length - at);
            }
            assertArrayEquals(expected, read);
            DecompressionException error = assertThrows(DecompressionException.class, stream::read);
            assertEquals(1, error.messageIndex());
            assertSame(error, assertThrows(DecompressionException.class, () -> stream.read(new byte[100])));
            assertEquals(List.of(error), reported);
        }
    }

    @Test
    void exceptionOfTheListenerIsSuppressed() throws IOException {
        IllegalStateException failure = new IllegalStateException("the listener's own");
        GatewaySockets sockets = GatewaySockets.of(Transport.ZSTD).onError(error -> {
            throw failure;
        });
        GatewayConnection connection = new GatewayConnection(sockets, false);
        DecompressionException error =
                assertThrows(DecompressionException.class, () -> connection.payload(new byte[9], 0, 9));
        assertSame(failure, error.getSuppressed()[0]);
        connection.close();
    }

    @Test
    void tooLongDeclaredLengthIsAnErrorAtTheHeader() {
        byte[] head = {(byte) 0x82, 127, 0, 0, 0, 0, 4, 0, 0, 1};
        byte[] sent = new Wire().answer(Wire.UPGRADE).raw(head).bytes();
        InputStream stream = stream(Wire.slowly(sent, 100, false), Transport.ZSTD, false);
        DecompressionException error = assertThrows(DecompressionException.class, () -> Wire.all(stream, 1000));
        assertEquals(DecompressionException.Kind.LIMIT, error.kind());
        assertThrows(DecompressionException.class, stream::read);
    }

    @Test
    void declaredLengthAllocatesNoMemory() throws IOException {
        GatewayConnection connection = new GatewayConnection(GatewaySockets.of(Transport.ZSTD), false);
        byte[] head = {(byte) 0x82, 127, 0, 0, 0, 0, 3, 0, 0, 0, 1, 2, 3};
        byte[] sent = new Wire().answer(Wire.UPGRADE).raw(head).bytes();
        FrameStream stream = new FrameStream(Wire.slowly(sent, 100, false), () -> connection);
        assertEquals(Wire.UPGRADE.length(), Wire.all(stream, 1000).length);
        assertEquals(3, connection.length());
        assertTrue(connection.ensureCapacity(1).length <= 16 << 10);
    }

    @Test
    void readAfterSocketCloseThrows() throws IOException {
        GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZSTD);
        GatewayConnection connection = new GatewayConnection(GatewaySockets.of(() -> decompressor), false);
        Gateway gateway = new Gateway(Transport.ZSTD);
        byte[] sent = new Wire()
                .answer(Wire.UPGRADE)
                .frame(Wire.BINARY, gateway.frame(Gateway.text(500, 1)))
                .frame(Wire.BINARY, gateway.frame(Gateway.text(500, 2)))
                .bytes();
        FrameStream stream = new FrameStream(Wire.slowly(sent, 1 << 20, false), () -> connection);
        stream.read(new byte[1000]);
        assertEquals(0x81, stream.read());
        connection.close();
        assertTrue(decompressor.isClosed());
        assertEquals(3, stream.read(new byte[1000]));
        assertThrows(SocketException.class, () -> stream.read(new byte[1000]));
        assertThrows(SocketException.class, stream::available);
    }
}
