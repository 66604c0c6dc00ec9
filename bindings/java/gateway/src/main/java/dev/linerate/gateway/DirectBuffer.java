package dev.linerate.gateway;

import java.nio.ByteBuffer;

/**
 * A reusable buffer outside the heap for payloads. It grows to the longest payload and allocates nothing after
 * that.
 *
 * <p>It belongs to the caller and is not thread-safe.
 */
public final class DirectBuffer {
    private ByteBuffer buffer;
    private int length;

    /**
     * Creates a buffer.
     *
     * @param capacity the initial capacity in bytes
     */
    public DirectBuffer(int capacity) {
        buffer = allocate(capacity);
        buffer.limit(0);
    }

    private static ByteBuffer allocate(int capacity) {
        if (capacity < 0) {
            throw new IllegalArgumentException("a buffer of " + capacity + " bytes");
        }
        return ByteBuffer.allocateDirect(Math.max(capacity, 1));
    }

    /**
     * Returns the payload. The result is the same object until a longer payload needs a larger one.
     *
     * @return the buffer itself, not a copy, with position 0 and the length of the payload as limit
     */
    public ByteBuffer buffer() {
        return buffer;
    }

    /**
     * Returns the length of the payload.
     *
     * @return the length in bytes; 0 if there is no payload
     */
    public int length() {
        return length;
    }

    /**
     * Frees memory that only a long payload needed. A buffer above the given capacity is replaced by a smaller one,
     * and its payload is lost.
     *
     * @param capacity the capacity to keep, in bytes
     */
    public void trim(int capacity) {
        if (buffer.capacity() > Math.max(capacity, 1)) {
            buffer = allocate(capacity);
            setLength(0);
        }
    }

    /** Returns the buffer with at least this capacity; its content is lost. */
    ByteBuffer ensureCapacity(int bytes) {
        if (buffer.capacity() < bytes) {
            buffer = allocate(ReusableBuffer.grown(bytes));
        }
        setLength(0);
        return buffer;
    }

    void setLength(int bytes) {
        length = bytes;
        // Through the superclass: ByteBuffer overrides these methods only since Java 9.
        ((java.nio.Buffer) buffer).clear();
        ((java.nio.Buffer) buffer).limit(bytes);
    }
}
