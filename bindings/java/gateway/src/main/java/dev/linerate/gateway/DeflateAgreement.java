package dev.linerate.gateway;

/**
 * What the two sides of a websocket have agreed on for permessage-deflate: the size of the window
 * in each direction, and whether it is kept from one message to the next.
 */
public final class DeflateAgreement {
    static final int NUMBERS = 4;

    private final DeflateOptions options;
    private final String answer;
    private final int encoderBits;
    private final boolean encoderTakeover;
    private final int decoderBits;
    private final boolean decoderTakeover;

    DeflateAgreement(DeflateOptions options, String answer, long[] agreed) {
        this.options = options;
        this.answer = answer;
        encoderBits = (int) agreed[0];
        encoderTakeover = agreed[1] != 0;
        decoderBits = (int) agreed[2];
        decoderTakeover = agreed[3] != 0;
    }

    /**
     * Returns the server's answer.
     *
     * @return the content of the server's header {@code Sec-WebSocket-Extensions}
     */
    public String answer() {
        return answer;
    }

    /**
     * Returns the window size of messages that this side sends.
     *
     * @return the base-2 logarithm of the size in bytes
     */
    public int encoderWindowBits() {
        return encoderBits;
    }

    /**
     * Returns whether messages of this side may refer to earlier ones.
     *
     * @return false if each stands alone
     */
    public boolean encoderTakeover() {
        return encoderTakeover;
    }

    /**
     * Returns the window size of messages that the peer sends.
     *
     * @return the base-2 logarithm of the size in bytes
     */
    public int decoderWindowBits() {
        return decoderBits;
    }

    /**
     * Returns whether messages of the peer may refer to earlier ones.
     *
     * @return false if each stands alone
     */
    public boolean decoderTakeover() {
        return decoderTakeover;
    }

    /**
     * Creates the encoder of a connection.
     *
     * @return the encoder for messages of this side
     */
    public DeflateEncoder newEncoder() {
        return new DeflateEncoder(encoderBits, encoderTakeover, options.level, options.rememberPrepared);
    }

    /**
     * Creates the decoder of a connection.
     *
     * @return the decoder for messages of the peer
     */
    public DeflateDecoder newDecoder() {
        return new DeflateDecoder(decoderBits, decoderTakeover, options.messageLimit, options.ratioLimit);
    }
}
