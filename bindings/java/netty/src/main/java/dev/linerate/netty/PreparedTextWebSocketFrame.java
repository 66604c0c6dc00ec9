package dev.linerate.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.util.CharsetUtil;

/**
 * A text message for many connections that is compressed once for all of them. Write it to a
 * {@code ChannelGroup}, or write a {@link #retainedDuplicate} to each channel:
 *
 * <pre>{@code
 * listeners.writeAndFlush(new PreparedTextWebSocketFrame(news));
 * }</pre>
 *
 * <p>The message is compressed at level 6 when a connection of a
 * {@code LinerateDeflate...ExtensionHandshaker} first needs it, once for each window size. On a
 * connection without compression, or with another codec, the frame is an ordinary
 * {@link TextWebSocketFrame}. Its content is read-only, and stays outside the heap until the last
 * duplicate is released. Duplicates may be used on different event loops.
 */
public final class PreparedTextWebSocketFrame extends TextWebSocketFrame implements PreparedFrame {
    /**
     * Creates the frame of a whole message.
     *
     * @param text the message
     * @throws UnsatisfiedLinkError if there is no native library for this platform
     */
    public PreparedTextWebSocketFrame(String text) {
        this(Unpooled.copiedBuffer(text, CharsetUtil.UTF_8));
    }

    /**
     * Creates the frame of a whole message.
     *
     * @param content the text in UTF-8, which is copied and released
     * @throws UnsatisfiedLinkError if there is no native library for this platform
     */
    public PreparedTextWebSocketFrame(ByteBuf content) {
        super(PreparedContent.of(content));
    }

    private PreparedTextWebSocketFrame(PreparedTextWebSocketFrame frame) {
        super(frame.content().duplicate());
    }

    @Override
    public PreparedTextWebSocketFrame duplicate() {
        return new PreparedTextWebSocketFrame(this);
    }

    @Override
    public PreparedTextWebSocketFrame retainedDuplicate() {
        retain();
        return duplicate();
    }
}
