package dev.linerate.gateway;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Statistics of messages: counted, logged, and read in all ways. */
// Tests close a recorder within its try block, because a closed one has counted everything.
@SuppressWarnings("try")
class StatsRecorderTest {
    private static final int RECORD = 32;

    @TempDir
    Path folder;

    private static long bytes(List<byte[]> messages) {
        return messages.stream().mapToLong(message -> message.length).sum();
    }

    /** Decodes the sample of a transport on a new connection. */
    private static GatewayDecompressor decoded(StatsRecorder recorder, Transport transport) throws IOException {
        GatewayDecompressor gateway =
                GatewayDecompressor.builder(transport).recordStats(recorder).build();
        for (byte[] frame : Traffic.frames(transport)) {
            gateway.decompress(frame);
        }
        return gateway;
    }

    /** Waits until the recorder has counted what was decoded. */
    private static void await(StatsRecorder recorder, long messages) throws InterruptedException {
        while (recorder.stats().messages() < messages) {
            Thread.sleep(5);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void messagesAreCountedAndLogged(Transport transport) throws Exception {
        long messages = Traffic.payloads().size();
        Stats stats;
        try (StatsRecorder recorder =
                StatsRecorder.builder().log(folder.resolve("new")).logName("a").cpuTime().start()) {
            try (GatewayDecompressor gateway = decoded(recorder, transport)) {
                await(recorder, messages);
                Stats own = gateway.stats();
                assertEquals(messages, own.messages());
                assertTrue(own.maxNanos() >= own.medianNanos());
                assertEquals(1, recorder.connections());
            }
            assertEquals(0, recorder.connections());
            recorder.close();
            stats = recorder.stats(transport);
            assertEquals(messages, recorder.stats().messages());
        }
        assertEquals(messages, stats.messages());
        assertEquals(0, stats.errors());
        // The first message, and every 16th after it.
        assertEquals((messages + 15) / 16, stats.timed());
        assertEquals(bytes(Traffic.payloads()), stats.payloadBytes());
        assertEquals(bytes(Traffic.frames(transport)), stats.compressedBytes());
        assertEquals((double) stats.payloadBytes() / stats.compressedBytes(), stats.ratio());
        assertTrue(stats.decodeNanos() >= stats.maxNanos() / 2, stats.toString());
        long[] quantiles = {stats.medianNanos(), stats.p90Nanos(), stats.p99Nanos(), stats.p999Nanos(), stats.maxNanos()};
        long[] sorted = quantiles.clone();
        Arrays.sort(sorted);
        assertArrayEquals(sorted, quantiles);
        byte[] log = Files.readAllBytes(folder.resolve("new").resolve("a-000001.stats"));
        assertEquals((messages + 1) * RECORD, log.length);
        assertArrayEquals(new byte[] {'L', 'G', 'S', 'T', 2, RECORD, 1}, Arrays.copyOf(log, 7));
    }

    @Test
    void errorsAreCountedByKindAndResetsGoOn() throws Exception {
        try (StatsRecorder recorder = StatsRecorder.builder().start();
                GatewayDecompressor gateway = GatewayDecompressor.builder(Transport.ZSTD)
                        .maxMessage(10)
                        .recordStats(recorder)
                        .build()) {
            byte[] damaged = {1, 2, 3, 4, 5, 6, 7, 8, 9};
            assertThrows(DecompressionException.class, () -> gateway.decompress(damaged));
            gateway.reset();
            byte[] tooLong = Traffic.first(Transport.ZSTD, new byte[11]);
            assertThrows(DecompressionException.class, () -> gateway.decompress(tooLong));
            gateway.reset();
            assertNotNull(gateway.decompress(Traffic.first(Transport.ZSTD, new byte[10])));
            recorder.close();
            Stats stats = gateway.stats();
            assertEquals(1, stats.messages());
            assertEquals(2, stats.errors());
            assertEquals(1, stats.errors(DecompressionException.Kind.CORRUPT));
            assertEquals(1, stats.errors(DecompressionException.Kind.LIMIT));
            assertEquals(10, stats.payloadBytes());
        }
    }

    @Test
    void whatDoesNotFitIsDroppedAndCounted() throws Exception {
        try (StatsRecorder recorder = StatsRecorder.builder().capacity(1).maxConnections(0).start()) {
            try (GatewayDecompressor gateway = decoded(recorder, Transport.ZSTD)) {
                assertNull(gateway.stats());
            }
            recorder.close();
            Stats stats = recorder.stats();
            assertEquals(Traffic.payloads().size(), stats.messages() + stats.dropped());
        }
    }

    @Test
    void logsAreRotated() throws Exception {
        try (StatsRecorder recorder = StatsRecorder.builder()
                .log(folder)
                .rotate(100 * RECORD, 1, TimeUnit.HOURS, 2)
                .start()) {
            decoded(recorder, Transport.ZLIB).close();
        }
        // 99 messages fit in a file.
        int last = (Traffic.payloads().size() + 98) / 99;
        List<String> names = new ArrayList<>();
        try (var files = Files.list(folder)) {
            files.sorted().forEach(file -> names.add(file.getFileName().toString()));
        }
        assertEquals(
                List.of(String.format("gateway-%06d.stats", last - 1), String.format("gateway-%06d.stats", last)), names);
    }

    @Test
    void textForPrometheus() throws Exception {
        try (StatsRecorder recorder = StatsRecorder.builder().start()) {
            decoded(recorder, Transport.ZSTD).close();
            recorder.close();
            String line = "linerate_gateway_messages_total{transport=\"zstd-stream\",verdict=\"decoded\"} "
                    + Traffic.payloads().size();
            assertTrue(recorder.prometheus().contains(line + "\n"), recorder.prometheus());
        }
    }

    @Test
    void wrongOptions() throws Exception {
        StatsRecorder.Builder builder = StatsRecorder.builder();
        for (String name : new String[] {"", "a/b", "a\\b"}) {
            assertThrows(IllegalArgumentException.class, () -> builder.logName(name));
        }
        assertThrows(IllegalArgumentException.class, () -> builder.rotate(0, 1, TimeUnit.DAYS, 1));
        assertThrows(IllegalArgumentException.class, () -> builder.rotate(1, 1, TimeUnit.DAYS, 0));
        assertThrows(IllegalArgumentException.class, () -> builder.capacity(0));
        assertThrows(IllegalArgumentException.class, () -> builder.capacity(Integer.MAX_VALUE));
        assertThrows(IllegalArgumentException.class, () -> builder.maxConnections(-1));
        assertThrows(NullPointerException.class, () -> builder.log(null));
        Path file = Files.writeString(folder.resolve("file"), "no folder");
        IOException e = assertThrows(IOException.class, () -> builder.log(file).start());
        assertTrue(e.getMessage().startsWith("cannot write the statistics log in " + file), e.getMessage());
    }

    @Test
    void recorderThatDoesNotStartSaysWhetherThatIsBecauseOfTheLog() {
        assertEquals(
                "cannot write the statistics log in logs: why",
                StatsRecorder.notStarted(Path.of("logs"), "why").getMessage());
        assertEquals(
                "cannot start the thread of the recorder: why", StatsRecorder.notStarted(null, "why").getMessage());
    }

    @Test
    void connectionsWithoutARecorderHaveNoStatistics() {
        try (GatewayDecompressor gateway = GatewayDecompressor.create(Transport.ZSTD)) {
            assertNull(gateway.stats());
        }
    }
}
