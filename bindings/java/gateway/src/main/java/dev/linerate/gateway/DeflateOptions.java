package dev.linerate.gateway;

import java.nio.charset.StandardCharsets;

/**
 * Options of one side of a websocket with permessage-deflate (RFC 7692). They also make this side's
 * part of the handshake, the content of the header {@code Sec-WebSocket-Extensions}. Immutable.
 */
public final class DeflateOptions {
    /** The extension's name. */
    public static final String NAME = "permessage-deflate";

    final int level;
    final boolean rememberPrepared;
    final int messageLimit;
    final int ratioLimit;
    private final int encoderBits;
    private final boolean encoderTakeover;
    private final int decoderBits;
    private final boolean decoderTakeover;
    private final int smallest;

    private DeflateOptions(Builder options) {
        level = options.level;
        rememberPrepared = options.rememberPrepared;
        messageLimit = options.messageLimit;
        ratioLimit = options.ratioLimit;
        encoderBits = options.encoderBits;
        encoderTakeover = options.encoderTakeover;
        decoderBits = options.decoderBits;
        decoderTakeover = options.decoderTakeover;
        smallest = options.smallest;
    }

    /**
     * Returns options with the same window in both directions, which is kept from one message to
     * the next. The other options have their defaults.
     *
     * @param bits the base-2 logarithm of the window's size in bytes, 8 to 15
     * @return the options
     * @throws IllegalArgumentException if {@code bits} is not within that range
     */
    public static DeflateOptions windowBits(int bits) {
        return builder().encoderWindowBits(bits).decoderWindowBits(bits).build();
    }

    /**
     * Returns a builder with the default options.
     *
     * @return a builder, which may build more than one
     */
    public static Builder builder() {
        return new Builder();
    }

    /** Collects the options of one side of a websocket. Not thread-safe. */
    public static final class Builder {
        private int encoderBits = 15;
        private boolean encoderTakeover = true;
        private int decoderBits = 15;
        private boolean decoderTakeover = true;
        private int level = 2;
        private int smallest = 32;
        private boolean rememberPrepared = true;
        private int messageLimit = 64 << 20;
        private int ratioLimit = 1032;

        private Builder() {}

        /**
         * Limits the window size of messages that this side sends. Negotiation may make it smaller.
         *
         * @param bits the base-2 logarithm of the size in bytes, 8 to 15; default: 15
         * @return this
         * @throws IllegalArgumentException if it is not within that range
         */
        public Builder encoderWindowBits(int bits) {
            encoderBits = checked(bits, 8, 15, "window bits");
            return this;
        }

        /**
         * Sets whether messages of this side may refer to earlier ones.
         *
         * @param takeover if false, each message stands alone and no window is kept between
         *     messages; default: true
         * @return this
         */
        public Builder encoderTakeover(boolean takeover) {
            encoderTakeover = takeover;
            return this;
        }

        /**
         * Limits the window size of messages that the peer sends, which this side keeps for
         * decoding. A peer that cannot limit its window is asked not to use it from one message to
         * the next.
         *
         * @param bits the base-2 logarithm of the size in bytes, 8 to 15; default: 15
         * @return this
         * @throws IllegalArgumentException if it is not within that range
         */
        public Builder decoderWindowBits(int bits) {
            decoderBits = checked(bits, 8, 15, "window bits");
            return this;
        }

        /**
         * Sets whether messages of the peer may refer to earlier ones.
         *
         * @param takeover if false, the peer is asked to make each message stand alone; default:
         *     true
         * @return this
         */
        public Builder decoderTakeover(boolean takeover) {
            decoderTakeover = takeover;
            return this;
        }

        /**
         * Sets the level of compression.
         *
         * @param level 0 (no compression, so whole messages are sent uncompressed) to 9 (smallest,
         *     the same as 7 and 8); default: 2. With level 4 or above an encoder takes more memory
         * @return this
         * @throws IllegalArgumentException if it is not within that range
         */
        public Builder level(int level) {
            this.level = checked(level, 0, 9, "level");
            return this;
        }

        /**
         * Sets the size from which messages should be compressed. {@link DeflateEncoder} compresses
         * whatever it is given: the code that makes the frames, such as the handler for Netty,
         * reads this option and leaves smaller messages in one frame uncompressed.
         *
         * @param bytes the size of the smallest message to compress, in bytes; default: 32
         * @return this
         * @throws IllegalArgumentException if it is negative
         */
        public Builder smallest(int bytes) {
            smallest = checked(bytes, 0, Integer.MAX_VALUE, "smallest message");
            return this;
        }

        /**
         * Sets whether later messages may refer to a {@link PreparedMessage}.
         *
         * @param remember if false, a prepared message empties the encoder's window instead. That
         *     is less work before the next ordinary message, but makes messages larger until the
         *     window is full again; default: true
         * @return this
         */
        public Builder rememberPrepared(boolean remember) {
            rememberPrepared = remember;
            return this;
        }

        /**
         * Limits the decompressed size of messages that the peer compresses. A larger one is an
         * error of kind {@link DecompressionException.Kind#LIMIT}. Messages that the peer sends
         * uncompressed do not reach the decoder, so this limit does not apply to them.
         *
         * @param bytes the largest message after decompression, with all its fragments; default: 64
         *     MiB
         * @return this
         * @throws IllegalArgumentException if it is negative
         */
        public Builder messageLimit(int bytes) {
            messageLimit = checked(bytes, 0, Integer.MAX_VALUE, "message limit");
            return this;
        }

        /**
         * Limits the decompressed size of a message of the peer relative to its compressed bytes.
         * The limit applies to messages of more than 64 KiB. A larger ratio is an error of kind
         * {@link DecompressionException.Kind#LIMIT}.
         *
         * @param times the largest ratio; default: 1032, the largest that deflate can reach
         * @return this
         * @throws IllegalArgumentException if it is less than 1
         */
        public Builder ratioLimit(int times) {
            ratioLimit = checked(times, 1, Integer.MAX_VALUE, "ratio limit");
            return this;
        }

        /**
         * Builds options.
         *
         * @return the options
         */
        public DeflateOptions build() {
            return new DeflateOptions(this);
        }

        private static int checked(int value, int from, int to, String what) {
            if (value < from || value > to) {
                throw new IllegalArgumentException(what + ": " + value + " instead of " + from + " to " + to);
            }
            return value;
        }
    }

    /**
     * Returns a client's offers.
     *
     * @return the content of the client's header: one offer, or two that are separated by a comma
     *     if {@link Builder#decoderWindowBits} is below 15. The second one is for servers that
     *     cannot limit their window
     * @throws UnsatisfiedLinkError if there is no native library for this platform; see
     *     {@link NativeLoader}
     */
    public String offer() {
        NativeLoader.load();
        String offer = NativeDeflate.offer(encoderBits, encoderTakeover, decoderBits, decoderTakeover);
        if (offer == null) {
            throw NativeResult.defect();
        }
        return offer;
    }

    /**
     * Answers a client's offers.
     *
     * @param offer the content of the client's header
     * @return the agreement, with the content of the server's header; null if no offer can be
     *     accepted, and the connection goes on without compression
     * @throws UnsatisfiedLinkError if there is no native library for this platform; see
     *     {@link NativeLoader}
     */
    public DeflateAgreement answer(String offer) {
        NativeLoader.load();
        long[] agreed = new long[DeflateAgreement.NUMBERS];
        byte[] bytes = offer.getBytes(StandardCharsets.UTF_8);
        String answer = NativeDeflate.answer(
                bytes, encoderBits, encoderTakeover, decoderBits, decoderTakeover, agreed);
        return answer == null ? null : new DeflateAgreement(this, answer, agreed);
    }

    /**
     * Reads the server's answer to {@link #offer}.
     *
     * @param answer the content of the server's header
     * @return the agreement; null if the answer has no permessage-deflate, so the connection goes
     *     on without compression
     * @throws IllegalArgumentException if the answer fits no offer; the client must then close the
     *     connection
     * @throws UnsatisfiedLinkError if there is no native library for this platform; see
     *     {@link NativeLoader}
     */
    public DeflateAgreement agree(String answer) {
        NativeLoader.load();
        long[] agreed = new long[DeflateAgreement.NUMBERS];
        byte[] bytes = answer.getBytes(StandardCharsets.UTF_8);
        String error =
                NativeDeflate.agree(bytes, encoderBits, encoderTakeover, decoderBits, decoderTakeover, agreed);
        if (error != null) {
            throw new IllegalArgumentException(error);
        }
        return agreed[0] == 0 ? null : new DeflateAgreement(this, answer, agreed);
    }

    /**
     * Returns the size from which messages should be compressed; see {@link Builder#smallest}.
     *
     * @return bytes
     */
    public int smallest() {
        return smallest;
    }

    /**
     * Returns the limit on messages of the peer; see {@link Builder#messageLimit}.
     *
     * @return bytes after decompression
     */
    public int messageLimit() {
        return messageLimit;
    }
}
