package dev.linerate.gateway.bench;

import java.util.List;
import java.util.Locale;

/**
 * Measurements of one contender.
 *
 * @param scenario "10 shards" or "2,500 connections"
 * @param work "bytes" or "Jackson tree"
 * @param rates MB/s of each iteration, sorted
 * @param allocated bytes of garbage per message
 */
record Row(
        String scenario,
        String transport,
        String contender,
        String version,
        String work,
        long messages,
        long bytes,
        List<Double> rates,
        double allocated) {
    static final List<String> COLUMNS = List.of(
            "shape", "date", "cpu", "jdk", "linerate", "data", "scenario", "transport", "contender", "contender_version",
            "work", "messages", "bytes", "iterations", "best_mb_s", "median_mb_s", "median_us_per_message",
            "allocated_bytes_per_message", "vs_jdk_bulk", "vs_jdk_stream", "vs_zstd_jni_stream", "command");

    double best() {
        return rates.get(rates.size() - 1);
    }

    double median() {
        int half = rates.size() / 2;
        return rates.size() % 2 == 1 ? rates.get(half) : (rates.get(half - 1) + rates.get(half)) / 2;
    }

    double microseconds() {
        return (double) bytes / messages / median();
    }

    /** The fields of its line in a record, with the ratio of its median to those of its peers. */
    List<String> fields(List<Row> all, String date, String cpu, String jdk, String linerate, String data, String command) {
        return List.of(
                "messages", date, cpu, jdk, linerate, data, scenario, transport, contender, version, work,
                Long.toString(messages), Long.toString(bytes), Integer.toString(rates.size()), fixed(1, best()),
                fixed(1, median()), fixed(3, microseconds()), fixed(1, allocated), against(all, Contender.JDA_BULK),
                against(all, Contender.JDK_STREAM), against(all, Contender.ZSTD_JNI_STREAM), command);
    }

    /** The ratio of the medians, empty if the peer has no such row. */
    String against(List<Row> all, Contender peer) {
        return all.stream()
                .filter(r -> r.scenario.equals(scenario) && r.work.equals(work) && r.contender.equals(peer.title()))
                .map(r -> fixed(3, median() / r.median()))
                .findFirst()
                .orElse("");
    }

    static String fixed(int digits, double value) {
        return String.format(Locale.ROOT, "%." + digits + "f", value);
    }
}
