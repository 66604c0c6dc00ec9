package dev.linerate.gateway.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Memory of connections that have filled their windows: growth of the process outside Java's heap,
 * and of the heap.
 */
final class Memory {
    /** Number of messages that each connection gets: HELLO, READY and guilds. */
    private static final int MESSAGES = 30;

    private static final List<Contender> MEASURED = List.of(
            Contender.JDA_BULK, Contender.JDK_STREAM, Contender.ZLIB_REUSABLE, Contender.ZLIB_STREAM,
            Contender.ZSTD_JNI_STREAM, Contender.ZSTD_JNI_CONTEXT, Contender.ZSTD_REUSABLE, Contender.ZSTD_STREAM);

    private Memory() {}

    static void run(Bench options, Lines lines) throws IOException, InterruptedException {
        int connections = options.connections == 0 ? Messages.CONNECTIONS : options.connections;
        for (Contender contender : MEASURED) {
            long[] held = Child.run(Child.FIXED_HEAP, Memory.class, contender, options.data, connections).get(0);
            Map<String, Object> parameters = new LinkedHashMap<>();
            parameters.put("transport", contender.transport.queryName());
            parameters.put("connections", connections);
            parameters.put("messages", MESSAGES);
            Samples samples = new Samples();
            samples.add("native", Math.floor((double) held[0] / connections));
            samples.add("heap", Math.floor((double) held[1] / connections));
            samples.add("resident", held[0] + held[1]);
            lines.measurement("java-memory", connections + " connections", contender.title, parameters, samples.metrics());
        }
    }

    /** Runs in the virtual machine of one contender. */
    public static void main(String[] args) throws IOException, InterruptedException {
        Contender contender = Contender.valueOf(args[0]);
        Corpus corpus = new Corpus(Path.of(args[1]), Integer.MAX_VALUE);
        Frame[][] streams = new Frame[corpus.payloads.length][];
        for (int s = 0; s < streams.length; s++) {
            streams[s] = Arrays.copyOf(corpus.frames(s, contender.transport), MESSAGES);
            Compare.all(contender, streams[s], Arrays.copyOf(corpus.payloads[s], MESSAGES));
        }
        // Warms up: loads classes, compiles code, and allocates the memory that all connections
        // share.
        close(open(contender, 20, streams));
        long[] before = Child.held();
        Connection[] connections = open(contender, Integer.parseInt(args[2]), streams);
        Child.printGrowth(before);
        // Keeps all connections reachable until here.
        close(connections);
    }

    /** Opens connections and gives all of them the first message, then the second, and so on. */
    private static Connection[] open(Contender contender, int count, Frame[][] streams) throws IOException {
        Taker taker = new Taker.Bytes();
        Connection[] connections = new Connection[count];
        for (int c = 0; c < count; c++) {
            connections[c] = contender.connect();
        }
        for (int k = 0; k < MESSAGES; k++) {
            for (int c = 0; c < count; c++) {
                connections[c].message(streams[c % streams.length][k], taker);
            }
        }
        return connections;
    }

    private static void close(Connection[] connections) throws IOException {
        for (Connection connection : connections) {
            connection.close();
        }
    }
}
