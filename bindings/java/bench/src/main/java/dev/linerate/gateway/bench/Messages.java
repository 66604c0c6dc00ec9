package dev.linerate.gateway.bench;

import dev.linerate.gateway.Transport;
import java.io.IOException;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Speed and garbage of decoders: whole connections one after the other, thousands in turn, and with
 * parsing.
 */
final class Messages {
    static final int CONNECTIONS = 2500;

    /** Minimum number of messages that a connection decodes before the measurement. */
    private static final int BEFORE = 100;
    /**
     * Range of the number of further messages before the measurement. It differs between
     * connections, so that they are at different messages.
     */
    private static final int SPREAD = 400;
    /** Number of messages of each connection that are measured in a round. */
    private static final int TURNS = 20;

    private static final String PARSING = "parsing alone";
    /** Contenders to compare with, each with the name of the metric for the quotient of speeds. */
    private static final Map<Contender, String> BASES = Map.of(
            Contender.JDA_BULK, "speed_by_jda",
            Contender.JDK_STREAM, "speed_by_jdk_stream",
            Contender.ZSTD_JNI_STREAM, "speed_by_zstd_jni");

    private final Corpus corpus;
    private final Bench options;
    private final Lines lines;
    private final Map<Transport, Frame[][]> streams = new EnumMap<>(Transport.class);

    private Messages(Bench options, Lines lines) throws IOException {
        this.options = options;
        this.lines = lines;
        corpus = new Corpus(options.data, options.shards);
    }

    static void run(Bench options, Lines lines) throws Exception {
        Messages messages = new Messages(options, lines);
        if (options.only.contains("whole")) {
            messages.whole("java", "bytes", Taker.Bytes::new);
        }
        if (options.only.contains("live")) {
            messages.live(options.connections == 0 ? CONNECTIONS : options.connections);
        }
        if (options.only.contains("parsed")) {
            messages.whole("java", "Jackson tree", Parsed.Tree::new);
        }
    }

    /** Decompresses whole connections, as a starting bot does, and parses with JDA's own class. */
    static void startUp(Bench options, Lines lines) throws Exception {
        new Messages(options, lines).whole("java-start-up", "JDA DataObject", Parsed.DataObjects::new);
    }

    /**
     * Decodes all messages of all shards, one shard after the other: each connection's state stays
     * in the CPU's cache.
     */
    private void whole(String shape, String work, Supplier<Taker> takers) throws Exception {
        Map<String, Rounds.Case> cases = new LinkedHashMap<>();
        if (!work.equals("bytes")) {
            cases.put(PARSING, whole(takers.get(), (shard, taker) -> {
                for (byte[] payload : corpus.payloads[shard]) {
                    taker.array(payload, payload.length);
                }
            }));
        }
        for (Contender contender : Contender.available()) {
            Frame[][] frames = streams(contender.transport);
            for (int s = 0; s < frames.length; s++) {
                Compare.all(contender, frames[s], corpus.payloads[s]);
            }
            // The connection is opened once, and reset for each shard, so that opening is not
            // timed.
            Connection connection = contender.connect();
            cases.put(contender.name(), whole(takers.get(), (shard, taker) -> {
                connection.reset();
                for (Frame frame : frames[shard]) {
                    connection.message(frame, taker);
                }
            }));
        }
        int shards = corpus.payloads.length;
        print(shape, shards == 1 ? "1 connection" : shards + " connections", work, corpus.messages(), cases, 1);
    }

    private interface Way {
        void decode(int shard, Taker taker) throws IOException;
    }

    private Rounds.Case whole(Taker taker, Way way) {
        return samples -> {
            Rounds.Cost cost = Rounds.Cost.of(() -> {
                for (int shard = 0; shard < corpus.payloads.length; shard++) {
                    way.decode(shard, taker);
                }
            });
            samples.add(cost, corpus.messages(), corpus.bytes());
            samples.add("cpu", cost.cpu() / 1e9);
            samples.add("allocated_total", cost.allocated());
        };
    }

    private Frame[][] streams(Transport transport) throws IOException {
        if (!streams.containsKey(transport)) {
            Frame[][] frames = new Frame[corpus.payloads.length][];
            for (int s = 0; s < frames.length; s++) {
                frames[s] = corpus.frames(s, transport);
            }
            streams.put(transport, frames);
        }
        return streams.get(transport);
    }

    /**
     * Decodes one live message of each connection in turn: the state of a connection has left the
     * CPU's cache before it is used again.
     */
    private void live(int connections) throws Exception {
        byte[][][] payloads = new byte[corpus.payloads.length][][];
        for (int s = 0; s < payloads.length; s++) {
            payloads[s] = corpus.live(s);
        }
        Map<Transport, Frame[][]> live = new EnumMap<>(Transport.class);
        for (Transport transport : new Transport[] {Transport.ZLIB, Transport.ZSTD}) {
            Frame[][] frames = new Frame[payloads.length][];
            for (int s = 0; s < frames.length; s++) {
                frames[s] = Corpus.compressed(payloads[s], transport);
            }
            live.put(transport, frames);
        }
        Map<String, Rounds.Case> cases = new LinkedHashMap<>();
        for (Contender contender : Contender.available()) {
            Frame[][] frames = live.get(contender.transport);
            for (int s = 0; s < frames.length; s++) {
                Compare.all(contender, frames[s], payloads[s]);
            }
            cases.put(contender.name(), samples -> Crowd.round(contender, connections, frames, payloads, samples));
        }
        // There is no other warm-up than the messages before the measurement.
        print("java", connections + " connections", "bytes", (long) connections * TURNS, cases, 0);
    }

    /** Open connections, spread over the messages of their streams. */
    private static final class Crowd {
        private final Connection[] connections;
        private final int[] next;
        private final Frame[][] streams;
        private final byte[][][] payloads;
        private final Taker taker = new Taker.Bytes();
        private long bytes;

        private Crowd(int connections, Frame[][] streams, byte[][][] payloads) {
            this.connections = new Connection[connections];
            next = new int[connections];
            this.streams = streams;
            this.payloads = payloads;
        }

        static void round(Contender contender, int connections, Frame[][] streams, byte[][][] payloads, Samples samples)
                throws Exception {
            Crowd crowd = new Crowd(connections, streams, payloads);
            for (int c = 0; c < connections; c++) {
                crowd.connections[c] = contender.connect();
                for (int k = 0; k < BEFORE + c * 7 % SPREAD; k++) {
                    crowd.step(c);
                }
            }
            crowd.bytes = 0;
            Rounds.Cost cost = Rounds.Cost.of(() -> {
                for (int turn = 0; turn < TURNS; turn++) {
                    for (int c = 0; c < connections; c++) {
                        crowd.step(c);
                    }
                }
            });
            samples.add(cost, (long) connections * TURNS, crowd.bytes);
            for (Connection connection : crowd.connections) {
                connection.close();
            }
        }

        /** Decodes the next message of connection {@code c}, which restarts after its last one. */
        private void step(int c) throws IOException {
            int shard = c % streams.length;
            if (next[c] == streams[shard].length) {
                connections[c].reset();
                next[c] = 0;
            }
            int k = next[c]++;
            connections[c].message(streams[shard][k], taker);
            bytes += payloads[shard][k].length;
        }
    }

    private void print(
            String shape, String data, String work, long messages, Map<String, Rounds.Case> cases, int warmUp)
            throws Exception {
        Map<String, Samples> all = Rounds.run(cases, warmUp, options.rounds);
        for (String name : all.keySet()) {
            Samples samples = all.get(name);
            BASES.forEach((base, metric) -> samples.divide(metric, "speed", all.get(base.name())));
            Map<String, Object> parameters = new LinkedHashMap<>();
            String title = name;
            if (!name.equals(PARSING)) {
                Contender contender = Contender.valueOf(name);
                title = contender.title;
                parameters.put("transport", contender.transport.queryName());
            }
            parameters.put("work", work);
            parameters.put("jdk", Runtime.version().feature());
            parameters.put("messages", messages);
            lines.measurement(shape, data, title, parameters, samples.metrics());
        }
    }
}
