package dev.linerate.gateway.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The rounds of a measurement, and the lines that the program prints about them. */
class LinesTest {
    private static final Path TESTDATA = Path.of(System.getProperty("linerate.testdata"));

    @TempDir
    Path folder;

    @Test
    void casesTakeTurnsAndTheFirstRoundDoesNotCount() throws Exception {
        StringBuilder order = new StringBuilder();
        Map<String, Rounds.Case> cases = new LinkedHashMap<>();
        for (String name : List.of("a", "b", "c")) {
            cases.put(name, samples -> {
                order.append(name);
                samples.add("speed", order.length());
            });
        }
        Map<String, Samples> all = Rounds.run(cases, 1, 3);
        assertEquals("abccabbcaabc", order.toString());
        assertEquals(List.of("a", "b", "c"), new ArrayList<>(all.keySet()));
        all.get("c").divide("speed_by_base", "speed", all.get("a"));
        JsonNode metrics = new ObjectMapper().valueToTree(all.get("c").metrics());
        JsonNode expected = new ObjectMapper().readTree("""
                {"speed": {"median": 8, "low": 4, "high": 12},
                 "speed_by_base": {"median": 0.888889, "low": 0.8, "high": 1.2}}""");
        assertEquals(expected.toString(), metrics.toString());
    }

    @Test
    void valueThatIsAlwaysTheSameIsANumber() {
        Samples samples = new Samples();
        samples.add("resident", 83_500_000);
        samples.add("resident", 83_500_000);
        assertEquals("{resident=83500000}", samples.metrics().toString().replace("8.35E+7", "83500000"));
    }

    @Test
    void medianOfAnEvenNumberIsTheMeanOfTheMiddleOnes() {
        Samples samples = new Samples();
        for (double value : new double[] {4, 1, 2, 8}) {
            samples.add("speed", value);
        }
        assertEquals("{speed={median=3, low=1, high=8}}", samples.metrics().toString());
    }

    @Test
    void commandsContainNoFoldersOfThisMachine() {
        String[] arguments = {"messages", "--data", "/a/b/shards", "--rounds", "3"};
        assertEquals("bench messages --data shards --rounds 3", Lines.command(arguments));
    }

    private void copySample() throws IOException {
        for (String kind : new String[] {".msgs", ".zlib", ".zst"}) {
            Files.copy(TESTDATA.resolve("sample" + kind), folder.resolve("shard-0" + kind));
        }
    }

    @Test
    void connectionsHoldMemory() throws Exception {
        copySample();
        long[] zlib = Child.run(Child.FIXED_HEAP, Memory.class, Contender.ZLIB_STREAM, folder, 500).get(0);
        assertTrue(zlib[0] > 500 * 20_000 && zlib[0] < 500 * 100_000, Arrays.toString(zlib));
        long[] netty = Child.run(Netty.CHILD, Netty.class, Netty.Codec.LINERATE_15, folder, 500).get(0);
        assertTrue(netty[0] > 500 * 1000, Arrays.toString(netty));
    }

    @ParameterizedTest
    @EnumSource(Broadcast.Way.class)
    void listenersGetMessages(Broadcast.Way way) throws Exception {
        copySample();
        Samples samples = new Samples();
        Broadcast.round(way, Broadcast.messages(new Corpus(folder, 1)), Broadcast.connect(way, 3), samples);
        assertEquals(Set.of("time", "garbage"), samples.metrics().keySet());
    }

    @ParameterizedTest
    @EnumSource(Netty.Codec.class)
    void codecsOfNettyExchangeMessages(Netty.Codec codec) throws Exception {
        copySample();
        Corpus corpus = new Corpus(folder, 1);
        Samples samples = new Samples();
        Netty.exchange(codec, corpus.payloads[0], corpus.bytes(), samples);
        double ratio = ((Number) samples.metrics().get("ratio")).doubleValue();
        assertTrue(codec == Netty.Codec.NONE ? ratio == 1 : ratio > 2, codec + ": " + ratio);
        assertTrue(samples.metrics().keySet().containsAll(List.of("encode_time", "decode_time", "time", "garbage")));
    }

    /** Runs the program itself on few connections of the sample. */
    @ParameterizedTest
    @ValueSource(strings = {"messages", "start-up"})
    void everyMeasurementHasShapeDataContenderAndMetrics(String shape) throws Exception {
        copySample();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream console = System.out;
        System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            Bench.main(new String[] {shape, "--data", folder.toString(), "--rounds", "2", "--connections", "3"});
        } finally {
            System.setOut(console);
        }
        List<JsonNode> lines = new ArrayList<>();
        for (String line : bytes.toString(StandardCharsets.UTF_8).lines().toList()) {
            lines.add(new ObjectMapper().readTree(line));
        }
        JsonNode run = lines.remove(0).get("run");
        assertTrue(run.get("command").asText().startsWith("bench " + shape + " --data "), run.toString());
        assertTrue(run.get("versions").get("jdk").isTextual() && run.get("cpu").isTextual(), run.toString());
        Set<String> measured = new HashSet<>();
        for (JsonNode line : lines) {
            assertTrue(measured.add("" + line.get("shape") + line.get("data") + line.get("contender") + line.get("params")), line.toString());
            assertFalse(line.get("metrics").isEmpty());
            line.get("metrics").forEach(metric -> assertTrue(metric.isNumber() || metric.get("median").isNumber(), line.toString()));
        }
        int contenders = Contender.values().length;
        assertEquals(shape.equals("messages") ? 3 * contenders + 1 : contenders + 1, lines.size());
    }
}
