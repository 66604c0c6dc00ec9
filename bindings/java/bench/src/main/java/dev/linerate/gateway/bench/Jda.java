package dev.linerate.gateway.bench;

import com.neovisionaries.ws.client.WebSocketFactory;
import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import dev.linerate.gateway.Transport;
import dev.linerate.gateway.jda.GatewaySockets;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import net.dv8tion.jda.api.JDA;
import net.dv8tion.jda.api.JDABuilder;
import net.dv8tion.jda.api.JDAInfo;
import net.dv8tion.jda.api.events.RawGatewayEvent;
import net.dv8tion.jda.api.hooks.EventListener;
import net.dv8tion.jda.api.requests.GatewayIntent;
import net.dv8tion.jda.api.requests.RestConfig;
import net.dv8tion.jda.api.utils.Compression;
import net.dv8tion.jda.api.utils.SessionControllerAdapter;

/**
 * CPU time and garbage of JDA from end to end: the messages of a shard come from {@code linerate gateway serve} over
 * the loopback, and are decompressed, parsed and cached. Each way to decompress has a Java virtual machine of its own,
 * which connects again and again; the first connections do not count. The process's CPU time includes that of
 * collecting garbage.
 */
public final class Jda {
    private static final String USAGE = "usage: jda --data DIR [--linerate PROGRAM] [--csv FILE] [--rounds N] [--connections N]\n";
    private static final String LISTENING = "listening on ";
    private static final Pattern DISPATCH = Pattern.compile("\"op\": ?0[,}]");
    private static final int WARM_UP = 10;
    private static final int PATIENCE = 120;

    private Path data;
    private Path csv;
    private String linerate = "linerate";
    private int rounds = 3;
    private int connections = 10;

    /** What decompresses. */
    private enum Way {
        NOTHING("not compressed", "", "JDA " + JDAInfo.VERSION),
        INFLATER(Contender.JDA_BULK.title(), Transport.ZLIB.queryName(), "JDK " + System.getProperty("java.version")),
        ZLIB("linerate GatewaySockets", Transport.ZLIB.queryName(), Environment.linerate()),
        ZSTD("linerate GatewaySockets", Transport.ZSTD.queryName(), Environment.linerate());

        private final String title;
        private final String transport;
        private final String version;

        Way(String title, String transport, String version) {
            this.title = title;
            this.transport = transport;
            this.version = version;
        }

        Compression compression() {
            return this == INFLATER ? Compression.ZLIB : Compression.NONE;
        }

        WebSocketFactory sockets() {
            WebSocketFactory factory = new WebSocketFactory();
            boolean ours = this == ZLIB || this == ZSTD;
            return ours ? factory.setSocketFactory(GatewaySockets.of(Transport.valueOf(name())).plain()) : factory;
        }
    }

    private Jda() {}

    public static void main(String[] args) throws Exception {
        if (args.length == 4 && args[0].equals("--connect")) {
            connect(Way.valueOf(args[1]), args[2], args[3]);
            return;
        }
        Jda jda = new Jda();
        Arguments.parse(args, USAGE, jda::take, jda::check);
        jda.run(Environment.command("jda", args));
    }

    private void take(String option, Arguments arguments) {
        switch (option) {
            case "--data" -> data = arguments.path();
            case "--csv" -> csv = arguments.path();
            case "--linerate" -> linerate = arguments.value();
            case "--rounds" -> rounds = arguments.number();
            case "--connections" -> connections = arguments.number();
            default -> throw arguments.unknown();
        }
    }

    private void check() {
        Arguments.require(data, "--data");
    }

    private void run(String command) throws IOException, InterruptedException {
        Corpus corpus = new Corpus(data, 1);
        byte[][] payloads = corpus.payloads(0);
        long events = Arrays.stream(payloads)
                .filter(payload -> DISPATCH.matcher(new String(payload, StandardCharsets.UTF_8)).find())
                .count();
        Map<Way, List<long[]>> found = new EnumMap<>(Way.class);
        for (int round = 0; round < rounds; round++) {
            for (Way way : Way.values()) {
                System.err.println("round " + (round + 1) + " of " + rounds + ": " + way.title + " " + way.transport);
                found.computeIfAbsent(way, w -> new ArrayList<>()).addAll(inItsOwnMachine(way, events));
            }
        }
        long bytes = Arrays.stream(payloads).mapToLong(payload -> payload.length).sum();
        List<Row> rows = new ArrayList<>();
        found.forEach((way, costs) -> rows.add(row(way, costs, payloads.length, bytes)));
        for (Row row : rows) {
            System.out.printf(Locale.ROOT, "%-24s %-12s %8.2f us of CPU and %8.0f bytes of garbage a message, %s times as fast as JDA%n",
                    row.contender(), row.transport(), row.microseconds(), row.allocated(), row.against(rows, Contender.JDA_BULK));
        }
        if (csv != null) {
            record(rows, corpus, command);
        }
    }

    private void record(List<Row> rows, Corpus corpus, String command) throws IOException {
        List<List<String>> lines = new ArrayList<>();
        for (Row row : rows) {
            lines.add(row.fields(rows, Environment.date(), Environment.cpu(), Environment.jdk(), Environment.linerate(),
                    corpus.name(), command));
        }
        Csv.append(csv, Row.COLUMNS, lines);
    }

    private static Row row(Way way, List<long[]> costs, long messages, long bytes) {
        List<Double> rates = new ArrayList<>();
        costs.forEach(cost -> rates.add(1e3 * bytes / cost[0]));
        Collections.sort(rates);
        long[] garbage = costs.stream().mapToLong(cost -> cost[1]).sorted().toArray();
        return new Row("1 shard through JDA", way.transport, way.title, way.version, "JDA " + JDAInfo.VERSION, messages,
                bytes, rates, (double) garbage[garbage.length / 2] / messages);
    }

    /** CPU time in ns and allocated bytes of each connection that counts. */
    private List<long[]> inItsOwnMachine(Way way, long events) throws IOException, InterruptedException {
        Process gateway = start(List.of(linerate, "gateway", "serve", "--for", "600", "--messages",
                data.resolve("shard-0.msgs").toString()));
        try {
            String line = reader(gateway).readLine();
            if (line == null || !line.startsWith(LISTENING)) {
                throw new IOException("linerate gateway serve says " + line);
            }
            List<String> command = new ArrayList<>();
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(List.of(Environment.options("-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch")));
            command.addAll(List.of("-cp", System.getProperty("java.class.path"), Jda.class.getName(), "--connect",
                    way.name(), line.substring(LISTENING.length()).trim(), events + "x" + connections));
            Process child = start(command);
            List<long[]> costs = reader(child).lines()
                    .map(text -> Arrays.stream(text.split(" ")).mapToLong(Long::parseLong).toArray())
                    .toList();
            if (child.waitFor() != 0 || costs.size() != connections) {
                throw new IOException(way.title + " failed after " + costs.size() + " connections");
            }
            return costs;
        } finally {
            gateway.destroy();
        }
    }

    private static Process start(List<String> command) throws IOException {
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    private static BufferedReader reader(Process process) {
        return new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** In the virtual machine of a way: connects, and prints a line for each connection that counts. */
    private static void connect(Way way, String url, String work) throws InterruptedException {
        long events = Long.parseLong(work.substring(0, work.indexOf('x')));
        int counted = Integer.parseInt(work.substring(work.indexOf('x') + 1));
        for (int k = -WARM_UP; k < counted; k++) {
            Meter begin = new Meter();
            AtomicReference<Meter> end = new AtomicReference<>();
            JDA jda = receive(way, url, events, end);
            jda.shutdownNow();
            if (!jda.awaitShutdown(PATIENCE, TimeUnit.SECONDS)) {
                throw new IllegalStateException("JDA does not shut down");
            }
            if (k >= 0) {
                System.out.println(end.get().timeSince(begin) + " " + end.get().garbageSince(begin));
            }
        }
        System.exit(0);
    }

    /** CPU time of the process, and what each of its threads has allocated, which is not known after the thread's end. */
    private static final class Meter {
        private final long time =
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
        private final Map<Long, Long> allocated = new HashMap<>();

        Meter() {
            ThreadMXBean threads = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);
            long[] ids = threads.getAllThreadIds();
            long[] bytes = threads.getThreadAllocatedBytes(ids);
            for (int k = 0; k < ids.length; k++) {
                allocated.put(ids[k], Math.max(bytes[k], 0));
            }
        }

        long timeSince(Meter begin) {
            return time - begin.time;
        }

        /** Of the threads that are still there: those of earlier clients end in between. */
        long garbageSince(Meter begin) {
            return allocated.entrySet().stream()
                    .mapToLong(thread -> thread.getValue() - begin.allocated.getOrDefault(thread.getKey(), 0L))
                    .sum();
        }
    }

    /** A client that has got all events. The meter is read with the last one, by the thread that decompresses. */
    private static JDA receive(Way way, String url, long events, AtomicReference<Meter> end) throws InterruptedException {
        CountDownLatch all = new CountDownLatch(1);
        EventListener listener = event -> {
            // Sequence numbers begin at 1, with READY.
            if (event instanceof RawGatewayEvent raw && raw.getPackage().getLong("s", 0) >= events) {
                end.compareAndSet(null, new Meter());
                all.countDown();
            }
        };
        JDA jda = JDABuilder.createLight("no.real.token", EnumSet.allOf(GatewayIntent.class))
                .setCompression(way.compression())
                .setWebsocketFactory(way.sockets())
                .setRestConfig(new RestConfig().setBaseUrl(url.replaceFirst("^ws", "http") + "/api/v10/"))
                .setSessionController(new SessionControllerAdapter() {
                    @Override
                    public String getGateway() {
                        return url;
                    }
                })
                .setRawEventsEnabled(true)
                .setEnableShutdownHook(false)
                .addEventListeners(listener)
                .build();
        if (!all.await(PATIENCE, TimeUnit.SECONDS)) {
            throw new IllegalStateException("not all events arrived with " + way.title + ": " + jda.getStatus());
        }
        return jda;
    }
}
