package dev.linerate.gateway.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Values of metrics, one or more for each round. */
final class Samples {
    private final Map<String, List<Double>> values = new LinkedHashMap<>();

    void add(String metric, double value) {
        values.computeIfAbsent(metric, name -> new ArrayList<>()).add(value);
    }

    /**
     * Adds the speed in MB/s, the times in microseconds per message, and the allocated bytes per
     * message.
     */
    void add(Rounds.Cost cost, long messages, long bytes) {
        add("speed", 1e3 * bytes / cost.cpu());
        add("time", cost.cpu() / 1e3 / messages);
        add("elapsed_time", cost.elapsed() / 1e3 / messages);
        add("allocated", (double) cost.allocated() / messages);
    }

    /** Adds the quotient of a metric and that of a base, round by round. */
    void divide(String name, String metric, Samples base) {
        for (int i = 0; i < values.get(metric).size(); i++) {
            add(name, values.get(metric).get(i) / base.values.get(metric).get(i));
        }
    }

    /**
     * Returns each metric as a number if all its values are the same, otherwise as the median with
     * the lowest and the highest value.
     */
    Map<String, Object> metrics() {
        Map<String, Object> metrics = new LinkedHashMap<>();
        values.forEach((name, rounds) -> {
            List<Double> sorted = rounds.stream().sorted().toList();
            double low = sorted.get(0);
            double high = sorted.get(sorted.size() - 1);
            Map<String, Object> spread = new LinkedHashMap<>();
            double middle = sorted.get((sorted.size() - 1) / 2) + sorted.get(sorted.size() / 2);
            spread.put("median", Lines.number(middle / 2));
            spread.put("low", Lines.number(low));
            spread.put("high", Lines.number(high));
            metrics.put(name, low == high ? Lines.number(low) : spread);
        });
        return metrics;
    }
}
