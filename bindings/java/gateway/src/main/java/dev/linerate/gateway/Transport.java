package dev.linerate.gateway;

import java.util.Objects;

/** Transport compression of a gateway. */
public enum Transport {
    /** One zlib stream per connection, flushed after each message; window of 32 KiB. */
    ZLIB("zlib-stream"),
    /** One zstd frame per connection, flushed after each message; window of 64 KiB. */
    ZSTD("zstd-stream");

    private final String queryName;

    Transport(String queryName) {
        this.queryName = queryName;
    }

    /**
     * Returns the value of the {@code compress} parameter of the gateway's URL.
     *
     * @return {@code "zlib-stream"} or {@code "zstd-stream"}
     */
    public String queryName() {
        return queryName;
    }

    /**
     * Returns the transport with this {@link #queryName}.
     *
     * @param name the value of {@code compress}
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
