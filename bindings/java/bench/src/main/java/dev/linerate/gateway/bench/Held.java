package dev.linerate.gateway.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Child process that measures one contender's connections. Its heap has a fixed size and is touched first, so that the
 * process grows only by memory outside it.
 */
final class Held {
    /** Smaller differences are ignored. */
    private static final long SETTLED = 50_000;

    private Held() {}

    /** RSS in KB and used heap in bytes, each before and after. */
    static long[] inItsOwnMachine(Contender contender, Path data, int connections, int messages)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(Environment.options(
                "-Xms1g", "-Xmx1g", "-XX:+UseSerialGC", "-XX:+AlwaysPreTouch",
                "-D" + Corpus.PROPERTY + "=" + data.toAbsolutePath())));
        command.addAll(List.of(
                "-cp", System.getProperty("java.class.path"), Held.class.getName(), contender.name(),
                Integer.toString(connections), Integer.toString(messages)));
        Process child = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String output = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        if (child.waitFor() != 0) {
            throw new IOException(contender.title() + " failed");
        }
        return Stream.of(output.split(" ")).mapToLong(Long::parseLong).toArray();
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        Contender contender = Contender.valueOf(args[0]);
        Frame[][] streams = streams(contender, Integer.parseInt(args[2]));
        Taker taker = new Count();
        // Before the measurement: load classes, compile code, allocate what all connections share.
        turns(connect(contender, 20), streams, taker, true);
        long rss = rss();
        long heap = heap();
        Connection[] connections = connect(contender, Integer.parseInt(args[1]));
        turns(connections, streams, taker, false);
        long rssAfter = rss();
        long heapAfter = heap();
        System.out.println(rss + " " + rssAfter + " " + heap + " " + heapAfter);
        // All are reachable until here.
        for (Connection connection : connections) {
            connection.close();
        }
    }

    /** The first messages of all shards. The contender decodes them once, and they are compared. */
    private static Frame[][] streams(Contender contender, int messages) throws IOException {
        Corpus corpus = Corpus.chosen();
        Frame[][] streams = new Frame[corpus.shards()][];
        for (int s = 0; s < streams.length; s++) {
            streams[s] = Frame.of(Arrays.copyOf(corpus.stream(s, contender.transport()), messages));
            Compare.all(contender, streams[s], Arrays.copyOf(corpus.payloads(s), messages));
        }
        return streams;
    }

    private static Connection[] connect(Contender contender, int n) throws IOException {
        Connection[] connections = new Connection[n];
        for (int c = 0; c < n; c++) {
            connections[c] = contender.connect();
        }
        return connections;
    }

    /** Decodes the first message of each connection, then the second, and so on. */
    private static void turns(Connection[] connections, Frame[][] streams, Taker taker, boolean close) throws IOException {
        for (int k = 0; k < streams[0].length; k++) {
            for (int c = 0; c < connections.length; c++) {
                connections[c].message(streams[c % streams.length][k], taker);
            }
        }
        if (close) {
            for (Connection connection : connections) {
                connection.close();
            }
        }
    }

    /** Resident memory of the process in KB. */
    static long rss() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith("VmRSS:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** Used heap in bytes after collecting garbage until nothing more is freed. */
    static long heap() throws InterruptedException {
        long least = Long.MAX_VALUE;
        while (true) {
            System.gc();
            long used = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
            if (used > least - SETTLED) {
                return Math.min(used, least);
            }
            least = used;
            Thread.sleep(100);
        }
    }
}
