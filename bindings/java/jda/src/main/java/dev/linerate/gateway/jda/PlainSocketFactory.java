package dev.linerate.gateway.jda;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import javax.net.SocketFactory;

/** Creates {@link PlainSocket}s. */
final class PlainSocketFactory extends SocketFactory {
    private final GatewaySockets sockets;

    PlainSocketFactory(GatewaySockets sockets) {
        this.sockets = sockets;
    }

    @Override
    public Socket createSocket() {
        return new PlainSocket(sockets);
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return connected(null, new InetSocketAddress(InetAddress.getByName(host), port));
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        return connected(null, new InetSocketAddress(host, port));
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress from, int fromPort) throws IOException {
        return createSocket(InetAddress.getByName(host), port, from, fromPort);
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress from, int fromPort) throws IOException {
        return connected(new InetSocketAddress(from, fromPort), new InetSocketAddress(host, port));
    }

    private Socket connected(InetSocketAddress from, InetSocketAddress to) throws IOException {
        Socket socket = createSocket();
        try {
            if (from != null) {
                socket.bind(from);
            }
            socket.connect(to);
            return socket;
        } catch (IOException | RuntimeException failure) {
            socket.close();
            throw failure;
        }
    }
}
