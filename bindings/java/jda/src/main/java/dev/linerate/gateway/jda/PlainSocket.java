package dev.linerate.gateway.jda;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;

/** A socket without encryption whose gateway messages come decompressed. */
final class PlainSocket extends Socket {
    private final SocketStreams streams;

    PlainSocket(GatewaySockets sockets) {
        streams = new SocketStreams(sockets);
    }

    @Override
    public InputStream getInputStream() throws IOException {
        return streams.input(super.getInputStream());
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        return streams.output(super.getOutputStream());
    }

    @Override
    public void close() throws IOException {
        try {
            super.close();
        } finally {
            // A constructor of the superclass may close, too.
            if (streams != null) {
                streams.close();
            }
        }
    }
}
