package dev.linerate.gateway.jda;

import dev.linerate.gateway.GatewayDecompressor;
import net.dv8tion.jda.api.exceptions.DecompressionException;
import net.dv8tion.jda.api.requests.gateway.compression.GatewayDecompressor.Transport.Buffered;

/**
 * Whole payloads for the decompression interface of JDA's pull request 2985, which is not released yet.
 *
 * <pre>{@code
 * GatewayConfig.builder().useBufferedTransportDecompression(() -> new BufferedDecompressor(Transport.ZSTD))
 * }</pre>
 *
 * <p>Each shard needs its own. Only {@link #shutdown} may come from another thread.
 */
public final class BufferedDecompressor implements Buffered {
    private final Shard shard;

    /**
     * A decompressor with limits that suit gateways.
     *
     * @param transport what the gateway is asked to send
     */
    public BufferedDecompressor(dev.linerate.gateway.Transport transport) {
        this(GatewayDecompressor.create(transport));
    }

    /**
     * The same as a decompressor with limits and checks of one's own. It belongs to this object from now on.
     *
     * @param decompressor one that nobody else uses
     */
    public BufferedDecompressor(GatewayDecompressor decompressor) {
        shard = new Shard(decompressor);
    }

    /** {@code zlib-stream} or {@code zstd-stream}. */
    @Override
    public String getQueryParameter() {
        return shard.queryName();
    }

    /**
     * Takes a websocket message.
     *
     * @param data the message
     * @return the payload, or null if more messages are needed for it
     * @throws DecompressionException if the stream is not sound, and at every further call until {@link #reset};
     *     also after {@link #shutdown}
     */
    @Override
    public byte[] decompress(byte[] data) throws DecompressionException {
        try {
            return shard.decompressor().decompress(data);
        } catch (dev.linerate.gateway.DecompressionException fault) {
            throw Shard.translated(fault);
        } catch (IllegalStateException state) {
            throw shard.shutDown(state);
        }
    }

    /** A new connection begins: history, fragments and errors of the last one are gone. */
    @Override
    public void reset() {
        shard.reset();
    }

    /** Gives the memory back. It may be called again, and from any thread. */
    @Override
    public void shutdown() {
        shard.shutdown();
    }
}
