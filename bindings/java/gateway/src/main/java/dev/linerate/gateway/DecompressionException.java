package dev.linerate.gateway;

import java.io.IOException;
import java.util.Objects;

/**
 * Signals a stream or message that is damaged, above the limits, or in need of something that the
 * decompressor does not have, such as a dictionary.
 *
 * <p>In a stream the error persists, because each message depends on all before it: every further
 * call that decompresses throws an exception with the same error until
 * {@link GatewayDecompressor#reset}; a {@link DeflateDecoder} cannot be reset. Where each message
 * is compressed on its own, an error affects only its own message.
 */
public class DecompressionException extends IOException {
    private static final long serialVersionUID = 1L;

    /** Kind of an error. */
    public enum Kind {
        /** The bytes violate the format, or the payload fails the {@link Checks}. */
        CORRUPT,
        /**
         * A message of a zstd stream is empty or cut off, or a message that is compressed on its
         * own is cut off.
         */
        TRUNCATED,
        /**
         * A payload, its ratio to the compressed bytes, a window, or the compressed bytes of a
         * message are above the limits, or memory ran out.
         */
        LIMIT,
        /**
         * The data may be valid, but need a dictionary that the decompressor does not have, or a
         * window of 4 GiB or more.
         */
        UNSUPPORTED
    }

    /** Kind of the error. */
    private final Kind kind;
    /** Number of compressed bytes of the connection before the error. */
    private final long offset;
    /** Index of the message on the connection, from 0. */
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
     * @return compressed bytes of the connection before the place where the error was found. It is
     *     the beginning of the message if the payload failed the {@link Checks}
     */
    public long offset() {
        return offset;
    }

    /**
     * Returns the index of the message that failed.
     *
     * @return the index on the connection, from 0: the number of complete messages before it,
     *     including failed ones if each message is compressed on its own
     */
    public long messageIndex() {
        return messageIndex;
    }
}
