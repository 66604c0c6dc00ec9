package dev.linerate.gateway;

import java.io.IOException;
import java.util.Objects;

/**
 * What a gateway sent is no sound stream, or more than the limits allow.
 *
 * <p>It stays: every further call of the decompressor throws the same until
 * {@link GatewayDecompressor#reset}, because each message builds on all before it.
 */
public class DecompressionException extends IOException {
    private static final long serialVersionUID = 1L;

    /** What kind of thing went wrong. */
    public enum Kind {
        /** The bytes contradict their format, or the payload fails the {@link Checks}. */
        CORRUPT,
        /** A zstd message ends within a block. */
        TRUNCATED,
        /** A payload or window is above the limits, or there is no memory for it. */
        LIMIT,
        /** The stream is valid, but needs a dictionary or another thing that gateways do not use. */
        UNSUPPORTED
    }

    /** What kind of thing went wrong. */
    private final Kind kind;
    /** The compressed byte of the connection. */
    private final long offset;
    /** The message of the connection. */
    private final long message;

    /**
     * Makes one.
     *
     * @param kind what kind of thing went wrong
     * @param text a sentence
     * @param offset the compressed byte of the connection, from 0
     * @param message the message of the connection, from 0
     */
    public DecompressionException(Kind kind, String text, long offset, long message) {
        super(text);
        this.kind = Objects.requireNonNull(kind, "kind");
        this.offset = offset;
        this.message = message;
    }

    /**
     * What kind of thing went wrong.
     *
     * @return the kind
     */
    public Kind kind() {
        return kind;
    }

    /**
     * Where it went wrong.
     *
     * @return compressed bytes of the connection before that place
     */
    public long offset() {
        return offset;
    }

    /**
     * In which message it went wrong.
     *
     * @return whole messages of the connection before it
     */
    public long message() {
        return message;
    }
}
