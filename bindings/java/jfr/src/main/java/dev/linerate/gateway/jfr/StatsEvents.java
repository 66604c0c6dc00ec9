package dev.linerate.gateway.jfr;

import dev.linerate.gateway.Stats;
import dev.linerate.gateway.StatsRecorder;
import dev.linerate.gateway.Transport;
import java.util.Objects;
import jdk.jfr.FlightRecorder;

/**
 * Writes the statistics of a {@link StatsRecorder} to recordings of JDK Flight Recorder: periodic events
 * {@code dev.linerate.gateway.Statistics}, one for each transport that had messages. Without a recording they cost
 * nothing.
 */
public final class StatsEvents implements AutoCloseable {
    private final StatsRecorder recorder;
    private final Runnable hook = this::write;

    private StatsEvents(StatsRecorder recorder) {
        this.recorder = recorder;
    }

    /**
     * Begins to write events, each second unless the recording's settings say something else.
     *
     * @param recorder the recorder
     * @return ends the events when it is closed
     */
    public static StatsEvents of(StatsRecorder recorder) {
        StatsEvents events = new StatsEvents(Objects.requireNonNull(recorder, "recorder"));
        FlightRecorder.addPeriodicEvent(StatsEvent.class, events.hook);
        return events;
    }

    private void write() {
        for (Transport transport : Transport.values()) {
            Stats stats = recorder.stats(transport);
            if (stats.messages() + stats.errors() > 0) {
                new StatsEvent(transport, stats).commit();
            }
        }
    }

    /** Ends the events. */
    @Override
    public void close() {
        FlightRecorder.removePeriodicEvent(hook);
    }
}
