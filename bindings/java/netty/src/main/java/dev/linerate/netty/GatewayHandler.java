package dev.linerate.netty;

import dev.linerate.gateway.DecompressionException;
import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.Transport;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.handler.codec.http.QueryStringEncoder;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.util.ReferenceCountUtil;
import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;

/**
 * Decompresses the messages of a chat gateway, below a client of Netty or Reactor Netty that
 * accepts no other decompressor. The handler adds {@code compress=} with the transport to the query
 * of the websocket's request, and replaces each compressed message by its payload. Put a handler
 * for each connection between the HTTP codec and the client.
 *
 * <p>If the stream is damaged, a {@link DecompressionException} goes through the pipeline. Then the
 * connection is closed, so that the client resumes its session. The same happens, with the error of
 * the virtual machine, if memory for a message runs out.
 */
public final class GatewayHandler extends ChannelDuplexHandler {
    /** Header of a zlib stream (RFC 1950): deflate with a window of 32 KiB. */
    private static final int ZLIB_HEADER = 0x7801;
    /** Maximum bytes of a stored block (RFC 1951, section 3.2.4). */
    private static final int MAX_STORED = 0xffff;

    /** Initial size of the output buffer, as a multiple of the compressed bytes of the message. */
    private static final int USUAL_RATIO = 8;
    /** Largest initial size of the output buffer, in bytes. */
    private static final int MAX_FIRST_ROOM = 16 << 20;

    private final Transport transport;
    private final boolean toZlib;
    private GatewayDecompressor gateway;
    /** Whether a compressed message has begun, so that continuation frames belong to it. */
    private boolean isInside;
    /** Whether a message could not be decompressed. Everything after it is dropped. */
    private boolean hasFailed;
    /** Whether the client got the header of the zlib stream of stored blocks. */
    private boolean hasBegun;

    private GatewayHandler(Transport transport, boolean toZlib) {
        if (transport != Transport.ZLIB && transport != Transport.ZSTD) {
            throw new IllegalArgumentException(transport.queryName() + " is not a transport of gateways");
        }
        this.transport = transport;
        this.toZlib = toZlib;
    }

    /**
     * Creates a handler for a client that accepts uncompressed messages.
     *
     * @param transport {@link Transport#ZLIB} or {@link Transport#ZSTD}
     * @return the handler of one connection; payloads are text
     * @throws IllegalArgumentException for any other transport
     */
    public static GatewayHandler toText(Transport transport) {
        return new GatewayHandler(transport, false);
    }

    /**
     * Creates a handler for a client that always inflates, such as Discord4J. The client gets
     * payloads as a zlib stream of stored blocks, which inflating only copies.
     *
     * @param transport {@link Transport#ZLIB} or {@link Transport#ZSTD}
     * @return the handler of one connection
     * @throws IllegalArgumentException for any other transport
     */
    public static GatewayHandler toZlib(Transport transport) {
        return new GatewayHandler(transport, true);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        gateway = GatewayDecompressor.create(transport);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        if (gateway != null) {
            gateway.close();
        }
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        if (message instanceof HttpRequest) {
            HttpRequest request = (HttpRequest) message;
            request.setUri(asking(request.uri()));
        }
        ctx.write(message, promise);
    }

    private String asking(String uri) {
        QueryStringDecoder query = new QueryStringDecoder(uri);
        QueryStringEncoder changed = new QueryStringEncoder(query.rawPath());
        for (Map.Entry<String, List<String>> parameter : query.parameters().entrySet()) {
            if (!parameter.getKey().equals("compress")) {
                parameter.getValue().forEach(value -> changed.addParam(parameter.getKey(), value));
            }
        }
        changed.addParam("compress", transport.queryName());
        return changed.toString();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
        if (hasFailed) {
            ReferenceCountUtil.release(message);
            return;
        }
        boolean isPart = message instanceof BinaryWebSocketFrame || (isInside && message instanceof ContinuationWebSocketFrame);
        if (!isPart) {
            ctx.fireChannelRead(message);
            return;
        }
        WebSocketFrame frame = (WebSocketFrame) message;
        WebSocketFrame decoded;
        try {
            isInside = !frame.isFinalFragment();
            ByteBuf payload = decompress(ctx, frame);
            decoded = payload == null ? null : toZlib ? stored(ctx, payload) : new TextWebSocketFrame(payload);
        } catch (DecompressionException | RuntimeException | Error e) {
            // Also if memory ran out: the message is lost, and the client can only resume its
            // session on a new connection.
            hasFailed = true;
            ctx.fireExceptionCaught(e);
            ctx.close();
            return;
        } finally {
            frame.release();
        }
        if (decoded != null) {
            ctx.fireChannelRead(decoded);
        } else {
            // There is no payload yet. Asks for the rest, because some channels read only on
            // request.
            ctx.read();
        }
    }

    /** Returns the payload; null if the message is incomplete. */
    private ByteBuf decompress(ChannelHandlerContext ctx, WebSocketFrame frame) throws DecompressionException {
        ByteBuf content = frame.content();
        long room = (long) USUAL_RATIO * Math.max(content.readableBytes(), Long.BYTES);
        ByteBuf payload = ctx.alloc().directBuffer((int) Math.min(room, MAX_FIRST_ROOM));
        int length = -1;
        try {
            ByteBuffer part = content.nioBuffer();
            try {
                length = gateway.decompress(part, frame.isFinalFragment(), room(payload));
            } catch (BufferOverflowException e) {
                payload.ensureWritable(gateway.pendingLength());
                length = gateway.fetch(room(payload));
            }
            return length < 0 ? null : payload.writerIndex(length);
        } finally {
            if (length < 0) {
                payload.release();
            }
        }
    }

    private static ByteBuffer room(ByteBuf payload) {
        return payload.internalNioBuffer(0, payload.capacity());
    }

    /**
     * Returns a payload as a message of a zlib stream: stored blocks, then an empty one as a flush.
     * Releases the payload, even if there is no memory for the message.
     */
    private WebSocketFrame stored(ChannelHandlerContext ctx, ByteBuf payload) {
        try {
            int length = payload.readableBytes();
            ByteBuf message = ctx.alloc().directBuffer(length + 5 * (length / MAX_STORED + 2) + 2);
            if (!hasBegun) {
                message.writeShort(ZLIB_HEADER);
                hasBegun = true;
            }
            while (payload.isReadable()) {
                int block = Math.min(payload.readableBytes(), MAX_STORED);
                begin(message, block);
                message.writeBytes(payload, block);
            }
            begin(message, 0);
            return new BinaryWebSocketFrame(message);
        } finally {
            payload.release();
        }
    }

    /**
     * Writes the beginning of a stored block: the 3 bits of its header, padded to a byte because
     * the block before ended at a byte boundary, and the length.
     */
    private static void begin(ByteBuf message, int length) {
        message.writeByte(0).writeShortLE(length).writeShortLE(~length);
    }
}
