package dev.linerate.gateway;

import java.nio.charset.StandardCharsets;

/**
 * Options of one side of a websocket with permessage-deflate (RFC 7692), and its part of the
 * handshake, which is the content of {@code Sec-WebSocket-Extensions}. Immutable.
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
     * the next.
     *
     * @param bits the base-2 logarithm of its size in bytes, 8 to 15
     * @return the options
     * @throws IllegalArgumentException if it is not within that range
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

    /** Options of a websocket. Not thread-safe. */
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
         * @param level 0 (none) to 9 (best, the same as 7 and 8); default: 2. From 4 on a
         *     connection needs more memory
         * @return this
         * @throws IllegalArgumentException if it is not within that range
         */
        public Builder level(int level) {
            this.level = checked(level, 0, 9, "level");
            return this;
        }

        /**
         * Sets the size from which messages are compressed.
         *
         * @param bytes the size in bytes; smaller messages are sent uncompressed; default: 32
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
         * @param remember if false, a prepared message empties the window instead. That is less
         *     work before the next ordinary message, but makes it larger; default: true
         * @return this
         */
        public Builder rememberPrepared(boolean remember) {
            rememberPrepared = remember;
            return this;
        }

        /**
         * Limits the size of messages of the peer. A larger one is an error of kind
         * {@link DecompressionException.Kind#LIMIT}.
         *
         * @param bytes the largest message, with all its fragments; default: 64 MiB
         * @return this
         * @throws IllegalArgumentException if it is negative
         */
        public Builder messageLimit(int bytes) {
            messageLimit = checked(bytes, 0, Integer.MAX_VALUE, "message limit");
            return this;
        }

        /**
         * Limits the size of a message of the peer relative to its compressed bytes. The limit
         * applies once the message has 64 KiB.
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
     * @return one or two, separated by a comma: the second one is for servers that cannot limit
     *     their window
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
     * @return the agreement; null if the server has declined
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
     * Returns the size from which messages are compressed.
     *
     * @return bytes
     */
    public int smallest() {
        return smallest;
    }

    /**
     * Returns the limit on messages of the peer.
     *
     * @return bytes
     */
    public int messageLimit() {
        return messageLimit;
    }
}
