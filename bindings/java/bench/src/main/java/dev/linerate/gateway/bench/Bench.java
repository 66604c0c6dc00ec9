package dev.linerate.gateway.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs the benchmarks in rounds, so that temporary disturbances affect all contenders, and writes a record and a plot of
 * JMH's results. In each round every contender has a Java virtual machine of its own.
 */
public final class Bench {
    private static final String USAGE = "usage: bench --data DIR [--csv FILE] [--plots DIR] [--json DIR] [--shards N] [--rounds N] "
            + "[--iterations N] [--millis N] [--only hot,cold,tree] [--quick] [--convert]\n"
            + "--convert reads the JSON files that an earlier run left in --json DIR instead of measuring\n";

    /** A parser is much code and takes long to compile. Decoders are warmed up by the comparison. */
    private static final int TREE_WARM_UP = 3;

    private Path data;
    private Path csv;
    private Path plots;
    private Path json = Path.of("target", "gateway-java-json");
    private int shards = Integer.MAX_VALUE;
    private int rounds = 3;
    private int iterations = 4;
    private int millis = 600;
    private List<String> only = List.of("hot", "cold", "tree");
    private boolean convert;

    private Bench() {}

    public static void main(String[] args) throws IOException, RunnerException {
        Bench bench = new Bench();
        Arguments.parse(args, USAGE, bench::take, bench::check);
        bench.run(Environment.command("bench", args));
    }

    private void take(String option, Arguments arguments) {
        switch (option) {
            case "--data" -> data = arguments.path();
            case "--csv" -> csv = arguments.path();
            case "--plots" -> plots = arguments.path();
            case "--json" -> json = arguments.path();
            case "--shards" -> shards = arguments.number();
            case "--rounds" -> rounds = arguments.number();
            case "--iterations" -> iterations = arguments.number();
            case "--millis" -> millis = arguments.number();
            case "--only" -> only = List.of(arguments.value().split(","));
            case "--convert" -> convert = true;
            case "--quick" -> {
                shards = 2;
                rounds = 1;
                iterations = 2;
                millis = 200;
            }
            default -> throw arguments.unknown();
        }
    }

    private void check() {
        Arguments.require(data, "--data");
        if (!List.of("hot", "cold", "tree").containsAll(only)) {
            throw new IllegalArgumentException("--only takes hot, cold and tree");
        }
    }

    private void run(String command) throws IOException, RunnerException {
        Corpus corpus = new Corpus(data, shards);
        if (!convert) {
            measure();
        }
        Results results = new Results(corpus);
        for (Path file : files()) {
            results.read(file);
        }
        List<Row> rows = results.rows();
        print(rows);
        if (csv != null) {
            record(rows, corpus, command);
        }
        if (plots != null) {
            Plot.draw(rows, Environment.jdk() + ", " + Environment.cpu(), plots.resolve("gateway-java-" + Runtime.version().feature() + ".svg"));
        }
    }

    private void measure() throws IOException, RunnerException {
        Files.createDirectories(json);
        for (Path old : files()) {
            Files.delete(old);
        }
        for (int round = 1; round <= rounds; round++) {
            System.err.println("round " + round + " of " + rounds);
            // Rows are in the order of the file names.
            if (only.contains("hot")) {
                measure(round + "-1-hot", Hot.class, Work.BYTES);
            }
            if (only.contains("cold")) {
                measure(round + "-2-cold", Cold.class, null);
            }
            if (only.contains("tree")) {
                measure(round + "-3-parsing", Parsing.class, null);
                measure(round + "-4-tree", Hot.class, Work.TREE);
            }
        }
    }

    private void measure(String name, Class<?> benchmarks, Work work) throws RunnerException {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include("\\Q" + benchmarks.getName() + "\\E\\.")
                .addProfiler(GCProfiler.class)
                .forks(1)
                .warmupIterations(work == Work.TREE || benchmarks == Parsing.class ? TREE_WARM_UP : 1)
                .warmupTime(TimeValue.milliseconds(millis))
                .measurementIterations(iterations)
                .measurementTime(TimeValue.milliseconds(millis))
                .jvmArgsAppend(Environment.options("-Xms2g", "-Xmx2g", "-XX:+AlwaysPreTouch",
                        "-D" + Corpus.PROPERTY + "=" + data.toAbsolutePath(), "-D" + Corpus.SHARDS + "=" + shards))
                .shouldFailOnError(true)
                .verbosity(VerboseMode.SILENT)
                .result(json.resolve(name + ".json").toString())
                .resultFormat(ResultFormatType.JSON);
        if (work != null) {
            options.param("work", work.name());
        }
        if (benchmarks != Parsing.class) {
            options.param("contender", Contender.available());
        }
        new Runner(options.build()).run();
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> found = Files.list(json)) {
            return found.filter(f -> f.toString().endsWith(".json")).sorted(Comparator.naturalOrder()).toList();
        }
    }

    private static void print(List<Row> rows) {
        System.out.printf("%-18s %-12s %-12s %-18s %9s %9s %9s %10s %8s %8s %8s%n", "scenario", "work", "transport", "contender",
                "best MB/s", "median", "us/msg", "B garbage", "JDK bulk", "stream", "zstd-jni");
        for (Row r : rows) {
            System.out.printf("%-18s %-12s %-12s %-18s %9.1f %9.1f %9.3f %10.1f %8s %8s %8s%n", r.scenario(), r.work(),
                    r.transport(), r.contender(), r.best(), r.median(), r.microseconds(), r.allocated(),
                    r.against(rows, Contender.JDA_BULK), r.against(rows, Contender.JDK_STREAM),
                    r.against(rows, Contender.ZSTD_JNI_STREAM));
        }
    }

    private void record(List<Row> rows, Corpus corpus, String command) throws IOException {
        String date = Environment.date();
        String cpu = Environment.cpu();
        String jdk = Environment.jdk();
        String linerate = Environment.linerate();
        List<List<String>> lines = new ArrayList<>();
        for (Row row : rows) {
            lines.add(row.fields(rows, date, cpu, jdk, linerate, corpus.name(), command));
        }
        Csv.append(csv, Row.COLUMNS, lines);
    }
}
