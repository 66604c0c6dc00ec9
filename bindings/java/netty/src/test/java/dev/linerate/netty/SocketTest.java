package dev.linerate.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.linerate.gateway.DeflateOptions;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketClientExtensionHandler;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtension;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketServerExtensionHandler;
import io.netty.handler.codec.http.websocketx.extensions.compression.PerMessageDeflateClientExtensionHandshaker;
import io.netty.handler.codec.http.websocketx.extensions.compression.PerMessageDeflateServerExtensionHandshaker;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Servers and clients of Netty over TCP. The server echoes. */
@ExtendWith(Leaks.class)
class SocketTest {
    private static final long SECONDS = 60;
    private static final String CLOSED = "closed with ";

    @SuppressWarnings("deprecation") // Netty 4.2 has a replacement, 4.1 only has this
    private final EventLoopGroup group = new NioEventLoopGroup(2);

    private final LinkedBlockingQueue<String> received = new LinkedBlockingQueue<>();
    private final ChannelGroup listeners = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);

    @AfterEach
    void end() throws Exception {
        assertTrue(group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).await(SECONDS, TimeUnit.SECONDS));
    }

    private int serve(Supplier<ChannelHandler> extension) throws Exception {
        ChannelInitializer<Channel> initializer = new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.config().setAllocator(Leaks.ALLOCATOR);
                channel.pipeline()
                        .addLast(new HttpServerCodec(), new HttpObjectAggregator(65536), extension.get())
                        .addLast(new WebSocketServerProtocolHandler("/", null, true, 1 << 24))
                        .addLast(new Echo());
            }
        };
        Channel channel = new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(initializer)
                .bind("127.0.0.1", 0)
                .sync()
                .channel();
        return ((InetSocketAddress) channel.localAddress()).getPort();
    }

    private final class Echo extends SimpleChannelInboundHandler<TextWebSocketFrame> {
        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof WebSocketServerProtocolHandler.HandshakeComplete) {
                listeners.add(ctx.channel());
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, TextWebSocketFrame frame) {
            ctx.writeAndFlush(frame.retain());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            // The codec has already sent a close frame to the peer.
        }
    }

    private Channel connect(int port, ChannelHandler extension) throws Exception {
        var config = WebSocketClientProtocolConfig.newBuilder()
                .webSocketUri("ws://127.0.0.1:" + port + "/")
                .allowExtensions(true)
                .maxFramePayloadLength(1 << 24)
                .handleCloseFrames(false)
                .build();
        WebSocketClientProtocolHandler protocol = new WebSocketClientProtocolHandler(config);
        LinkedBlockingQueue<Object> events = new LinkedBlockingQueue<>();
        ChannelInitializer<Channel> initializer = new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.config().setAllocator(Leaks.ALLOCATOR);
                channel.pipeline()
                        .addLast(new HttpClientCodec(), new HttpObjectAggregator(65536), extension, protocol)
                        .addLast(new Receiver(events));
            }
        };
        Channel channel = new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .handler(initializer)
                .connect("127.0.0.1", port)
                .sync()
                .channel();
        while (events.poll(SECONDS, TimeUnit.SECONDS)
                != WebSocketClientProtocolHandler.ClientHandshakeStateEvent.HANDSHAKE_COMPLETE) {}
        return channel;
    }

    private final class Receiver extends SimpleChannelInboundHandler<WebSocketFrame> {
        private final LinkedBlockingQueue<Object> events;

        Receiver(LinkedBlockingQueue<Object> events) {
            this.events = events;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            events.add(event);
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, WebSocketFrame frame) {
            received.add(
                    frame instanceof CloseWebSocketFrame
                            ? CLOSED + ((CloseWebSocketFrame) frame).statusCode()
                            : ((TextWebSocketFrame) frame).text());
        }
    }

    private void exchange(Channel client) throws Exception {
        for (int i = 0; i < 200; i++) {
            String text = i % 50 == 49 ? Traffic.messages(i, 1000) : Traffic.message(i);
            client.writeAndFlush(i % 3 == 2 ? new PreparedTextWebSocketFrame(text) : new TextWebSocketFrame(text));
            assertEquals(text, received.poll(SECONDS, TimeUnit.SECONDS));
        }
        client.close().sync();
    }

    private static ChannelHandler ourServer(DeflateOptions options) {
        return new WebSocketServerExtensionHandler(new LinerateDeflateServerExtensionHandshaker(options));
    }

    private static ChannelHandler ourClient(DeflateOptions options) {
        return new WebSocketClientExtensionHandler(LinerateDeflateClientExtensionHandshaker.of(options));
    }

    private static ChannelHandler nettyClient() {
        return new WebSocketClientExtensionHandler(new PerMessageDeflateClientExtensionHandshaker(0));
    }

    private static ChannelHandler nettyServer(boolean hasWindows) {
        return new WebSocketServerExtensionHandler(
                new PerMessageDeflateServerExtensionHandshaker(6, hasWindows, 15, true, false, 0));
    }

    @Test
    void ourServerWithTheirClient() throws Exception {
        int port = serve(() -> ourServer(DeflateOptions.windowBits(11)));
        Channel client = connect(port, nettyClient());
        assertNotNull(client.pipeline().context(
                "io.netty.handler.codec.http.websocketx.extensions.compression.PerMessageDeflateDecoder"));
        exchange(client);
    }

    @Test
    void theirServerWithOurClient() throws Exception {
        int port = serve(() -> nettyServer(true));
        Channel client = connect(port, ourClient(DeflateOptions.windowBits(10)));
        assertNotNull(client.pipeline().get(DeflateFrameDecoder.class));
        exchange(client);
    }

    /** Netty's server gets both offers and accepts the second. */
    @Test
    void theirServerWithoutWindowsAndOurClient() throws Exception {
        int port = serve(() -> nettyServer(false));
        Channel client = connect(port, ourClient(DeflateOptions.windowBits(10)));
        assertNotNull(client.pipeline().get(DeflateFrameDecoder.class));
        exchange(client);
    }

    @Test
    void oursOnBothSides() throws Exception {
        int port = serve(() -> ourServer(DeflateOptions.windowBits(8)));
        exchange(connect(port, ourClient(DeflateOptions.windowBits(8))));
    }

    @Test
    void clientWithoutCompression() throws Exception {
        int port = serve(() -> ourServer(DeflateOptions.windowBits(11)));
        Channel client = connect(port, new ChannelInboundHandlerAdapter());
        assertNull(client.pipeline().get(DeflateFrameDecoder.class));
        exchange(client);
    }

    /**
     * Listeners on several event loops: with windows of 11 and 15 bits and without compression,
     * with Netty's codec and with ours.
     */
    @Test
    void messagesForAllListeners() throws Exception {
        int small = serve(() -> ourServer(DeflateOptions.windowBits(11)));
        int large = serve(() -> ourServer(DeflateOptions.windowBits(15)));
        Channel[] clients = {
            connect(small, ourClient(DeflateOptions.windowBits(11))),
            connect(small, nettyClient()),
            connect(small, new ChannelInboundHandlerAdapter()),
            connect(large, ourClient(DeflateOptions.windowBits(15))),
            connect(large, nettyClient())
        };
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (listeners.size() < clients.length && System.nanoTime() < until) {
            Thread.sleep(1);
        }
        for (int i = 0; i < 50; i++) {
            String text = i % 10 == 9 ? Traffic.messages(i, 200) : Traffic.message(i % 5);
            var message = new PreparedTextWebSocketFrame(text);
            assertTrue(listeners.writeAndFlush(message).await(SECONDS, TimeUnit.SECONDS));
            for (int k = 0; k < clients.length; k++) {
                assertEquals(text, received.poll(SECONDS, TimeUnit.SECONDS));
            }
            assertEquals(0, message.refCnt());
            String own = Traffic.message(i);
            clients[i % clients.length].writeAndFlush(new TextWebSocketFrame(own));
            assertEquals(own, received.poll(SECONDS, TimeUnit.SECONDS));
        }
        for (Channel client : clients) {
            client.close().sync();
        }
    }

    @Test
    void clientLearnsWhyItIsClosed() throws Exception {
        int port = serve(() -> ourServer(DeflateOptions.builder().messageLimit(1000).build()));
        for (boolean isDamaged : new boolean[] {true, false}) {
            Channel client = connect(port, ourClient(DeflateOptions.windowBits(15)));
            client.writeAndFlush(
                    isDamaged
                            ? new TextWebSocketFrame(
                                    true, WebSocketExtension.RSV1, Unpooled.wrappedBuffer(new byte[] {6}))
                            : new TextWebSocketFrame(Traffic.messages(0, 10)));
            assertEquals(CLOSED + (isDamaged ? 1007 : 1009), received.poll(SECONDS, TimeUnit.SECONDS));
            assertTrue(client.closeFuture().await(SECONDS, TimeUnit.SECONDS));
        }
    }
}
