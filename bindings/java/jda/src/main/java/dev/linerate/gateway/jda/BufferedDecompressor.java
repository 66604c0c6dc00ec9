package dev.linerate.gateway.jda;

import dev.linerate.gateway.GatewayDecompressor;
import net.dv8tion.jda.api.exceptions.DecompressionException;
import net.dv8tion.jda.api.requests.gateway.compression.GatewayDecompressor.Transport.Buffered;

/**
 * Implements the buffered decompression interface of JDA's pull request 2985, which is not released yet: each payload
 * is an array.
 *
 * <pre>{@code
 * GatewayConfig.builder().useBufferedTransportDecompression(() -> new BufferedDecompressor(Transport.ZSTD))
 * }</pre>
 *
 * <p>Each shard needs its own. Only {@link #shutdown} may be called from another thread.
 */
public final class BufferedDecompressor implements Buffered {
    private final Shard shard;

    /**
     * Creates a decompressor with the default limits.
     *
     * @param transport the transport to request from the gateway
     * @throws IllegalArgumentException if it is no stream, as gateways have
     */
    public BufferedDecompressor(dev.linerate.gateway.Transport transport) {
        this(GatewayDecompressor.create(transport));
    }

    /**
     * Wraps a decompressor with limits and checks of the caller, and takes ownership of it.
     *
     * @param decompressor a decompressor that is not used otherwise
     * @throws IllegalArgumentException as above; it is closed then
     */
    public BufferedDecompressor(GatewayDecompressor decompressor) {
        shard = new Shard(decompressor);
    }

    /** Returns {@code zlib-stream} or {@code zstd-stream}. */
    @Override
    public String getQueryParameter() {
        return shard.queryName();
    }

    /**
     * Decompresses a websocket message.
     *
     * @param data the message
     * @return the payload, or null if it is incomplete
     * @throws DecompressionException if the stream is damaged, and at every further call until {@link #reset}; also
     *     after {@link #shutdown}
     */
    @Override
    public byte[] decompress(byte[] data) throws DecompressionException {
        try {
            return shard.decompressor().decompress(data);
        } catch (dev.linerate.gateway.DecompressionException error) {
            throw Shard.translate(error);
        } catch (IllegalStateException e) {
            throw shard.shutDownError(e);
        }
    }

    /** Starts a new connection: clears history, fragments and the error of the last one. */
    @Override
    public void reset() {
        shard.reset();
    }

    /** Frees the memory. It may be called again, and from any thread. */
    @Override
    public void shutdown() {
        shard.shutdown();
    }
}
