package dev.linerate.gateway;

import java.io.IOException;
import java.util.Objects;

/**
 * Signals a damaged stream or message, or one above the limits.
 *
 * <p>In a stream the error persists: every further call of the decompressor throws the same
 * exception until {@link GatewayDecompressor#reset}, because each message depends on all before
 * it. Where each message is compressed on its own, the error affects only that message.
 */
public class DecompressionException extends IOException {
    private static final long serialVersionUID = 1L;

    /** Kind of an error. */
    public enum Kind {
        /** The bytes violate the format, or the payload fails the {@link Checks}. */
        CORRUPT,
        /** A zstd message is empty or cut off. */
        TRUNCATED,
        /** A payload or window is above the limits, or memory ran out. */
        LIMIT,
        /**
         * The stream is valid, but uses a feature that gateways do not use, such as a dictionary.
         */
        UNSUPPORTED
    }

    /** Kind of the error. */
    private final Kind kind;
    /** Number of compressed bytes of the connection before the error. */
    private final long offset;
    /** Index of the message on the connection. */
    private final long messageIndex;

    /**
     * Creates an exception.
     *
     * @param kind the kind of the error
     * @param text the detail message
     * @param offset compressed bytes of the connection before the error
     * @param messageIndex the index of the message on the connection, from 0
     */
    public DecompressionException(Kind kind, String text, long offset, long messageIndex) {
        super(text);
        this.kind = Objects.requireNonNull(kind, "kind");
        this.offset = offset;
        this.messageIndex = messageIndex;
    }

    /**
     * Returns the kind of the error.
     *
     * @return the kind
     */
    public Kind kind() {
        return kind;
    }

    /**
     * Returns the offset of the error.
     *
     * @return compressed bytes of the connection before the error
     */
    public long offset() {
        return offset;
    }

    /**
     * Returns the index of the message that failed.
     *
     * @return the index on the connection, from 0: the number of complete messages before it
     */
    public long messageIndex() {
        return messageIndex;
    }
}
