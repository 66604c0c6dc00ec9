package dev.linerate.gateway.integration;

import com.neovisionaries.ws.client.WebSocket;
import com.neovisionaries.ws.client.WebSocketAdapter;
import com.neovisionaries.ws.client.WebSocketException;
import com.neovisionaries.ws.client.WebSocketFactory;
import com.neovisionaries.ws.client.WebSocketFrame;
import dev.linerate.gateway.Checks;
import dev.linerate.gateway.DecompressionException;
import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.ReusableBuffer;
import dev.linerate.gateway.Transport;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A small client over {@link GatewayDecompressor}: identifies, answers HELLO, resumes when the
 * connection ends or its stream is damaged.
 */
final class Client implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 30;
    private static final Pattern SESSION = Pattern.compile("\"session_id\":\"([^\"]+)\"");
    private static final Pattern RESUME_URL = Pattern.compile("\"resume_gateway_url\":\"([^\"]+)\"");

    private final WebSocketFactory sockets = new WebSocketFactory().setConnectionTimeout(10_000);
    private final GatewayDecompressor decompressor;
    private final ReusableBuffer payload = new ReusableBuffer();
    private final List<byte[]> events = new ArrayList<>();
    private final List<Long> sequences = new ArrayList<>();
    private final List<DecompressionException> errors = new ArrayList<>();
    private String url;
    private String session;
    private long sequence;
    private int connections;
    private int resumed;
    private int acknowledged;
    private int incomplete;

    Client(String url, Transport transport) {
        this.url = url;
        decompressor = GatewayDecompressor.builder(transport)
                .checks(Checks.JSON_SEQUENCE)
                .keepRecent(8, 1 << 20)
                .build();
    }

    /** Receives this number of events, without READY and RESUMED. */
    void receive(int number) throws Exception {
        while (events.size() < number) {
            BlockingQueue<byte[]> frames = new LinkedBlockingQueue<>();
            WebSocket socket = connect(frames);
            try {
                converse(socket, frames, number);
            } catch (DecompressionException e) {
                errors.add(e);
            } finally {
                // The usual close code, 1000, would also end the session.
                socket.disconnect(4000);
            }
        }
    }

    private WebSocket connect(BlockingQueue<byte[]> frames) throws IOException, WebSocketException {
        connections++;
        decompressor.reset();
        if (session != null) {
            decompressor.resumeAfter(sequence);
        }
        String query = "/?v=10&encoding=json&compress=" + decompressor.transport().queryName();
        return sockets.createSocket(url + query).addListener(new Frames(frames)).connect();
    }

    /** Takes messages until the connection ends, or until there are {@code number} events. */
    private void converse(WebSocket socket, BlockingQueue<byte[]> frames, int number)
            throws IOException, InterruptedException {
        while (events.size() < number) {
            byte[] frame = frames.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (frame == null) {
                throw new AssertionError("nothing received after event " + events.size());
            }
            if (frame == Frames.END) {
                return;
            }
            if (decompressor.decompress(frame, payload) < 0) {
                incomplete++;
            } else if (!understand(socket)) {
                return;
            }
        }
    }

    /** Handles a payload; false if the gateway asks for a new connection. */
    private boolean understand(WebSocket socket) {
        switch (decompressor.lastOpcode()) {
            case 0:
                dispatch();
                return true;
            case 7:
                return false;
            case 9:
                session = null;
                return false;
            case 10:
                socket.sendText(session == null ? identify() : resume());
                socket.sendText("{\"op\":1,\"d\":" + (sequence == 0 ? "null" : sequence) + "}");
                return true;
            case 11:
                acknowledged++;
                return true;
            default:
                throw new AssertionError("opcode " + decompressor.lastOpcode());
        }
    }

    private void dispatch() {
        sequence = decompressor.lastSequence();
        switch (decompressor.lastEvent()) {
            case "READY":
                String ready = new String(payload.array(), 0, payload.length(), StandardCharsets.UTF_8);
                session = only(SESSION, ready);
                url = only(RESUME_URL, ready);
                break;
            case "RESUMED":
                resumed++;
                break;
            default:
                events.add(payload.toByteArray());
                sequences.add(sequence);
        }
    }

    private static String only(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        if (!matcher.find()) {
            throw new AssertionError("no " + pattern + " in " + text);
        }
        return matcher.group(1);
    }

    private static String identify() {
        return "{\"op\":2,\"d\":{\"token\":\"no.real.token\",\"intents\":513,"
                + "\"properties\":{\"os\":\"\",\"browser\":\"\",\"device\":\"\"}}}";
    }

    private String resume() {
        return "{\"op\":6,\"d\":{\"token\":\"no.real.token\",\"session_id\":\"" + session + "\",\"seq\":" + sequence
                + "}}";
    }

    List<byte[]> events() {
        return events;
    }

    /** Sequence numbers of the events. */
    List<Long> sequences() {
        return sequences;
    }

    List<DecompressionException> errors() {
        return errors;
    }

    int connections() {
        return connections;
    }

    int resumed() {
        return resumed;
    }

    int acknowledged() {
        return acknowledged;
    }

    /** Number of frames that left a message incomplete. */
    int incomplete() {
        return incomplete;
    }

    @Override
    public void close() {
        decompressor.close();
    }

    /** Puts received binary messages into a queue. */
    private static final class Frames extends WebSocketAdapter {
        /** Marks the end of the connection in the queue. */
        static final byte[] END = {};

        private final BlockingQueue<byte[]> frames;

        Frames(BlockingQueue<byte[]> frames) {
            this.frames = frames;
        }

        @Override
        public void onBinaryMessage(WebSocket socket, byte[] frame) {
            frames.add(frame);
        }

        @Override
        public void onDisconnected(WebSocket socket, WebSocketFrame theirs, WebSocketFrame ours, boolean byThem) {
            frames.add(END);
        }
    }
}
