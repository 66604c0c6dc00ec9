package dev.linerate.gateway.bench;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.ref.SoftReference;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import java.util.zip.InflaterOutputStream;

/** The JDK's {@link Inflater}, one for all messages of a connection. */
abstract class JdkInflater implements Connection {
    final Inflater inflater = new Inflater();

    @Override
    public final void reset() {
        inflater.reset();
    }

    @Override
    public final void close() {
        inflater.end();
    }

    /**
     * Used as JDA 6 uses it: each message goes through a new {@link InflaterOutputStream}, in
     * pieces of 512 bytes, into a byte stream held by a soft reference, and is returned as a new
     * array. A stream that grew above 2,048 bytes is replaced.
     */
    static final class Bulk extends JdkInflater {
        private static final int KEPT = 2048;

        private SoftReference<ByteArrayOutputStream> output = new SoftReference<>(null);

        @Override
        public void message(Frame frame, Taker taker) throws IOException {
            ByteArrayOutputStream bytes = output.get();
            if (bytes == null) {
                bytes = new ByteArrayOutputStream(KEPT);
                output = new SoftReference<>(bytes);
            }
            byte[] payload;
            try (InflaterOutputStream inflating = new InflaterOutputStream(bytes, inflater)) {
                inflating.write(frame.heap);
                payload = bytes.toByteArray();
            }
            if (bytes.size() > KEPT) {
                output = new SoftReference<>(new ByteArrayOutputStream(KEPT));
            } else {
                bytes.reset();
            }
            taker.array(payload, payload.length);
        }
    }

    /** Used as one input stream, which inflates into the reader's array without other copies. */
    static final class Stream extends JdkInflater {
        private final DrainedStream stream = new DrainedStream() {
            @Override
            public int read(byte[] into, int offset, int length) throws IOException {
                try {
                    int n = inflater.inflate(into, offset, length);
                    return n == 0 && length != 0 ? -1 : n;
                } catch (DataFormatException e) {
                    throw new IOException(e);
                }
            }
        };

        @Override
        public void message(Frame frame, Taker taker) throws IOException {
            inflater.setInput(frame.heap);
            taker.stream(stream);
            stream.close();
        }
    }
}
