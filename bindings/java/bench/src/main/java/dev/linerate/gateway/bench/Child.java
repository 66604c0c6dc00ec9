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

/** A Java virtual machine for one contender. */
final class Child {
    /**
     * Options for a heap of fixed size that is touched first, so that the process grows only by
     * memory outside it.
     */
    static final List<String> FIXED_HEAP = List.of("-Xms1g", "-Xmx1g", "-XX:+UseSerialGC", "-XX:+AlwaysPreTouch");

    /** Garbage collections are repeated until one frees fewer bytes than this. */
    private static final long SETTLED = 50_000;

    private Child() {}

    /**
     * Runs a program with the class path of this one. Returns the numbers that it prints, for each
     * line an array.
     */
    static List<long[]> run(List<String> options, Class<?> program, Object... args)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        if (Runtime.version().feature() >= 22) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        String library = System.getProperty("linerate.native.path");
        if (library != null) {
            command.add("-Dlinerate.native.path=" + library);
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        Arrays.stream(args).map(Object::toString).forEach(command::add);
        Process child = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String output = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (child.waitFor() != 0) {
            throw new IOException("failed: " + String.join(" ", command));
        }
        return output.lines()
                .map(line -> Stream.of(line.split(" ")).mapToLong(Long::parseLong).toArray())
                .toList();
    }

    /** The memory held now: resident memory of the process, and used heap, in bytes. */
    static long[] held() throws IOException, InterruptedException {
        return new long[] {resident(), heap()};
    }

    /** Prints by how many bytes both numbers of {@link #held} have grown since {@code before}. */
    static void printGrowth(long[] before) throws IOException, InterruptedException {
        long[] after = held();
        System.out.println((after[0] - before[0]) + " " + (after[1] - before[1]));
    }

    private static long resident() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            return 1024 * lines.filter(line -> line.startsWith("VmRSS:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** Used heap in bytes after collecting garbage until hardly anything more is freed. */
    private static long heap() throws InterruptedException {
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
