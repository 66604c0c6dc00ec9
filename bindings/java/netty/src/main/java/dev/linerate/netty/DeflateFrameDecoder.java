package dev.linerate.netty;

import dev.linerate.gateway.DecompressionException;
import dev.linerate.gateway.DeflateAgreement;
import dev.linerate.gateway.DeflateDecoder;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.CorruptedWebSocketFrameException;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtension;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionDecoder;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Decompresses the frames of compressed messages. Each of these frames gives one frame, which may
 * be empty; other frames pass through. After an error the peer gets a close frame, the connection
 * is closed, and further frames are dropped.
 */
final class DeflateFrameDecoder extends WebSocketExtensionDecoder {
    /** Initial size of the output buffer, as a multiple of the compressed bytes of the frame. */
    private static final int USUAL_RATIO = 8;
    /** Largest initial size of the output buffer, in bytes, unless the frame itself is larger. */
    private static final int MAX_FIRST_ROOM = 64 << 10;

    private final DeflateAgreement agreement;
    /** Null before the handler is added. A handshake that fails never adds it. */
    private DeflateDecoder decoder;
    /** Whether a compressed message has begun, but not ended. */
    private boolean isInside;

    private boolean hasFailed;

    DeflateFrameDecoder(DeflateAgreement agreement) {
        this.agreement = agreement;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) throws Exception {
        decoder = agreement.newDecoder();
        super.handlerAdded(ctx);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) throws Exception {
        if (decoder != null) {
            decoder.close();
        }
        super.handlerRemoved(ctx);
    }

    @Override
    public boolean acceptInboundMessage(Object message) {
        if (!(message instanceof WebSocketFrame)) {
            return false;
        }
        boolean isCompressed = (((WebSocketFrame) message).rsv() & WebSocketExtension.RSV1) != 0;
        return isCompressed || hasFailed || (isInside && isData(message));
    }

    private static boolean isData(Object message) {
        return message instanceof ContinuationWebSocketFrame || isFirst(message);
    }

    private static boolean isFirst(Object message) {
        return message instanceof TextWebSocketFrame || message instanceof BinaryWebSocketFrame;
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, WebSocketFrame frame, List<Object> out) {
        if (hasFailed) {
            return;
        }
        boolean isCompressed = (frame.rsv() & WebSocketExtension.RSV1) != 0;
        if (isCompressed && !isFirst(frame)) {
            throw failure(ctx, WebSocketCloseStatus.PROTOCOL_ERROR, "RSV1 in a control frame or a continuation", null);
        }
        if (isInside && isFirst(frame)) {
            throw failure(ctx, WebSocketCloseStatus.PROTOCOL_ERROR, "a message begins inside another one", null);
        }
        ByteBuf decoded;
        try {
            decoded = decode(ctx, frame.content(), frame.isFinalFragment());
        } catch (DecompressionException e) {
            WebSocketCloseStatus status = e.kind() == DecompressionException.Kind.LIMIT
                    ? WebSocketCloseStatus.MESSAGE_TOO_BIG
                    : WebSocketCloseStatus.INVALID_PAYLOAD_DATA;
            throw failure(ctx, status, e.getMessage(), e);
        } catch (RuntimeException | Error e) {
            // For example memory ran out. The decoder has read a part of the message, which cannot
            // be given to it again.
            throw failure(ctx, WebSocketCloseStatus.INTERNAL_SERVER_ERROR, "a message was not decompressed", e);
        }
        isInside = !frame.isFinalFragment();
        out.add(Frames.like(frame, frame.rsv() & ~WebSocketExtension.RSV1, decoded));
    }

    private ByteBuf decode(ChannelHandlerContext ctx, ByteBuf content, boolean last) throws DecompressionException {
        int length = content.readableBytes();
        int room = (int) Math.min((long) USUAL_RATIO * length + Long.BYTES, MAX_FIRST_ROOM);
        ByteBuf decoded = ctx.alloc().directBuffer(Math.max(room, length));
        boolean isDone = false;
        try {
            if (content.nioBufferCount() == 1) {
                decode(content.internalNioBuffer(content.readerIndex(), length), last, decoded);
            } else {
                ByteBuffer[] parts = content.nioBuffers();
                for (int i = 0; i < parts.length; i++) {
                    decode(parts[i], last && i == parts.length - 1, decoded);
                }
            }
            isDone = true;
            return decoded;
        } finally {
            if (!isDone) {
                decoded.release();
            }
        }
    }

    private void decode(ByteBuffer part, boolean last, ByteBuf into) throws DecompressionException {
        while (true) {
            ByteBuffer room = into.internalNioBuffer(into.writerIndex(), into.writableBytes());
            int start = room.position();
            boolean isDone = decoder.decode(part, last, room);
            into.writerIndex(into.writerIndex() + room.position() - start);
            if (isDone) {
                return;
            }
            // The buffer doubles until the message fits or exceeds the decoder's limits, which is
            // an exception.
            into.ensureWritable(into.capacity());
        }
    }

    private CorruptedWebSocketFrameException failure(
            ChannelHandlerContext ctx, WebSocketCloseStatus status, String text, Throwable cause) {
        hasFailed = true;
        decoder.close();
        ctx.writeAndFlush(new CloseWebSocketFrame(status, text)).addListener(ChannelFutureListener.CLOSE);
        return new CorruptedWebSocketFrameException(status, text, cause);
    }
}
