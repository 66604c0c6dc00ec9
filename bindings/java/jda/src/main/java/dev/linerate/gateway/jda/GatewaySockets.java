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
 * zstd-stream or zlib-stream, decompressed by Linerate, for released versions of JDA, which have no
 * interface for it.
 *
 * <pre>{@code
 * JDABuilder.createDefault(token)
 *     .setCompression(Compression.NONE)
 *     .setWebsocketFactory(new WebSocketFactory()
 *         .setSSLSocketFactory(GatewaySockets.of(Transport.ZSTD).secure()))
 *     .build();
 * }</pre>
 *
 * <p>JDA lets programs choose the sockets of its websockets. These ask the gateway for the transport, by the
 * {@code compress} parameter of the request, and turn each compressed websocket message (RFC 6455) into an
 * uncompressed one before the websocket client reads it. Nothing of JDA or of its websocket client is
 * patched, and none of their classes is used. Each connection has its own decompressor, which begins with it;
 * it is closed with the socket.
 *
 * <p>Only gateways are touched: requests with an {@code encoding} parameter. Voice connections, which go
 * through the same factory, stay what they are. Text (JSON) works whatever JDA's own compression is set to; ETF needs
 * {@code Compression.NONE}. Extensions of the websocket protocol, such as permessage-deflate, are not for these
 * connections, nor does JDA ask for them.
 *
 * <p>When a stream is not sound, reading from the socket throws a {@link DecompressionException}. JDA then
 * connects anew and resumes its session. JDA itself logs it at debug level only, so {@link #onFault} tells.
 *
 * <p>Instances cannot be changed and serve all shards of a program.
 */
public final class GatewaySockets {
    private final Supplier<GatewayDecompressor> decompressors;
    private final Consumer<? super DecompressionException> onFault;

    private GatewaySockets(
            Supplier<GatewayDecompressor> decompressors, Consumer<? super DecompressionException> onFault) {
        this.decompressors = decompressors;
        this.onFault = onFault;
    }

    /**
     * Sockets whose decompressors have limits that suit gateways.
     *
     * @param transport what the gateway is asked to send
     * @return the sockets
     * @throws UnsatisfiedLinkError if there is no native library for this platform; see {@link NativeLoader}
     */
    public static GatewaySockets of(Transport transport) {
        Objects.requireNonNull(transport, "transport");
        // Here, rather than on a thread of JDA that connects.
        NativeLoader.load();
        return of(() -> GatewayDecompressor.create(transport));
    }

    /**
     * Sockets whose decompressors have limits and checks of one's own.
     *
     * @param decompressors gives a new one for each connection, which belongs to the connection; it is called by
     *     the threads of the connections
     * @return the sockets
     */
    public static GatewaySockets of(Supplier<GatewayDecompressor> decompressors) {
        return new GatewaySockets(Objects.requireNonNull(decompressors, "decompressors"), fault -> {});
    }

    /**
     * The same sockets, which tell of streams that were not sound.
     *
     * @param listener is called once for such a connection, by the thread that reads it
     * @return new sockets
     */
    public GatewaySockets onFault(Consumer<? super DecompressionException> listener) {
        return new GatewaySockets(decompressors, Objects.requireNonNull(listener, "listener"));
    }

    /**
     * For {@code wss} addresses, over the sockets of the virtual machine.
     *
     * @return a factory, such as {@code WebSocketFactory.setSSLSocketFactory} takes
     */
    public SSLSocketFactory secure() {
        return secure((SSLSocketFactory) SSLSocketFactory.getDefault());
    }

    /**
     * For {@code wss} addresses, over sockets of one's own.
     *
     * @param below what makes the sockets that encrypt
     * @return a factory, such as {@code WebSocketFactory.setSSLSocketFactory} takes
     */
    public SSLSocketFactory secure(SSLSocketFactory below) {
        return new SecureSocketFactory(Objects.requireNonNull(below, "below"), this);
    }

    /**
     * For {@code ws} addresses, such as those of a gateway on this machine.
     *
     * @return a factory, such as {@code WebSocketFactory.setSocketFactory} takes
     */
    public SocketFactory plain() {
        return new PlainSocketFactory(this);
    }

    GatewayDecompressor decompressor() {
        return Objects.requireNonNull(decompressors.get(), "the supplier's decompressor");
    }

    /** A listener that fails itself does not hide the fault. */
    void tell(DecompressionException fault) {
        try {
            onFault.accept(fault);
        } catch (RuntimeException failure) {
            fault.addSuppressed(failure);
        }
    }
}
