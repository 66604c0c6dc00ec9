package dev.linerate.gateway.micrometer;

import dev.linerate.gateway.DecompressionException;
import dev.linerate.gateway.Stats;
import dev.linerate.gateway.StatsRecorder;
import dev.linerate.gateway.Transport;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

/**
 * Meters of a {@link StatsRecorder}: messages by transport and verdict, bytes, decoding times with
 * quantiles, connections, and dropped records. Their names correspond to those of
 * {@link StatsRecorder#prometheus}. The meters cost nothing per message beyond the recording, since
 * they read the statistics when they are polled.
 *
 * <pre>{@code
 * new GatewayMetrics(recorder, Transport.ZSTD).bindTo(registry);
 * }</pre>
 */
public final class GatewayMetrics implements MeterBinder {
    private static final String PREFIX = "linerate.gateway.";

    private final StatsRecorder recorder;
    private final Transport[] transports;

    /**
     * Creates the binder for some transports.
     *
     * @param recorder the recorder, which the meters keep alive
     * @param transports the transports that get meters; all transports if none is named
     */
    public GatewayMetrics(StatsRecorder recorder, Transport... transports) {
        this.recorder = Objects.requireNonNull(recorder, "recorder");
        this.transports = transports.length == 0 ? Transport.values() : transports.clone();
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        for (Transport transport : transports) {
            bind(registry, transport);
        }
        Gauge.builder(PREFIX + "connections", recorder, StatsRecorder::connections)
                .description("Connections with statistics of their own")
                .strongReference(true)
                .register(registry);
        // Meters hold only weak references to the object that they read. The gauge above holds a
        // strong one, which keeps the recorder for all of them.
        FunctionCounter.builder(PREFIX + "dropped.records", recorder, r -> r.stats().dropped())
                .description("Messages whose records were dropped; they are missing from these statistics")
                .register(registry);
    }

    private void bind(MeterRegistry registry, Transport transport) {
        messages(registry, transport, "decoded", Stats::messages);
        for (DecompressionException.Kind kind : DecompressionException.Kind.values()) {
            messages(registry, transport, kind.name().toLowerCase(Locale.ROOT), stats -> stats.errors(kind));
        }
        bytes(registry, transport, "compressed.bytes", "Compressed bytes of messages", Stats::compressedBytes);
        bytes(registry, transport, "payload.bytes", "Bytes of payloads", Stats::payloadBytes);
        FunctionTimer.builder(
                        PREFIX + "decode",
                        recorder,
                        r -> r.stats(transport).timed(),
                        r -> r.stats(transport).decodeNanos(),
                        TimeUnit.NANOSECONDS)
                .description("Time to decode a message, measured for one message in 16")
                .tag("transport", transport.queryName())
                .register(registry);
        quantile(registry, transport, "0.5", Stats::medianNanos);
        quantile(registry, transport, "0.9", Stats::p90Nanos);
        quantile(registry, transport, "0.99", Stats::p99Nanos);
        quantile(registry, transport, "0.999", Stats::p999Nanos);
    }

    private void messages(MeterRegistry registry, Transport transport, String verdict, ToDoubleFunction<Stats> count) {
        FunctionCounter.builder(PREFIX + "messages", recorder, r -> count.applyAsDouble(r.stats(transport)))
                .description("Messages, by verdict")
                .tag("transport", transport.queryName())
                .tag("verdict", verdict)
                .register(registry);
    }

    private void bytes(
            MeterRegistry registry, Transport transport, String name, String description, ToDoubleFunction<Stats> count) {
        FunctionCounter.builder(PREFIX + name, recorder, r -> count.applyAsDouble(r.stats(transport)))
                .description(description)
                .baseUnit(BaseUnits.BYTES)
                .tag("transport", transport.queryName())
                .register(registry);
    }

    private void quantile(MeterRegistry registry, Transport transport, String quantile, ToDoubleFunction<Stats> nanos) {
        TimeGauge.builder(
                        PREFIX + "decode.quantile",
                        recorder,
                        TimeUnit.NANOSECONDS,
                        r -> nanos.applyAsDouble(r.stats(transport)))
                .description("Time to decode a message that this share of the messages did not exceed")
                .tag("transport", transport.queryName())
                .tag("quantile", quantile)
                .register(registry);
    }
}
