package dev.linerate.gateway;

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * A reusable array for payloads. It grows to the longest payload and allocates nothing after that.
 *
 * <p>It belongs to the caller and is not thread-safe. One per thread suffices for all connections
 * of that thread.
 */
public final class ReusableBuffer {
    private static final int DEFAULT_CAPACITY = 64 << 10;
    /** Length of the longest array that common virtual machines can allocate. */
    private static final int MAX_LENGTH = Integer.MAX_VALUE - 8;

    private final ArrayStream stream = new ArrayStream();
    private byte[] array;
    private int length;

    /** Creates a buffer of 64 KiB. */
    public ReusableBuffer() {
        this(DEFAULT_CAPACITY);
    }

    /**
     * Creates a buffer.
     *
     * @param capacity the initial capacity in bytes
     * @throws IllegalArgumentException if the capacity is negative
     */
    public ReusableBuffer(int capacity) {
        if (capacity < 0) {
            throw new IllegalArgumentException("a buffer of " + capacity + " bytes");
        }
        array = new byte[capacity];
    }

    /**
     * Returns the array whose first {@link #length} bytes are the payload. A longer payload, or
     * {@link #trim}, may replace it by another array.
     *
     * @return the array itself, not a copy
     */
    public byte[] array() {
        return array;
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
     * Returns a stream that reads the payload from its beginning. It is the same object each time,
     * so it makes no garbage. Once a decompressor was given this buffer again, even if there was no
     * payload, the stream throws {@link java.io.IOException} until this method is called again.
     *
     * @return a stream over the array; closing it has no effect
     */
    public InputStream stream() {
        stream.begin(array, length);
        return stream;
    }

    /**
     * Returns a view of the payload.
     *
     * @return a new buffer over the array, from position 0 to limit {@link #length}
     */
    public ByteBuffer toByteBuffer() {
        return ByteBuffer.wrap(array, 0, length);
    }

    /**
     * Returns a copy of the payload.
     *
     * @return a new array
     */
    public byte[] toByteArray() {
        return Arrays.copyOf(array, length);
    }

    /**
     * Frees memory that only a long payload needed. If the array is longer than the given capacity,
     * a shorter one replaces it, and its payload is lost.
     *
     * @param capacity the capacity to keep, in bytes
     * @throws IllegalArgumentException if the capacity is negative
     */
    public void trim(int capacity) {
        if (capacity < 0) {
            throw new IllegalArgumentException("a buffer of " + capacity + " bytes");
        }
        if (array.length > capacity) {
            array = new byte[capacity];
            length = 0;
            stream.end();
        }
    }

    /** Returns the array, replaced by a longer one if it is too short. The payload is lost. */
    byte[] ensureCapacity(int bytes) {
        length = 0;
        stream.end();
        if (array.length < bytes) {
            array = new byte[grown(bytes)];
        }
        return array;
    }

    void setLength(int bytes) {
        length = bytes;
    }

    /**
     * Returns the capacity to allocate for this many bytes: the smallest power of two that holds
     * them, at least 2; above 1 GiB the longest possible array.
     */
    static int grown(int bytes) {
        int power = Integer.highestOneBit(Math.max(bytes, 1) - 1 | 1) << 1;
        return power > 0 ? power : MAX_LENGTH;
    }
}
