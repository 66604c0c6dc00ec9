package dev.linerate.gateway.bench;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Parsing alone, of payloads in memory: the part of the time that no decompressor can save. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class Parsing {
    private final Taker taker = new Tree();
    private byte[][][] shards;

    @Setup
    public void read() throws IOException {
        Corpus corpus = Corpus.chosen();
        shards = new byte[corpus.shards()][][];
        for (int s = 0; s < shards.length; s++) {
            shards[s] = corpus.payloads(s);
        }
    }

    @Benchmark
    public long shards() throws IOException {
        for (byte[][] payloads : shards) {
            for (byte[] payload : payloads) {
                taker.array(payload, payload.length);
            }
        }
        return taker.sum();
    }
}
