package dev.linerate.gateway.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Memory of 2,500 connections after 30 messages each, per contender in a Java virtual machine of its own: growth of the
 * process outside the Java heap, and of the heap.
 */
public final class Memory {
    private static final String USAGE = "usage: memory --data DIR [--csv FILE] [--connections N] [--messages N]\n";
    private static final List<String> COLUMNS = List.of(
            "shape", "date", "cpu", "jdk", "linerate", "data", "transport", "contender", "contender_version", "connections",
            "messages_each", "payload_bytes_each", "rss_before_kb", "rss_after_kb", "native_bytes_each", "heap_bytes_each",
            "total_mb", "command");
    private static final List<Contender> MEASURED = List.of(
            Contender.JDA_BULK, Contender.JDK_STREAM, Contender.ZLIB_REUSABLE, Contender.ZLIB_STREAM,
            Contender.ZSTD_JNI_STREAM, Contender.ZSTD_JNI_CONTEXT, Contender.ZSTD_REUSABLE, Contender.ZSTD_STREAM);

    private Path data;
    private Path csv;
    private int connections = Cold.CONNECTIONS;
    private int messages = 30;

    private Memory() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        Memory memory = new Memory();
        Arguments.parse(args, USAGE, memory::take, memory::check);
        memory.run(Environment.command("memory", args));
    }

    private void take(String option, Arguments arguments) {
        switch (option) {
            case "--data" -> data = arguments.path();
            case "--csv" -> csv = arguments.path();
            case "--connections" -> connections = arguments.number();
            case "--messages" -> messages = arguments.number();
            default -> throw arguments.unknown();
        }
    }

    private void check() {
        Arguments.require(data, "--data");
    }

    private void run(String command) throws IOException, InterruptedException {
        Corpus corpus = new Corpus(data, Integer.MAX_VALUE);
        byte[][] payloads = Arrays.copyOf(corpus.payloads(0), messages);
        long each = Arrays.stream(payloads).mapToLong(p -> p.length).sum();
        System.out.printf("%d connections, %d messages each, %d bytes of payload in those of the first%n", connections, messages, each);
        System.out.printf("%-12s %-18s %14s %14s %10s%n", "transport", "contender", "native B each", "heap B each", "MB in all");
        List<List<String>> rows = new ArrayList<>();
        for (Contender contender : MEASURED) {
            long[] found = Held.inItsOwnMachine(contender, data, connections, messages);
            rows.add(row(contender, corpus, each, found, command));
        }
        if (csv != null) {
            Csv.append(csv, COLUMNS, rows);
        }
    }

    /** Prints and returns RSS in KB and used heap in bytes, each before and after. */
    private List<String> row(Contender contender, Corpus corpus, long each, long[] found, String command) throws IOException {
        long outside = (found[1] - found[0]) * 1024 / connections;
        long heap = (found[3] - found[2]) / connections;
        String total = Row.fixed(1, (double) (outside + heap) * connections / 1e6);
        System.out.printf("%-12s %-18s %14d %14d %10s%n", contender.transport().queryName(), contender.title(), outside, heap, total);
        return List.of(
                "memory", Environment.date(), Environment.cpu(), Environment.jdk(), Environment.linerate(), corpus.name(),
                contender.transport().queryName(), contender.title(), Environment.version(contender),
                Integer.toString(connections), Integer.toString(messages), Long.toString(each), Long.toString(found[0]),
                Long.toString(found[1]), Long.toString(outside), Long.toString(heap), total, command);
    }
}
