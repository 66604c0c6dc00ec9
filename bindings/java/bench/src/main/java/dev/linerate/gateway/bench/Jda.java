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
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import net.dv8tion.jda.api.JDA;
import net.dv8tion.jda.api.JDABuilder;
import net.dv8tion.jda.api.events.RawGatewayEvent;
import net.dv8tion.jda.api.hooks.EventListener;
import net.dv8tion.jda.api.requests.GatewayIntent;
import net.dv8tion.jda.api.requests.RestConfig;
import net.dv8tion.jda.api.utils.Compression;
import net.dv8tion.jda.api.utils.SessionControllerAdapter;

/**
 * CPU time and garbage of JDA from end to end: the messages of a shard come from
 * {@code linerate gateway serve} over the loopback interface, and are decompressed, parsed and
 * cached. Each way to decompress has its own Java virtual machine, which connects again and again;
 * the first connections do not count. The CPU time of the process includes garbage collection.
 */
final class Jda {
    private static final String LISTENING = "listening on ";
    private static final Pattern DISPATCH = Pattern.compile("\"op\": ?0[,}]");
    private static final int CONNECTIONS = 10;
    private static final int WARM_UP = 10;
    private static final int PATIENCE = 120;

    /** The ways to decompress. */
    private enum Way {
        NOTHING("not compressed", null),
        INFLATER(Contender.JDA_BULK.title, Transport.ZLIB),
        ZLIB("linerate GatewaySockets", Transport.ZLIB),
        ZSTD("linerate GatewaySockets", Transport.ZSTD);

        private final String title;
        private final Transport transport;

        Way(String title, Transport transport) {
            this.title = title;
            this.transport = transport;
        }

        Compression compression() {
            return this == INFLATER ? Compression.ZLIB : Compression.NONE;
        }

        WebSocketFactory sockets() {
            WebSocketFactory factory = new WebSocketFactory();
            boolean ours = this == ZLIB || this == ZSTD;
            return ours ? factory.setSocketFactory(GatewaySockets.of(transport).plain()) : factory;
        }
    }

    private Jda() {}

    static void run(Bench options, Lines lines) throws Exception {
        Corpus corpus = new Corpus(options.data, 1);
        long events = Arrays.stream(corpus.payloads[0])
                .filter(payload -> DISPATCH.matcher(new String(payload, StandardCharsets.UTF_8)).find())
                .count();
        Map<String, Rounds.Case> cases = new LinkedHashMap<>();
        for (Way way : Way.values()) {
            cases.put(way.name(), samples -> {
                for (long[] cost : inItsOwnMachine(way, options, events)) {
                    samples.add(new Rounds.Cost(cost[0], cost[1], cost[2]), corpus.messages(), corpus.bytes());
                    samples.add("cpu", cost[0] / 1e9);
                    samples.add("allocated_total", cost[2]);
                }
            });
        }
        Map<String, Samples> all = Rounds.run(cases, 0, options.rounds);
        for (Way way : Way.values()) {
            Samples samples = all.get(way.name());
            samples.divide("speed_by_jda", "speed", all.get(Way.INFLATER.name()));
            Map<String, Object> parameters = new LinkedHashMap<>();
            if (way.transport != null) {
                parameters.put("transport", way.transport.queryName());
            }
            parameters.put("messages", corpus.messages());
            lines.measurement("java-jda", "1 shard through JDA", way.title, parameters, samples.metrics());
        }
    }

    /**
     * Runs one way in its own virtual machine. Returns CPU time and elapsed time in nanoseconds,
     * and allocated bytes, of each connection that counts.
     */
    private static List<long[]> inItsOwnMachine(Way way, Bench options, long events)
            throws IOException, InterruptedException {
        Process gateway = new ProcessBuilder(options.linerate, "gateway", "serve", "--for", "600", "--messages",
                        options.data.resolve("shard-0.msgs").toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            String line = new BufferedReader(new InputStreamReader(gateway.getInputStream(), StandardCharsets.UTF_8)).readLine();
            if (line == null || !line.startsWith(LISTENING)) {
                throw new IOException("linerate gateway serve says " + line);
            }
            int connections = options.connections == 0 ? CONNECTIONS : options.connections;
            return Child.run(List.of("-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch"), Jda.class, way,
                    line.substring(LISTENING.length()).trim(), events, connections);
        } finally {
            gateway.destroy();
        }
    }

    /**
     * Runs in the virtual machine of one way: connects, and prints a line for each connection that
     * counts.
     */
    public static void main(String[] args) throws InterruptedException {
        Way way = Way.valueOf(args[0]);
        for (int k = -WARM_UP; k < Integer.parseInt(args[3]); k++) {
            Meter begin = new Meter();
            AtomicReference<Meter> end = new AtomicReference<>();
            JDA jda = receive(way, args[1], Long.parseLong(args[2]), end);
            jda.shutdownNow();
            if (!jda.awaitShutdown(PATIENCE, TimeUnit.SECONDS)) {
                throw new IllegalStateException("JDA does not shut down");
            }
            if (k >= 0) {
                System.out.println(end.get().since(begin));
            }
        }
        System.exit(0);
    }

    /**
     * CPU time of the process and elapsed time until now, and the bytes that each thread has
     * allocated, which cannot be read after the thread has ended.
     */
    private static final class Meter {
        private final long time =
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
        private final long elapsed = System.nanoTime();
        private final Map<Long, Long> allocated = new HashMap<>();

        Meter() {
            ThreadMXBean threads = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);
            long[] ids = threads.getAllThreadIds();
            long[] bytes = threads.getThreadAllocatedBytes(ids);
            for (int k = 0; k < ids.length; k++) {
                allocated.put(ids[k], Math.max(bytes[k], 0));
            }
        }

        /**
         * The cost since {@code begin}. Garbage counts only threads that still run, because those
         * of earlier clients end in between.
         */
        String since(Meter begin) {
            long garbage = allocated.entrySet().stream()
                    .mapToLong(thread -> thread.getValue() - begin.allocated.getOrDefault(thread.getKey(), 0L))
                    .sum();
            return (time - begin.time) + " " + (elapsed - begin.elapsed) + " " + garbage;
        }
    }

    /**
     * Returns a client that has received all events. The thread that decompresses creates the meter
     * {@code end} with the last event.
     */
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
