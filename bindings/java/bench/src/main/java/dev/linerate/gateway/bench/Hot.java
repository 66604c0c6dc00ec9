package dev.linerate.gateway.bench;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** All messages of all shards, one shard after the other: a connection whose state stays in the CPU's cache. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class Hot {
    @Param
    public Contender contender;

    @Param
    public Work work;

    private Connection[] connections;
    private Frame[][] streams;
    private Taker taker;

    /** Reads the data and verifies all payloads of the contender. */
    @Setup
    public void open() throws IOException {
        Corpus corpus = Corpus.chosen();
        taker = work.taker();
        connections = new Connection[corpus.shards()];
        streams = new Frame[corpus.shards()][];
        for (int s = 0; s < streams.length; s++) {
            streams[s] = Frame.of(corpus.stream(s, contender.transport()));
            Compare.all(contender, streams[s], corpus.payloads(s));
            connections[s] = contender.connect();
        }
    }

    @TearDown
    public void close() throws IOException {
        for (Connection connection : connections) {
            connection.close();
        }
    }

    @Benchmark
    public long shards() throws IOException {
        for (int s = 0; s < streams.length; s++) {
            Connection connection = connections[s];
            connection.reset();
            for (Frame frame : streams[s]) {
                connection.message(frame, taker);
            }
        }
        return taker.sum();
    }
}
