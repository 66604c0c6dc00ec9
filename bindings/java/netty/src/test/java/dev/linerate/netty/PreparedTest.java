package dev.linerate.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.linerate.gateway.DeflateOptions;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelFuture;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameDecoder;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameEncoder;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtension;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionFilter;
import io.netty.handler.codec.http.websocketx.extensions.compression.PerMessageDeflateClientExtensionHandshaker;
import io.netty.handler.codec.http.websocketx.extensions.compression.PerMessageDeflateServerExtensionHandshaker;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Prepared messages, sent between ordinary ones, to Netty's own codec and to ours. */
@ExtendWith(Leaks.class)
class PreparedTest {
    private static ByteBuf buffer(byte[] bytes) {
        return Leaks.ALLOCATOR.buffer().writeBytes(bytes);
    }

    private static ByteBuf buffer(String text) {
        return buffer(text.getBytes(StandardCharsets.UTF_8));
    }

    private static DeflateOptions options(int bits, boolean takeover, boolean remember) {
        return DeflateOptions.builder()
                .encoderWindowBits(bits)
                .decoderWindowBits(bits)
                .encoderTakeover(takeover)
                .decoderTakeover(takeover)
                .rememberPrepared(remember)
                .build();
    }

    /**
     * Messages shorter and longer than windows, with text and with incompressible bytes, and an
     * empty one.
     */
    private static List<WebSocketFrame> prepared() {
        byte[] noise = new byte[700];
        new Random(1).nextBytes(noise);
        List<WebSocketFrame> frames = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            frames.add(new PreparedTextWebSocketFrame(buffer(Traffic.message(i))));
        }
        frames.add(new PreparedTextWebSocketFrame(buffer(Traffic.messages(20, 5))));
        frames.add(new PreparedTextWebSocketFrame(buffer(Traffic.messages(30, 100))));
        frames.add(new PreparedBinaryWebSocketFrame(buffer(Traffic.message(40))));
        frames.add(new PreparedTextWebSocketFrame(Traffic.message(41)));
        frames.add(new PreparedTextWebSocketFrame(""));
        frames.add(new PreparedBinaryWebSocketFrame(buffer(noise)));
        return frames;
    }

    /**
     * Sends prepared messages and others, whole and in fragments, in an order that depends on the
     * seed.
     */
    private static void exchange(Side.Pair pair, List<WebSocketFrame> prepared, long seed) {
        Random random = new Random(seed);
        try (pair) {
            for (Side from : new Side[] {pair.server(), pair.client()}) {
                Side to = from == pair.server() ? pair.client() : pair.server();
                for (int i = 0; i < 30; i++) {
                    if (random.nextInt(3) == 0) {
                        String text = random.nextInt(8) == 0 ? Traffic.messages(i, 60) : Traffic.message(i % 9);
                        int fragment = random.nextBoolean() ? 1 << 30 : text.length() / 3 + 1;
                        assertEquals(text, from.send(to, text, fragment));
                        continue;
                    }
                    WebSocketFrame frame = prepared.get(random.nextInt(prepared.size()));
                    WebSocketFrame received = from.send(to, frame.retainedDuplicate());
                    assertEquals(frame.content(), received.content(), () -> "message of seed " + seed);
                    assertEquals(frame instanceof TextWebSocketFrame, received instanceof TextWebSocketFrame);
                    assertTrue(received.isFinalFragment() && received.rsv() == 0);
                    received.release();
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {9, 10, 11, 12, 13, 14, 15})
    void anyOrderIsDecodedByNettyAndByOurs(int bits) {
        List<WebSocketFrame> prepared = prepared();
        for (int seed = 0; seed < 4; seed++) {
            boolean takeover = (seed & 1) == 0;
            boolean remember = (seed & 2) == 0;
            var server = new LinerateDeflateServerExtensionHandshaker(options(bits, takeover, remember));
            exchange(
                    Side.connect(server, new PerMessageDeflateClientExtensionHandshaker(6, true, bits, true, !takeover, 0)),
                    prepared,
                    seed);
            var client = LinerateDeflateClientExtensionHandshaker.of(options(bits, takeover, remember));
            // Without the last message, because JZlib's encoder cuts off messages that do not
            // become smaller.
            exchange(
                    Side.connect(new PerMessageDeflateServerExtensionHandshaker(6, true, bits, true, !takeover, 0), client),
                    prepared.subList(0, prepared.size() - 1),
                    seed);
            exchange(Side.connect(server, client), prepared, seed);
        }
        prepared.forEach(frame -> assertTrue(frame.release()));
    }

    private static WebSocketFrame sent(Side side, WebSocketFrame frame) {
        side.channel.writeOutbound(frame);
        return side.channel.readOutbound();
    }

    private static boolean isCompressed(WebSocketFrame frame) {
        return (frame.rsv() & WebSocketExtension.RSV1) != 0;
    }

    @Test
    void connectionsWithTheSameWindowShareWhatWasCompressed() {
        var frame = new PreparedTextWebSocketFrame(buffer(Traffic.messages(1, 20)));
        List<WebSocketFrame> all = new ArrayList<>();
        for (int bits : new int[] {11, 11, 15, 15}) {
            try (Side.Pair pair = Side.connect(DeflateOptions.windowBits(bits), DeflateOptions.windowBits(bits))) {
                all.add(sent(pair.server(), frame.retainedDuplicate()));
            }
        }
        assertTrue(frame.release());
        assertTrue(all.stream().allMatch(PreparedTest::isCompressed));
        // The frames outlive the message.
        assertSame(all.get(0).content().unwrap(), all.get(1).content().unwrap());
        assertSame(all.get(2).content().unwrap(), all.get(3).content().unwrap());
        assertNotEquals(all.get(1).content(), all.get(2).content());
        all.forEach(WebSocketFrame::release);
    }

    @Test
    void laterMessagesReferToWhatIsRemembered() {
        int[] sizes = new int[2];
        for (boolean remember : new boolean[] {true, false}) {
            DeflateOptions options = options(15, true, remember);
            try (Side.Pair pair = Side.connect(options, options)) {
                sent(pair.server(), new PreparedTextWebSocketFrame(buffer(Traffic.message(3)))).release();
                sizes[remember ? 1 : 0] = pair.server().encoded(Traffic.message(3)).get(0).length;
            }
        }
        assertTrue(sizes[1] < sizes[0] / 4, sizes[1] + " of " + sizes[0]);
    }

    @Test
    void smallNoisyAndFilteredMessagesAreSentAsTheyAre() {
        byte[] noise = new byte[1000];
        new Random(2).nextBytes(noise);
        WebSocketExtensionFilter filter = frame -> frame.content().readableBytes() == 500;
        var server = new LinerateDeflateServerExtensionHandshaker(DeflateOptions.windowBits(15), filter);
        try (Side.Pair pair = Side.connect(server, LinerateDeflateClientExtensionHandshaker.of(DeflateOptions.windowBits(15)))) {
            for (byte[] content : new byte[][] {noise, noise, new byte[31], new byte[500], new byte[1], new byte[0]}) {
                WebSocketFrame frame = sent(pair.server(), new PreparedBinaryWebSocketFrame(buffer(content)));
                assertFalse(isCompressed(frame));
                assertEquals(ByteBufUtil.hexDump(content), ByteBufUtil.hexDump(frame.content()));
                frame.release();
            }
            WebSocketFrame frame = sent(pair.server(), new PreparedBinaryWebSocketFrame(buffer(new byte[32])));
            assertTrue(isCompressed(frame));
            frame.release();
        }
    }

    @Test
    void partOfTheContentIsAnOrdinaryMessage() {
        try (Side.Pair pair = Side.connect(DeflateOptions.windowBits(11), DeflateOptions.windowBits(11))) {
            var frame = new PreparedTextWebSocketFrame(buffer(Traffic.message(3)));
            assertTrue(frame.content().isReadOnly());
            frame.content().skipBytes(5);
            WebSocketFrame received = pair.server().send(pair.client(), frame);
            assertEquals(Traffic.message(3).substring(5), ((TextWebSocketFrame) received).text());
            received.release();
            frame = new PreparedTextWebSocketFrame(buffer(Traffic.message(4)));
            TextWebSocketFrame copy = frame.copy();
            assertFalse(copy instanceof PreparedFrame);
            copy.release();
            received = pair.server().send(pair.client(), frame);
            assertEquals(Traffic.message(4), ((TextWebSocketFrame) received).text());
            received.release();
        }
    }

    /** Only control frames may come between the fragments of a message. */
    @Test
    void preparedMessagesWaitForTheEndOfOneInFragments() {
        WebSocketExtensionFilter filter = frame -> frame instanceof BinaryWebSocketFrame;
        var server = new LinerateDeflateServerExtensionHandshaker(DeflateOptions.windowBits(15), filter);
        try (Side.Pair pair = Side.connect(server, LinerateDeflateClientExtensionHandshaker.of(DeflateOptions.windowBits(15)))) {
            for (boolean compressed : new boolean[] {true, false}) {
                EmbeddedChannel channel = pair.server().channel;
                ByteBuf first = buffer(Traffic.message(1));
                channel.writeOutbound(
                        compressed ? new TextWebSocketFrame(false, 0, first) : new BinaryWebSocketFrame(false, 0, first));
                ChannelFuture one = channel.writeAndFlush(new PreparedTextWebSocketFrame(buffer(Traffic.message(2))));
                ChannelFuture other = channel.writeAndFlush(new PreparedBinaryWebSocketFrame(buffer(Traffic.message(3))));
                channel.writeOutbound(new PingWebSocketFrame(buffer("ping")));
                assertFalse(one.isDone() || other.isDone());
                channel.writeOutbound(new ContinuationWebSocketFrame(true, 0, buffer(Traffic.message(4))));
                assertTrue(one.isSuccess());
                List<Class<?>> kinds = new ArrayList<>();
                List<String> texts = new ArrayList<>();
                for (Object frame = channel.readOutbound(); frame != null; frame = channel.readOutbound()) {
                    pair.client().channel.writeInbound(frame);
                    WebSocketFrame received = pair.client().channel.readInbound();
                    kinds.add(received.getClass());
                    texts.add(received.content().toString(StandardCharsets.UTF_8));
                    received.release();
                }
                Class<?> kind = compressed ? TextWebSocketFrame.class : BinaryWebSocketFrame.class;
                assertEquals(
                        List.of(kind, PingWebSocketFrame.class, ContinuationWebSocketFrame.class, TextWebSocketFrame.class),
                        kinds.subList(0, 4));
                assertEquals(
                        List.of(Traffic.message(1), "ping", Traffic.message(4), Traffic.message(2), Traffic.message(3)), texts);
            }
        }
    }

    @Test
    void messagesThatWaitFailWithTheConnection() {
        try (Side.Pair pair = Side.connect(DeflateOptions.windowBits(15), DeflateOptions.windowBits(15))) {
            EmbeddedChannel channel = pair.server().channel;
            channel.writeOutbound(new TextWebSocketFrame(false, 0, buffer(Traffic.message(1))));
            var frame = new PreparedTextWebSocketFrame(buffer(Traffic.message(2)));
            ChannelFuture write = channel.writeAndFlush(frame);
            channel.close();
            assertInstanceOf(ClosedChannelException.class, write.cause());
            assertEquals(0, frame.refCnt());
        }
    }

    /** Netty's encoder of a client masks frames, which must not change shared content. */
    @Test
    void masksAndConnectionsWithoutCompressionLeaveTheContent() {
        var frame = new PreparedTextWebSocketFrame(buffer(Traffic.messages(1, 20)));
        for (boolean mask : new boolean[] {true, false}) {
            for (boolean compressed : new boolean[] {true, false, true}) {
                var from = new EmbeddedChannel(new WebSocket13FrameEncoder(mask));
                var to = new EmbeddedChannel(new WebSocket13FrameDecoder(mask, true, 1 << 20));
                try (Side.Pair pair = Side.connect(DeflateOptions.windowBits(11), DeflateOptions.windowBits(11))) {
                    Object sent = frame.retainedDuplicate();
                    from.writeOutbound(compressed ? sent(pair.client(), (WebSocketFrame) sent) : sent);
                    for (Object bytes = from.readOutbound(); bytes != null; bytes = from.readOutbound()) {
                        to.writeInbound(bytes);
                    }
                    WebSocketFrame received = to.readInbound();
                    assertEquals(compressed, isCompressed(received));
                    pair.server().channel.writeInbound(received);
                    received = pair.server().channel.readInbound();
                    assertEquals(frame.text(), ((TextWebSocketFrame) received).text());
                    received.release();
                }
                from.finishAndReleaseAll();
                to.finishAndReleaseAll();
            }
        }
        assertTrue(frame.release());
    }

    @Test
    void eventLoopsShareMessages() throws Exception {
        int threads = 4;
        ExecutorService loops = Executors.newFixedThreadPool(threads);
        try {
            for (int round = 0; round < 8; round++) {
                List<WebSocketFrame> prepared = prepared();
                List<Future<Void>> done = new ArrayList<>();
                for (int i = 0; i < threads; i++) {
                    int bits = i % 2 == 0 ? 15 : 11;
                    List<WebSocketFrame> own = prepared.stream()
                            .map(frame -> frame.retainedDuplicate())
                            .toList();
                    Callable<Void> loop = () -> {
                        try (Side.Pair pair = Side.connect(DeflateOptions.windowBits(bits), DeflateOptions.windowBits(bits))) {
                            for (WebSocketFrame frame : own) {
                                String text = frame.content().toString(StandardCharsets.ISO_8859_1);
                                WebSocketFrame received = pair.server().send(pair.client(), frame);
                                assertEquals(text, received.content().toString(StandardCharsets.ISO_8859_1));
                                received.release();
                                assertEquals("and on", pair.server().send(pair.client(), "and on", 100));
                            }
                        }
                        return null;
                    };
                    done.add(loops.submit(loop));
                }
                // From here on only the event loops hold references to the messages.
                prepared.forEach(WebSocketFrame::release);
                for (Future<Void> each : done) {
                    each.get();
                }
            }
        } finally {
            loops.shutdown();
        }
    }
}
