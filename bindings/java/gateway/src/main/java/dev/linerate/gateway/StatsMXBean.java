package dev.linerate.gateway;

/** Statistics of all messages of a {@link StatsRecorder}, for JMX; times are in nanoseconds. */
public interface StatsMXBean {
    /**
     * Returns the decoded messages.
     *
     * @return their number
     */
    long getMessages();

    /**
     * Returns the messages that were errors.
     *
     * @return their number
     */
    long getErrors();

    /**
     * Returns the compressed bytes.
     *
     * @return bytes
     */
    long getCompressedBytes();

    /**
     * Returns the bytes of payloads.
     *
     * @return bytes
     */
    long getPayloadBytes();

    /**
     * Returns payload bytes per compressed byte.
     *
     * @return the ratio; 0 without messages
     */
    double getRatio();

    /**
     * Returns the time of decoding.
     *
     * @return nanoseconds
     */
    long getDecodeNanos();

    /**
     * Returns the time that half of the messages did not exceed.
     *
     * @return nanoseconds
     */
    long getMedianNanos();

    /**
     * Returns the time that 99 % of the messages did not exceed.
     *
     * @return nanoseconds
     */
    long getP99Nanos();

    /**
     * Returns the longest time of a message.
     *
     * @return nanoseconds
     */
    long getMaxNanos();

    /**
     * Returns the open connections that are recorded.
     *
     * @return their number
     */
    int getConnections();

    /**
     * Returns the messages that are not in these statistics.
     *
     * @return their number
     */
    long getDropped();
}
