package dev.linerate.gateway;

import java.nio.Buffer;
import java.nio.ByteBuffer;

/**
 * Locates the bytes of a {@link ByteBuffer} for the native library, which takes a direct buffer
 * itself, and an array with an offset for any other buffer.
 */
final class Parts {
    private Parts() {}

    /**
     * Returns the object that has the bytes of a buffer: a direct buffer itself, otherwise an
     * array. For a read-only heap buffer, whose array is inaccessible, it is a copy of the bytes
     * from the position to the limit, to be given back to {@link #release}.
     */
    static Object memory(ByteBuffer part) {
        if (part.isDirect()) {
            return part;
        }
        if (part.hasArray()) {
            return part.array();
        }
        int length = part.remaining();
        byte[] copy = ArrayPool.take();
        if (copy.length < length) {
            ArrayPool.release(copy);
            copy = new byte[ReusableBuffer.grown(length)];
        }
        int position = part.position();
        part.get(copy, 0, length);
        setPosition(part, position);
        return copy;
    }

    /** Returns the offset of a buffer's position in the object that {@link #memory} returns. */
    static int offset(ByteBuffer part) {
        if (part.isDirect()) {
            return part.position();
        }
        return part.hasArray() ? part.arrayOffset() + part.position() : 0;
    }

    /**
     * Throws {@link IndexOutOfBoundsException} if a range is not within a direct buffer or an array,
     * because another thread has changed the position or limit of a buffer meanwhile. The native
     * library gets only the address of a direct buffer, and would find an array too short for a
     * payload only when it has decoded the message.
     */
    static void checkRange(Object memory, boolean direct, int offset, int length) {
        Ranges.check(direct ? ((ByteBuffer) memory).capacity() : ((byte[]) memory).length, offset, length);
    }

    /** Sets the position of a buffer to its limit, since all its bytes were taken. */
    static void consume(ByteBuffer part) {
        setPosition(part, part.limit());
    }

    /** Gives the result of {@link #memory} back to the pool if it is a copy. */
    static void release(ByteBuffer part, Object memory) {
        if (!part.isDirect() && !part.hasArray()) {
            ArrayPool.release((byte[]) memory);
        }
    }

    /** Throws {@link IllegalArgumentException} if the native library cannot write to a buffer. */
    static void checkOutput(ByteBuffer into) {
        if (!into.isDirect() || into.isReadOnly()) {
            throw new IllegalArgumentException("output needs a direct buffer that is not read-only");
        }
    }

    static void setPosition(ByteBuffer part, int position) {
        // The method of the superclass is called, because Java 8 lacks that of ByteBuffer, which
        // overrides it since Java 9.
        ((Buffer) part).position(position);
    }
}
