package dev.linerate.gateway.jda;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;

/** An unencrypted socket that decompresses gateway messages. */
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
            // The superclass's constructor may call close, before there are streams.
            if (streams != null) {
                streams.close();
            }
        }
    }
}
