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
}
