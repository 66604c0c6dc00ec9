package dev.linerate.gateway.bench;

import java.io.IOException;

/** The decoder of one connection: frames in, payloads out. */
interface Connection extends AutoCloseable {
    /**
     * Decodes a frame that is a complete message and passes its payload to the taker, in the
     * decoder's form of output.
     */
    void message(Frame frame, Taker taker) throws IOException;

    /** Resets the decoder to the beginning of a stream. */
    void reset() throws IOException;

    @Override
    void close() throws IOException;
}
