package dev.linerate.gateway.jfr;

import dev.linerate.gateway.Stats;
import dev.linerate.gateway.Transport;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** Statistics of a transport until the event. */
@Name("dev.linerate.gateway.Statistics")
@Label("Gateway Statistics")
@Description("Messages, bytes and decoding times of all connections, since the recorder was started")
@Category("Linerate")
@Period("1 s")
@StackTrace(false)
final class StatsEvent extends Event {
    @Label("Transport")
    String transport;

    @Label("Messages")
    long messages;

    @Label("Errors")
    long errors;

    @Label("Compressed")
    @DataAmount
    long compressed;

    @Label("Payload")
    @DataAmount
    long payload;

    @Label("Decoding Time")
    @Timespan
    long decode;

    @Label("Median Time")
    @Timespan
    long median;

    @Label("99 % Time")
    @Timespan
    long p99;

    @Label("Longest Time")
    @Timespan
    long longest;

    StatsEvent(Transport transport, Stats stats) {
        this.transport = transport.queryName();
        messages = stats.messages();
        errors = stats.errors();
        compressed = stats.compressedBytes();
        payload = stats.payloadBytes();
        decode = stats.decodeNanos();
        median = stats.medianNanos();
        p99 = stats.p99Nanos();
        longest = stats.maxNanos();
    }
}
