package dev.linerate.gateway;

import java.nio.ByteBuffer;

/**
 * The functions of the native library.
 *
 * <p>Contract of the caller, ensured by {@link Handle}: a connection is a result of {@link #create}
 * that was not passed to {@link #free}, and is used by one thread at a time. Arrays are not null
 * where nothing else is said, and ranges are valid.
 *
 * <p>A part of a websocket message is {@code length} bytes from {@code offset} of a {@code byte[]},
 * or, if {@code direct}, of a direct {@code ByteBuffer}. Parts are kept until the {@code last} one.
 */
final class Native {
    /** Version of the interface between this class and the library. */
    static final int VERSION = 10;

    /**
     * Result in place of a length if there is no payload: the message is incomplete, or its event
     * is one of {@link #dropEvents}. Encoders return it for a message that is to be sent
     * uncompressed.
     */
    static final int INCOMPLETE = -1;
    /**
     * Result in place of a length if the message or the stream has an error, which {@link #error}
     * returns. Methods that create or read something else return it if memory runs out.
     */
    static final int ERROR = -2;
    // The library's result -3 stands for a pending exception. Java throws that exception, so no
    // caller sees -3.
    /** Result in place of a length after a panic of the library. */
    static final int DEFECT = -4;

    private Native() {}

    static native int version();

    static native long create(
            int transport, int maxMessage, int windowLog, int checks, int keepMessages, int keepBytes);

    static native void free(long connection);

    /** Returns the payload; null if there is none, and {@link #outcome} then returns the reason. */
    static native byte[] decode(
            long connection, Object part, boolean direct, int offset, int length, boolean last);

    static native int outcome(long connection);

    /**
     * Writes the payload to {@code into}, a {@code byte[]} or a direct buffer, and returns its
     * length, or one of the negative results. If the length exceeds {@code room}, the payload is
     * kept for {@link #fetchTo}.
     *
     * @param intoAddress address of a direct buffer, if it is known; otherwise 0
     */
    static native long decodeTo(
            long connection,
            Object part,
            boolean direct,
            int offset,
            int length,
            boolean last,
            Object into,
            boolean intoDirect,
            long intoAddress,
            int intoOffset,
            int room);

    /** Returns the address of a direct buffer; 0 if it has none. */
    static native long address(ByteBuffer buffer);

    /** Returns the length of the kept payload; -1 if there is none. */
    static native long pending(long connection);

    /**
     * Writes the kept payload, for which there must be enough room, and returns its length. It is
     * kept no longer. After an exception, and after {@link #DEFECT}, it is still kept.
     */
    static native long fetchTo(long connection, Object into, boolean intoDirect, int intoOffset);

    /**
     * Returns the message of the last error, and writes its kind, offset and message index to
     * {@code where}. Returns null if there is no error, and after a panic.
     */
    static native String error(long connection, long[] where);

    static native void reset(long connection);

    static native void resumeAfter(long connection, long sequence);

    static native long messages(long connection);

    static native long compressedBytes(long connection);

    static native long memory(long connection);

    static native int lastOpcode(long connection);

    static native long lastSequence(long connection);

    static native String lastEvent(long connection);

    static native byte[] recording(long connection);

    /** Returns the number of connections that are not freed. */
    static native long live();

    static native long sharedMemory();

    static native void trim();

    /**
     * Sets the events that are not delivered: {@code length} bytes of names, each followed by a
     * line feed. Returns 0, {@link #ERROR} if memory runs out, or {@link #DEFECT} after a panic.
     */
    static native int dropEvents(long connection, byte[] names, int length);

    /**
     * Returns the event of a payload; null if it has none. Writes to {@code members} the opcode and
     * the sequence number (-1 if there is none) and then 1. Leaves them unchanged if the bytes are
     * not a payload. Writes {@link #ERROR} as the third if memory runs out, and {@link #DEFECT}
     * after a panic.
     */
    static native String peek(byte[] payload, int offset, int length, boolean etf, long[] members);

    /**
     * Writes the recorder to {@code created} and returns null; or returns the reason why it cannot
     * be created.
     *
     * @param folder UTF-8; null for no log
     */
    static native String createRecorder(
            byte[] folder,
            byte[] name,
            long maxBytes,
            long maxAgeMillis,
            int maxFiles,
            boolean cpuTime,
            int capacity,
            int maxConnections,
            long[] created);

    static native void freeRecorder(long recorder);

    /** Returns null, or the first error of writing the log, or that there was a panic. */
    static native String stopRecorder(long recorder);

    /**
     * Makes the recorder record the messages of a connection that had none yet. Returns the
     * connection's number in the recorder, -1 after a panic.
     */
    static native int recordStats(long connection, long recorder);

    /**
     * Writes {@link Stats#NUMBERS} numbers: the statistics of a connection if
     * {@code connection} is not negative, otherwise of a transport if {@code transport} is not
     * negative, otherwise of all messages. Returns false if there are no such statistics.
     */
    static native boolean stats(long recorder, int connection, int transport, long[] into);

    /**
     * Writes the dictionaries to {@code created} and returns null; or returns the reason why they
     * cannot be created.
     *
     * @param all the dictionaries, each after its length as four bytes in little-endian order
     */
    static native String createDictionaries(byte[] all, long[] created);

    static native void freeDictionaries(long dictionaries);

    /** Sets the dictionaries of a connection that had no message yet. */
    static native void setDictionaries(long connection, long dictionaries);

    /** Writes how many bytes the dictionaries hold, then their IDs in ascending order. */
    static native void dictionaryNumbers(long dictionaries, long[] into);

    static native int recordedConnections(long recorder);

    /** Returns the statistics in Prometheus' text format; null after a panic. */
    static native String prometheus(long recorder);
}
