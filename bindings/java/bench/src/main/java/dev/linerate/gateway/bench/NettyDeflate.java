package dev.linerate.gateway.bench;

import com.sun.management.ThreadMXBean;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.util.Version;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * permessage-deflate in Netty: CPU time and garbage of messages through the handlers of a connection, by turns in one
 * virtual machine; and memory of idle connections, in a virtual machine for each contender.
 */
public final class NettyDeflate {
    private static final String USAGE = "usage: netty --data DIR [--csv FILE] [--rounds N] [--connections N]\n";
    private static final List<String> COLUMNS = List.of(
            "date", "cpu", "jdk", "linerate", "netty", "data", "messages", "bytes", "contender", "window_bits", "ratio",
            "encode_ns", "decode_ns", "garbage_bytes", "cpu_vs_base", "ratio_vs_base", "rounds", "connections",
            "messages_each", "native_bytes_each", "heap_bytes_each", "command");
    /** Messages of a connection that is then idle. */
    private static final int MESSAGES_EACH = 20;
    /** Messages before the measurement. */
    private static final int WARM_UP = 20_000;
    /** Bytes of such a message at most. */
    private static final int SHORT = 1200;

    private final ThreadMXBean threads = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);
    private Path data;
    private Path csv;
    private int rounds = 7;
    private int connections = Cold.CONNECTIONS;

    /** Nanoseconds of CPU time, bytes of garbage, and bytes between both sides. */
    private record Cost(long encoding, long decoding, long garbage, long wire) {}

    private NettyDeflate() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        if (args.length == 3 && args[0].equals("idle")) {
            idle(NettyContender.valueOf(args[1]), Integer.parseInt(args[2]));
            return;
        }
        NettyDeflate bench = new NettyDeflate();
        Arguments.parse(args, USAGE, bench::take, () -> Arguments.require(bench.data, "--data"));
        bench.run(Environment.command("netty", args));
    }

    private void take(String option, Arguments arguments) {
        switch (option) {
            case "--data" -> data = arguments.path();
            case "--csv" -> csv = arguments.path();
            case "--rounds" -> rounds = arguments.number();
            case "--connections" -> connections = arguments.number();
            default -> throw arguments.unknown();
        }
    }

    private void run(String command) throws IOException, InterruptedException {
        Corpus corpus = new Corpus(data, 1);
        byte[][] messages = corpus.payloads(0);
        long bytes = Arrays.stream(messages).mapToLong(m -> m.length).sum();
        Map<NettyContender, List<Cost>> costs = new EnumMap<>(NettyContender.class);
        for (int round = -1; round < rounds; round++) {
            for (NettyContender contender : NettyContender.values()) {
                Cost cost = exchange(contender, messages);
                if (round >= 0) {
                    costs.computeIfAbsent(contender, c -> new ArrayList<>()).add(cost);
                }
            }
        }
        List<List<String>> rows = new ArrayList<>();
        Cost base = median(costs.get(NettyContender.NETTY_15));
        for (NettyContender contender : NettyContender.values()) {
            Cost cost = median(costs.get(contender));
            long[] idle = idleInItsOwnMachine(contender);
            double ratio = (double) bytes / cost.wire;
            double time = (double) (cost.encoding + cost.decoding) / (base.encoding + base.decoding);
            List<String> row = List.of(
                    Environment.date(), Environment.cpu(), Environment.jdk(), Environment.linerate(),
                    Version.identify().get("netty-codec-http").artifactVersion(), corpus.name(),
                    Integer.toString(messages.length), Long.toString(bytes), contender.title,
                    Integer.toString(contender.windowBits), Row.fixed(3, ratio),
                    Long.toString(cost.encoding / messages.length), Long.toString(cost.decoding / messages.length),
                    Long.toString(cost.garbage / messages.length), Row.fixed(3, time),
                    Row.fixed(3, (double) base.wire / cost.wire), Integer.toString(rounds), Integer.toString(connections),
                    Integer.toString(MESSAGES_EACH), Long.toString((idle[1] - idle[0]) * 1024 / connections),
                    Long.toString((idle[3] - idle[2]) / connections), command);
            System.out.println(String.join("  ", row.subList(8, 21)));
            rows.add(row);
        }
        if (csv != null) {
            Csv.append(csv, COLUMNS, rows);
        }
    }

    /** All messages from one connection's encoder to another one's decoder. */
    private Cost exchange(NettyContender contender, byte[][] messages) {
        EmbeddedChannel from = contender.connect();
        EmbeddedChannel to = contender.connect();
        WebSocketFrame[] sent = new WebSocketFrame[messages.length];
        for (int i = 0; i < sent.length; i++) {
            sent[i] = frame(messages[i]);
        }
        long thread = Thread.currentThread().getId();
        long garbage = threads.getThreadAllocatedBytes(thread);
        long time = threads.getCurrentThreadCpuTime();
        for (int i = 0; i < sent.length; i++) {
            from.writeOutbound(sent[i]);
            sent[i] = from.readOutbound();
        }
        long encoding = threads.getCurrentThreadCpuTime() - time;
        garbage = threads.getThreadAllocatedBytes(thread) - garbage;
        long wire = Arrays.stream(sent).mapToLong(frame -> frame.content().readableBytes()).sum();
        WebSocketFrame[] received = new WebSocketFrame[messages.length];
        long before = threads.getThreadAllocatedBytes(thread);
        time = threads.getCurrentThreadCpuTime();
        for (int i = 0; i < sent.length; i++) {
            to.writeInbound(sent[i]);
            received[i] = to.readInbound();
        }
        long decoding = threads.getCurrentThreadCpuTime() - time;
        garbage += threads.getThreadAllocatedBytes(thread) - before;
        for (int i = 0; i < received.length; i++) {
            byte[] bytes = new byte[received[i].content().readableBytes()];
            received[i].content().readBytes(bytes);
            received[i].release();
            if (!Arrays.equals(bytes, messages[i])) {
                throw new IllegalStateException(contender + ": message " + i + " is another one");
            }
        }
        from.finishAndReleaseAll();
        to.finishAndReleaseAll();
        return new Cost(encoding, decoding, garbage, wire);
    }

    private static WebSocketFrame frame(byte[] message) {
        ByteBuf content = PooledByteBufAllocator.DEFAULT.directBuffer(message.length).writeBytes(message);
        return new TextWebSocketFrame(content);
    }

    private static Cost median(List<Cost> costs) {
        long encoding = costs.stream().mapToLong(Cost::encoding).sorted().skip(costs.size() / 2).findFirst().orElseThrow();
        long decoding = costs.stream().mapToLong(Cost::decoding).sorted().skip(costs.size() / 2).findFirst().orElseThrow();
        return new Cost(encoding, decoding, costs.get(costs.size() - 1).garbage, costs.get(0).wire);
    }

    /** RSS in KB and used heap in bytes, each before and after. */
    private long[] idleInItsOwnMachine(NettyContender contender) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(Environment.options(
                "-Xms1g", "-Xmx1g", "-XX:+UseSerialGC", "-XX:+AlwaysPreTouch", "-XX:TieredStopAtLevel=1", "-Dio.netty.leakDetection.level=disabled",
                "-D" + Corpus.PROPERTY + "=" + data.toAbsolutePath())));
        String library = System.getProperty("linerate.native.path");
        if (library != null) {
            command.add("-Dlinerate.native.path=" + library);
        }
        command.addAll(List.of(
                "-cp", System.getProperty("java.class.path"), NettyDeflate.class.getName(), "idle", contender.name(),
                Integer.toString(connections)));
        Process child = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String output = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        if (child.waitFor() != 0) {
            throw new IOException(contender + " failed");
        }
        return Stream.of(output.split(" ")).mapToLong(Long::parseLong).toArray();
    }

    private static void idle(NettyContender contender, int connections) throws IOException, InterruptedException {
        byte[][] all = Corpus.chosen().payloads(0);
        byte[][] messages = Arrays.stream(all)
                .filter(message -> message.length <= SHORT)
                .limit(MESSAGES_EACH)
                .toArray(byte[][]::new);
        // Before the measurement: load classes, compile code, allocate what all connections share.
        List<EmbeddedChannel> warm = idle(contender, messages, 20);
        for (int i = 0; i < WARM_UP; i++) {
            echo(warm.get(i % 20), messages[i % messages.length]);
        }
        warm.forEach(EmbeddedChannel::finishAndReleaseAll);
        long rss = Held.rss();
        long heap = Held.heap();
        List<EmbeddedChannel> channels = idle(contender, messages, connections);
        System.out.println(rss + " " + Held.rss() + " " + heap + " " + Held.heap());
        // All are reachable until here.
        channels.forEach(EmbeddedChannel::finishAndReleaseAll);
    }

    /** Connections that have sent and received the messages. */
    private static List<EmbeddedChannel> idle(NettyContender contender, byte[][] messages, int count) {
        List<EmbeddedChannel> channels = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            EmbeddedChannel channel = contender.connect();
            for (byte[] message : messages) {
                echo(channel, message);
            }
            channels.add(channel);
        }
        return channels;
    }

    /** Decodes what the connection has sent: both windows are those of the messages before. */
    private static void echo(EmbeddedChannel channel, byte[] message) {
        channel.writeOutbound(frame(message));
        channel.writeInbound((Object) channel.readOutbound());
        ((WebSocketFrame) channel.readInbound()).release();
    }
}
