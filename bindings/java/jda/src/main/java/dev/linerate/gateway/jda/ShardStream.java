package dev.linerate.gateway.jda;

import java.io.IOException;
import java.io.InputStream;

/** The payload that a shard reads, or the error that took its place. */
final class ShardStream extends InputStream {
    private final Shard shard;
    /** Null if there is a failure. */
    private final InputStream payload;
    /** What each read throws; null if there is a payload. */
    private final IOException failure;

    ShardStream(Shard shard, InputStream payload) {
        this.shard = shard;
        this.payload = payload;
        failure = null;
    }

    ShardStream(Shard shard, IOException failure) {
        this.shard = shard;
        payload = null;
        this.failure = failure;
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
        if (payload == null) {
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
