package dev.linerate.gateway.jda;

import dev.linerate.gateway.DecompressionException;
import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.NativeLoader;
import dev.linerate.gateway.Transport;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.net.SocketFactory;
import javax.net.ssl.SSLSocketFactory;

/**
 * Socket factories that add zstd-stream or zlib-stream to JDA, which has no interface for
 * decompressors.
 *
 * <pre>{@code
 * JDABuilder.createDefault(token)
 *     .setCompression(Compression.NONE)
 *     .setWebsocketFactory(new WebSocketFactory()
 *         .setSSLSocketFactory(GatewaySockets.of(Transport.ZSTD).secure()))
 *     .build();
 * }</pre>
 *
 * <p>JDA lets programs choose the sockets of its websockets. These sockets request the transport
 * from the gateway, with the {@code compress} parameter of the request, and replace each compressed
 * websocket message (RFC 6455) by an uncompressed one before the websocket client reads it. Nothing
 * of JDA or of its websocket client is patched, and none of their classes is used. Each connection
 * has its own decompressor, which is closed with the socket.
 *
 * <p>Only gateway connections are changed: requests with an {@code encoding} parameter. Voice
 * connections through the same factory are passed through. JSON works with any compression setting
 * of JDA; ETF needs {@code Compression.NONE}. Extensions of the websocket protocol, such as
 * permessage-deflate, are not supported; JDA does not request them.
 *
 * <p>For a damaged stream, reading from the socket throws a {@link DecompressionException}. JDA
 * then reconnects and resumes its session. JDA itself logs the exception only at debug level; use
 * {@link #onError} to be notified.
 *
 * <p>Instances are immutable and serve all shards of a program.
 */
public final class GatewaySockets {
    private final Supplier<GatewayDecompressor> decompressors;
    private final Consumer<? super DecompressionException> onError;

    private GatewaySockets(
            Supplier<GatewayDecompressor> decompressors, Consumer<? super DecompressionException> onError) {
        this.decompressors = decompressors;
        this.onError = onError;
    }

    /**
     * Returns sockets whose decompressors have the default limits.
     *
     * @param transport the transport to request from the gateway
     * @return the sockets
     * @throws IllegalArgumentException if the transport is not one of gateways, which are
     *     {@link Transport#ZLIB} and {@link Transport#ZSTD}
     * @throws UnsatisfiedLinkError if there is no native library for this platform; see
     *     {@link NativeLoader}
     */
    public static GatewaySockets of(Transport transport) {
        if (!transport.isStream()) {
            throw new IllegalArgumentException("gateways do not send " + transport.queryName());
        }
        // Fail here rather than on a connecting thread of JDA.
        NativeLoader.load();
        return of(() -> GatewayDecompressor.create(transport));
    }

    /**
     * Returns sockets with decompressors of the caller, for other limits and checks.
     *
     * @param decompressors supplies a new decompressor for each connection, which closes it in the
     *     end; called by the threads of the connections
     * @return the sockets
     */
    public static GatewaySockets of(Supplier<GatewayDecompressor> decompressors) {
        return new GatewaySockets(Objects.requireNonNull(decompressors, "decompressors"), error -> {});
    }

    /**
     * Returns the same sockets with a listener for errors.
     *
     * @param listener called once for each stream that is damaged or above the limits, by the
     *     thread that reads it
     * @return new sockets, whose listener replaces an earlier one
     */
    public GatewaySockets onError(Consumer<? super DecompressionException> listener) {
        return new GatewaySockets(decompressors, Objects.requireNonNull(listener, "listener"));
    }

    /**
     * Returns a factory for {@code wss} addresses over the default sockets of the virtual machine.
     *
     * @return a factory for {@code WebSocketFactory.setSSLSocketFactory}
     */
    public SSLSocketFactory secure() {
        return secure((SSLSocketFactory) SSLSocketFactory.getDefault());
    }

    /**
     * Returns a factory for {@code wss} addresses over another factory's sockets.
     *
     * @param delegate the factory of the encrypting sockets
     * @return a factory for {@code WebSocketFactory.setSSLSocketFactory}
     */
    public SSLSocketFactory secure(SSLSocketFactory delegate) {
        return new SecureSocketFactory(Objects.requireNonNull(delegate, "delegate"), this);
    }

    /**
     * Returns a factory for {@code ws} addresses, such as a gateway on the same machine.
     *
     * @return a factory for {@code WebSocketFactory.setSocketFactory}
     */
    public SocketFactory plain() {
        return new PlainSocketFactory(this);
    }

    GatewayDecompressor decompressor() {
        return Objects.requireNonNull(decompressors.get(), "the supplier's decompressor");
    }

    /** Calls the listener. An exception that it throws is added to the error as suppressed. */
    void report(DecompressionException error) {
        try {
            onError.accept(error);
        } catch (RuntimeException failure) {
            error.addSuppressed(failure);
        }
    }
}
