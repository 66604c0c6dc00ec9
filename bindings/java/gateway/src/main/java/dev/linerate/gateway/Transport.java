package dev.linerate.gateway;

import java.util.Objects;

/** How a gateway compresses what it sends. */
public enum Transport {
    /** One zlib stream for each connection, flushed after each message. History of 32 KiB. */
    ZLIB("zlib-stream"),
    /** One zstd frame for each connection, flushed after each message. History of 64 KiB. */
    ZSTD("zstd-stream");

    private final String queryName;

    Transport(String queryName) {
        this.queryName = queryName;
    }

    /**
     * The value of {@code compress=} in the query of the address that the connection is made to.
     *
     * @return {@code "zlib-stream"} or {@code "zstd-stream"}
     */
    public String queryName() {
        return queryName;
    }

    /**
     * The transport of a name as {@link #queryName} gives it.
     *
     * @param name the value of {@code compress=}
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
        throw new IllegalArgumentException("no transport has the name " + name);
    }
}
