package dev.linerate.gateway.bench;

import dev.linerate.netty.PreparedTextWebSocketFrame;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * One message for many connections of Netty: CPU time and garbage for each frame that is sent,
 * without sockets.
 */
final class Broadcast {
    /** Longest message, in bytes. */
    private static final int SHORT = 1200;
    /** Maximum number of different messages in a round. */
    private static final int MESSAGES = 20;
    /** Approximate minimum number of frames in a round. Fewer would take too little time. */
    private static final int SENT = 20_000;

    private static final List<Integer> LISTENERS = List.of(1, 100, 10_000);

    /** How listeners get a message. */
    enum Way {
        EACH("compressed for each", Netty.Codec.LINERATE_11),
        PREPARED("prepared", Netty.Codec.LINERATE_11),
        NONE("no compression", Netty.Codec.NONE);

        private final String title;
        private final Netty.Codec codec;

        Way(String title, Netty.Codec codec) {
            this.title = title;
            this.codec = codec;
        }

        private WebSocketFrame frame(byte[] message) {
            ByteBuf content = PooledByteBufAllocator.DEFAULT.directBuffer(message.length).writeBytes(message);
            return this == PREPARED ? new PreparedTextWebSocketFrame(content) : new TextWebSocketFrame(content);
        }
    }

    private Broadcast() {}

    static void run(Corpus corpus, Bench options, Lines lines) throws Exception {
        byte[][] messages = messages(corpus);
        for (int count : LISTENERS) {
            Map<String, Rounds.Case> cases = new LinkedHashMap<>();
            for (Way way : Way.values()) {
                EmbeddedChannel[] listeners = connect(way, count);
                cases.put(way.name(), samples -> round(way, messages, listeners, samples));
            }
            Map<String, Samples> all = Rounds.run(cases, 1, options.rounds);
            for (Way way : Way.values()) {
                Samples samples = all.get(way.name());
                samples.divide("cpu_by_base", "time", all.get(Way.EACH.name()));
                Map<String, Object> parameters = new LinkedHashMap<>();
                parameters.put("listeners", count);
                parameters.put("window_bits", way.codec.windowBits());
                parameters.put("base", Way.EACH.title);
                lines.measurement("websocket-netty-broadcast", corpus.name(), way.title, parameters, samples.metrics());
            }
        }
    }

    static byte[][] messages(Corpus corpus) {
        return Arrays.stream(corpus.payloads[0])
                .filter(message -> message.length <= SHORT)
                .limit(MESSAGES)
                .toArray(byte[][]::new);
    }

    static EmbeddedChannel[] connect(Way way, int count) {
        return IntStream.range(0, count).mapToObj(i -> way.codec.connect()).toArray(EmbeddedChannel[]::new);
    }

    /**
     * Measures sending all messages to all listeners repeatedly. Then sends them once more on a new
     * connection, whose peer must receive them.
     */
    static void round(Way way, byte[][] messages, EmbeddedChannel[] listeners, Samples samples) throws Exception {
        int times = Math.max(1, SENT / messages.length / listeners.length);
        Rounds.Cost cost = Rounds.Cost.of(() -> {
            for (int i = 0; i < times * messages.length; i++) {
                WebSocketFrame frame = way.frame(messages[i % messages.length]);
                for (EmbeddedChannel listener : listeners) {
                    send(listener, frame).release();
                }
                frame.release();
            }
        });
        double frames = (double) times * messages.length * listeners.length;
        samples.add("time", cost.cpu() / 1e3 / frames);
        samples.add("garbage", cost.allocated() / frames);
        EmbeddedChannel listener = way.codec.connect();
        EmbeddedChannel peer = way.codec.connect();
        for (byte[] message : messages) {
            WebSocketFrame frame = way.frame(message);
            peer.writeInbound(send(listener, frame));
            WebSocketFrame received = peer.readInbound();
            if (!received.content().equals(frame.content())) {
                throw new IllegalStateException(way + ": a different message arrived");
            }
            received.release();
            frame.release();
        }
        listener.finishAndReleaseAll();
        peer.finishAndReleaseAll();
    }

    private static WebSocketFrame send(EmbeddedChannel listener, WebSocketFrame frame) {
        listener.writeOutbound(frame.retainedDuplicate());
        return listener.readOutbound();
    }
}
