package dev.linerate.netty;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;

/** Makes frames that differ from another one only in content and reserved bits. */
final class Frames {
    private Frames() {}

    /**
     * Returns a frame of the same type and with the same FIN bit as {@code frame}, but with other
     * reserved bits and content.
     */
    static WebSocketFrame like(WebSocketFrame frame, int rsv, ByteBuf content) {
        boolean last = frame.isFinalFragment();
        if (frame instanceof TextWebSocketFrame) {
            return new TextWebSocketFrame(last, rsv, content);
        }
        if (frame instanceof BinaryWebSocketFrame) {
            return new BinaryWebSocketFrame(last, rsv, content);
        }
        return new ContinuationWebSocketFrame(last, rsv, content);
    }
}
