package dev.linerate.gateway.jda;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/** Creates {@link SecureSocket}s over the sockets of another factory. */
final class SecureSocketFactory extends SSLSocketFactory {
    private final SSLSocketFactory delegate;
    private final GatewaySockets sockets;

    SecureSocketFactory(SSLSocketFactory delegate, GatewaySockets sockets) {
        this.delegate = delegate;
        this.sockets = sockets;
    }

    private Socket over(Socket socket) {
        return new SecureSocket((SSLSocket) socket, sockets);
    }

    @Override
    public Socket createSocket() throws IOException {
        return over(delegate.createSocket());
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return over(delegate.createSocket(host, port));
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        return over(delegate.createSocket(host, port));
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress from, int fromPort) throws IOException {
        return over(delegate.createSocket(host, port, from, fromPort));
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress from, int fromPort) throws IOException {
        return over(delegate.createSocket(host, port, from, fromPort));
    }

    @Override
    public Socket createSocket(Socket connected, String host, int port, boolean closesIt) throws IOException {
        return over(delegate.createSocket(connected, host, port, closesIt));
    }

    @Override
    public String[] getDefaultCipherSuites() {
        return delegate.getDefaultCipherSuites();
    }

    @Override
    public String[] getSupportedCipherSuites() {
        return delegate.getSupportedCipherSuites();
    }
}
