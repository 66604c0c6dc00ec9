package dev.linerate.gateway.bench;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/** What becomes of a payload. Each decoder calls the one method that fits the shape of its output. */
interface Taker {
    void array(byte[] array, int length) throws IOException;

    /** Reads the stream. Whether it is read to its end or closed before, the connection sees to the rest. */
    void stream(InputStream stream) throws IOException;

    void buffer(ByteBuffer buffer) throws IOException;

    /** Something that depends on every payload taken, so that none of the work can be left out. */
    long sum();
}
