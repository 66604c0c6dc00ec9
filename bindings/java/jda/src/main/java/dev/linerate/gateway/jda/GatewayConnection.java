package dev.linerate.gateway.jda;

import dev.linerate.gateway.DecompressionException;
import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.Transport;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketException;
import java.util.Arrays;

/** The decompressor of one connection, and the compressed websocket message received so far. */
final class GatewayConnection {
    /**
     * The longest compressed websocket message in bytes. Payloads have the limit of the
     * decompressor.
     */
    static final int MAX_MESSAGE = 64 << 20;

    /** Length in bytes of the longest array that is kept after its message. */
    private static final int MAX_RETAINED = 16 << 10;

    private static final byte[] EMPTY = {};

    private final GatewaySockets sockets;
    private final GatewayDecompressor decompressor;
    private final boolean etf;
    private byte[] message = EMPTY;
    private int length;
    private DecompressionException error;

    GatewayConnection(GatewaySockets sockets, boolean etf) {
        this.sockets = sockets;
        this.etf = etf;
        decompressor = sockets.decompressor();
    }

    Transport transport() {
        return decompressor.transport();
    }

    /** Whether payloads are ETF, which stay binary messages; JSON payloads become text messages. */
    boolean isEtf() {
        return etf;
    }

    /**
     * Throws if this many more bytes would make the message too long, or if the stream has an
     * error.
     */
    void checkLength(long bytes) throws IOException {
        if (error != null) {
            throw error;
        }
        if (bytes > MAX_MESSAGE - length) {
            throw failed(new DecompressionException(
                    DecompressionException.Kind.LIMIT,
                    "a websocket message of more than " + MAX_MESSAGE + " bytes",
                    decompressor.compressedBytes(),
                    decompressor.messages()));
        }
    }

    /**
     * Returns the array with the message so far and room for this many more bytes, to be written
     * from {@link #length} on.
     */
    byte[] ensureCapacity(int bytes) {
        int needed = length + bytes;
        if (this.message.length < needed) {
            this.message = Arrays.copyOf(this.message, Math.max(needed, Math.min(2 * this.message.length, MAX_MESSAGE)));
        }
        return this.message;
    }

    int length() {
        return length;
    }

    void add(int bytes) {
        length += bytes;
    }

    /**
     * Decompresses the message that was collected in the array, and forgets it. Returns null if it
     * is incomplete or its event is dropped.
     */
    InputStream payload() throws IOException {
        InputStream payload = payload(this.message, 0, length);
        length = 0;
        if (this.message.length > MAX_RETAINED) {
            this.message = EMPTY;
        }
        return payload;
    }

    /**
     * Decompresses a message that came in one frame. Returns null if it is incomplete or its event
     * is dropped.
     */
    InputStream payload(byte[] message, int offset, int length) throws IOException {
        if (error != null) {
            throw error;
        }
        try {
            return decompressor.open(message, offset, length);
        } catch (DecompressionException e) {
            throw failed(e);
        } catch (IllegalStateException state) {
            throw closedError(state);
        }
    }

    private DecompressionException failed(DecompressionException e) {
        error = e;
        sockets.report(e);
        return e;
    }

    /**
     * Returns the exception for a read from a socket that another thread has closed. Rethrows
     * {@code state} if the decompressor is not closed, because it then reports concurrent use.
     */
    SocketException closedError(IllegalStateException state) {
        if (!decompressor.isClosed()) {
            throw state;
        }
        SocketException closed = new SocketException("the socket is closed");
        closed.initCause(state);
        return closed;
    }

    void close() {
        decompressor.close();
    }
}
