package dev.linerate.gateway;

import java.nio.ByteBuffer;

/**
 * The functions of the native library.
 *
 * <p>A connection is what {@link #create} returned, until {@link #free}, used by one thread at a time:
 * {@link Handle} sees to that. Arrays are not null, and ranges were checked.
 *
 * <p>A part of a websocket message is {@code length} bytes from {@code offset} on of a {@code byte[]}, or, if
 * {@code direct}, of a direct {@code ByteBuffer}. It is kept until one comes that is the {@code last}.
 */
final class Native {
    /** What this class and the library must agree on. */
    static final int VERSION = 2;

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
    static native byte[] decode(
            long connection, Object part, boolean direct, int offset, int length, boolean last);

    static native int outcome(long connection);

    /**
     * The length of the payload. If that is more than {@code room}, the length of {@code into}, the payload waits for
     * {@link #fetch}.
     */
    static native long decodeInto(
            long connection,
            Object part,
            boolean direct,
            int offset,
            int length,
            boolean last,
            byte[] into,
            int room);

    static native long fetch(long connection, byte[] into);

    static native long decodeDirect(
            long connection,
            Object part,
            boolean direct,
            int offset,
            int length,
            boolean last,
            ByteBuffer into);

    static native long fetchDirect(long connection, ByteBuffer into);

    /** A sentence; into {@code where} the kind, the compressed byte and the message. Null after a defect. */
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
