package dev.linerate.gateway;

import java.io.Closeable;
import java.nio.ByteBuffer;

/**
 * Compresses the messages that one side of a websocket sends, without frames (RFC 7692, section
 * 7.2.1).
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
     *     position does not change. Nobody may write to a direct buffer meanwhile
     * @param into a direct buffer that shares no memory with the message; its position moves past
     *     the output. As much room as the message has is enough
     * @return true if the message became smaller and fits: its frame has RSV1. Otherwise send the
     *     message uncompressed; nothing has changed but bytes after the position of {@code into}
     * @throws IllegalArgumentException if {@code into} is not direct, or is read-only
     */
    public boolean encode(ByteBuffer message, ByteBuffer into) {
        return run(message, true, true, into);
    }

    /**
     * Compresses a part of a message. The message is sent compressed even if that does not make it
     * smaller.
     *
     * @param part the bytes from its position to its limit, as for {@link #encode}; it may be empty
     * @param last whether the message ends with this part
     * @param into a direct buffer that shares no memory with the part, with room for the
     *     {@link #bound}; its position moves past the output
     * @throws IllegalArgumentException if {@code into} is not direct, is read-only, or has less
     *     room
     */
    public void encodePart(ByteBuffer part, boolean last, ByteBuffer into) {
        if (into.remaining() < bound(part.remaining())) {
            throw new IllegalArgumentException(
                    into.remaining() + " bytes of room instead of " + bound(part.remaining()));
        }
        run(part, false, last, into);
    }

    private boolean run(ByteBuffer part, boolean whole, boolean last, ByteBuffer into) {
        Parts.checkOutput(into);
        long encoder = handle.enter();
        try {
            Object memory = Parts.memory(part);
            long written;
            try {
                written = NativeDeflate.encode(
                        encoder,
                        memory,
                        part.isDirect(),
                        Parts.offset(part),
                        part.remaining(),
                        whole,
                        last,
                        into,
                        into.position(),
                        into.remaining());
            } finally {
                Parts.release(part, memory);
            }
            if (written == Native.ERROR) {
                throw new OutOfMemoryError("a message of " + part.remaining() + " bytes");
            }
            if (written < Native.INCOMPLETE) {
                throw NativeResult.defect();
            }
            Parts.setPosition(into, into.position() + (int) Math.max(written, 0));
            return written >= 0;
        } finally {
            handle.exit();
        }
    }

    /**
     * Encodes a prepared message, which is compressed only once for all encoders with the same
     * {@link #windowBits}. Call it when the message is sent, and not between the parts of another
     * message.
     *
     * @param message the message
     * @param into a direct buffer. If it has room for the compressed bytes, which are never more
     *     than the message has, they are written and its position moves past them. Without room
     *     nothing is written; then send the bytes of another encoder with the same window
     * @return the number of compressed bytes; the frame has RSV1. -1 if they would not be fewer:
     *     send the message uncompressed; nothing has changed
     * @throws IllegalArgumentException if {@code into} is not direct, or is read-only
     * @throws IllegalStateException also if the message is closed
     */
    public int encode(PreparedMessage message, ByteBuffer into) {
        Parts.checkOutput(into);
        int room = into.remaining();
        long encoder = handle.enter();
        try {
            long prepared = message.enter();
            long length;
            try {
                length = NativeDeflate.encodePrepared(encoder, prepared, into, into.position(), room);
            } finally {
                message.exit();
            }
            if (length < Native.INCOMPLETE) {
                throw NativeResult.defect();
            }
            if (length > 0 && length <= room) {
                Parts.setPosition(into, into.position() + (int) length);
            }
            return (int) length;
        } finally {
            handle.exit();
        }
    }

    /**
     * Returns the native memory of this encoder.
     *
     * @return bytes outside the heap
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
     * Frees the memory. It may be called from any thread and more than once; a thread that is
     * compressing finishes its message first.
     */
    @Override
    public void close() {
        handle.close();
    }
}
