package dev.linerate.gateway.bench;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/** Consumes payloads. Each decoder calls the method that fits its form of output. */
interface Taker {
    void array(byte[] array, int length) throws IOException;

    /** Reads the stream. The connection handles a stream that is not read to its end. */
    void stream(InputStream stream) throws IOException;

    void buffer(ByteBuffer buffer) throws IOException;

    /** A value that depends on every payload, so that no work is optimized away. */
    long sum();

    /** Discards payloads; streams are read in pieces of 8 KiB, as by Jackson and most parsers. */
    final class Bytes implements Taker {
        private final byte[] piece = new byte[8192];
        private long sum;

        @Override
        public void array(byte[] array, int length) {
            sum += length + array[length >> 1];
        }

        @Override
        public void stream(InputStream stream) throws IOException {
            for (int n; (n = stream.read(piece, 0, piece.length)) >= 0; ) {
                sum += n + piece[n >> 1];
            }
        }

        @Override
        public void buffer(ByteBuffer buffer) {
            sum += buffer.remaining() + buffer.get(buffer.position() + (buffer.remaining() >> 1));
        }

        @Override
        public long sum() {
            return sum;
        }
    }
}
