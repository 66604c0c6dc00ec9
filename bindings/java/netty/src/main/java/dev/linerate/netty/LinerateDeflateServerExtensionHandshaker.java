package dev.linerate.netty;

import dev.linerate.gateway.DeflateAgreement;
import dev.linerate.gateway.DeflateOptions;
import dev.linerate.gateway.NativeLoader;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionData;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionFilter;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketServerExtension;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketServerExtensionHandshaker;
import java.util.Objects;

/**
 * permessage-deflate of a server, for Netty's {@code WebSocketServerExtensionHandler}, in place of
 * {@code WebSocketServerCompressionHandler}:
 *
 * <pre>{@code
 * pipeline.addLast(new HttpServerCodec());
 * pipeline.addLast(new HttpObjectAggregator(65536));
 * pipeline.addLast(new WebSocketServerExtensionHandler(handshaker));
 * pipeline.addLast(new WebSocketServerProtocolHandler("/", null, true));
 * }</pre>
 *
 * <p>One handshaker serves any number of connections.
 */
public final class LinerateDeflateServerExtensionHandshaker implements WebSocketServerExtensionHandshaker {
    private final DeflateOptions options;
    private final WebSocketExtensionFilter uncompressed;

    /**
     * Creates a handshaker.
     *
     * @param options what this server allows
     * @throws UnsatisfiedLinkError if there is no native library for this platform
     */
    public LinerateDeflateServerExtensionHandshaker(DeflateOptions options) {
        this(options, WebSocketExtensionFilter.NEVER_SKIP);
    }

    /**
     * Creates a handshaker.
     *
     * @param options what this server allows
     * @param uncompressed selects frames that are sent uncompressed, such as those that have
     *     secrets beside text of a possible attacker, since the compressed size tells whether they
     *     are alike; the first frame of a message decides for all of it
     * @throws UnsatisfiedLinkError if there is no native library for this platform
     */
    public LinerateDeflateServerExtensionHandshaker(DeflateOptions options, WebSocketExtensionFilter uncompressed) {
        NativeLoader.load();
        this.options = Objects.requireNonNull(options, "options");
        this.uncompressed = Objects.requireNonNull(uncompressed, "uncompressed");
    }

    @Override
    public WebSocketServerExtension handshakeExtension(WebSocketExtensionData offer) {
        DeflateAgreement agreement = options.answer(Headers.toText(offer));
        return agreement == null ? null : new DeflateExtension(agreement, options, uncompressed);
    }
}
