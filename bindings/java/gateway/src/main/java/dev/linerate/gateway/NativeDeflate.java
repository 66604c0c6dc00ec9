package dev.linerate.gateway;

import java.nio.ByteBuffer;

/**
 * The functions of the native library for permessage-deflate. The contract is that of
 * {@link Native}. Output goes to a direct buffer whose bytes nobody else uses during the call.
 */
final class NativeDeflate {
    private NativeDeflate() {}

    static native String offer(
            int encoderBits, boolean encoderTakeover, int decoderBits, boolean decoderTakeover);

    /**
     * Returns the answer and writes the agreement; returns null if no offer can be accepted, and
     * after a panic.
     */
    static native String answer(
            byte[] offer,
            int encoderBits,
            boolean encoderTakeover,
            int decoderBits,
            boolean decoderTakeover,
            long[] agreed);

    /**
     * Returns null and writes the agreement, if there is one; or returns the reason why the answer
     * fits no offer.
     */
    static native String agree(
            byte[] answer,
            int encoderBits,
            boolean encoderTakeover,
            int decoderBits,
            boolean decoderTakeover,
            long[] agreed);

    static native long createEncoder(
            int windowBits, boolean takeover, int level, boolean rememberPrepared);

    static native void freeEncoder(long encoder);

    /** Returns the largest compressed size of a part of a message. */
    static native long bound(int length);

    /**
     * Returns the number of bytes written; {@link Native#INCOMPLETE} for a whole message that
     * should be sent uncompressed, {@link Native#ERROR} if memory for a copy of the input runs out,
     * {@link Native#DEFECT} after a panic. For a part of a message there must be enough room.
     */
    static native long encode(
            long encoder,
            Object part,
            boolean direct,
            int offset,
            int length,
            boolean whole,
            boolean last,
            ByteBuffer into,
            int intoOffset,
            int room);

    static native long encoderMemory(long encoder);

    /**
     * Returns a copy of a message, for any encoders on any threads; {@link Native#ERROR} if memory
     * runs out, 0 after a panic.
     */
    static native long createPrepared(Object message, boolean direct, int offset, int length);

    /** Releases a prepared message. Encoders keep what they need of it. */
    static native void freePrepared(long prepared);

    /**
     * Returns the number of compressed bytes of a prepared message, and writes them if there is
     * room; {@link Native#INCOMPLETE} if the message should be sent uncompressed,
     * {@link Native#DEFECT} after a panic.
     */
    static native long encodePrepared(
            long encoder, long prepared, ByteBuffer into, int intoOffset, int room);

    static native long createDecoder(int windowBits, boolean takeover, int messageLimit, int ratioLimit);

    static native void freeDecoder(long decoder);

    /**
     * Returns the number of bytes written, plus 2^31 times the number of bytes read, plus 2^62 if
     * all of the part is decoded; or {@link Native#ERROR}, which {@link #decoderError} describes,
     * or {@link Native#DEFECT} after a panic.
     */
    static native long decode(
            long decoder,
            Object part,
            boolean direct,
            int offset,
            int length,
            boolean last,
            ByteBuffer into,
            int intoOffset,
            int room);

    /** Returns the error of a decoder as {@link Native#error} returns that of a connection. */
    static native String decoderError(long decoder, long[] where);

    static native long decoderMemory(long decoder);

    /** Returns the number of encoders, decoders and prepared messages that are not freed. */
    static native long live();
}
