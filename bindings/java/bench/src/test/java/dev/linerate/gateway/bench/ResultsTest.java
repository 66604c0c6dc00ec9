package dev.linerate.gateway.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Conversion of JMH's results to a record and a plot. */
class ResultsTest {
    private static final String HOT = "{'benchmark':'dev.linerate.gateway.bench.Hot.shards',"
            + "'params':{'contender':'%s','work':'BYTES'},'primaryMetric':{'rawData':[[%s]]},"
            + "'secondaryMetrics':{'gc.alloc.rate.norm':{'rawData':[[%s]]}}}";
    private static final String COLD = "{'benchmark':'dev.linerate.gateway.bench.Cold.roundRobin',"
            + "'params':{'contender':'ZSTD_BULK'},'primaryMetric':{'rawData':[[2.0,4.0]]},"
            + "'secondaryMetrics':{'gc.alloc.rate.norm':{'rawData':[[8,8]]},'bytes':{'rawData':[[6000,8000]]},"
            + "'messages':{'rawData':[[10,20]]}}}";

    @TempDir
    Path folder;

    @Test
    void roundsAreMergedIntoOneRow() throws IOException {
        // Two messages of 400 and 600 bytes.
        ByteBuffer messages = ByteBuffer.allocate(4 + 400 + 4 + 600).order(ByteOrder.LITTLE_ENDIAN);
        messages.putInt(400).putInt(404, 600);
        Files.write(folder.resolve("shard-0.msgs"), messages.array());
        Results results = new Results(new Corpus(folder, 1));
        results.read(json(HOT.formatted("JDK_STREAM", "4,5", "10,10"), HOT.formatted("ZLIB_BULK", "2.5", "1000"), COLD));
        results.read(json(HOT.formatted("JDK_STREAM", "8", "12")));
        List<Row> rows = results.rows();
        assertEquals(3, rows.size());
        Row stream = rows.get(0);
        assertEquals(List.of(125.0, 200.0, 250.0), stream.rates());
        assertEquals(200, stream.median());
        assertEquals(250, stream.best());
        assertEquals(5, stream.allocated());
        assertEquals("1 shard", stream.scenario());
        assertEquals(2.5, stream.microseconds());
        assertEquals("2.000", rows.get(1).against(rows, Contender.JDK_STREAM));
        assertEquals("", rows.get(1).against(rows, Contender.JDA_BULK));
        Row cold = rows.get(2);
        assertEquals(List.of(100.0, 300.0), cold.rates());
        assertEquals(200, cold.median());
        assertEquals(8, cold.allocated());
        assertEquals("", cold.against(rows, Contender.JDK_STREAM));

        Path csv = folder.resolve("records/a.csv");
        List<List<String>> lines = List.of(stream.fields(rows, "2026-01-01", "a \"CPU\", fast", "17", "0.1.0", "data", "bench"));
        Csv.append(csv, Row.COLUMNS, lines);
        Csv.append(csv, Row.COLUMNS, lines);
        List<String> written = Files.readAllLines(csv);
        assertEquals(3, written.size());
        assertEquals(written.get(1), written.get(2));
        assertTrue(written.get(1).startsWith("messages,2026-01-01,\"a \"\"CPU\"\", fast\",17,"), written.get(1));
        assertThrows(IOException.class, () -> Csv.append(csv, List.of("other"), lines));

        Path svg = folder.resolve("plots/a.svg");
        Plot.draw(rows, "A & B", svg);
        String drawn = Files.readString(svg);
        assertTrue(drawn.contains("A &amp; B") && drawn.contains("200 MB/s, 5.0 B") && drawn.endsWith("</svg>\n"), drawn);
    }

    @Test
    void commandsContainNoAbsolutePaths() {
        String[] args = {"--data", "/a/b/shards", "--csv", "/x.csv", "--rounds", "3"};
        assertEquals("bench --data shards --rounds 3", Environment.command("bench", args));
    }

    private Path json(String... results) throws IOException {
        Path file = Files.createTempFile(folder, "jmh", ".json");
        return Files.writeString(file, ("[" + String.join(",", results) + "]").replace('\'', '"'));
    }
}
