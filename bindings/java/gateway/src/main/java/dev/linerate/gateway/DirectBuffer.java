package dev.linerate.gateway;

import java.nio.ByteBuffer;

/**
 * A reusable buffer outside the heap for payloads. It grows to the longest payload and allocates
 * nothing after that.
 *
 * <p>It belongs to the caller and is not thread-safe.
 */
public final class DirectBuffer {
    private Memory memory;
    private int length;

    /**
     * A direct buffer and its address, in one immutable object, so that no thread mixes those of
     * two buffers.
     */
    static final class Memory {
        final ByteBuffer buffer;
        final long address;

        private Memory(int capacity) {
            NativeLoader.load();
            buffer = ByteBuffer.allocateDirect(Math.max(capacity, 1));
            address = Native.address(buffer);
        }
    }

    /**
     * Creates a buffer.
     *
     * @param capacity the initial capacity in bytes. With 64 KiB or more, payloads of zstd streams
     *     that fit are decoded in the buffer itself, which saves a copy; not with {@link Checks} or
     *     {@link GatewayDecompressor.Builder#dropEvents}, which read payloads first
     * @throws IllegalArgumentException if the capacity is negative
     * @throws UnsatisfiedLinkError if there is no native library for this platform; see
     *     {@link NativeLoader}
     */
    public DirectBuffer(int capacity) {
        memory = allocate(capacity);
        setLength(0);
    }

    private static Memory allocate(int capacity) {
        if (capacity < 0) {
            throw new IllegalArgumentException("a buffer of " + capacity + " bytes");
        }
        return new Memory(capacity);
    }

    /**
     * Returns the payload. The result is the same object until a longer payload needs a larger one,
     * or {@link #trim} replaces it by a smaller one.
     *
     * @return the buffer itself, not a copy, with position 0 and the length of the payload as limit
     */
    public ByteBuffer buffer() {
        return memory.buffer;
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
     * Frees memory that only a long payload needed. If the buffer is larger than the given
     * capacity, a smaller one replaces it, and its payload is lost.
     *
     * @param capacity the capacity to keep, in bytes
     * @throws IllegalArgumentException if the capacity is negative
     */
    public void trim(int capacity) {
        if (memory.buffer.capacity() > Math.max(capacity, 1)) {
            memory = allocate(capacity);
            setLength(0);
        }
    }

    /** Returns the memory, enlarged to at least this capacity. The payload is lost. */
    Memory ensureCapacity(int bytes) {
        if (memory.buffer.capacity() < bytes) {
            memory = allocate(ReusableBuffer.grown(bytes));
        }
        setLength(0);
        return memory;
    }

    void setLength(int bytes) {
        length = bytes;
        // The methods of the superclass are called, because Java 8 lacks those of ByteBuffer, which
        // overrides them since Java 9.
        ((java.nio.Buffer) memory.buffer).clear();
        ((java.nio.Buffer) memory.buffer).limit(bytes);
    }
}
