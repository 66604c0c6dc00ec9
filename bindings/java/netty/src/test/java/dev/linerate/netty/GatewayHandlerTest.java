package dev.linerate.netty;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.linerate.gateway.DecompressionException;
import dev.linerate.gateway.Transport;
import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link GatewayHandler} decompresses the streams of a gateway below a client. */
@ExtendWith(Leaks.class)
class GatewayHandlerTest {
    private final Deflater server = new Deflater();

    private byte[] compressed(String text) {
        byte[] wire = new byte[text.length() * 2 + 100];
        server.setInput(text.getBytes(StandardCharsets.UTF_8));
        return Arrays.copyOf(wire, server.deflate(wire, 0, wire.length, Deflater.SYNC_FLUSH));
    }

    private static ByteBuf buffer(byte[] bytes, int from, int until) {
        return Leaks.ALLOCATOR.buffer().writeBytes(bytes, from, until - from);
    }

    private static EmbeddedChannel channel(GatewayHandler handler) {
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.config().setAllocator(Leaks.ALLOCATOR);
        channel.pipeline().addLast(handler);
        return channel;
    }

    /** Some messages compress so well that their payload needs more than the initial room. */
    private static String text(int i) {
        if (i % 5 == 3) {
            return "again ".repeat(30_000);
        }
        return i % 5 == 4 ? Traffic.messages(i, 800) : Traffic.message(i);
    }

    @Test
    void messagesWholeAndInFragmentsBecomeText() {
        EmbeddedChannel channel = channel(GatewayHandler.toText(Transport.ZLIB));
        for (int i = 0; i < 20; i++) {
            byte[] wire = compressed(text(i));
            int half = i % 2 == 0 ? wire.length : wire.length / 2;
            channel.writeInbound(new BinaryWebSocketFrame(half == wire.length, 0, buffer(wire, 0, half)));
            if (half < wire.length) {
                assertNull(channel.readInbound());
                PingWebSocketFrame ping = new PingWebSocketFrame();
                channel.writeInbound(ping);
                assertSame(ping, channel.readInbound());
                channel.writeInbound(new ContinuationWebSocketFrame(true, 0, buffer(wire, half, wire.length)));
            }
            TextWebSocketFrame frame = channel.readInbound();
            assertEquals(text(i), frame.text());
            frame.release();
        }
        channel.finishAndReleaseAll();
    }

    @Test
    void messagesBecomeAZlibStreamOfStoredBlocks() throws Exception {
        EmbeddedChannel channel = channel(GatewayHandler.toZlib(Transport.ZLIB));
        Inflater client = new Inflater();
        for (int i = 0; i < 20; i++) {
            byte[] wire = compressed(text(i));
            channel.writeInbound(new BinaryWebSocketFrame(buffer(wire, 0, wire.length)));
            BinaryWebSocketFrame frame = channel.readInbound();
            byte[] stored = new byte[frame.content().readableBytes()];
            frame.content().readBytes(stored);
            frame.release();
            byte[] end = Arrays.copyOfRange(stored, stored.length - 4, stored.length);
            assertArrayEquals(new byte[] {0, 0, -1, -1}, end, "what clients look for");
            byte[] payload = new byte[1 << 20];
            client.setInput(stored);
            int length = client.inflate(payload);
            assertEquals(text(i), new String(payload, 0, length, StandardCharsets.UTF_8));
            assertEquals(0, client.getRemaining());
        }
        client.end();
        channel.finishAndReleaseAll();
    }

    @ParameterizedTest
    @CsvSource({
        "/?v=10&encoding=json, /?v=10&encoding=json&compress=zstd-stream",
        "/?compress=zlib-stream&v=10, /?v=10&compress=zstd-stream",
        "/gateway, /gateway?compress=zstd-stream"
    })
    void requestAsksForTheTransport(String uri, String expected) {
        EmbeddedChannel channel = channel(GatewayHandler.toText(Transport.ZSTD));
        channel.writeOutbound(new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, uri));
        HttpRequest request = channel.readOutbound();
        assertEquals(expected, request.uri());
        channel.finishAndReleaseAll();
    }

    @Test
    void damageClosesTheConnection() {
        EmbeddedChannel channel = channel(GatewayHandler.toText(Transport.ZLIB));
        WebSocketFrame damaged = new BinaryWebSocketFrame(buffer(new byte[] {1, 2, 3, 0, 0, -1, -1}, 0, 7));
        WebSocketFrame next = new PingWebSocketFrame(buffer(new byte[1], 0, 1));
        assertThrows(DecompressionException.class, () -> channel.writeInbound(damaged, next));
        assertEquals(0, next.refCnt());
        assertNull(channel.readInbound());
        assertFalse(channel.isOpen());
        channel.finishAndReleaseAll();
    }

    /** The first buffer is that of the payload, the second one that of the stored blocks. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void noMemoryForABufferClosesTheConnection(int failing) {
        EmbeddedChannel channel = channel(GatewayHandler.toZlib(Transport.ZLIB));
        AtomicInteger buffers = new AtomicInteger();
        channel.config().setAllocator(Leaks.allocator((allocator, capacity) -> {
            if (buffers.incrementAndGet() == failing) {
                throw new OutOfMemoryError("a buffer of " + capacity + " bytes");
            }
            return Leaks.ALLOCATOR.directBuffer(capacity);
        }));
        byte[] wire = compressed(text(0));
        WebSocketFrame frame = new BinaryWebSocketFrame(buffer(wire, 0, wire.length));
        WebSocketFrame next = new PingWebSocketFrame(buffer(new byte[1], 0, 1));
        assertThrows(OutOfMemoryError.class, () -> channel.writeInbound(frame, next));
        assertEquals(0, next.refCnt());
        assertNull(channel.readInbound());
        assertFalse(channel.isOpen());
        channel.finishAndReleaseAll();
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"}, mode = EnumSource.Mode.EXCLUDE)
    void transportsOfFeedsAreRefused(Transport transport) {
        assertThrows(IllegalArgumentException.class, () -> GatewayHandler.toText(transport));
        assertThrows(IllegalArgumentException.class, () -> GatewayHandler.toZlib(transport));
    }
}
