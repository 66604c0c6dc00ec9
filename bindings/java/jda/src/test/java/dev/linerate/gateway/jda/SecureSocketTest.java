package dev.linerate.gateway.jda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.linerate.gateway.Transport;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import javax.net.SocketFactory;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SecureSocketTest {
    /** Methods newer than Java 8, which are not delegated. */
    private static final Set<String> NEWER = Set.of(
            "setOption",
            "getOption",
            "supportedOptions",
            "getApplicationProtocol",
            "getHandshakeApplicationProtocol",
            "setHandshakeApplicationProtocolSelector",
            "getHandshakeApplicationProtocolSelector");

    private static final Set<String> OF_OBJECTS = Set.of("hashCode", "equals");

    @Test
    void allMethodsDelegateToTheWrappedSocket() {
        List<String> missing = new ArrayList<>();
        for (Method method : SSLSocket.class.getMethods()) {
            boolean counts = !Modifier.isStatic(method.getModifiers())
                    && !Modifier.isFinal(method.getModifiers())
                    && !NEWER.contains(method.getName())
                    && !OF_OBJECTS.contains(method.getName());
            if (counts && !isOverridden(method)) {
                missing.add(method.toString());
            }
        }
        assertEquals(List.of(), missing);
    }

    private static boolean isOverridden(Method method) {
        try {
            SecureSocket.class.getDeclaredMethod(method.getName(), method.getParameterTypes());
            return true;
        } catch (NoSuchMethodException none) {
            return false;
        }
    }

    @Test
    void optionsAreThoseOfTheWrappedSocket() throws IOException {
        SSLSocketFactory factory = GatewaySockets.of(Transport.ZSTD).secure();
        SSLSocketFactory delegate = (SSLSocketFactory) SSLSocketFactory.getDefault();
        assertArrayEquals(delegate.getDefaultCipherSuites(), factory.getDefaultCipherSuites());
        assertArrayEquals(delegate.getSupportedCipherSuites(), factory.getSupportedCipherSuites());
        SSLSocket socket = (SSLSocket) factory.createSocket();
        socket.setEnabledProtocols(new String[] {"TLSv1.3"});
        assertArrayEquals(new String[] {"TLSv1.3"}, socket.getSSLParameters().getProtocols());
        socket.setTcpNoDelay(true);
        assertTrue(socket.getTcpNoDelay());
        assertFalse(socket.isConnected());
        socket.close();
        assertTrue(socket.isClosed());
        socket.close();
    }

    @Test
    void secureSocketToAPlainServerFails() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket socket = GatewaySockets.of(Transport.ZSTD)
                        .secure()
                        .createSocket(server.getInetAddress(), server.getLocalPort())) {
            assertTrue(socket.isConnected());
            assertEquals(server.getLocalPort(), socket.getPort());
            try (Socket accepted = server.accept()) {
                accepted.getOutputStream().write("no handshake".getBytes(StandardCharsets.US_ASCII));
                assertInstanceOf(SSLSocket.class, socket);
                assertThrows(IOException.class, ((SSLSocket) socket)::startHandshake);
            }
        }
    }

    @Test
    void plainSocketsConnectByEveryFactoryMethod() throws Exception {
        InetAddress here = InetAddress.getLoopbackAddress();
        SocketFactory factory = GatewaySockets.of(Transport.ZLIB).plain();
        ServerSocket server = new ServerSocket(0, 8, here);
        int port = server.getLocalPort();
        try (server) {
            List<Callable<Socket>> ways = List.of(
                    () -> {
                        Socket socket = factory.createSocket();
                        socket.connect(new InetSocketAddress(here, port), 5000);
                        return socket;
                    },
                    () -> factory.createSocket(here, port),
                    () -> factory.createSocket(here.getHostAddress(), port),
                    () -> factory.createSocket(here, port, here, 0),
                    () -> factory.createSocket(here.getHostAddress(), port, here, 0));
            for (Callable<Socket> way : ways) {
                try (Socket socket = way.call();
                        Socket accepted = server.accept()) {
                    assertBytesGoBothWays(socket, accepted);
                }
            }
        }
        assertThrows(ConnectException.class, () -> factory.createSocket(here, port));
    }

    /** Asserts that bytes arrive unchanged, because this is no request of a gateway connection. */
    private static void assertBytesGoBothWays(Socket one, Socket other) throws IOException {
        one.setSoTimeout(10_000);
        other.setSoTimeout(10_000);
        one.getOutputStream().write("ping\n".getBytes(StandardCharsets.US_ASCII));
        assertEquals("ping\n", new String(other.getInputStream().readNBytes(5), StandardCharsets.US_ASCII));
        other.getOutputStream().write("pong".getBytes(StandardCharsets.US_ASCII));
        assertEquals("pong", new String(one.getInputStream().readNBytes(4), StandardCharsets.US_ASCII));
    }

    @Test
    void etfOfACompressingClientIsAnError() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket socket = GatewaySockets.of(Transport.ZSTD)
                        .plain()
                        .createSocket(server.getInetAddress(), server.getLocalPort())) {
            byte[] line = "GET /?encoding=etf&compress=zlib-stream HTTP/1.1\r\n".getBytes(StandardCharsets.US_ASCII);
            IOException error = assertThrows(
                    IOException.class, () -> socket.getOutputStream().write(line));
            assertTrue(error.getMessage().contains("Compression.NONE"), error.getMessage());
        }
    }
}
