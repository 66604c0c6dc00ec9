package dev.linerate.gateway.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Comma-separated values as RFC 4180 has them, for fields without line breaks. */
final class Csv {
    private Csv() {}

    /** Appends rows to a file whose first line has the column names. */
    static void append(Path file, List<String> columns, List<List<String>> rows) throws IOException {
        List<String> lines = new ArrayList<>();
        if (Files.notExists(file) || Files.size(file) == 0) {
            lines.add(line(columns));
        } else if (!Files.readAllLines(file).get(0).equals(line(columns))) {
            throw new IOException(file + " has other columns");
        }
        rows.forEach(row -> lines.add(line(row)));
        if (file.toAbsolutePath().getParent() != null) {
            Files.createDirectories(file.toAbsolutePath().getParent());
        }
        Files.write(file, lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private static String line(List<String> fields) {
        return fields.stream()
                .map(f -> f.contains(",") || f.contains("\"") ? '"' + f.replace("\"", "\"\"") + '"' : f)
                .collect(Collectors.joining(","));
    }
}
