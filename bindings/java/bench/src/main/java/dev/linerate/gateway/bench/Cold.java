package dev.linerate.gateway.bench;

import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * 2,500 connections in turn, one message of live traffic each: the state of each has left the CPU's cache before it is
 * used again. An operation is one message.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class Cold {
    static final int CONNECTIONS = 2500;

    /** Messages before the measurement, more on each connection than on the previous one, so that all are at different messages. */
    private static final int BEFORE = 100;
    private static final int SPREAD = 400;

    @Param
    public Contender contender;

    private final Connection[] connections = new Connection[CONNECTIONS];
    private final int[] next = new int[CONNECTIONS];
    private Frame[][] streams;
    private int[][] sizes;
    private Taker taker;

    /** Bytes of the payloads. */
    @State(Scope.Thread)
    @AuxCounters(AuxCounters.Type.EVENTS)
    public static class Payloads {
        public long bytes;
        public long messages;
    }

    @Setup
    public void open() throws IOException {
        Corpus corpus = Corpus.chosen();
        taker = new Count();
        streams = new Frame[corpus.shards()][];
        sizes = new int[corpus.shards()][];
        for (int s = 0; s < streams.length; s++) {
            byte[][] payloads = Live.payloads(corpus, s);
            sizes[s] = Arrays.stream(payloads).mapToInt(p -> p.length).toArray();
            streams[s] = Frame.of(Live.compressed(payloads, contender.transport()));
            Compare.all(contender, streams[s], payloads);
        }
        for (int c = 0; c < CONNECTIONS; c++) {
            connections[c] = contender.connect();
            for (int k = 0; k < BEFORE + c * 7 % SPREAD; k++) {
                step(c);
            }
        }
    }

    @TearDown
    public void close() throws IOException {
        for (Connection connection : connections) {
            connection.close();
        }
    }

    @Benchmark
    @OperationsPerInvocation(CONNECTIONS)
    public long roundRobin(Payloads payloads) throws IOException {
        long bytes = 0;
        for (int c = 0; c < CONNECTIONS; c++) {
            bytes += step(c);
        }
        payloads.bytes += bytes;
        payloads.messages += CONNECTIONS;
        return taker.sum();
    }

    /** Decodes the next message of connection {@code c}, which restarts at the end. Returns the payload's length. */
    private int step(int c) throws IOException {
        int shard = c % streams.length;
        Frame[] stream = streams[shard];
        if (next[c] == stream.length) {
            connections[c].reset();
            next[c] = 0;
        }
        int k = next[c]++;
        connections[c].message(stream[k], taker);
        return sizes[shard][k];
    }
}
