package dev.linerate.gateway.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One SVG file with a bar of MB/s per row and the allocation per message. */
final class Plot {
    private static final String OURS = "#c43020";
    private static final String PEERS = "#3c5a82";
    private static final int WIDTH = 900;
    private static final int LEFT = 210;
    private static final int RIGHT = 260;
    private static final int STEP = 22;

    private final StringBuilder svg = new StringBuilder();
    private int y = 34;

    static void draw(List<Row> rows, String title, Path file) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.writeString(file, new Plot().svg(rows, title), StandardCharsets.UTF_8);
    }

    private String svg(List<Row> rows, String title) {
        text(LEFT, y - 12, "start", "font-weight='bold'", title);
        groups(rows).forEach(this::group);
        int height = y + 10;
        return "<svg xmlns='http://www.w3.org/2000/svg' width='" + WIDTH + "' height='" + height + "' viewBox='0 0 " + WIDTH
                + " " + height + "' font-family='sans-serif' font-size='12'>\n<rect width='100%' height='100%' fill='white'/>\n"
                + svg + "</svg>\n";
    }

    private static Map<String, List<Row>> groups(List<Row> rows) {
        Map<String, List<Row>> groups = new LinkedHashMap<>();
        for (String work : List.of(Work.BYTES.title(), Work.TREE.title(), Work.DATA_OBJECT.title())) {
            for (Row row : rows) {
                if (row.work().equals(work)) {
                    groups.computeIfAbsent(row.scenario() + ", " + work, k -> new ArrayList<>()).add(row);
                }
            }
        }
        return groups;
    }

    private void group(String name, List<Row> rows) {
        y += STEP;
        text(LEFT, y, "start", "fill='#555'", name + ": MB/s of payload (median), bytes of garbage per message");
        y += 8;
        double max = rows.stream().mapToDouble(Row::median).max().orElse(1);
        for (Row row : rows) {
            bar(row, max);
        }
    }

    private void bar(Row row, double max) {
        String colour = row.contender().startsWith("linerate") ? OURS : PEERS;
        long length = Math.max(1, Math.round(row.median() / max * (WIDTH - LEFT - RIGHT)));
        String name = row.transport().isEmpty() ? row.contender() : row.contender() + ", " + row.transport().replace("-stream", "");
        text(LEFT - 8, y + 13, "end", "", name);
        svg.append("<rect x='" + LEFT + "' y='" + y + "' width='" + length + "' height='" + (STEP - 6) + "' fill='" + colour + "'/>\n");
        text(LEFT + length + 6, y + 13, "start", "", Row.fixed(0, row.median()) + " MB/s, " + garbage(row.allocated()));
        y += STEP;
    }

    private static String garbage(double bytes) {
        return Row.fixed(bytes < 10 ? 1 : 0, bytes) + " B";
    }

    private void text(long x, int baseline, String anchor, String style, String words) {
        svg.append("<text x='" + x + "' y='" + baseline + "' text-anchor='" + anchor + "' " + style + ">"
                + words.replace("&", "&amp;").replace("<", "&lt;") + "</text>\n");
    }
}
