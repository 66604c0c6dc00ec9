package dev.linerate.gateway.bench;

import java.io.IOException;
import java.io.InputStream;

/**
 * A stream over consecutive messages whose decoder must read each to its end: closing it reads the
 * rest.
 */
abstract class DrainedStream extends InputStream {
    /** Shared by all streams: one thread reads them, and the content is discarded. */
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
