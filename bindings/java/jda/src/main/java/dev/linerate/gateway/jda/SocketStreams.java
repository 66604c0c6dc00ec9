package dev.linerate.gateway.jda;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * The two streams of a socket. The HTTP request that the client writes to the output determines
 * whether and how the input is decompressed.
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

    synchronized InputStream input(InputStream delegate) {
        if (input == null) {
            input = new FrameStream(delegate, this::connection);
        }
        return input;
    }

    synchronized OutputStream output(OutputStream delegate) {
        if (output == null) {
            output = new RequestStream(delegate, this::editRequest);
        }
        return output;
    }

    /**
     * Adds the transport to the request line of a gateway connection, and creates its decompressor.
     * Other request lines stay the same.
     */
    private synchronized RequestLine editRequest(RequestLine line) throws IOException {
        if (closed || !line.isGateway()) {
            return line;
        }
        if (line.isEtf() && line.isCompressed()) {
            throw new IOException(
                    "ETF of a client that decompresses by itself; JDA needs setCompression(Compression.NONE)");
        }
        connection = new GatewayConnection(sockets, line.isEtf());
        return line.withCompression(connection.transport());
    }

    /** Returns the gateway connection; null if the request was for something else. */
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
