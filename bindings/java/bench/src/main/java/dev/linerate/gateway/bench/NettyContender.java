package dev.linerate.gateway.bench;

import dev.linerate.gateway.DeflateOptions;
import dev.linerate.netty.LinerateDeflateServerExtensionHandshaker;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtension;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionData;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketServerExtensionHandshaker;
import io.netty.handler.codec.http.websocketx.extensions.compression.PerMessageDeflateServerExtensionHandshaker;
import java.util.HashMap;
import java.util.Map;

/** Codecs of permessage-deflate in Netty, with the same window in both directions, kept from one message to the next. */
enum NettyContender {
    NONE("no compression", 0, 0),
    NETTY_15("Netty, JDK", 6, 15),
    NETTY_11("Netty, JZlib", 6, 11),
    NETTY_10("Netty, JZlib", 6, 10),
    LINERATE_15("linerate 2", 2, 15),
    LINERATE_11("linerate 2", 2, 11),
    LINERATE_10("linerate 2", 2, 10),
    LINERATE_BEST_15("linerate 6", 6, 15);

    final String title;
    final int windowBits;
    private final int level;

    NettyContender(String title, int level, int windowBits) {
        this.title = title;
        this.level = level;
        this.windowBits = windowBits;
    }

    /** A server's side of a new connection. What it sends and what it receives are compressed alike. */
    EmbeddedChannel connect() {
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.config().setAllocator(PooledByteBufAllocator.DEFAULT);
        if (this != NONE) {
            WebSocketExtension extension = handshaker().handshakeExtension(offer());
            channel.pipeline().addLast(extension.newExtensionDecoder(), extension.newExtensionEncoder());
        }
        return channel;
    }

    private WebSocketServerExtensionHandshaker handshaker() {
        if (title.startsWith("Netty")) {
            return new PerMessageDeflateServerExtensionHandshaker(level, true, windowBits, true, false, 0);
        }
        return new LinerateDeflateServerExtensionHandshaker(DeflateOptions.builder()
                .encoderWindowBits(windowBits)
                .decoderWindowBits(windowBits)
                .level(level)
                .build());
    }

    private WebSocketExtensionData offer() {
        Map<String, String> parameters = new HashMap<>();
        parameters.put("client_max_window_bits", Integer.toString(windowBits));
        if (windowBits < 15) {
            parameters.put("server_max_window_bits", Integer.toString(windowBits));
        }
        return new WebSocketExtensionData(DeflateOptions.NAME, parameters);
    }
}
