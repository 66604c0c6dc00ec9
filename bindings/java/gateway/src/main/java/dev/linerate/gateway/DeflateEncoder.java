package dev.linerate.gateway;

import java.io.Closeable;
import java.nio.ByteBuffer;

/**
 * Compresses the messages that one side of a websocket sends (RFC 7692, section 7.2.1). It makes
 * the payloads of websocket frames; the caller makes the frames.
 *
 * <p>Different threads may use an encoder, one at a time; a second thread gets an
 * {@link IllegalStateException}, as does any use after {@link #close}. An encoder that becomes
 * unreachable without {@code close} is freed some time after garbage collection.
 */
public final class DeflateEncoder implements Closeable {
    private final int windowBits;
    private final Handle handle;

    DeflateEncoder(int windowBits, boolean takeover, int level, boolean rememberPrepared) {
        this.windowBits = windowBits;
        long encoder = NativeDeflate.createEncoder(windowBits, takeover, level, rememberPrepared);
        handle = Reaper.own(this, encoder, NativeDeflate::freeEncoder);
    }

    /**
     * Returns the window size of this encoder.
     *
     * @return the base-2 logarithm of the size in bytes
     */
    public int windowBits() {
        return windowBits;
    }

    /**
     * Returns the largest compressed size of a part of a message.
     *
     * @param length size of the part in bytes
     * @return the room that {@link #encodePart} needs
     * @throws IllegalArgumentException if {@code length} is negative, or no buffer has so much room
     * @throws UnsatisfiedLinkError if there is no native library for this platform; see
     *     {@link NativeLoader}
     */
    public static int bound(int length) {
        NativeLoader.load();
        long bound = length < 0 ? Long.MAX_VALUE : NativeDeflate.bound(length);
        if (bound > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("a part cannot have " + length + " bytes");
        }
        return (int) bound;
    }

    /**
     * Compresses a whole message.
     *
     * @param message the bytes from its position to its limit, in a buffer of any kind; its
     *     position does not change. If the buffer is direct, nobody may write to it during the call
     * @param into a direct buffer that shares no memory with the message; its position moves past
     *     the output. As many bytes as the message has are enough room
     * @return true if the compressed bytes are fewer than those of the message and fit: send them
     *     in a frame with the bit RSV1. Otherwise send the message uncompressed: later messages do
     *     not refer to it. The position of {@code into} is then unchanged, although bytes after it
     *     may differ
     * @throws IllegalArgumentException if {@code into} is not direct, or is read-only
     * @throws OutOfMemoryError if there is not enough memory for a copy of a message on the heap
     */
    public boolean encode(ByteBuffer message, ByteBuffer into) {
        return run(message, true, true, into);
    }

    /**
     * Compresses a part of a message. Unlike a whole message, it must be sent compressed even if
     * that does not make it smaller.
     *
     * @param part the bytes from its position to its limit, in a buffer as for
     *     {@link #encode(ByteBuffer, ByteBuffer)}; it may be empty
     * @param last whether the message ends with this part
     * @param into a direct buffer that shares no memory with the part, with as much room as
     *     {@link #bound} says; its position moves past the output
     * @throws IllegalArgumentException if {@code into} is not direct, is read-only, or has less
     *     room
     * @throws OutOfMemoryError if there is not enough memory for a copy of a part on the heap
     */
    public void encodePart(ByteBuffer part, boolean last, ByteBuffer into) {
        run(part, false, last, into);
    }

    private boolean run(ByteBuffer part, boolean whole, boolean last, ByteBuffer into) {
        Parts.checkOutput(into);
        long encoder = handle.enter();
        try {
            Object memory = Parts.memory(part);
            try {
                return run(
                        encoder, memory, part.isDirect(), Parts.offset(part), part.remaining(), whole, last, into);
            } finally {
                Parts.release(part, memory);
            }
        } finally {
            handle.exit();
        }
    }

    /**
     * Compresses {@code length} bytes from {@code offset} of an array or a direct buffer. Position
     * and limit of {@code into} are read only once, because another thread may change them.
     */
    static boolean run(
            long encoder,
            Object part,
            boolean direct,
            int offset,
            int length,
            boolean whole,
            boolean last,
            ByteBuffer into) {
        int at = into.position();
        int room = into.remaining();
        if (!whole && room < bound(length)) {
            throw new IllegalArgumentException(room + " bytes of room instead of " + bound(length));
        }
        Parts.checkRange(part, direct, offset, length);
        Parts.checkRange(into, true, at, room);
        long written = NativeDeflate.encode(encoder, part, direct, offset, length, whole, last, into, at, room);
        NativeResult.requireMemory(written, "a message", length);
        Parts.setPosition(into, at + (int) Math.max(written, 0));
        return written >= 0;
    }

    /**
     * Encodes a prepared message, which is compressed only once for all encoders with the same
     * {@link #windowBits}. Call it when the message is sent, and not between the parts of another
     * message.
     *
     * @param message the message
     * @param into a direct buffer. If it has room for the compressed bytes, which are always fewer
     *     than those of the message, they are written and its position moves past them. Without
     *     room nothing is written, but the encoder counts the message as sent all the same: then
     *     send the bytes that another encoder with the same window has written for this message
     * @return the number of compressed bytes, to be sent in a frame with the bit RSV1. -1 if they
     *     would not be fewer than those of the message: send it uncompressed; nothing has changed
     * @throws IllegalArgumentException if {@code into} is not direct, or is read-only
     * @throws IllegalStateException if the message or this encoder is closed, or if another thread
     *     is using this encoder
     */
    public int encode(PreparedMessage message, ByteBuffer into) {
        Parts.checkOutput(into);
        int at = into.position();
        int room = into.remaining();
        Parts.checkRange(into, true, at, room);
        long encoder = handle.enter();
        try {
            long prepared = message.enter();
            long length;
            try {
                length = NativeDeflate.encodePrepared(encoder, prepared, into, at, room);
            } finally {
                message.exit();
            }
            if (length < Native.INCOMPLETE) {
                throw NativeResult.defect();
            }
            if (length > 0 && length <= room) {
                Parts.setPosition(into, at + (int) length);
            }
            return (int) length;
        } finally {
            handle.exit();
        }
    }

    /**
     * Returns the native memory of this encoder.
     *
     * @return bytes outside the heap, without the content of prepared messages, which encoders
     *     share
     */
    public long memory() {
        long encoder = handle.enter();
        try {
            return NativeDeflate.encoderMemory(encoder);
        } finally {
            handle.exit();
        }
    }

    /**
     * Closes the encoder. This may be called from any thread and more than once. The memory is
     * freed at once, or at the end of the call of another thread that is using the encoder.
     */
    @Override
    public void close() {
        handle.close();
    }
}
