package dev.linerate.gateway.jda;

import java.io.IOException;
import java.io.InputStream;

/**
 * The payload that a shard reads, or the error that took its place. One object serves all messages of a shard.
 */
final class ShardStream extends InputStream {
    private final Shard shard;
    private InputStream payload;
    private IOException failure;

    ShardStream(Shard shard) {
        this.shard = shard;
    }

    ShardStream of(InputStream payload) {
        this.payload = payload;
        failure = null;
        return this;
    }

    ShardStream failing(IOException failure) {
        this.failure = failure;
        return this;
    }

    @Override
    public int read() throws IOException {
        mustNotHaveFailed();
        try {
            return payload.read();
        } catch (IllegalStateException state) {
            throw shard.shutDown(state);
        }
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        mustNotHaveFailed();
        try {
            return payload.read(into, offset, length);
        } catch (IllegalStateException state) {
            throw shard.shutDown(state);
        }
    }

    @Override
    public long skip(long count) throws IOException {
        mustNotHaveFailed();
        try {
            return payload.skip(count);
        } catch (IllegalStateException state) {
            throw shard.shutDown(state);
        }
    }

    @Override
    public int available() throws IOException {
        mustNotHaveFailed();
        try {
            return payload.available();
        } catch (IllegalStateException state) {
            throw shard.shutDown(state);
        }
    }

    /** Ends the payload; the shard stays. */
    @Override
    public void close() throws IOException {
        if (payload == null || failure != null) {
            return;
        }
        try {
            payload.close();
        } catch (IllegalStateException state) {
            // Nothing is left to be closed if the shard was shut down; all else is misuse and goes on.
            shard.shutDown(state);
        }
    }

    private void mustNotHaveFailed() throws IOException {
        if (failure != null) {
            throw failure;
        }
    }
}
