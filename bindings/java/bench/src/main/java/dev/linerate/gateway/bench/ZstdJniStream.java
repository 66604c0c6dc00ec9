package dev.linerate.gateway.bench;

import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import java.io.IOException;
import java.io.InputStream;

/** zstd-jni's input stream in its continuous mode, one for all messages of a connection. */
final class ZstdJniStream implements Connection {
    private final Source source = new Source();
    private Decoding stream = new Decoding(source);

    ZstdJniStream() throws IOException {}

    @Override
    public void message(Frame frame, Taker taker) throws IOException {
        source.frame = frame.heap;
        source.at = 0;
        taker.stream(stream);
        stream.close();
    }

    @Override
    public void reset() throws IOException {
        close();
        stream = new Decoding(source);
    }

    @Override
    public void close() throws IOException {
        stream.zstd.close();
    }

    /** The decoder's output of the current frame. Without input it reads 0 bytes or fails: the end of the message. */
    private static final class Decoding extends DrainedStream {
        final ZstdInputStreamNoFinalizer zstd;
        private final Source source;

        Decoding(Source source) throws IOException {
            this.source = source;
            zstd = new ZstdInputStreamNoFinalizer(source).setContinuous(true);
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            int n = zstd.read(into, offset, length);
            return n <= 0 && length != 0 ? -1 : n;
        }
    }

    /** The current frame. */
    private static final class Source extends InputStream {
        byte[] frame = {};
        int at;

        @Override
        public int read(byte[] into, int offset, int length) {
            int n = Math.min(length, frame.length - at);
            if (n == 0) {
                return -1;
            }
            System.arraycopy(frame, at, into, offset, n);
            at += n;
            return n;
        }

        @Override
        public int read() {
            return at == frame.length ? -1 : frame[at++] & 255;
        }
    }
}
