package dev.linerate.netty;

import dev.linerate.gateway.DeflateAgreement;
import dev.linerate.gateway.DeflateEncoder;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtension;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionEncoder;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionFilter;
import java.nio.ByteBuffer;
import java.util.List;

/** Compresses the frames of messages, where those become smaller. */
final class DeflateFrameEncoder extends WebSocketExtensionEncoder {
    private final DeflateAgreement agreement;
    private final int smallest;
    private final WebSocketExtensionFilter uncompressed;
    /** Null before the handler is added: a handshake that fails never adds it. */
    private DeflateEncoder encoder;
    /** Whether a message has begun in compressed fragments. */
    private boolean isInside;

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
        super.handlerRemoved(ctx);
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
        if (encoded == null) {
            out.add(frame.retain());
        } else {
            out.add(Frames.like(frame, first ? frame.rsv() | WebSocketExtension.RSV1 : frame.rsv(), encoded));
        }
    }

    /** Returns the compressed bytes; null if they would not be fewer. */
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
                // What is not used need not wait for the socket.
                encoded.capacity(written);
            }
            return encoded;
        } finally {
            if (!isDone) {
                encoded.release();
            }
        }
    }
}
