package dev.linerate.gateway.jda;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * The two streams of a socket. What the client asks on the one decides what is done on the other.
 */
final class SocketStreams {
    private final GatewaySockets sockets;
    private InputStream input;
    private RequestStream output;
    private GatewayConnection connection;
    private boolean closed;

    SocketStreams(GatewaySockets sockets) {
        this.sockets = sockets;
    }

    synchronized InputStream input(InputStream below) {
        if (input == null) {
            input = new FrameStream(below, this::connection);
        }
        return input;
    }

    synchronized OutputStream output(OutputStream below) {
        if (output == null) {
            output = new RequestStream(below, this::asked);
        }
        return output;
    }

    /** The client asks for something: the request line that goes out instead. */
    private synchronized RequestLine asked(RequestLine line) throws IOException {
        if (closed || !line.isGateway()) {
            return line;
        }
        if (line.isEtf() && line.isCompressed()) {
            throw new IOException(
                    "ETF of a client that decompresses by itself; JDA needs setCompression(Compression.NONE)");
        }
        connection = new GatewayConnection(sockets, line.isEtf());
        return line.asking(connection.transport());
    }

    /** Null if this is no gateway. */
    private synchronized GatewayConnection connection() {
        return connection;
    }

    void close() {
        GatewayConnection open;
        synchronized (this) {
            closed = true;
            open = connection;
        }
        if (open != null) {
            open.close();
        }
    }
}
