package dev.linerate.netty;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;

/**
 * A binary message for many connections that is compressed once for all of them. Write it to a
 * {@code ChannelGroup}, or write a {@link #retainedDuplicate} to each channel:
 *
 * <pre>{@code
 * listeners.writeAndFlush(new PreparedBinaryWebSocketFrame(news));
 * }</pre>
 *
 * <p>The message is compressed at level 6 when a connection of a
 * {@code LinerateDeflate...ExtensionHandshaker} first needs it, once for each window size. On a
 * connection without compression, or with another codec, the frame is an ordinary
 * {@link BinaryWebSocketFrame}. Its content is read-only, and stays outside the heap until the last
 * duplicate is released. Duplicates may be used on different event loops.
 */
public final class PreparedBinaryWebSocketFrame extends BinaryWebSocketFrame implements PreparedFrame {
    /**
     * Creates the frame of a whole message.
     *
     * @param content the message, which is copied and released
     * @throws UnsatisfiedLinkError if there is no native library for this platform
     */
    public PreparedBinaryWebSocketFrame(ByteBuf content) {
        super(PreparedContent.of(content));
    }

    private PreparedBinaryWebSocketFrame(PreparedBinaryWebSocketFrame frame) {
        super(frame.content().duplicate());
    }

    @Override
    public PreparedBinaryWebSocketFrame duplicate() {
        return new PreparedBinaryWebSocketFrame(this);
    }

    @Override
    public PreparedBinaryWebSocketFrame retainedDuplicate() {
        retain();
        return duplicate();
    }
}
