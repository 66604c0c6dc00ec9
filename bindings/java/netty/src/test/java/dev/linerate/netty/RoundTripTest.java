package dev.linerate.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.linerate.gateway.DeflateOptions;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtension;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketServerExtensionHandshaker;
import io.netty.handler.codec.http.websocketx.extensions.compression.PerMessageDeflateClientExtensionHandshaker;
import io.netty.handler.codec.http.websocketx.extensions.compression.PerMessageDeflateServerExtensionHandshaker;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Frames through our codec and Netty's own, in both directions. */
@ExtendWith(Leaks.class)
class RoundTripTest {
    private static DeflateOptions options(int bits, boolean takeover) {
        return DeflateOptions.builder()
                .encoderWindowBits(bits)
                .decoderWindowBits(bits)
                .encoderTakeover(takeover)
                .decoderTakeover(takeover)
                .build();
    }

    private static PerMessageDeflateClientExtensionHandshaker nettyClient(int bits, boolean takeover) {
        return new PerMessageDeflateClientExtensionHandshaker(6, true, bits, true, !takeover, 0);
    }

    /** Netty's server, which prefers the same window size in both directions. */
    private static WebSocketServerExtensionHandshaker nettyServer(int bits, boolean takeover) {
        return new PerMessageDeflateServerExtensionHandshaker(6, true, bits, true, !takeover, 0);
    }

    private static void exchange(Side.Pair pair) {
        try (pair) {
            for (Side from : new Side[] {pair.server(), pair.client()}) {
                Side to = from == pair.server() ? pair.client() : pair.server();
                for (int i = 0; i < 40; i++) {
                    String text = i % 10 == 9 ? Traffic.messages(i, 300) : Traffic.message(i % 7);
                    int fragment = i % 3 == 0 ? text.length() / 3 + 1 : 1 << 30;
                    assertEquals(text, from.send(to, text, fragment));
                    assertEquals("", from.send(to, "", 1));
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 9, 10, 11, 12, 13, 14, 15})
    void everyWindowBetweenOurs(int bits) {
        for (int other : new int[] {8, 11, 15}) {
            exchange(Side.connect(options(bits, true), options(other, true)));
            exchange(Side.connect(options(bits, false), options(other, true)));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {9, 10, 11, 12, 13, 14, 15})
    void everyWindowWithClientsOfNetty(int bits) {
        for (boolean takeover : new boolean[] {true, false}) {
            Side.Pair pair = Side.connect(
                    new LinerateDeflateServerExtensionHandshaker(DeflateOptions.windowBits(bits)),
                    nettyClient(15, takeover));
            assertEquals(bits == 15 ? null : "" + bits, pair.agreed().get("server_max_window_bits"));
            assertEquals(bits == 15 ? null : "" + bits, pair.agreed().get("client_max_window_bits"));
            assertEquals(!takeover, pair.agreed().containsKey("server_no_context_takeover"));
            exchange(pair);
            pair = Side.connect(
                    new LinerateDeflateServerExtensionHandshaker(DeflateOptions.windowBits(15)),
                    nettyClient(bits, takeover));
            assertEquals(bits == 15 ? null : "" + bits, pair.agreed().get("server_max_window_bits"));
            exchange(pair);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {9, 10, 11, 12, 13, 14, 15})
    void everyWindowWithServersOfNetty(int bits) {
        for (boolean takeover : new boolean[] {true, false}) {
            Side.Pair pair =
                    Side.connect(nettyServer(bits, takeover), LinerateDeflateClientExtensionHandshaker.of(options(bits, true)));
            assertEquals(bits == 15 ? null : "" + bits, pair.agreed().get("server_max_window_bits"));
            exchange(pair);
        }
    }

    /** Netty's server without window sizes accepts our second offer. */
    @Test
    void serverThatCannotLimitItsWindowIsAskedNotToKeepIt() {
        Side.Pair pair = Side.connect(
                new PerMessageDeflateServerExtensionHandshaker(6, false, 15, true, false, 0),
                LinerateDeflateClientExtensionHandshaker.of(DeflateOptions.windowBits(10)));
        assertTrue(pair.agreed().containsKey("server_no_context_takeover"), pair.agreed().toString());
        exchange(pair);
    }

    /** Both messages compress to less than half, so that their buffers should shrink. */
    @Test
    void messageIsSentIfThereIsNoMemoryToShrinkItsBuffer() {
        try (Side.Pair pair = Side.connect(DeflateOptions.windowBits(12), DeflateOptions.windowBits(12))) {
            ByteBufAllocator allocator = Leaks.allocator(FixedRoom::new);
            pair.server().channel.config().setAllocator(allocator);
            String text = Traffic.messages(1, 20);
            for (int i = 0; i < 3; i++) {
                assertEquals(text, pair.server().send(pair.client(), text, 1 << 30));
                ByteBuf content = allocator.directBuffer(200).writeZero(200);
                WebSocketFrame received = pair.server().send(pair.client(), new PreparedBinaryWebSocketFrame(content));
                assertEquals(200, received.content().readableBytes());
                received.release();
            }
        }
    }

    private static final class FixedRoom extends UnpooledDirectByteBuf {
        FixedRoom(ByteBufAllocator allocator, int capacity) {
            super(allocator, capacity, capacity);
        }

        @Override
        public ByteBuf capacity(int newCapacity) {
            throw new OutOfMemoryError("a buffer of " + newCapacity + " bytes");
        }
    }

    @Test
    void buffersOfAnyKind() {
        byte[] text = Traffic.messages(1, 20).getBytes(StandardCharsets.UTF_8);
        try (Side.Pair pair = Side.connect(DeflateOptions.windowBits(12), DeflateOptions.windowBits(12))) {
            for (int kind = 0; kind < 6; kind++) {
                for (boolean whole : new boolean[] {true, false}) {
                    ByteBuf content = content(kind, text);
                    pair.client().channel.writeOutbound(new BinaryWebSocketFrame(whole, 0, content));
                    WebSocketFrame sent = pair.client().channel.readOutbound();
                    assertEquals(0, content.refCnt());
                    byte[] encoded = new byte[sent.content().readableBytes()];
                    sent.content().readBytes(encoded);
                    sent.release();
                    ByteBuf again = content(kind, encoded);
                    pair.server().channel.writeInbound(
                            new BinaryWebSocketFrame(whole, WebSocketExtension.RSV1, again));
                    assertEquals(0, again.refCnt());
                    WebSocketFrame received = pair.server().channel.readInbound();
                    assertEquals(Unpooled.wrappedBuffer(text), received.content());
                    received.release();
                    if (!whole) {
                        assertEquals("", end(pair));
                    }
                }
            }
        }
    }

    private static String end(Side.Pair pair) {
        WebSocketFrame frame = pair.client()
                .send(pair.server(), new ContinuationWebSocketFrame());
        String text = frame.content().toString(StandardCharsets.UTF_8);
        frame.release();
        return text;
    }

    private static ByteBuf content(int kind, byte[] bytes) {
        int half = bytes.length / 2;
        switch (kind) {
            case 0:
                return Leaks.ALLOCATOR.directBuffer().writeBytes(bytes);
            case 1:
                return Leaks.ALLOCATOR.heapBuffer().writeBytes(bytes);
            case 2:
                return Leaks.ALLOCATOR.directBuffer().writeZero(7).writeBytes(bytes).skipBytes(7);
            case 3:
                return Leaks.ALLOCATOR.heapBuffer().writeBytes(bytes).asReadOnly();
            case 4:
                return Leaks.ALLOCATOR.directBuffer().writeZero(3).writeBytes(bytes).slice(3, bytes.length);
            default:
                CompositeByteBuf parts = Leaks.ALLOCATOR.compositeBuffer();
                parts.addComponent(true, Leaks.ALLOCATOR.directBuffer().writeBytes(bytes, 0, half));
                parts.addComponent(true, Leaks.ALLOCATOR.heapBuffer().writeBytes(bytes, half, bytes.length - half));
                return parts;
        }
    }

    @Test
    void smallAndIncompressibleMessagesAreSentAsTheyAre() {
        byte[] noise = new byte[1000];
        new Random(1).nextBytes(noise);
        try (Side.Pair pair = Side.connect(DeflateOptions.windowBits(15), DeflateOptions.windowBits(15))) {
            ByteBuf small = Unpooled.copiedBuffer("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", StandardCharsets.US_ASCII);
            for (ByteBuf content : new ByteBuf[] {small, Unpooled.wrappedBuffer(noise)}) {
                pair.server().channel.writeOutbound(new BinaryWebSocketFrame(content));
                WebSocketFrame sent = pair.server().channel.readOutbound();
                assertEquals(0, sent.rsv());
                assertSame(content, sent.content());
                pair.client().channel.writeInbound(sent);
                assertSame(sent, pair.client().channel.readInbound());
                assertTrue(sent.release());
            }
            assertEquals("and on", pair.server().send(pair.client(), "and on", 3));
        }
    }

    /** A secret must not be compressed together with text that somebody else chose. */
    @Test
    void filteredMessagesAreSentAsTheyAre() {
        var handshaker = new LinerateDeflateServerExtensionHandshaker(
                DeflateOptions.windowBits(15), frame -> frame instanceof BinaryWebSocketFrame);
        var client = LinerateDeflateClientExtensionHandshaker.of(DeflateOptions.windowBits(15));
        try (Side.Pair pair = Side.connect(handshaker, client)) {
            assertNotNull(pair.server().encoded(Traffic.message(1)).get(0));
            pair.server().channel.writeOutbound(
                    new BinaryWebSocketFrame(Unpooled.copiedBuffer(Traffic.message(1), StandardCharsets.UTF_8)));
            WebSocketFrame frame = pair.server().channel.readOutbound();
            assertEquals(0, frame.rsv());
            frame.release();
        }
    }

    @ParameterizedTest
    @CsvSource({"permessage-deflate; server_max_window_bits=7", "permessage-deflate; unknown", "permessage-bzip2"})
    void offersThatCannotBeAcceptedAreDeclined(String offer) {
        var handshaker = new LinerateDeflateServerExtensionHandshaker(DeflateOptions.windowBits(15));
        assertEquals(null, handshaker.handshakeExtension(Headers.parse(offer).get(0)));
    }

    @ParameterizedTest
    @CsvSource({"permessage-deflate", "permessage-deflate; server_max_window_bits=11", "permessage-deflate; x", "other"})
    void answersThatFitNoOfferAreRefused(String answer) {
        var handshaker = LinerateDeflateClientExtensionHandshaker.of(DeflateOptions.windowBits(10))[0];
        assertEquals(null, handshaker.handshakeExtension(Headers.parse(answer).get(0)));
    }

    @Test
    void framesThatAreCompressedAlreadyPass() {
        try (Side.Pair pair = Side.connect(DeflateOptions.windowBits(15), DeflateOptions.windowBits(15))) {
            var frame = new TextWebSocketFrame(true, WebSocketExtension.RSV1, Unpooled.wrappedBuffer(new byte[100]));
            pair.server().channel.writeOutbound(frame);
            assertSame(frame, pair.server().channel.readOutbound());
            frame.release();
        }
    }
}
