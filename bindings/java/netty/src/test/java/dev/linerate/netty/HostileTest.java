package dev.linerate.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.linerate.gateway.DecompressionException;
import dev.linerate.gateway.DeflateOptions;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.CorruptedWebSocketFrameException;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtension;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Input from a hostile peer: each message is decoded correctly, or ends the connection with an
 * exception and a close frame.
 */
@ExtendWith(Leaks.class)
class HostileTest {
    private static final DeflateOptions DEFAULT = DeflateOptions.builder().build();

    private static WebSocketFrame compressed(byte... payload) {
        return new TextWebSocketFrame(
                true, WebSocketExtension.RSV1, Leaks.ALLOCATOR.directBuffer().writeBytes(payload));
    }

    private static byte[] bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return bytes;
    }

    /**
     * Returns the message that the server receives; null after an error, which must have one of
     * these codes and end the connection with a close frame.
     */
    private static String receive(Side server, WebSocketFrame frame, int... codes) {
        CorruptedWebSocketFrameException error = null;
        try {
            server.channel.writeInbound(frame);
        } catch (CorruptedWebSocketFrameException e) {
            error = e;
        }
        if (error == null) {
            WebSocketFrame received = server.channel.readInbound();
            String text = received.content().toString(StandardCharsets.ISO_8859_1);
            received.release();
            return text;
        }
        int code = error.closeStatus().code();
        assertTrue(Arrays.stream(codes).anyMatch(one -> one == code), error.toString());
        if (code == 1007 || code == 1009) {
            assertInstanceOf(DecompressionException.class, error.getCause());
        }
        CloseWebSocketFrame close = server.channel.readOutbound();
        assertEquals(code, close.statusCode());
        assertEquals(error.getMessage(), close.reasonText());
        close.release();
        assertFalse(server.channel.isOpen());
        assertNull(server.channel.readInbound());
        return null;
    }

    private static Side.Pair pair(DeflateOptions server) {
        return Side.connect(server, DEFAULT);
    }

    @Test
    void finalBlocksAndWhatFollows() {
        byte[] hello = bytes(0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00);
        byte[] padded = bytes(0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00);
        byte[] window = bytes(0xf2, 0x00, 0x11, 0x00, 0x00);
        try (Side.Pair pair = pair(DEFAULT)) {
            for (byte[] message : new byte[][] {hello, bytes(), padded, window, bytes(), hello, window, bytes(0x00)}) {
                String expected = message.length <= 1 ? "" : "Hello";
                assertEquals(expected, receive(pair.server(), compressed(message)));
            }
        }
    }

    @Test
    void damageIs1007() {
        byte[][] damaged = {
            bytes(0xf2, 0x48, 0xcd), bytes(0x06), bytes(0x00, 0x05, 0x00, 0xfa), bytes(0x02, 0x13, 0x00, 0x00)
        };
        for (byte[] message : damaged) {
            try (Side.Pair pair = pair(DEFAULT)) {
                assertNull(receive(pair.server(), compressed(message), 1007));
            }
        }
    }

    @Test
    void rsv1WhereItDoesNotBelongIs1002() {
        ByteBuf empty = Unpooled.EMPTY_BUFFER;
        try (Side.Pair pair = pair(DEFAULT)) {
            assertNull(receive(pair.server(), new PingWebSocketFrame(true, WebSocketExtension.RSV1, empty), 1002));
        }
        try (Side.Pair pair = pair(DEFAULT)) {
            var frame = new ContinuationWebSocketFrame(true, WebSocketExtension.RSV1, empty);
            assertNull(receive(pair.server(), frame, 1002));
        }
        try (Side.Pair pair = pair(DEFAULT)) {
            var begin = new TextWebSocketFrame(false, WebSocketExtension.RSV1, Unpooled.wrappedBuffer(bytes(0, 0, 0, 255, 255)));
            assertEquals("", receive(pair.server(), begin));
            assertNull(receive(pair.server(), new TextWebSocketFrame("another"), 1002));
        }
    }

    @Test
    void framesAfterAnErrorAreDropped() {
        try (Side.Pair pair = pair(DEFAULT)) {
            WebSocketFrame ping = new PingWebSocketFrame(Leaks.ALLOCATOR.buffer().writeByte(1));
            assertThrows(
                    CorruptedWebSocketFrameException.class,
                    () -> pair.server().channel.writeInbound(compressed(bytes(6)), ping));
            assertEquals(0, ping.refCnt());
            assertNull(pair.server().channel.readInbound());
        }
    }

    /** A bomb: a message of 1 MiB in less than 2,000 compressed bytes. */
    @Test
    void bombsEndAtTheLimitsWith1009() {
        String zeros = new String(new char[1 << 20]);
        byte[] bomb;
        try (Side.Pair pair = pair(DEFAULT)) {
            bomb = pair.client().encoded(zeros).get(0);
            assertTrue(bomb.length < 2000, bomb.length + " bytes");
            assertEquals(zeros, receive(pair.server(), compressed(bomb)));
        }
        DeflateOptions exact = DeflateOptions.builder().messageLimit(1 << 20).build();
        try (Side.Pair pair = pair(exact)) {
            assertEquals(1 << 20, receive(pair.server(), compressed(bomb)).length());
        }
        DeflateOptions[] limited = {
            DeflateOptions.builder().messageLimit((1 << 20) - 1).build(),
            DeflateOptions.builder().messageLimit(1000).build(),
            DeflateOptions.builder().ratioLimit(100).build()
        };
        for (DeflateOptions options : limited) {
            try (Side.Pair pair = pair(options)) {
                assertNull(receive(pair.server(), compressed(bomb), 1009));
            }
        }
    }

    /** The decoder has read a part of the message, so the connection cannot go on. */
    @Test
    void memoryThatRunsOutEndsTheConnectionWith1011() {
        try (Side.Pair pair = pair(DEFAULT)) {
            byte[] message = pair.client().encoded(new String(new char[100_000])).get(0);
            ByteBufAllocator buffersThatDoNotGrow =
                    Leaks.allocator((allocator, capacity) -> Leaks.ALLOCATOR.directBuffer(capacity, capacity));
            pair.server().channel.config().setAllocator(buffersThatDoNotGrow);
            assertNull(receive(pair.server(), compressed(message), 1011));
        }
    }

    /** The limit applies to all fragments of a message together. */
    @Test
    void fragmentsAreLimitedTogether() {
        try (Side.Pair pair = pair(DeflateOptions.builder().messageLimit(10_000).build())) {
            Side client = pair.client();
            int received = 0;
            for (int i = 0; ; i++) {
                ByteBuf content = Leaks.ALLOCATOR.buffer().writeZero(1000);
                client.channel.writeOutbound(
                        i == 0 ? new TextWebSocketFrame(false, 0, content) : new ContinuationWebSocketFrame(false, 0, content));
                String text = receive(pair.server(), client.channel.readOutbound(), 1009);
                if (text == null) {
                    break;
                }
                received += text.length();
            }
            assertEquals(10_000, received);
        }
    }

    /** The matches in the peer's messages reach further back than the agreed window. */
    @ParameterizedTest
    @ValueSource(ints = {8, 9, 10, 11, 12, 13, 14})
    void peerWithALargerWindowThanAgreedIsRefused(int bits) {
        try (Side.Pair large = pair(DEFAULT);
                Side.Pair small = Side.connect(DeflateOptions.windowBits(bits), DeflateOptions.windowBits(bits))) {
            String far = Traffic.message(1_000_000);
            boolean isRefused = false;
            for (int i = 0; i < 400 && !isRefused; i++) {
                String text = i % 40 == 39 ? far : Traffic.message(i);
                for (byte[] payload : large.client().encoded(text)) {
                    String received = receive(small.server(), compressed(payload), 1007);
                    isRefused = received == null;
                    if (!isRefused) {
                        assertEquals(text, new String(received.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8));
                    }
                }
            }
            assertTrue(isRefused);
        }
    }

    @Test
    void everyTruncationEndsTheConnection() {
        List<byte[]> wire;
        try (Side.Pair pair = pair(DEFAULT)) {
            wire = pair.client().encoded(Traffic.message(1), Traffic.message(2));
        }
        for (int message = 0; message < 2; message++) {
            byte[] payload = wire.get(message);
            // A message with no bytes is an empty one, so it is not tested.
            for (int length = 1; length < payload.length; length++) {
                try (Side.Pair pair = pair(DEFAULT)) {
                    for (int before = 0; before < message; before++) {
                        receive(pair.server(), compressed(wire.get(before)));
                    }
                    byte[] cut = Arrays.copyOf(payload, length);
                    String received = receive(pair.server(), compressed(cut), 1007);
                    // A cut after the end of a block is a complete message. Only a cut before the
                    // last byte can be one.
                    assertTrue(received == null || length == payload.length - 1, length + " of " + payload.length);
                }
            }
        }
    }

    @Test
    void everyFlippedBitGivesATypedErrorOrAMessage() {
        List<byte[]> wire;
        try (Side.Pair pair = pair(DEFAULT)) {
            wire = pair.client().encoded(Traffic.message(1), Traffic.message(2));
        }
        byte[] payload = wire.get(1);
        int errors = 0;
        for (int bit = 0; bit < 8 * payload.length; bit++) {
            byte[] flipped = payload.clone();
            flipped[bit / 8] ^= (byte) (1 << bit % 8);
            try (Side.Pair pair = pair(DeflateOptions.builder().messageLimit(100_000).build())) {
                receive(pair.server(), compressed(wire.get(0)));
                if (receive(pair.server(), compressed(flipped), 1007, 1009) == null) {
                    errors++;
                }
            }
        }
        assertTrue(errors > 10, errors + " errors");
    }

    @Test
    void codecOfAConnectionThatIsClosedIsFreed() {
        Side.Pair pair = pair(DEFAULT);
        pair.server().channel.close();
        pair.client().channel.close();
        assertThrows(
                ClosedChannelException.class,
                () -> pair.server().channel.writeOutbound(new TextWebSocketFrame("late")));
        pair.close();
    }
}
