package dev.linerate.gateway.integration;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/**
 * Accepts encrypted connections on a free port and forwards them to a gateway. As a SOCKS 5 proxy
 * it forwards every requested host and port to the gateway.
 */
final class SecureFront implements AutoCloseable {
    private final ServerSocket server;
    private final SSLContext context;
    private final boolean isProxy;
    private final int gateway;
    private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();

    private SecureFront(LocalGateway gateway, Certificates certificates, boolean isProxy) throws Exception {
        this.gateway = gateway.port();
        this.isProxy = isProxy;
        context = certificates.context();
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        run("front", this::accept);
    }

    static SecureFront of(LocalGateway gateway, Certificates certificates) throws Exception {
        return new SecureFront(gateway, certificates, false);
    }

    static SecureFront proxy(LocalGateway gateway, Certificates certificates) throws Exception {
        return new SecureFront(gateway, certificates, true);
    }

    int port() {
        return server.getLocalPort();
    }

    /** A task that ends with an exception when the sockets are closed. */
    private interface Work {
        void run() throws IOException;
    }

    private static void run(String name, Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (IOException closed) {
                        // End of the connection or of the test.
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() throws IOException {
        while (true) {
            Socket socket = kept(server.accept());
            run("front of a connection", () -> serve(socket));
        }
    }

    private <S extends Socket> S kept(S socket) {
        sockets.add(socket);
        return socket;
    }

    private void serve(Socket socket) throws IOException {
        try (socket) {
            if (isProxy) {
                answerSocks(socket);
            }
            SSLSocket secure =
                    kept((SSLSocket) context.getSocketFactory().createSocket(socket, null, socket.getPort(), true));
            secure.setUseClientMode(false);
            Socket target = kept(new Socket(InetAddress.getLoopbackAddress(), gateway));
            run("back of a connection", () -> pass(target, secure));
            pass(secure, target);
        }
    }

    private static void pass(Socket from, Socket to) throws IOException {
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            byte[] bytes = new byte[8192];
            for (int count; (count = in.read(bytes)) >= 0; ) {
                out.write(bytes, 0, count);
            }
        }
    }

    /** Answers a SOCKS 5 request (RFC 1928) without authentication. */
    private static void answerSocks(Socket socket) throws IOException {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        OutputStream out = socket.getOutputStream();
        in.readByte();
        in.readFully(new byte[in.readUnsignedByte()]);
        out.write(new byte[] {5, 0});
        in.readFully(new byte[3]);
        int type = in.readByte();
        in.readFully(new byte[type == 1 ? 4 : type == 4 ? 16 : in.readUnsignedByte()]);
        in.readUnsignedShort();
        out.write(new byte[] {5, 0, 0, 1, 0, 0, 0, 0, 0, 0});
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
