package dev.linerate.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the example of docs/gateway/java.md against a server that sends fragmented messages, which
 * the JDK's websocket delivers in parts.
 */
@Tag("children")
class WebSocketExampleTest {
    /** The GUID that servers append to a client's key (RFC 6455, section 1.3). */
    private static final String GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

    private static final int CONTINUATION = 0;
    private static final int BINARY = 2;
    private static final int CLOSE = 8;
    private static final int FINAL = 0x80;

    @TempDir Path folder;

    @Test
    void exampleReceivesFragmentedMessages() throws Exception {
        List<String> payloads = new ArrayList<>();
        for (byte[] payload : Traffic.payloads()) {
            payloads.add(new String(payload, StandardCharsets.UTF_8));
        }
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            listener.setSoTimeout(60_000);
            CompletableFuture<String> request = CompletableFuture.supplyAsync(() -> serve(listener));
            Path source = Files.writeString(folder.resolve("GatewayListener.java"), example());
            String address = "ws://127.0.0.1:" + listener.getLocalPort() + "/";
            Child child = Child.run(Arrays.asList(
                    "-Dfile.encoding=UTF-8",
                    "-Dstdout.encoding=UTF-8",
                    "-cp",
                    System.getProperty("java.class.path"),
                    source.toString(),
                    address));
            assertEquals(0, child.exitCode, child.output);
            assertEquals(payloads, Arrays.asList(child.output.split("\\R")));
            assertEquals("GET /?v=10&encoding=json&compress=zstd-stream HTTP/1.1", request.join());
        }
    }

    private static String example() throws IOException {
        Path page = Path.of(System.getProperty("linerate.testdata"), "..", "docs", "gateway", "java.md");
        Matcher block = Pattern.compile("```java\n([^`]*public class GatewayListener[^`]*)```")
                .matcher(Files.readString(page));
        assertTrue(block.find());
        return block.group(1);
    }

    /** Serves one client; returns its request line. */
    private static String serve(ServerSocket listener) {
        try (Socket client = listener.accept()) {
            client.setSoTimeout(60_000);
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.ISO_8859_1));
            OutputStream out = client.getOutputStream();
            String request = in.readLine();
            String key = "";
            for (String line = in.readLine(); !line.isEmpty(); line = in.readLine()) {
                if (line.toLowerCase().startsWith("sec-websocket-key:")) {
                    key = line.substring(line.indexOf(':') + 1).trim();
                }
            }
            byte[] digest = MessageDigest.getInstance("SHA-1")
                    .digest((key + GUID).getBytes(StandardCharsets.US_ASCII));
            String answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    + "Sec-WebSocket-Accept: " + Base64.getEncoder().encodeToString(digest) + "\r\n\r\n";
            out.write(answer.getBytes(StandardCharsets.US_ASCII));
            int message = 0;
            for (byte[] frame : Traffic.frames(Transport.ZSTD)) {
                // Sends messages in turn as one fragment, as two halves, as fragments of 7 bytes,
                // and with the last byte alone. An empty fragment ends each message.
                int piece = new int[] {frame.length, frame.length / 2 + 1, 7, frame.length - 1}[message++ % 4];
                out.write(fragments(frame, Math.max(piece, 1)));
            }
            out.write(fragment(FINAL | CLOSE, new byte[] {3, (byte) 0xe8}, 0, 2));
            out.flush();
            // Reads until the client has closed too.
            while (in.read() >= 0) {}
            return request;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] fragments(byte[] message, int piece) {
        ByteArrayOutputStream wire = new ByteArrayOutputStream();
        for (int at = 0; at < message.length; at += piece) {
            int length = Math.min(piece, message.length - at);
            int code = at == 0 ? BINARY : CONTINUATION;
            wire.writeBytes(fragment(code, message, at, length));
        }
        wire.writeBytes(fragment(FINAL | CONTINUATION, message, 0, 0));
        return wire.toByteArray();
    }

    private static byte[] fragment(int first, byte[] bytes, int offset, int length) {
        ByteArrayOutputStream wire = new ByteArrayOutputStream();
        wire.write(first);
        if (length < 126) {
            wire.write(length);
        } else if (length < 1 << 16) {
            wire.writeBytes(new byte[] {126, (byte) (length >> 8), (byte) length});
        } else {
            wire.writeBytes(new byte[] {
                127, 0, 0, 0, 0, (byte) (length >> 24), (byte) (length >> 16), (byte) (length >> 8), (byte) length
            });
        }
        wire.write(bytes, offset, length);
        return wire.toByteArray();
    }
}
