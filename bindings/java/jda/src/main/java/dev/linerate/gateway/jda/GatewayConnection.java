package dev.linerate.gateway.jda;

import dev.linerate.gateway.DecompressionException;
import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.Transport;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketException;
import java.util.Arrays;

/**
 * The decompressor of one connection, and the compressed websocket message that arrives in pieces.
 */
final class GatewayConnection {
    /** The longest compressed websocket message; payloads have the limit of the decompressor. */
    static final int LONGEST = 64 << 20;

    /** Longer arrays are given up behind their message. */
    private static final int KEPT = 16 << 10;

    private static final byte[] NOTHING = {};

    private final GatewaySockets sockets;
    private final GatewayDecompressor decompressor;
    private final boolean etf;
    private byte[] pieces = NOTHING;
    private int length;
    private DecompressionException fault;

    GatewayConnection(GatewaySockets sockets, boolean etf) {
        this.sockets = sockets;
        this.etf = etf;
        decompressor = sockets.decompressor();
    }

    Transport transport() {
        return decompressor.transport();
    }

    /** Payloads of ETF stay binary messages, those of JSON become text. */
    boolean isEtf() {
        return etf;
    }

    /** Refuses a piece that would make the message too long. */
    void mustFit(long bytes) throws IOException {
        if (fault != null) {
            throw fault;
        }
        if (bytes > LONGEST - length) {
            throw failed(new DecompressionException(
                    DecompressionException.Kind.LIMIT,
                    "a websocket message of more than " + LONGEST + " bytes",
                    decompressor.compressedBytes(),
                    decompressor.messages()));
        }
    }

    /** The array that takes the next bytes of the message, from {@link #length} on. */
    byte[] room(int bytes) {
        int needed = length + bytes;
        if (pieces.length < needed) {
            pieces = Arrays.copyOf(pieces, Math.max(needed, Math.min(2 * pieces.length, LONGEST)));
        }
        return pieces;
    }

    int length() {
        return length;
    }

    void add(int bytes) {
        length += bytes;
    }

    /** The payload of the pieces; null if the gateway has not sent all of it. */
    InputStream payload() throws IOException {
        InputStream payload = payload(pieces, 0, length);
        length = 0;
        if (pieces.length > KEPT) {
            pieces = NOTHING;
        }
        return payload;
    }

    /** The payload of a message that came in one piece; null if the gateway has not sent all of it. */
    InputStream payload(byte[] message, int offset, int length) throws IOException {
        if (fault != null) {
            throw fault;
        }
        try {
            return decompressor.open(message, offset, length);
        } catch (DecompressionException unsound) {
            throw failed(unsound);
        } catch (IllegalStateException state) {
            throw closed(state);
        }
    }

    private DecompressionException failed(DecompressionException unsound) {
        fault = unsound;
        sockets.tell(unsound);
        return unsound;
    }

    /** The socket was closed meanwhile; misuse by two threads at once stays what it is. */
    SocketException closed(IllegalStateException state) {
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
