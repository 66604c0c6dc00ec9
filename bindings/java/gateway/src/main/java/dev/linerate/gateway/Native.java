package dev.linerate.gateway;

import java.nio.ByteBuffer;

/**
 * The functions of the native library.
 *
 * <p>A connection is what {@link #create} returned, until {@link #free}, used by one thread at a time:
 * {@link Handle} sees to that. Arrays are not null, and ranges were checked.
 */
final class Native {
    /** What this class and the library must agree on. */
    static final int VERSION = 1;

    /** In place of a length: the message is not whole yet. */
    static final int PART = -1;
    /** In place of a length: {@link #fault} tells what went wrong. */
    static final int FAULT = -2;
    // Where an exception waits, no result gets here.
    /** In place of a length: a defect of the library. */
    static final int DEFECT = -4;

    private Native() {}

    static native int version();

    static native long create(
            int transport, int maxMessage, int windowLog, int checks, int keepMessages, int keepBytes);

    static native void free(long connection);

    /** The payload; null where {@link #outcome} tells why not. */
    static native byte[] decode(long connection, byte[] frame, int offset, int length);

    static native int outcome(long connection);

    /**
     * The length of the payload. If that is more than {@code room}, the length of {@code into}, the payload waits for
     * {@link #fetch}.
     */
    static native long decodeInto(
            long connection, byte[] frame, int offset, int length, byte[] into, int room);

    static native long fetch(long connection, byte[] into);

    static native long decodeDirect(
            long connection, ByteBuffer frame, int position, int length, ByteBuffer into);

    static native long fetchDirect(long connection, ByteBuffer into);

    /** A sentence; into {@code where} the kind, the compressed byte and the message. */
    static native String fault(long connection, long[] where);

    static native void reset(long connection);

    static native void resumeAfter(long connection, long sequence);

    static native long messages(long connection);

    static native long compressedBytes(long connection);

    static native long memory(long connection);

    static native int lastOpcode(long connection);

    static native long lastSequence(long connection);

    static native String lastEvent(long connection);

    static native byte[] recording(long connection);

    /** Connections that were not freed yet. */
    static native long live();

    static native long sharedMemory();
}
