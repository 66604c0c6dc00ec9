package dev.linerate.gateway;

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * An array for payloads, one after the other. It grows to the longest and makes no garbage from then on.
 *
 * <p>It belongs to the caller and is not for two threads at once. One for each thread is enough for all
 * connections of that thread.
 */
public final class ReusableBuffer {
    private static final int DEFAULT_CAPACITY = 64 << 10;
    /** What virtual machines can allocate. */
    private static final int MOST = Integer.MAX_VALUE - 8;

    private final ArrayStream stream = new ArrayStream();
    private byte[] array;
    private int length;

    /** A buffer with room for 64 KiB. */
    public ReusableBuffer() {
        this(DEFAULT_CAPACITY);
    }

    /**
     * A buffer.
     *
     * @param capacity bytes of room at first
     */
    public ReusableBuffer(int capacity) {
        if (capacity < 0) {
            throw new IllegalArgumentException("a buffer of " + capacity + " bytes");
        }
        array = new byte[capacity];
    }

    /**
     * The array, whose first {@link #length} bytes are the payload. Another one may take its place when a
     * longer payload comes.
     *
     * @return the array itself, no copy
     */
    public byte[] array() {
        return array;
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
     * Reads the payload from its beginning, without garbage: it is the same object each time. Once the next
     * payload came it throws {@link java.io.IOException}, until this is called again.
     *
     * @return a stream over the array; to close it does nothing
     */
    public InputStream stream() {
        stream.begin(array, length);
        return stream;
    }

    /**
     * The payload without a copy.
     *
     * @return a new buffer over the array, from position 0 up to the limit {@link #length}
     */
    public ByteBuffer toByteBuffer() {
        return ByteBuffer.wrap(array, 0, length);
    }

    /**
     * The payload copied.
     *
     * @return a new array
     */
    public byte[] toByteArray() {
        return Arrays.copyOf(array, length);
    }

    /**
     * Gives memory back that only a long payload needed. If the array is longer, a shorter one takes its
     * place, and the payload is gone.
     *
     * @param capacity bytes of room that stay
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

    /** The array with room for so many bytes; what was in it is gone. */
    byte[] room(int bytes) {
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

    /** Room that is made for so many bytes: the next power of two. */
    static int grown(int bytes) {
        int power = Integer.highestOneBit(Math.max(bytes, 1) - 1 | 1) << 1;
        return power > 0 ? power : MOST;
    }
}
