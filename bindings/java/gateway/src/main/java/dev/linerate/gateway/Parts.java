package dev.linerate.gateway;

import java.nio.Buffer;
import java.nio.ByteBuffer;

/**
 * Where the native library finds the bytes of a buffer: in the buffer itself if it is direct, or else in an
 * array.
 */
final class Parts {
    private Parts() {}

    /** What has the bytes; of a read-only buffer in the heap, which hides its array, a copy. */
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
            ArrayPool.give(copy);
            copy = new byte[ReusableBuffer.grown(length)];
        }
        int position = part.position();
        part.get(copy, 0, length);
        setPosition(part, position);
        return copy;
    }

    /** Where they begin in it. */
    static int offset(ByteBuffer part) {
        if (part.isDirect()) {
            return part.position();
        }
        return part.hasArray() ? part.arrayOffset() + part.position() : 0;
    }

    /** All bytes were used. */
    static void consume(ByteBuffer part) {
        setPosition(part, part.limit());
    }

    /** To be called once nobody uses what {@link #memory} gave any more. */
    static void giveBack(ByteBuffer part, Object memory) {
        if (!part.isDirect() && !part.hasArray()) {
            ArrayPool.give((byte[]) memory);
        }
    }

    private static void setPosition(ByteBuffer part, int position) {
        // Through the superclass: buffers have had such methods of their own only since Java 9.
        ((Buffer) part).position(position);
    }
}
