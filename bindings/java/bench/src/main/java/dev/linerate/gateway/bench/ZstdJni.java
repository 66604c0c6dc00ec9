package dev.linerate.gateway.bench;

import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/** zstd-jni, which calls libzstd. */
final class ZstdJni {
    private ZstdJni() {}

    /**
     * A context that decodes from a direct buffer into a shared direct buffer: libzstd with the
     * fewest copies possible in Java. If {@code bulk}, the payload is then copied to a new array,
     * as a bulk decoder over libzstd would return it.
     */
    static final class Context implements Connection {
        private static final ByteBuffer OUTPUT = ByteBuffer.allocateDirect(16 << 20);

        private final ZstdDecompressCtx context = new ZstdDecompressCtx();
        private final boolean bulk;

        Context(boolean bulk) {
            this.bulk = bulk;
        }

        @Override
        public void message(Frame frame, Taker taker) throws IOException {
            ByteBuffer input = frame.direct.rewind();
            ByteBuffer output = OUTPUT.clear();
            // A call that consumes all input may not have written all output, because it writes the
            // blocks of a message one at a time.
            int before;
            do {
                before = output.position();
                context.decompressDirectByteBufferStream(output, input);
            } while (input.hasRemaining() || output.position() != before);
            output.flip();
            if (bulk) {
                byte[] payload = new byte[output.remaining()];
                output.get(payload);
                taker.array(payload, payload.length);
            } else {
                taker.buffer(output);
            }
        }

        @Override
        public void reset() {
            context.reset();
        }

        @Override
        public void close() {
            context.close();
        }
    }

    /** zstd-jni's input stream in its continuous mode, one for all messages of a connection. */
    static final class Stream implements Connection {
        private final Source source = new Source();
        private ZstdInputStreamNoFinalizer zstd = open();
        /**
         * The output of the current frame. At the end of the message the decoder has no more input,
         * and a read returns 0 bytes or less.
         */
        private final DrainedStream stream = new DrainedStream() {
            @Override
            public int read(byte[] into, int offset, int length) throws IOException {
                int n = zstd.read(into, offset, length);
                return n <= 0 && length != 0 ? -1 : n;
            }
        };

        Stream() throws IOException {}

        private ZstdInputStreamNoFinalizer open() throws IOException {
            return new ZstdInputStreamNoFinalizer(source).setContinuous(true);
        }

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
            zstd = open();
        }

        @Override
        public void close() throws IOException {
            zstd.close();
        }
    }

    /** Input of the decoder: the bytes of the current frame. */
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
