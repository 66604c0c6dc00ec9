package dev.linerate.gateway;

import java.nio.ByteBuffer;

/**
 * Memory outside the heap for payloads, one after the other. It grows to the longest and makes no garbage
 * from then on.
 *
 * <p>It belongs to the caller and is not for two threads at once.
 */
public final class DirectBuffer {
    private ByteBuffer buffer;
    private int length;

    /**
     * A buffer.
     *
     * @param capacity bytes of room at first
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
     * The payload. It is the same object each time, until a longer payload demands a larger one.
     *
     * @return the memory itself, no copy, as the last message left it: position 0, and the length of the
     *     payload as limit
     */
    public ByteBuffer buffer() {
        return buffer;
    }

    /**
     * The length of the payload.
     *
     * @return bytes; 0 if there is none
     */
    public int length() {
        return length;
    }

    /**
     * Gives memory back that only a long payload needed. If there is more room, a smaller buffer takes its
     * place, and the payload is gone.
     *
     * @param capacity bytes of room that stay
     */
    public void trim(int capacity) {
        if (buffer.capacity() > Math.max(capacity, 1)) {
            buffer = allocate(capacity);
            setLength(0);
        }
    }

    /** The memory with room for so many bytes; what was in it is gone. */
    ByteBuffer room(int bytes) {
        if (buffer.capacity() < bytes) {
            buffer = allocate(ReusableBuffer.grown(bytes));
        }
        setLength(0);
        return buffer;
    }

    void setLength(int bytes) {
        length = bytes;
        // Through the superclass: buffers have had such methods of their own only since Java 9.
        ((java.nio.Buffer) buffer).clear();
        ((java.nio.Buffer) buffer).limit(bytes);
    }
}
