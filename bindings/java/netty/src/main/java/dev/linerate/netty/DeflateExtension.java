package dev.linerate.netty;

import dev.linerate.gateway.DeflateAgreement;
import dev.linerate.gateway.DeflateOptions;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketClientExtension;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionData;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionDecoder;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionEncoder;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionFilter;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketServerExtension;

/** permessage-deflate as one connection has agreed on it. It creates the two frame handlers. */
final class DeflateExtension implements WebSocketClientExtension, WebSocketServerExtension {
    private final DeflateAgreement agreement;
    private final DeflateOptions options;
    private final WebSocketExtensionFilter uncompressed;

    DeflateExtension(DeflateAgreement agreement, DeflateOptions options, WebSocketExtensionFilter uncompressed) {
        this.agreement = agreement;
        this.options = options;
        this.uncompressed = uncompressed;
    }

    @Override
    public int rsv() {
        return RSV1;
    }

    @Override
    public WebSocketExtensionData newReponseData() {
        return Headers.parse(agreement.answer()).get(0);
    }

    @Override
    public WebSocketExtensionEncoder newExtensionEncoder() {
        return new DeflateFrameEncoder(agreement, options.smallest(), uncompressed);
    }

    @Override
    public WebSocketExtensionDecoder newExtensionDecoder() {
        return new DeflateFrameDecoder(agreement);
    }
}
