package dev.linerate.gateway.bench;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.ref.SoftReference;
import java.util.zip.Inflater;
import java.util.zip.InflaterOutputStream;

/**
 * The JDK's {@link Inflater} used as JDA 6 uses it: each message goes through a new {@link InflaterOutputStream}, in
 * pieces of 512 bytes, into a byte stream held by a soft reference, and is returned as a new array. A stream that grew
 * above 2,048 bytes is replaced.
 */
final class JdaInflater implements Connection {
    private static final int KEPT = 2048;

    private final Inflater inflater = new Inflater();
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

    @Override
    public void reset() {
        inflater.reset();
    }

    @Override
    public void close() {
        inflater.end();
    }
}
