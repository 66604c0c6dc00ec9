package dev.linerate.netty;

import dev.linerate.gateway.DeflateAgreement;
import dev.linerate.gateway.DeflateEncoder;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.PendingWriteQueue;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtension;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionEncoder;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionFilter;
import io.netty.util.ReferenceCountUtil;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.List;

/**
 * Compresses a message in a single frame if it has the smallest size of the options or more, and
 * becomes smaller; a message in several frames always. The filter {@code uncompressed} exempts
 * messages. A prepared message that is written while another message is being sent in several
 * frames waits for the end of that message, because only control frames are allowed between them.
 */
final class DeflateFrameEncoder extends WebSocketExtensionEncoder {
    private final DeflateAgreement agreement;
    private final int smallest;
    private final WebSocketExtensionFilter uncompressed;
    /** Null before the handler is added. A handshake that fails never adds it. */
    private DeflateEncoder encoder;
    /** Whether a message in compressed fragments has begun, but not ended. */
    private boolean isInside;
    /** Whether a message in fragments, compressed or not, has begun, but not ended. */
    private boolean isFragmented;
    /** Prepared messages that wait for the end of another one; null if none has ever waited. */
    private PendingWriteQueue waiting;

    DeflateFrameEncoder(DeflateAgreement agreement, int smallest, WebSocketExtensionFilter uncompressed) {
        this.agreement = agreement;
        this.smallest = smallest;
        this.uncompressed = uncompressed;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) throws Exception {
        encoder = agreement.newEncoder();
        super.handlerAdded(ctx);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) throws Exception {
        if (encoder != null) {
            encoder.close();
        }
        if (waiting != null) {
            waiting.removeAndFailAll(new ClosedChannelException());
        }
        super.handlerRemoved(ctx);
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) throws Exception {
        if (isFragmented && message instanceof PreparedFrame) {
            if (waiting == null) {
                waiting = new PendingWriteQueue(ctx);
            }
            waiting.add(message, promise);
            return;
        }
        if (isData(message)) {
            isFragmented = !((WebSocketFrame) message).isFinalFragment();
        }
        super.write(ctx, message, promise);
        if (waiting != null && !isFragmented) {
            writeWaiting(ctx);
        }
    }

    private static boolean isData(Object message) {
        return message instanceof TextWebSocketFrame
                || message instanceof BinaryWebSocketFrame
                || message instanceof ContinuationWebSocketFrame;
    }

    private void writeWaiting(ChannelHandlerContext ctx) {
        for (Object next = waiting.current(); next != null; next = waiting.current()) {
            ReferenceCountUtil.retain(next);
            ChannelPromise promise = waiting.remove();
            try {
                super.write(ctx, next, promise);
            } catch (Exception e) {
                promise.tryFailure(e);
            }
        }
    }

    @Override
    public boolean acceptOutboundMessage(Object message) {
        if (message instanceof ContinuationWebSocketFrame) {
            return isInside;
        }
        if (!(message instanceof TextWebSocketFrame || message instanceof BinaryWebSocketFrame)) {
            return false;
        }
        WebSocketFrame frame = (WebSocketFrame) message;
        if ((frame.rsv() & WebSocketExtension.RSV1) != 0 || uncompressed.mustSkip(frame)) {
            return false;
        }
        return !frame.isFinalFragment() || frame.content().readableBytes() >= smallest;
    }

    @Override
    protected void encode(ChannelHandlerContext ctx, WebSocketFrame frame, List<Object> out) {
        PreparedContent prepared =
                frame instanceof PreparedFrame ? PreparedContent.behind(frame.content()) : null;
        if (prepared != null) {
            put(frame, prepared.encode(encoder), out);
            return;
        }
        boolean first = !(frame instanceof ContinuationWebSocketFrame);
        boolean last = frame.isFinalFragment();
        ByteBuf content = frame.content();
        ByteBuf merged = null;
        ByteBuf encoded;
        try {
            if (content.nioBufferCount() != 1) {
                merged = ctx.alloc().directBuffer(content.readableBytes());
                merged.writeBytes(content, content.readerIndex(), content.readableBytes());
                content = merged;
            }
            encoded = encode(ctx, content, first && last, last);
        } finally {
            if (merged != null) {
                merged.release();
            }
        }
        isInside = !last;
        put(frame, encoded, out);
    }

    /** Adds a frame with the compressed bytes, or the uncompressed frame if there are none. */
    private static void put(WebSocketFrame frame, ByteBuf encoded, List<Object> out) {
        if (encoded == null) {
            out.add(frame.retain());
            return;
        }
        boolean first = !(frame instanceof ContinuationWebSocketFrame);
        out.add(Frames.like(frame, first ? frame.rsv() | WebSocketExtension.RSV1 : frame.rsv(), encoded));
    }

    /**
     * Returns the compressed bytes of a whole message or of a part of one; null if those of a whole
     * message would not be fewer than the content.
     */
    private ByteBuf encode(ChannelHandlerContext ctx, ByteBuf content, boolean whole, boolean last) {
        int length = content.readableBytes();
        ByteBuffer input = content.internalNioBuffer(content.readerIndex(), length);
        ByteBuf encoded = ctx.alloc().directBuffer(whole ? length : DeflateEncoder.bound(length));
        boolean isDone = false;
        try {
            ByteBuffer room = encoded.internalNioBuffer(0, encoded.capacity());
            int start = room.position();
            if (!whole) {
                encoder.encodePart(input, last, room);
                isDone = true;
            } else {
                isDone = encoder.encode(input, room);
            }
            if (!isDone) {
                return null;
            }
            int written = room.position() - start;
            encoded.writerIndex(written);
            if (written < length / 2) {
                giveRoomBack(encoded, written);
            }
            return encoded;
        } finally {
            if (!isDone) {
                encoded.release();
            }
        }
    }

    /**
     * Gives the room after the first {@code length} bytes back now, not when the socket has taken
     * them.
     */
    static void giveRoomBack(ByteBuf encoded, int length) {
        try {
            encoded.capacity(length);
        } catch (OutOfMemoryError e) {
            // Some allocators need a second, smaller buffer for this. The message must be sent all
            // the same, because the encoder counts it as sent.
        }
    }
}
