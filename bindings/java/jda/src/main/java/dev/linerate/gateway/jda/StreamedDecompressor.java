package dev.linerate.gateway.jda;

import dev.linerate.gateway.GatewayDecompressor;
import java.io.IOException;
import java.io.InputStream;
import net.dv8tion.jda.api.requests.gateway.compression.GatewayDecompressor.Transport.Streamed;

/**
 * Payloads to be read, with two small objects for each as garbage, for the decompression interface of JDA's pull request 2985, which is
 * not released yet.
 *
 * <pre>{@code
 * GatewayConfig.builder().useStreamedTransportDecompression(() -> new StreamedDecompressor(Transport.ZSTD))
 * }</pre>
 *
 * <p>Each shard needs its own. Only {@link #shutdown} may come from another thread.
 */
public final class StreamedDecompressor implements Streamed {
    private final Shard shard;

    /**
     * A decompressor with limits that suit gateways.
     *
     * @param transport what the gateway is asked to send
     */
    public StreamedDecompressor(dev.linerate.gateway.Transport transport) {
        this(GatewayDecompressor.create(transport));
    }

    /**
     * The same as a decompressor with limits and checks of one's own. It belongs to this object from now on.
     *
     * @param decompressor one that nobody else uses
     */
    public StreamedDecompressor(GatewayDecompressor decompressor) {
        shard = new Shard(decompressor);
    }

    /** {@code zlib-stream} or {@code zstd-stream}. */
    @Override
    public String getQueryParameter() {
        return shard.queryName();
    }

    /**
     * Takes a websocket message. The payload is decoded before this returns, so that a reader who stops early
     * leaves nothing behind. As the interface declares no exception here, an unsound stream shows when the result
     * is read: each read throws a {@link net.dv8tion.jda.api.exceptions.DecompressionException}, also for later
     * messages until {@link #reset}.
     *
     * @param data the message
     * @return the payload, whose reads throw {@link IOException} once the next call came; null if more messages are
     *     needed for it
     */
    @Override
    public InputStream createInputStream(byte[] data) {
        try {
            InputStream payload = shard.decompressor().open(data);
            return payload == null ? null : new ShardStream(shard, payload);
        } catch (dev.linerate.gateway.DecompressionException fault) {
            return new ShardStream(shard, Shard.translated(fault));
        } catch (IllegalStateException state) {
            return new ShardStream(shard, shard.shutDown(state));
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
