package dev.linerate.gateway.bench;

import java.io.IOException;
import java.io.InputStream;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/** The JDK's {@link Inflater} as one input stream for all messages of a connection, without intermediate copies. */
final class JdkStream implements Connection {
    private final Inflater inflater = new Inflater();
    private final InputStream stream = new Inflating(inflater);

    @Override
    public void message(Frame frame, Taker taker) throws IOException {
        inflater.setInput(frame.heap);
        taker.stream(stream);
        stream.close();
    }

    @Override
    public void reset() {
        inflater.reset();
    }

    @Override
    public void close() {
        inflater.end();
    }

    /** The inflater's output of its current input. */
    private static final class Inflating extends DrainedStream {
        private final Inflater inflater;

        Inflating(Inflater inflater) {
            this.inflater = inflater;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            try {
                int n = inflater.inflate(into, offset, length);
                return n == 0 && length != 0 ? -1 : n;
            } catch (DataFormatException e) {
                throw new IOException(e);
            }
        }
    }
}
