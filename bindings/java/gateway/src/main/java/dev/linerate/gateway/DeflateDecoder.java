package dev.linerate.gateway;

import java.io.Closeable;
import java.nio.ByteBuffer;

/**
 * Decompresses the messages that the peer of a websocket sends (RFC 7692, section 7.2.2). It takes
 * the payloads of websocket frames; the caller parses the frames.
 *
 * <p>After a {@link DecompressionException} every call of {@link #decode} throws one with the same
 * error, and the connection should be closed. Different threads may use a decoder, one at a time; a
 * second thread gets an {@link IllegalStateException}, as does any use after {@link #close}. A
 * decoder that becomes unreachable without {@code close} is freed some time after garbage
 * collection.
 */
public final class DeflateDecoder implements Closeable {
    private static final long DONE = 1L << 62;

    private final Handle handle;

    DeflateDecoder(int windowBits, boolean takeover, int messageLimit, int ratioLimit) {
        handle = Reaper.own(
                this,
                NativeDeflate.createDecoder(windowBits, takeover, messageLimit, ratioLimit),
                NativeDeflate::freeDecoder);
    }

    /**
     * Decompresses a message, or a part of one, until its end or until {@code into} is full.
     *
     * @param part the bytes from its position to its limit, in a buffer of any kind; its position
     *     moves past the bytes that were read
     * @param last whether the message ends with this part
     * @param into a direct buffer that shares no memory with the part; its position moves past the
     *     output. Leave room for at least one byte more than the output has, because a full buffer
     *     counts as too small
     * @return whether all of the part is decompressed. Otherwise {@code into} is full: call again
     *     with more room and the rest of the part, which may be empty
     * @throws DecompressionException if the message is damaged or above the limits. The positions
     *     are then unchanged, although {@code into} may have a part of the message
     * @throws IllegalArgumentException if {@code into} is not direct, or is read-only
     * @throws OutOfMemoryError if a copy of a read-only part does not fit on the heap
     */
    public boolean decode(ByteBuffer part, boolean last, ByteBuffer into) throws DecompressionException {
        Parts.checkOutput(into);
        // Another thread may change positions and limits, so they are read only once.
        int begin = part.position();
        int at = into.position();
        int room = into.remaining();
        Parts.checkRange(into, true, at, room);
        long decoder = handle.enter();
        try {
            Object memory = Parts.memory(part);
            int offset = Parts.offset(part);
            int length = part.remaining();
            long progress;
            try {
                Parts.checkRange(memory, part.isDirect(), offset, length);
                progress = NativeDeflate.decode(
                        decoder,
                        memory,
                        part.isDirect(),
                        offset,
                        length,
                        last,
                        into,
                        at,
                        room);
            } finally {
                Parts.release(part, memory);
            }
            if (progress < 0) {
                throw failure(decoder, progress);
            }
            Parts.setPosition(part, begin + (int) (progress >>> 31 & Integer.MAX_VALUE));
            Parts.setPosition(into, at + (int) (progress & Integer.MAX_VALUE));
            return (progress & DONE) != 0;
        } finally {
            handle.exit();
        }
    }

    private static DecompressionException failure(long decoder, long result) {
        long[] where = new long[3];
        String text = result == Native.ERROR ? NativeDeflate.decoderError(decoder, where) : null;
        if (text == null) {
            throw NativeResult.defect();
        }
        return NativeResult.exception(text, where);
    }

    /**
     * Returns the native memory of this decoder.
     *
     * @return bytes outside the heap
     */
    public long memory() {
        long decoder = handle.enter();
        try {
            return NativeDeflate.decoderMemory(decoder);
        } finally {
            handle.exit();
        }
    }

    /**
     * Closes the decoder. This may be called from any thread and more than once. The memory is
     * freed at once, or at the end of the call of another thread that is using the decoder.
     */
    @Override
    public void close() {
        handle.close();
    }
}
