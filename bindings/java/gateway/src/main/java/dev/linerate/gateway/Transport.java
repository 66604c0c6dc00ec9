package dev.linerate.gateway;

import java.util.Objects;

/**
 * Compression of a connection's messages: one stream for all of them, as in gateways, or each
 * message separately, as in feeds.
 */
public enum Transport {
    /** One zlib stream per connection, flushed after each message, with a window of 32 KiB. */
    ZLIB("zlib-stream"),
    /**
     * One zstd frame per connection, flushed after each message, with a window of 64 KiB as
     * gateways use it; {@link GatewayDecompressor.Builder#windowLog} allows another.
     */
    ZSTD("zstd-stream"),
    /**
     * Each message is one or several zstd frames, which may name a dictionary by its ID, as in
     * Bluesky's Jetstream.
     */
    ZSTD_FRAME("zstd-frame"),
    /** Each message is a zlib stream. */
    ZLIB_MESSAGE("zlib"),
    /** Each message is a gzip file of one or several members. */
    GZIP("gzip"),
    /** Each message is deflate data up to a final block, without a header. */
    RAW_DEFLATE("raw-deflate");

    private final String queryName;

    Transport(String queryName) {
        this.queryName = queryName;
    }

    /**
     * Returns the name of the transport. For streams it is the value of the {@code compress}
     * parameter of the gateway's URL.
     *
     * @return a name such as {@code "zlib-stream"}
     */
    public String queryName() {
        return queryName;
    }

    /**
     * Returns whether messages refer to earlier ones, so that none can be decoded without them.
     *
     * @return true for the transports of gateways, {@link #ZLIB} and {@link #ZSTD}
     */
    public boolean isStream() {
        return this == ZLIB || this == ZSTD;
    }

    /**
     * Returns the transport with this {@link #queryName}.
     *
     * @param name the name, such as the value of {@code compress}
     * @return the transport
     * @throws IllegalArgumentException for any other name
     */
    public static Transport ofQueryName(String name) {
        Objects.requireNonNull(name, "name");
        for (Transport transport : values()) {
            if (transport.queryName.equals(name)) {
                return transport;
            }
        }
        throw new IllegalArgumentException("no transport is named " + name);
    }
}
