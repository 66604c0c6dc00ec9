package dev.linerate.gateway.bench;

import java.io.IOException;
import java.io.InputStream;

/**
 * A stream that is used for one message after the other, and whose decoder must read each to its
 * end: closing the stream reads the rest of the current message.
 */
abstract class DrainedStream extends InputStream {
    /** Takes bytes to be discarded. All streams share it, because one thread reads them. */
    private static final byte[] REST = new byte[512];

    @Override
    public final int read() throws IOException {
        return read(REST, 0, 1) < 0 ? -1 : REST[0] & 255;
    }

    @Override
    public final void close() throws IOException {
        while (read(REST, 0, REST.length) >= 0) {}
    }
}
