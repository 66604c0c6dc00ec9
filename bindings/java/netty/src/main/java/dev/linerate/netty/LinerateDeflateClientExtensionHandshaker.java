package dev.linerate.netty;

import dev.linerate.gateway.DeflateAgreement;
import dev.linerate.gateway.DeflateOptions;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketClientExtension;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketClientExtensionHandshaker;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionData;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionFilter;
import java.util.List;
import java.util.Objects;

/**
 * permessage-deflate of a client, for Netty's {@code WebSocketClientExtensionHandler}, in place of
 * {@code WebSocketClientCompressionHandler}:
 *
 * <pre>{@code
 * pipeline.addLast(new HttpClientCodec());
 * pipeline.addLast(new HttpObjectAggregator(65536));
 * pipeline.addLast(new
 * WebSocketClientExtensionHandler(LinerateDeflateClientExtensionHandshaker.of(options)));
 * pipeline.addLast(new WebSocketClientProtocolHandler(configuration)); }</pre>
 */
public final class LinerateDeflateClientExtensionHandshaker implements WebSocketClientExtensionHandshaker {
    private final DeflateOptions options;
    private final WebSocketExtensionFilter uncompressed;
    private final WebSocketExtensionData offer;

    private LinerateDeflateClientExtensionHandshaker(
            DeflateOptions options, WebSocketExtensionFilter uncompressed, WebSocketExtensionData offer) {
        this.options = options;
        this.uncompressed = uncompressed;
        this.offer = offer;
    }

    /**
     * Creates the handshakers of a client.
     *
     * @param options what this client allows
     * @return one or two handshakers, one for each offer; pass all of them to the handler, because
     *     the second one is for servers that cannot limit their window. They serve any number of
     *     connections
     * @throws UnsatisfiedLinkError if there is no native library for this platform
     */
    public static WebSocketClientExtensionHandshaker[] of(DeflateOptions options) {
        return of(options, WebSocketExtensionFilter.NEVER_SKIP);
    }

    /**
     * Creates the handshakers of a client.
     *
     * @param options what this client allows
     * @param uncompressed selects frames that are sent uncompressed; the first frame of a message
     *     decides for all of it
     * @return a handshaker for each offer; pass all of them to the handler
     * @throws UnsatisfiedLinkError if there is no native library for this platform
     */
    public static WebSocketClientExtensionHandshaker[] of(
            DeflateOptions options, WebSocketExtensionFilter uncompressed) {
        Objects.requireNonNull(uncompressed, "uncompressed");
        List<WebSocketExtensionData> offers = Headers.parse(options.offer());
        WebSocketClientExtensionHandshaker[] all = new WebSocketClientExtensionHandshaker[offers.size()];
        for (int i = 0; i < all.length; i++) {
            all[i] = new LinerateDeflateClientExtensionHandshaker(options, uncompressed, offers.get(i));
        }
        return all;
    }

    @Override
    public WebSocketExtensionData newRequestData() {
        return offer;
    }

    @Override
    public WebSocketClientExtension handshakeExtension(WebSocketExtensionData answer) {
        try {
            DeflateAgreement agreement = options.agree(Headers.toText(answer));
            return agreement == null ? null : new DeflateExtension(agreement, options, uncompressed);
        } catch (IllegalArgumentException e) {
            // The handler ends the handshake if no handshaker accepts the answer.
            return null;
        }
    }
}
