package dev.linerate.gateway.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JMH's JSON files as rows: several files of one contender give one row. */
final class Results {
    private static final String ALLOCATED = "gc.alloc.rate.norm";

    private final Corpus corpus;
    private final Map<String, List<JsonNode>> cells = new LinkedHashMap<>();

    Results(Corpus corpus) {
        this.corpus = corpus;
    }

    void read(Path json) throws IOException {
        for (JsonNode cell : new ObjectMapper().readTree(json.toFile())) {
            cells.computeIfAbsent(cell.get("benchmark").asText() + cell.get("params"), k -> new ArrayList<>()).add(cell);
        }
    }

    List<Row> rows() throws IOException {
        long messages = 0;
        long bytes = 0;
        for (int s = 0; s < corpus.shards(); s++) {
            byte[][] payloads = corpus.payloads(s);
            messages += payloads.length;
            bytes += Arrays.stream(payloads).mapToLong(p -> p.length).sum();
        }
        List<Row> rows = new ArrayList<>();
        for (List<JsonNode> cell : cells.values()) {
            rows.add(cell.get(0).get("benchmark").asText().contains(".Cold.") ? cold(cell) : hot(cell, messages, bytes));
        }
        return rows;
    }

    private Row hot(List<JsonNode> cell, long messages, long bytes) {
        List<Double> rates = new ArrayList<>();
        values(cell, "").forEach(microseconds -> rates.add(bytes / microseconds));
        String scenario = corpus.shards() + (corpus.shards() == 1 ? " shard" : " shards");
        return row(cell, scenario, messages, bytes, rates, median(values(cell, ALLOCATED)) / messages);
    }

    private Row cold(List<JsonNode> cell) {
        List<Double> microseconds = values(cell, "");
        List<Double> bytes = values(cell, "bytes");
        List<Double> messages = values(cell, "messages");
        List<Double> rates = new ArrayList<>();
        for (int k = 0; k < microseconds.size(); k++) {
            rates.add(bytes.get(k) / messages.get(k) / microseconds.get(k));
        }
        return row(cell, Cold.CONNECTIONS + " connections", sum(messages), sum(bytes), rates, median(values(cell, ALLOCATED)));
    }

    private static Row row(List<JsonNode> cell, String scenario, long messages, long bytes, List<Double> rates, double allocated) {
        JsonNode params = cell.get(0).path("params");
        Collections.sort(rates);
        String work = params.has("work") ? Work.valueOf(params.get("work").asText()).title() : Work.BYTES.title();
        if (!params.has("contender")) {
            return new Row(scenario, "", "parsing alone", Environment.jackson(), Work.TREE.title(), messages, bytes, rates, allocated);
        }
        Contender contender = Contender.valueOf(params.get("contender").asText());
        String version = Environment.version(contender) + (work.equals(Work.TREE.title()) ? ", " + Environment.jackson() : "");
        return new Row(scenario, contender.transport().queryName(), contender.title(), version, work, messages, bytes, rates, allocated);
    }

    /** The values of all iterations of a metric; "" is the time. */
    private static List<Double> values(Collection<JsonNode> cell, String metric) {
        List<Double> found = new ArrayList<>();
        for (JsonNode result : cell) {
            JsonNode data = metric.isEmpty() ? result.get("primaryMetric") : result.get("secondaryMetrics").get(metric);
            data.get("rawData").forEach(fork -> fork.forEach(value -> found.add(value.asDouble())));
        }
        return found;
    }

    private static long sum(List<Double> values) {
        return Math.round(values.stream().mapToDouble(Double::doubleValue).sum());
    }

    private static double median(List<Double> values) {
        return values.stream().sorted().skip(values.size() / 2).findFirst().orElse(Double.NaN);
    }
}
