package dev.linerate.gateway;

/** What both sides of a websocket have agreed on: windows, and whether they are kept from one message to the next. */
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
     * @return the content of its {@code Sec-WebSocket-Extensions}
     */
    public String answer() {
        return answer;
    }

    /**
     * Returns the window of what this side sends.
     *
     * @return the base-2 logarithm of its bytes
     */
    public int encoderWindowBits() {
        return encoderBits;
    }

    /**
     * Returns whether messages of this side refer to earlier ones.
     *
     * @return false if each stands alone
     */
    public boolean encoderTakeover() {
        return encoderTakeover;
    }

    /**
     * Returns the window of what the peer sends.
     *
     * @return the base-2 logarithm of its bytes
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
     * @return the encoder of what this side sends
     */
    public DeflateEncoder newEncoder() {
        return new DeflateEncoder(encoderBits, encoderTakeover, options.level, options.rememberPrepared);
    }

    /**
     * Creates the decoder of a connection.
     *
     * @return the decoder of what the peer sends
     */
    public DeflateDecoder newDecoder() {
        return new DeflateDecoder(decoderBits, decoderTakeover, options.messageLimit, options.ratioLimit);
    }
}
