package dev.linerate.gateway.bench;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/** Compares payloads byte for byte with the original ones. */
final class Compare implements Taker {
    private final String contender;
    private byte[] expected;
    private long index;
    private long taken;

    Compare(String contender) {
        this.contender = contender;
    }

    /** Sets the next expected payload. Fails if the previous one was not received. */
    void expect(byte[] payload) {
        if (taken != index) {
            throw new IllegalStateException(contender + " returned no payload for message " + (index - 1));
        }
        expected = payload;
        index++;
    }

    @Override
    public void array(byte[] array, int length) {
        buffer(ByteBuffer.wrap(array, 0, length));
    }

    @Override
    public void stream(InputStream stream) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream(expected.length);
        stream.transferTo(all);
        array(all.toByteArray(), all.size());
    }

    @Override
    public void buffer(ByteBuffer buffer) {
        if (!buffer.equals(ByteBuffer.wrap(expected))) {
            throw new IllegalStateException(contender + " decodes message " + (index - 1) + " wrongly");
        }
        taken++;
    }

    @Override
    public long sum() {
        return taken;
    }

    /** Decodes a stream on a new connection and compares every payload. */
    static void all(Contender contender, Frame[] frames, byte[][] payloads) throws IOException {
        Compare compare = new Compare(contender.title);
        try (Connection connection = contender.connect()) {
            for (int k = 0; k < frames.length; k++) {
                compare.expect(payloads[k]);
                connection.message(frames[k], compare);
            }
        }
        if (compare.sum() != frames.length || frames.length != payloads.length) {
            throw new IllegalStateException(contender.title + " gave " + compare.sum() + " of " + payloads.length + " payloads");
        }
    }
}
