package dev.linerate.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import dev.linerate.gateway.DeflateOptions;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketClientExtensionHandshaker;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtension;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketServerExtension;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketServerExtensionHandshaker;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** One end of a connection without a socket: frames before and after the codec of an extension. */
final class Side implements AutoCloseable {
    final EmbeddedChannel channel;

    private Side(WebSocketExtension extension) {
        channel = new EmbeddedChannel();
        channel.config().setAllocator(Leaks.ALLOCATOR);
        channel.pipeline()
                .addLast(new ChannelHandler[] {extension.newExtensionEncoder(), extension.newExtensionDecoder()});
    }

    /** A connection and the agreement of both sides. */
    record Pair(Side server, Side client, Map<String, String> agreed) implements AutoCloseable {
        @Override
        public void close() {
            server.close();
            client.close();
        }
    }

    static Pair connect(WebSocketServerExtensionHandshaker server, WebSocketClientExtensionHandshaker... clients) {
        for (WebSocketClientExtensionHandshaker client : clients) {
            WebSocketServerExtension accepted = server.handshakeExtension(client.newRequestData());
            if (accepted != null) {
                WebSocketExtension agreed = client.handshakeExtension(accepted.newReponseData());
                assertNotNull(agreed, accepted.newReponseData().parameters().toString());
                assertEquals(WebSocketExtension.RSV1, agreed.rsv() & accepted.rsv());
                return new Pair(new Side(accepted), new Side(agreed), accepted.newReponseData().parameters());
            }
        }
        throw new AssertionError("no offer was accepted");
    }

    static Pair connect(DeflateOptions server, DeflateOptions client) {
        return connect(
                new LinerateDeflateServerExtensionHandshaker(server),
                LinerateDeflateClientExtensionHandshaker.of(client));
    }

    /**
     * Sends a frame to another side and returns the frame that arrives there.
     */
    WebSocketFrame send(Side to, WebSocketFrame frame) {
        channel.writeOutbound(frame);
        WebSocketFrame sent = channel.readOutbound();
        to.channel.writeInbound(sent);
        return to.channel.readInbound();
    }

    /**
     * Sends a text in fragments of this many bytes, with a ping after each, and returns the
     * received text.
     */
    String send(Side to, String text, int fragment) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        StringBuilder arrived = new StringBuilder();
        int from = 0;
        do {
            int until = Math.min(from + fragment, bytes.length);
            boolean last = until == bytes.length;
            ByteBuf content = Leaks.ALLOCATOR.buffer().writeBytes(bytes, from, until - from);
            WebSocketFrame frame = from == 0
                    ? new TextWebSocketFrame(last, 0, content)
                    : new ContinuationWebSocketFrame(last, 0, content);
            WebSocketFrame received = send(to, frame);
            assertEquals(last, received.isFinalFragment());
            assertEquals(0, received.rsv());
            assertEquals(from == 0, received instanceof TextWebSocketFrame);
            arrived.append(received.content().toString(StandardCharsets.ISO_8859_1));
            received.release();
            WebSocketFrame ping = send(to, new PingWebSocketFrame(Leaks.ALLOCATOR.buffer().writeByte(7)));
            assertEquals(7, ((PingWebSocketFrame) ping).content().readByte());
            ping.release();
            from = until;
        } while (from < bytes.length);
        return new String(arrived.toString().getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }

    /**
     * Sends each text in one frame, and returns the compressed bytes of the frames; null for a
     * frame that was sent uncompressed.
     */
    List<byte[]> encoded(String... texts) {
        List<byte[]> all = new ArrayList<>();
        for (String text : texts) {
            channel.writeOutbound(new TextWebSocketFrame(text));
            WebSocketFrame frame = channel.readOutbound();
            byte[] bytes = new byte[frame.content().readableBytes()];
            frame.content().getBytes(0, bytes);
            all.add((frame.rsv() & WebSocketExtension.RSV1) != 0 ? bytes : null);
            frame.release();
        }
        return all;
    }

    @Override
    public void close() {
        for (Object out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
            ReferenceCountUtil.release(out);
        }
        channel.finishAndReleaseAll();
    }
}
