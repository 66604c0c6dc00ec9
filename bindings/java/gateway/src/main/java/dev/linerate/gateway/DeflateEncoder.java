package dev.linerate.gateway;

import java.io.Closeable;
import java.nio.ByteBuffer;

/**
 * Compresses the messages that one side of a websocket sends, without frames (RFC 7692, section 7.2.1).
 *
 * <p>It may be used by different threads, one at a time: the second one gets an {@link IllegalStateException}, as does any
 * use after {@link #close}. An encoder that becomes unreachable without it is freed some time after garbage collection.
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
     * Returns the window of this encoder.
     *
     * @return the base-2 logarithm of its bytes
     */
    public int windowBits() {
        return windowBits;
    }

    /**
     * Returns the most bytes that a part of a message becomes.
     *
     * @param length bytes of the part
     * @return the room that {@link #encodePart} needs
     * @throws IllegalArgumentException if it is negative, or no buffer has so much room
     */
    public static int bound(int length) {
        NativeLoader.load();
        long bound = length < 0 ? Long.MAX_VALUE : NativeDeflate.bound(length);
        if (bound > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("a part of " + length + " bytes");
        }
        return (int) bound;
    }

    /**
     * Compresses a whole message.
     *
     * @param message the bytes from its position to its limit, in a buffer of any kind; its position does not change.
     *     Nobody may write to a direct buffer meanwhile
     * @param into a direct buffer that shares no memory with the message; its position moves behind what is written. As
     *     much room as the message has is enough
     * @return whether the message became smaller, and fits: its frame has RSV1. Otherwise it is to be sent as it is, and
     *     nothing has changed but bytes behind the position of {@code into}
     * @throws IllegalArgumentException if {@code into} is not direct, or is read-only
     */
    public boolean encode(ByteBuffer message, ByteBuffer into) {
        return run(message, true, true, into);
    }

    /**
     * Compresses a part of a message, which is not sent as it is even if it does not become smaller.
     *
     * @param part the bytes from its position to its limit, as of {@link #encode}; it may be empty
     * @param last whether the message ends with it
     * @param into a direct buffer that shares no memory with the part, with room for the {@link #bound}; its position moves
     *     behind what is written
     * @throws IllegalArgumentException if {@code into} is not direct, is read-only, or has less room
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
     * Takes note that a prepared message is sent, which is compressed once for all encoders with the same
     * {@link #windowBits}. It must not come between the parts of another message.
     *
     * @param message the message
     * @param into a direct buffer; its position moves behind the compressed bytes if there is room for them, which is so with
     *     the length of the message. Without room nothing is written: whoever has the bytes of an encoder with the same
     *     window can send those
     * @return the number of compressed bytes: the frame has RSV1. -1 if it would not be smaller: it is to be sent as it is,
     *     and nothing has changed
     * @throws IllegalArgumentException if {@code into} is not direct, or is read-only
     * @throws IllegalStateException if the message is closed, too
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
     * Frees the memory. It may be called from any thread and more than once; a thread that is compressing finishes its
     * message first.
     */
    @Override
    public void close() {
        handle.close();
    }
}
