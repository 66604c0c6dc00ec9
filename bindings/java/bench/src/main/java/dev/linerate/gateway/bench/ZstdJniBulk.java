package dev.linerate.gateway.bench;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/** zstd-jni's context, and a new array per payload: what a bulk decoder over libzstd gives. */
final class ZstdJniBulk implements Connection {
    private final ZstdJniContext context = new ZstdJniContext();

    @Override
    public void message(Frame frame, Taker taker) throws IOException {
        context.message(frame, new Copying(taker));
    }

    @Override
    public void reset() {
        context.reset();
    }

    @Override
    public void close() {
        context.close();
    }

    /** Passes each buffer on as an array. */
    private record Copying(Taker taker) implements Taker {
        @Override
        public void buffer(ByteBuffer buffer) throws IOException {
            byte[] payload = new byte[buffer.remaining()];
            buffer.get(payload);
            array(payload, payload.length);
        }

        @Override
        public void array(byte[] array, int length) throws IOException {
            taker.array(array, length);
        }

        @Override
        public void stream(InputStream stream) throws IOException {
            taker.stream(stream);
        }

        @Override
        public long sum() {
            return taker.sum();
        }
    }
}
