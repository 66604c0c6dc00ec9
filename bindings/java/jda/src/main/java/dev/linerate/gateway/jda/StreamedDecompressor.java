package dev.linerate.gateway.jda;

import dev.linerate.gateway.GatewayDecompressor;
import java.io.IOException;
import java.io.InputStream;
import net.dv8tion.jda.api.requests.gateway.compression.GatewayDecompressor.Transport.Streamed;

/**
 * Implements the streamed decompression interface of JDA's pull request 2985, which is not released yet: each payload
 * is an input stream, at the cost of two small objects.
 *
 * <pre>{@code
 * GatewayConfig.builder().useStreamedTransportDecompression(() -> new StreamedDecompressor(Transport.ZSTD))
 * }</pre>
 *
 * <p>Each shard needs its own. Only {@link #shutdown} may be called from another thread.
 */
public final class StreamedDecompressor implements Streamed {
    private final Shard shard;

    /**
     * Creates a decompressor with the default limits.
     *
     * @param transport the transport to request from the gateway
     * @throws IllegalArgumentException if it is no stream, as gateways have
     */
    public StreamedDecompressor(dev.linerate.gateway.Transport transport) {
        this(GatewayDecompressor.create(transport));
    }

    /**
     * Wraps a decompressor with limits and checks of the caller, and takes ownership of it.
     *
     * @param decompressor a decompressor that is not used otherwise
     * @throws IllegalArgumentException as above; it is closed then
     */
    public StreamedDecompressor(GatewayDecompressor decompressor) {
        shard = new Shard(decompressor);
    }

    /** Returns {@code zlib-stream} or {@code zstd-stream}. */
    @Override
    public String getQueryParameter() {
        return shard.queryName();
    }

    /**
     * Decompresses a websocket message. It is decoded completely before this returns, so a reader that stops early
     * does not affect the next message. As the interface declares no exception here, errors are thrown by reads of
     * the result: each throws a {@link net.dv8tion.jda.api.exceptions.DecompressionException}, also for later messages
     * until {@link #reset}.
     *
     * @param data the message
     * @return the payload, whose reads throw {@link IOException} after the next call; null if it is incomplete
     */
    @Override
    public InputStream createInputStream(byte[] data) {
        try {
            InputStream payload = shard.decompressor().open(data);
            return payload == null ? null : new ShardStream(shard, payload);
        } catch (dev.linerate.gateway.DecompressionException error) {
            return new ShardStream(shard, Shard.translate(error));
        } catch (IllegalStateException e) {
            return new ShardStream(shard, shard.shutDownError(e));
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
