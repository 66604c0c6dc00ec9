package dev.linerate.gateway;

import java.nio.Buffer;
import java.nio.ByteBuffer;

/**
 * Locates the bytes of a buffer for the native library: in a direct buffer itself, otherwise in an
 * array.
 */
final class Parts {
    private Parts() {}

    /**
     * Returns the object with the bytes: for a read-only heap buffer, whose array is inaccessible,
     * a copy.
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

    /** Returns the offset of the bytes in the object. */
    static int offset(ByteBuffer part) {
        if (part.isDirect()) {
            return part.position();
        }
        return part.hasArray() ? part.arrayOffset() + part.position() : 0;
    }

    /**
     * Ensures that a range is within a direct buffer, even if another thread has changed its
     * position or limit meanwhile: the native library only gets its address. For arrays the virtual
     * machine ensures this.
     */
    static void checkRange(Object memory, boolean direct, int offset, int length) {
        if (direct) {
            Ranges.check(((ByteBuffer) memory).capacity(), offset, length);
        }
    }

    /** Sets the position to the limit. */
    static void consume(ByteBuffer part) {
        setPosition(part, part.limit());
    }

    /** Releases the result of {@link #memory} after use. */
    static void release(ByteBuffer part, Object memory) {
        if (!part.isDirect() && !part.hasArray()) {
            ArrayPool.release((byte[]) memory);
        }
    }

    /** Ensures that the native library can write into a buffer. */
    static void checkOutput(ByteBuffer into) {
        if (!into.isDirect() || into.isReadOnly()) {
            throw new IllegalArgumentException("output needs a direct buffer that is not read-only");
        }
    }

    static void setPosition(ByteBuffer part, int position) {
        // Through the superclass: ByteBuffer overrides these methods only since Java 9.
        ((Buffer) part).position(position);
    }
}
