package dev.linerate.gateway;

/**
 * Numbers of messages and bytes, and decoding times, of a connection, of a transport or of all
 * messages of a {@link StatsRecorder}. They do not change after they were read.
 */
public final class Stats {
    /** Length of the array in which the native library returns statistics. */
    static final int NUMBERS = 15;

    private static final int COMPRESSED = 5;
    private static final int PAYLOAD = 6;
    private static final int DECODE = 7;
    private static final int DROPPED = 8;
    private static final int TIMED = 9;
    private static final int QUANTILES = 10;

    private final long[] numbers;

    Stats(long[] numbers) {
        this.numbers = numbers;
    }

    /**
     * Returns the number of decoded messages.
     *
     * @return messages, without those that were errors
     */
    public long messages() {
        return numbers[0];
    }

    /**
     * Returns the number of messages that were errors.
     *
     * @return messages of all kinds of errors
     */
    public long errors() {
        return numbers[1] + numbers[2] + numbers[3] + numbers[4];
    }

    /**
     * Returns the number of messages that were errors of a kind.
     *
     * @param kind the kind
     * @return messages
     */
    public long errors(DecompressionException.Kind kind) {
        return numbers[1 + kind.ordinal()];
    }

    /**
     * Returns the compressed bytes of all messages, including those that were errors.
     *
     * @return bytes
     */
    public long compressedBytes() {
        return numbers[COMPRESSED];
    }

    /**
     * Returns the bytes of all payloads. Messages that were errors have none.
     *
     * @return bytes
     */
    public long payloadBytes() {
        return numbers[PAYLOAD];
    }

    /**
     * Returns payload bytes per compressed byte.
     *
     * @return the ratio; 0 without compressed bytes
     */
    public double ratio() {
        return compressedBytes() == 0 ? 0 : (double) payloadBytes() / compressedBytes();
    }

    /**
     * Returns the number of messages that were decoded and timed: the first of each connection, and
     * then one in 16.
     *
     * @return messages
     */
    public long timed() {
        return numbers[TIMED];
    }

    /**
     * Returns the time of decoding the messages that were {@linkplain #timed timed}, in total.
     *
     * @return nanoseconds
     */
    public long decodeNanos() {
        return numbers[DECODE];
    }

    /**
     * Returns the time that half of the timed messages did not exceed.
     *
     * @return nanoseconds, exact to 0.1 % (for a single connection to 6 %), at most 4.3 seconds; 0
     *     if none was timed
     */
    public long medianNanos() {
        return numbers[QUANTILES];
    }

    /**
     * Returns the time that 90 % of the timed messages did not exceed.
     *
     * @return nanoseconds, as exact as {@link #medianNanos}
     */
    public long p90Nanos() {
        return numbers[QUANTILES + 1];
    }

    /**
     * Returns the time that 99 % of the timed messages did not exceed.
     *
     * @return nanoseconds, as exact as {@link #medianNanos}
     */
    public long p99Nanos() {
        return numbers[QUANTILES + 2];
    }

    /**
     * Returns the time that 99.9 % of the timed messages did not exceed.
     *
     * @return nanoseconds, as exact as {@link #medianNanos}
     */
    public long p999Nanos() {
        return numbers[QUANTILES + 3];
    }

    /**
     * Returns the longest time of a timed message.
     *
     * @return nanoseconds, as exact as {@link #medianNanos}
     */
    public long maxNanos() {
        return numbers[QUANTILES + 4];
    }

    /**
     * Returns the number of messages that are missing in these statistics, because the recorder
     * could not keep up.
     *
     * @return the number of dropped records; always 0 for a connection or a transport, because it
     *     is unknown to which one a dropped record belongs
     */
    public long dropped() {
        return numbers[DROPPED];
    }

    @Override
    public String toString() {
        return messages() + " messages, " + errors() + " errors, " + compressedBytes() + " bytes compressed, "
                + payloadBytes() + " of payload, median " + medianNanos() + " ns, 99 % " + p99Nanos() + " ns, "
                + dropped() + " dropped";
    }
}
