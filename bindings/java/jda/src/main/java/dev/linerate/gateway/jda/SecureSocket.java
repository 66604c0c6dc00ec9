package dev.linerate.gateway.jda;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.nio.channels.SocketChannel;
import javax.net.ssl.HandshakeCompletedListener;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;

/**
 * An encrypted socket that decompresses gateway messages. Everything except the streams is delegated, so that clients
 * can verify host names and certificates through the session of an SSLSocket.
 */
final class SecureSocket extends SSLSocket {
    private final SSLSocket below;
    private final SocketStreams streams;

    SecureSocket(SSLSocket below, GatewaySockets sockets) {
        this.below = below;
        streams = new SocketStreams(sockets);
    }

    @Override
    public InputStream getInputStream() throws IOException {
        return streams.input(below.getInputStream());
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        return streams.output(below.getOutputStream());
    }

    @Override
    public void close() throws IOException {
        // The superclass's constructor may call close.
        if (below == null) {
            return;
        }
        try {
            below.close();
        } finally {
            streams.close();
        }
    }

    @Override
    public String toString() {
        return below.toString();
    }

    @Override
    public void connect(SocketAddress to) throws IOException {
        below.connect(to);
    }

    @Override
    public void connect(SocketAddress to, int milliseconds) throws IOException {
        below.connect(to, milliseconds);
    }

    @Override
    public void bind(SocketAddress from) throws IOException {
        below.bind(from);
    }

    @Override
    public InetAddress getInetAddress() {
        return below.getInetAddress();
    }

    @Override
    public InetAddress getLocalAddress() {
        return below.getLocalAddress();
    }

    @Override
    public int getPort() {
        return below.getPort();
    }

    @Override
    public int getLocalPort() {
        return below.getLocalPort();
    }

    @Override
    public SocketAddress getRemoteSocketAddress() {
        return below.getRemoteSocketAddress();
    }

    @Override
    public SocketAddress getLocalSocketAddress() {
        return below.getLocalSocketAddress();
    }

    @Override
    public SocketChannel getChannel() {
        return below.getChannel();
    }

    @Override
    public void setTcpNoDelay(boolean on) throws SocketException {
        below.setTcpNoDelay(on);
    }

    @Override
    public boolean getTcpNoDelay() throws SocketException {
        return below.getTcpNoDelay();
    }

    @Override
    public void setSoLinger(boolean on, int seconds) throws SocketException {
        below.setSoLinger(on, seconds);
    }

    @Override
    public int getSoLinger() throws SocketException {
        return below.getSoLinger();
    }

    @Override
    public void sendUrgentData(int data) throws IOException {
        below.sendUrgentData(data);
    }

    @Override
    public void setOOBInline(boolean on) throws SocketException {
        below.setOOBInline(on);
    }

    @Override
    public boolean getOOBInline() throws SocketException {
        return below.getOOBInline();
    }

    @Override
    public void setSoTimeout(int milliseconds) throws SocketException {
        below.setSoTimeout(milliseconds);
    }

    @Override
    public int getSoTimeout() throws SocketException {
        return below.getSoTimeout();
    }

    @Override
    public void setSendBufferSize(int bytes) throws SocketException {
        below.setSendBufferSize(bytes);
    }

    @Override
    public int getSendBufferSize() throws SocketException {
        return below.getSendBufferSize();
    }

    @Override
    public void setReceiveBufferSize(int bytes) throws SocketException {
        below.setReceiveBufferSize(bytes);
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return below.getReceiveBufferSize();
    }

    @Override
    public void setKeepAlive(boolean on) throws SocketException {
        below.setKeepAlive(on);
    }

    @Override
    public boolean getKeepAlive() throws SocketException {
        return below.getKeepAlive();
    }

    @Override
    public void setTrafficClass(int value) throws SocketException {
        below.setTrafficClass(value);
    }

    @Override
    public int getTrafficClass() throws SocketException {
        return below.getTrafficClass();
    }

    @Override
    public void setReuseAddress(boolean on) throws SocketException {
        below.setReuseAddress(on);
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        return below.getReuseAddress();
    }

    @Override
    public void shutdownInput() throws IOException {
        below.shutdownInput();
    }

    @Override
    public void shutdownOutput() throws IOException {
        below.shutdownOutput();
    }

    @Override
    public boolean isConnected() {
        return below.isConnected();
    }

    @Override
    public boolean isBound() {
        return below.isBound();
    }

    @Override
    public boolean isClosed() {
        return below.isClosed();
    }

    @Override
    public boolean isInputShutdown() {
        return below.isInputShutdown();
    }

    @Override
    public boolean isOutputShutdown() {
        return below.isOutputShutdown();
    }

    @Override
    public void setPerformancePreferences(int connecting, int latency, int bandwidth) {
        below.setPerformancePreferences(connecting, latency, bandwidth);
    }

    @Override
    public String[] getSupportedCipherSuites() {
        return below.getSupportedCipherSuites();
    }

    @Override
    public String[] getEnabledCipherSuites() {
        return below.getEnabledCipherSuites();
    }

    @Override
    public void setEnabledCipherSuites(String[] suites) {
        below.setEnabledCipherSuites(suites);
    }

    @Override
    public String[] getSupportedProtocols() {
        return below.getSupportedProtocols();
    }

    @Override
    public String[] getEnabledProtocols() {
        return below.getEnabledProtocols();
    }

    @Override
    public void setEnabledProtocols(String[] protocols) {
        below.setEnabledProtocols(protocols);
    }

    @Override
    public SSLSession getSession() {
        return below.getSession();
    }

    @Override
    public SSLSession getHandshakeSession() {
        return below.getHandshakeSession();
    }

    @Override
    public void addHandshakeCompletedListener(HandshakeCompletedListener listener) {
        below.addHandshakeCompletedListener(listener);
    }

    @Override
    public void removeHandshakeCompletedListener(HandshakeCompletedListener listener) {
        below.removeHandshakeCompletedListener(listener);
    }

    @Override
    public void startHandshake() throws IOException {
        below.startHandshake();
    }

    @Override
    public void setUseClientMode(boolean client) {
        below.setUseClientMode(client);
    }

    @Override
    public boolean getUseClientMode() {
        return below.getUseClientMode();
    }

    @Override
    public void setNeedClientAuth(boolean need) {
        below.setNeedClientAuth(need);
    }

    @Override
    public boolean getNeedClientAuth() {
        return below.getNeedClientAuth();
    }

    @Override
    public void setWantClientAuth(boolean want) {
        below.setWantClientAuth(want);
    }

    @Override
    public boolean getWantClientAuth() {
        return below.getWantClientAuth();
    }

    @Override
    public void setEnableSessionCreation(boolean on) {
        below.setEnableSessionCreation(on);
    }

    @Override
    public boolean getEnableSessionCreation() {
        return below.getEnableSessionCreation();
    }

    @Override
    public SSLParameters getSSLParameters() {
        return below.getSSLParameters();
    }

    @Override
    public void setSSLParameters(SSLParameters parameters) {
        below.setSSLParameters(parameters);
    }
}
