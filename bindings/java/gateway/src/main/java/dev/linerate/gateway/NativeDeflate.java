package dev.linerate.gateway;

import java.nio.ByteBuffer;

/**
 * The functions of the native library for permessage-deflate. The contract is that of {@link Native}; output goes to a
 * direct buffer, of which nobody else uses the bytes during the call.
 */
final class NativeDeflate {
    private NativeDeflate() {}

    static native String offer(
            int encoderBits, boolean encoderTakeover, int decoderBits, boolean decoderTakeover);

    /** Returns the answer, and writes what was agreed on; or null if no offer can be accepted. */
    static native String answer(
            byte[] offer,
            int encoderBits,
            boolean encoderTakeover,
            int decoderBits,
            boolean decoderTakeover,
            long[] agreed);

    /** Returns null, and writes what was agreed on, if anything was; or why the answer fits no offer. */
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

    /** Returns the most bytes that a part of a message becomes. */
    static native long bound(int length);

    /**
     * Returns the bytes written; {@link Native#INCOMPLETE} for a whole message that is to be sent as it is. For a part of a
     * message there must be room.
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

    /** Returns a copy of a message, for any encoders of any threads; {@link Native#ERROR} if there is no memory for it. */
    static native long createPrepared(Object message, boolean direct, int offset, int length);

    /** Forgets it; encoders keep what they need of it. */
    static native void freePrepared(long prepared);

    /**
     * Returns the bytes that a prepared message has, compressed, and writes them if there is room;
     * {@link Native#INCOMPLETE} if it is to be sent as it is.
     */
    static native long encodePrepared(
            long encoder, long prepared, ByteBuffer into, int intoOffset, int room);

    static native long createDecoder(int windowBits, boolean takeover, int messageLimit, int ratioLimit);

    static native void freeDecoder(long decoder);

    /** Returns bytes written, plus 2^31 times the bytes read, plus 2^62 if all of the part is decoded. */
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

    /** As {@link Native#error}. */
    static native String decoderError(long decoder, long[] where);

    static native long decoderMemory(long decoder);

    /** Returns the number of encoders, decoders and prepared messages that are not freed. */
    static native long live();
}
