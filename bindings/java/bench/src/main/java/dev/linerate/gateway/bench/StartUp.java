package dev.linerate.gateway.bench;

import com.sun.management.ThreadMXBean;
import dev.linerate.gateway.Transport;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import net.dv8tion.jda.api.JDAInfo;

/**
 * Time and garbage of what connections begin with, parsed by JDA's own {@code DataObject}. The ways to decompress take
 * turns with each shard, in one virtual machine, so that what disturbs the machine hits all alike. A sample is all
 * shards of a round; samples of several runs can be collected in one file.
 */
public final class StartUp {
    private static final String USAGE = "usage: startup --data DIR [--csv FILE] [--samples FILE] [--shards N] [--rounds N]\n";
    private static final String PARSING = "parsing alone";
    private static final int WARM_UP_SHARDS = 3;

    private Path data;
    private Path csv;
    private Path samples;
    private int shards = Integer.MAX_VALUE;
    private int rounds = 5;

    /** Decompresses and parses the messages of a shard. */
    private interface Way {
        void run(int shard, Taker taker) throws IOException;
    }

    /** Nanoseconds and allocated bytes. */
    private record Cost(long time, long allocated) {
        Cost plus(Cost other) {
            return new Cost(time + other.time, allocated + other.allocated);
        }
    }

    private StartUp() {}

    public static void main(String[] args) throws IOException {
        StartUp startUp = new StartUp();
        Arguments.parse(args, USAGE, startUp::take, () -> Arguments.require(startUp.data, "--data"));
        startUp.run(Environment.command("startup", args));
    }

    private void take(String option, Arguments arguments) {
        switch (option) {
            case "--data" -> data = arguments.path();
            case "--csv" -> csv = arguments.path();
            case "--samples" -> samples = arguments.path();
            case "--shards" -> shards = arguments.number();
            case "--rounds" -> rounds = arguments.number();
            default -> throw arguments.unknown();
        }
    }

    private void run(String command) throws IOException {
        Corpus corpus = new Corpus(data, shards);
        byte[][][] payloads = new byte[corpus.shards()][][];
        for (int s = 0; s < payloads.length; s++) {
            payloads[s] = corpus.payloads(s);
        }
        Map<String, Way> ways = ways(corpus, payloads);
        List<String> lines = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            round(round, ways, payloads.length).forEach((name, cost) -> lines.add(name + "\t" + cost.time + "\t" + cost.allocated));
        }
        if (samples != null) {
            Files.write(samples, lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            lines.clear();
            lines.addAll(Files.readAllLines(samples));
        }
        report(rows(lines, payloads), corpus, command);
    }

    /** Each way by its name, compared with what was sent, and warmed up. */
    private static Map<String, Way> ways(Corpus corpus, byte[][][] payloads) throws IOException {
        Map<Transport, Frame[][]> streams = new LinkedHashMap<>();
        for (Transport transport : List.of(Transport.ZLIB, Transport.ZSTD)) {
            Frame[][] frames = new Frame[payloads.length][];
            for (int s = 0; s < frames.length; s++) {
                frames[s] = Frame.of(corpus.stream(s, transport));
            }
            streams.put(transport, frames);
        }
        Map<String, Way> ways = new LinkedHashMap<>();
        ways.put(PARSING, (shard, taker) -> {
            for (byte[] payload : payloads[shard]) {
                taker.array(payload, payload.length);
            }
        });
        for (String name : Contender.available()) {
            Contender contender = Contender.valueOf(name);
            if (contender.givesBuffers()) {
                continue;
            }
            Frame[][] frames = streams.get(contender.transport());
            Compare.all(contender, frames[0], payloads[0]);
            ways.put(name, (shard, taker) -> {
                try (Connection connection = contender.connect()) {
                    for (Frame frame : frames[shard]) {
                        connection.message(frame, taker);
                    }
                }
            });
        }
        round(0, ways, Math.min(WARM_UP_SHARDS, payloads.length));
        return ways;
    }

    private static Map<String, Cost> round(int round, Map<String, Way> ways, int shards) throws IOException {
        ThreadMXBean threads = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);
        Taker taker = Work.DATA_OBJECT.taker();
        Map<String, Cost> costs = new LinkedHashMap<>();
        List<String> order = new ArrayList<>(ways.keySet());
        for (int s = 0; s < shards; s++) {
            // Nobody always cleans up after the same one.
            Collections.rotate(order, 1 + round);
            for (String name : order) {
                long allocated = threads.getCurrentThreadAllocatedBytes();
                long begin = System.nanoTime();
                ways.get(name).run(s, taker);
                long time = System.nanoTime() - begin;
                costs.merge(name, new Cost(time, threads.getCurrentThreadAllocatedBytes() - allocated), Cost::plus);
            }
        }
        return costs;
    }

    private static List<Row> rows(List<String> lines, byte[][][] payloads) {
        long messages = Arrays.stream(payloads).mapToLong(shard -> shard.length).sum();
        long bytes = Arrays.stream(payloads).flatMap(Arrays::stream).mapToLong(payload -> payload.length).sum();
        Map<String, List<Cost>> costs = new LinkedHashMap<>();
        for (String line : lines) {
            String[] fields = line.split("\t");
            costs.computeIfAbsent(fields[0], name -> new ArrayList<>())
                    .add(new Cost(Long.parseLong(fields[1]), Long.parseLong(fields[2])));
        }
        List<Row> rows = new ArrayList<>();
        costs.forEach((name, all) -> {
            List<Double> rates = new ArrayList<>(all.stream().map(cost -> 1e3 * bytes / cost.time).toList());
            Collections.sort(rates);
            long[] allocated = all.stream().mapToLong(Cost::allocated).sorted().toArray();
            rows.add(row(name, payloads.length, messages, bytes, rates, (double) allocated[allocated.length / 2] / messages));
        });
        return rows;
    }

    private static Row row(String name, int shards, long messages, long bytes, List<Double> rates, double allocated) {
        String scenario = shards + " shards' start-up";
        String parser = "JDA " + JDAInfo.VERSION + ", " + Environment.jackson();
        String work = Work.DATA_OBJECT.title();
        if (name.equals(PARSING)) {
            return new Row(scenario, "", PARSING, parser, work, messages, bytes, rates, allocated);
        }
        Contender contender = Contender.valueOf(name);
        return new Row(scenario, contender.transport().queryName(), contender.title(),
                Environment.version(contender) + ", " + parser, work, messages, bytes, rates, allocated);
    }

    private void report(List<Row> rows, Corpus corpus, String command) throws IOException {
        List<List<String>> lines = new ArrayList<>();
        for (Row row : rows) {
            System.out.printf(Locale.ROOT, "%-12s %-27s %8.1f MB/s, best %8.1f, %10.0f bytes of garbage a message, %s times as fast as JDA%n",
                    row.transport(), row.contender(), row.median(), row.best(), row.allocated(), row.against(rows, Contender.JDA_BULK));
            lines.add(row.fields(rows, Environment.date(), Environment.cpu(), Environment.jdk(), Environment.linerate(),
                    corpus.name(), command));
        }
        if (csv != null) {
            Csv.append(csv, Row.COLUMNS, lines);
        }
    }
}
