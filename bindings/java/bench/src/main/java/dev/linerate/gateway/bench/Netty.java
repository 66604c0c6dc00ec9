package dev.linerate.gateway.bench;

import dev.linerate.gateway.DeflateOptions;
import dev.linerate.netty.LinerateDeflateServerExtensionHandshaker;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtension;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionData;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketServerExtensionHandshaker;
import io.netty.handler.codec.http.websocketx.extensions.compression.PerMessageDeflateServerExtensionHandshaker;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * permessage-deflate in Netty: CPU time and garbage of messages through the handlers of a
 * connection, and memory of idle connections, with a virtual machine for each codec.
 */
final class Netty {
    /** Maximum number of messages that a connection sends and receives before it is idle. */
    private static final int MESSAGES_EACH = 20;
    /** Longest message of an idle connection, in bytes. */
    private static final int SHORT = 1200;
    /** Number of messages on other connections before memory is measured, to warm up. */
    private static final int WARM_UP = 20_000;

    static final List<String> CHILD = new ArrayList<>(Child.FIXED_HEAP);

    static {
        CHILD.addAll(List.of("-XX:TieredStopAtLevel=1", "-Dio.netty.leakDetection.level=disabled"));
    }

    /**
     * The codecs that are measured, and no codec for comparison. A codec has the same window in
     * both directions, which is kept from one message to the next.
     */
    enum Codec {
        NETTY_15("Netty, JDK", 6, 15),
        NONE("no compression", 0, 0),
        NETTY_11("Netty, JZlib", 6, 11),
        NETTY_10("Netty, JZlib", 6, 10),
        LINERATE_15("linerate 2", 2, 15),
        LINERATE_11("linerate 2", 2, 11),
        LINERATE_10("linerate 2", 2, 10),
        LINERATE_BEST_15("linerate 6", 6, 15);

        private final String title;
        private final int level;
        private final int windowBits;

        Codec(String title, int level, int windowBits) {
            this.title = title;
            this.level = level;
            this.windowBits = windowBits;
        }

        int windowBits() {
            return windowBits;
        }

        /**
         * A server's side of a new connection. Messages that it sends and receives are compressed
         * alike.
         */
        EmbeddedChannel connect() {
            EmbeddedChannel channel = new EmbeddedChannel();
            channel.config().setAllocator(PooledByteBufAllocator.DEFAULT);
            if (this != NONE) {
                WebSocketExtension extension = handshaker().handshakeExtension(offer());
                channel.pipeline().addLast(extension.newExtensionDecoder(), extension.newExtensionEncoder());
            }
            return channel;
        }

        private WebSocketServerExtensionHandshaker handshaker() {
            if (title.startsWith("Netty")) {
                return new PerMessageDeflateServerExtensionHandshaker(level, true, windowBits, true, false, 0);
            }
            return new LinerateDeflateServerExtensionHandshaker(DeflateOptions.builder()
                    .encoderWindowBits(windowBits)
                    .decoderWindowBits(windowBits)
                    .level(level)
                    .build());
        }

        private WebSocketExtensionData offer() {
            Map<String, String> parameters = new HashMap<>();
            parameters.put("client_max_window_bits", Integer.toString(windowBits));
            if (windowBits < 15) {
                parameters.put("server_max_window_bits", Integer.toString(windowBits));
            }
            return new WebSocketExtensionData(DeflateOptions.NAME, parameters);
        }
    }

    private Netty() {}

    static void run(Bench options, Lines lines) throws Exception {
        Corpus corpus = new Corpus(options.data, 1);
        int connections = options.connections == 0 ? Messages.CONNECTIONS : options.connections;
        Map<String, Rounds.Case> cases = new LinkedHashMap<>();
        for (Codec codec : Codec.values()) {
            cases.put(codec.name(), samples -> exchange(codec, corpus.payloads[0], corpus.bytes(), samples));
        }
        Map<String, Samples> all = Rounds.run(cases, 1, options.rounds);
        Samples base = all.get(Codec.NETTY_15.name());
        long[] none = Child.run(CHILD, Netty.class, Codec.NONE, options.data, connections).get(0);
        for (Codec codec : Codec.values()) {
            Samples samples = all.get(codec.name());
            samples.divide("cpu_by_base", "time", base);
            samples.divide("ratio_by_base", "ratio", base);
            long[] held = codec == Codec.NONE ? none : Child.run(CHILD, Netty.class, codec, options.data, connections).get(0);
            samples.add("native", Math.floor((double) held[0] / connections));
            samples.add("heap", Math.floor((double) held[1] / connections));
            samples.add("native_added", Math.floor((double) (held[0] - none[0]) / connections));
            samples.add("heap_added", Math.floor((double) (held[1] - none[1]) / connections));
            Map<String, Object> parameters = new LinkedHashMap<>();
            parameters.put("window_bits", codec.windowBits);
            parameters.put("connections", connections);
            parameters.put("messages", corpus.messages());
            parameters.put("base", Codec.NETTY_15.title);
            lines.measurement("websocket-netty", corpus.name(), codec.title, parameters, samples.metrics());
        }
        Broadcast.run(corpus, options, lines);
    }

    /** Sends all messages from the encoder of one connection to the decoder of another. */
    static void exchange(Codec codec, byte[][] messages, long bytes, Samples samples) throws Exception {
        EmbeddedChannel from = codec.connect();
        EmbeddedChannel to = codec.connect();
        WebSocketFrame[] frames = Arrays.stream(messages).map(Netty::frame).toArray(WebSocketFrame[]::new);
        Rounds.Cost encoding = Rounds.Cost.of(() -> {
            for (int i = 0; i < frames.length; i++) {
                from.writeOutbound(frames[i]);
                frames[i] = from.readOutbound();
            }
        });
        long wire = Arrays.stream(frames).mapToLong(frame -> frame.content().readableBytes()).sum();
        Rounds.Cost decoding = Rounds.Cost.of(() -> {
            for (int i = 0; i < frames.length; i++) {
                to.writeInbound(frames[i]);
                frames[i] = to.readInbound();
            }
        });
        for (int i = 0; i < frames.length; i++) {
            byte[] received = new byte[frames[i].content().readableBytes()];
            frames[i].content().readBytes(received);
            frames[i].release();
            if (!Arrays.equals(received, messages[i])) {
                throw new IllegalStateException(codec + ": message " + i + " differs");
            }
        }
        from.finishAndReleaseAll();
        to.finishAndReleaseAll();
        samples.add("ratio", (double) bytes / wire);
        samples.add("encode_time", encoding.cpu() / 1e3 / messages.length);
        samples.add("decode_time", decoding.cpu() / 1e3 / messages.length);
        samples.add("time", (encoding.cpu() + decoding.cpu()) / 1e3 / messages.length);
        samples.add("garbage", (double) (encoding.allocated() + decoding.allocated()) / messages.length);
    }

    private static WebSocketFrame frame(byte[] message) {
        ByteBuf content = PooledByteBufAllocator.DEFAULT.directBuffer(message.length).writeBytes(message);
        return new TextWebSocketFrame(content);
    }

    /** Runs in the virtual machine of one codec and measures the memory of idle connections. */
    public static void main(String[] args) throws IOException, InterruptedException {
        Codec codec = Codec.valueOf(args[0]);
        byte[][] messages = Arrays.stream(new Corpus(Path.of(args[1]), 1).payloads[0])
                .filter(message -> message.length <= SHORT)
                .limit(MESSAGES_EACH)
                .toArray(byte[][]::new);
        // Warms up: loads classes, compiles code, and allocates the memory that all connections
        // share.
        List<EmbeddedChannel> warm = idle(codec, messages, 20);
        for (int i = 0; i < WARM_UP; i++) {
            echo(warm.get(i % 20), messages[i % messages.length]);
        }
        warm.forEach(EmbeddedChannel::finishAndReleaseAll);
        long[] before = Child.held();
        List<EmbeddedChannel> channels = idle(codec, messages, Integer.parseInt(args[2]));
        Child.printGrowth(before);
        // Keeps all channels reachable until here.
        channels.forEach(EmbeddedChannel::finishAndReleaseAll);
    }

    /** Connections that have sent and received the messages. */
    private static List<EmbeddedChannel> idle(Codec codec, byte[][] messages, int count) {
        List<EmbeddedChannel> channels = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            EmbeddedChannel channel = codec.connect();
            for (byte[] message : messages) {
                echo(channel, message);
            }
            channels.add(channel);
        }
        return channels;
    }

    /**
     * Lets the connection decode its own message, so that both windows hold the earlier messages.
     */
    private static void echo(EmbeddedChannel channel, byte[] message) {
        channel.writeOutbound(frame(message));
        WebSocketFrame sent = channel.readOutbound();
        channel.writeInbound(sent);
        ((WebSocketFrame) channel.readInbound()).release();
    }
}
