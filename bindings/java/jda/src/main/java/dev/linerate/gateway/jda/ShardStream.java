package dev.linerate.gateway.jda;

import java.io.IOException;
import java.io.InputStream;

/** The payload of a shard, or an error that every read throws. */
final class ShardStream extends InputStream {
    private final Shard shard;
    /** Null if there is an error. */
    private final InputStream payload;
    /** Thrown by each read; null if there is a payload. */
    private final IOException error;

    ShardStream(Shard shard, InputStream payload) {
        this.shard = shard;
        this.payload = payload;
        error = null;
    }

    ShardStream(Shard shard, IOException error) {
        this.shard = shard;
        payload = null;
        this.error = error;
    }

    @Override
    public int read() throws IOException {
        throwIfFailed();
        try {
            return payload.read();
        } catch (IllegalStateException state) {
            throw shard.shutDownError(state);
        }
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        throwIfFailed();
        try {
            return payload.read(into, offset, length);
        } catch (IllegalStateException state) {
            throw shard.shutDownError(state);
        }
    }

    @Override
    public long skip(long count) throws IOException {
        throwIfFailed();
        try {
            return payload.skip(count);
        } catch (IllegalStateException state) {
            throw shard.shutDownError(state);
        }
    }

    @Override
    public int available() throws IOException {
        throwIfFailed();
        try {
            return payload.available();
        } catch (IllegalStateException state) {
            throw shard.shutDownError(state);
        }
    }

    /** Closes the payload, not the shard. */
    @Override
    public void close() throws IOException {
        if (payload == null) {
            return;
        }
        try {
            payload.close();
        } catch (IllegalStateException state) {
            // If the shard was shut down, nothing is left to close; otherwise this rethrows.
            shard.shutDownError(state);
        }
    }

    private void throwIfFailed() throws IOException {
        if (error != null) {
            throw error;
        }
    }
}
