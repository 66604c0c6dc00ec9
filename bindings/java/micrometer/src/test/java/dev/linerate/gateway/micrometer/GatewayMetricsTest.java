package dev.linerate.gateway.micrometer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.linerate.gateway.DecompressionException;
import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.Stats;
import dev.linerate.gateway.StatsRecorder;
import dev.linerate.gateway.Transport;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.zip.Deflater;
import org.junit.jupiter.api.Test;

/** Meters have the numbers of the recorder. */
// Tests close a recorder within its try block, because a closed one has counted everything.
@SuppressWarnings("try")
class GatewayMetricsTest {
    private static final byte[] PAYLOAD = "{\"op\":11,\"d\":null}".getBytes(StandardCharsets.UTF_8);

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    private static byte[] frame() {
        Deflater deflater = new Deflater();
        deflater.setInput(PAYLOAD);
        byte[] frame = new byte[100];
        int length = deflater.deflate(frame, 0, frame.length, Deflater.SYNC_FLUSH);
        deflater.end();
        return java.util.Arrays.copyOf(frame, length);
    }

    private double messages(String transport, String verdict) {
        return registry.get("linerate.gateway.messages")
                .tags("transport", transport, "verdict", verdict)
                .functionCounter()
                .count();
    }

    @Test
    void metersReadTheStatistics() throws Exception {
        byte[] frame = frame();
        Stats stats;
        try (StatsRecorder recorder = StatsRecorder.builder().start()) {
            new GatewayMetrics(recorder).bindTo(registry);
            try (GatewayDecompressor gateway = GatewayDecompressor.builder(Transport.ZLIB)
                    .recordStats(recorder)
                    .build()) {
                assertArrayEquals(PAYLOAD, gateway.decompress(frame));
                assertEquals(1, registry.get("linerate.gateway.connections").gauge().value());
                assertThrows(DecompressionException.class, () -> gateway.decompress(frame));
            }
            recorder.close();
            stats = recorder.stats();
        }
        assertEquals(1, messages("zlib-stream", "decoded"));
        assertEquals(1, messages("zlib-stream", "corrupt"));
        assertEquals(0, messages("zstd-stream", "decoded"));
        assertEquals(PAYLOAD.length, registry.get("linerate.gateway.payload.bytes").tag("transport", "zlib-stream")
                .functionCounter().count());
        assertEquals(stats.compressedBytes(), registry.get("linerate.gateway.compressed.bytes")
                .tag("transport", "zlib-stream").functionCounter().count());
        var time = registry.get("linerate.gateway.decode").tag("transport", "zlib-stream").functionTimer();
        assertEquals(1, time.count());
        assertEquals(stats.decodeNanos(), time.totalTime(TimeUnit.NANOSECONDS), 1);
        var median = registry.get("linerate.gateway.decode.quantile").tags("transport", "zlib-stream", "quantile", "0.5");
        assertEquals(stats.medianNanos(), median.timeGauge().value(TimeUnit.NANOSECONDS), 1);
        assertEquals(0, registry.get("linerate.gateway.connections").gauge().value());
        assertEquals(0, registry.get("linerate.gateway.dropped.records").functionCounter().count());
    }

    @Test
    void onlyTheTransportsThatAreNamed() throws Exception {
        try (StatsRecorder recorder = StatsRecorder.builder().start()) {
            new GatewayMetrics(recorder, Transport.ZSTD).bindTo(registry);
            assertTrue(registry.find("linerate.gateway.messages").tag("transport", "zlib-stream").meters().isEmpty());
            assertEquals(5, registry.find("linerate.gateway.messages").meters().size());
        }
    }
}
