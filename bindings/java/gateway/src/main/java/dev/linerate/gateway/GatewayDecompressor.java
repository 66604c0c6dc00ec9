package dev.linerate.gateway;

import java.io.Closeable;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * The decompressor of one connection to a gateway: one zlib or zstd stream for as long as the connection
 * lives, flushed after each message.
 *
 * <p>It takes what one binary websocket message brought, the <em>frame</em>, and gives back exactly one
 * payload. A message of {@link Transport#ZLIB} may come in several frames; until the last one the result is
 * null, or -1 where it is a length. The forms of the result:
 *
 * <ul>
 *   <li>{@link #decompress(byte[])}: a new array
 *   <li>{@link #decompress(byte[], ReusableBuffer)}: an array of the caller, for all payloads, without garbage
 *   <li>{@link #open(byte[])}: an input stream for parsers, without garbage
 *   <li>{@link #decompress(ByteBuffer, DirectBuffer)}: memory outside the heap on both sides
 * </ul>
 *
 * <p><strong>Threads.</strong> A decompressor is for one thread at a time, not always the same. If two use it
 * at once, the second gets an {@link IllegalStateException} and nothing is harmed. Only {@link #close} and
 * {@link #isClosed} may be called at any time. Different decompressors have nothing to do with each other.
 *
 * <p><strong>Errors.</strong> After a {@link DecompressionException} every call throws the same until
 * {@link #reset}. Messages are decoded whole before they are handed over: a reader who stops in the middle of
 * one leaves nothing behind that the next one would trip over. All methods but {@code close} and
 * {@code isClosed} throw {@link IllegalStateException} once the decompressor is closed.
 *
 * <p><strong>Memory.</strong> The native part of a connection grows with what it has seen, up to 34 KB for
 * zlib and 72 KB for zstd with its usual window. What is needed only while a message is decoded belongs to the
 * process: as much as there are processors, see {@link #sharedMemory}. A decompressor that is forgotten
 * instead of closed is freed some time after the garbage collector has found it.
 */
public final class GatewayDecompressor implements Closeable {
    private final Transport transport;
    private final Handle handle;
    private final PayloadStream stream = new PayloadStream(this);

    private GatewayDecompressor(Builder settings) {
        NativeLoader.load();
        transport = settings.transport;
        long connection = Native.create(
                transport.ordinal(),
                settings.maxMessage,
                settings.windowLog,
                settings.checks.ordinal(),
                settings.keepMessages,
                settings.keepBytes);
        if (connection == 0) {
            throw defect();
        }
        Handle watched = null;
        try {
            watched = Reaper.watch(this, connection);
        } finally {
            if (watched == null) {
                Native.free(connection);
            }
        }
        handle = watched;
    }

    /**
     * A decompressor with the default settings of {@link Builder}.
     *
     * @param transport how the gateway compresses
     * @return a decompressor at the beginning of a connection
     * @throws UnsatisfiedLinkError if there is no native library for this platform; see {@link NativeLoader}
     */
    public static GatewayDecompressor create(Transport transport) {
        return builder(transport).build();
    }

    /**
     * Settings for a decompressor.
     *
     * @param transport how the gateway compresses
     * @return settings with which more than one decompressor may be built
     */
    public static Builder builder(Transport transport) {
        return new Builder(transport);
    }

    /** Settings for decompressors. Not for two threads at once. */
    public static final class Builder {
        private final Transport transport;
        private int maxMessage = 64 << 20;
        private int windowLog = 16;
        private Checks checks = Checks.NONE;
        private int keepMessages;
        private int keepBytes;

        private Builder(Transport transport) {
            this.transport = Objects.requireNonNull(transport, "transport");
        }

        /**
         * Limits payloads. One byte more is an error of kind {@link DecompressionException.Kind#LIMIT}. What
         * a message in several frames waits for has the same limit.
         *
         * @param bytes bytes of the largest payload; 64 MiB unless told
         * @return this
         * @throws IllegalArgumentException if it is negative
         */
        public Builder maxMessage(int bytes) {
            if (bytes < 0) {
                throw new IllegalArgumentException("payloads of at most " + bytes + " bytes");
            }
            maxMessage = bytes;
            return this;
        }

        /**
         * Limits the window of zstd frames, and with it the memory of the connection. A frame that asks for
         * more is an error of kind {@link DecompressionException.Kind#LIMIT} before anything is allocated for
         * it. zlib's window is 32 KiB at most anyway.
         *
         * @param log the logarithm of the window in bytes, 10 to 27; 16 unless told, which is what gateways use
         * @return this
         * @throws IllegalArgumentException if it is not within that range
         */
        public Builder windowLog(int log) {
            if (log < 10 || log > 27) {
                throw new IllegalArgumentException("a window log of " + log + " instead of 10 to 27");
            }
            windowLog = log;
            return this;
        }

        /**
         * Looks at each payload.
         *
         * @param what what is looked at; {@link Checks#NONE} unless told
         * @return this
         */
        public Builder checks(Checks what) {
            checks = Objects.requireNonNull(what, "checks");
            return this;
        }

        /**
         * Keeps the last compressed messages for {@link #recording}. They are what people wrote to each
         * other, and they count as memory of the connection.
         *
         * @param messages how many at most; 0, which keeps none, unless told
         * @param bytes how many compressed bytes of them at most
         * @return this
         * @throws IllegalArgumentException if one of them is negative
         */
        public Builder keepRecent(int messages, int bytes) {
            if ((messages | bytes) < 0) {
                throw new IllegalArgumentException(messages + " recent messages of " + bytes + " bytes");
            }
            keepMessages = messages;
            keepBytes = bytes;
            return this;
        }

        /**
         * Makes a decompressor.
         *
         * @return a decompressor at the beginning of a connection
         * @throws UnsatisfiedLinkError if there is no native library for this platform; see
         *     {@link NativeLoader}
         */
        public GatewayDecompressor build() {
            return new GatewayDecompressor(this);
        }
    }

    /**
     * How the gateway compresses.
     *
     * @return the transport
     */
    public Transport transport() {
        return transport;
    }

    /**
     * Decompresses into a new array.
     *
     * @param frame what one websocket message brought
     * @return the payload; null if the message is not whole yet
     * @throws DecompressionException if the stream is not sound or above the limits
     */
    public byte[] decompress(byte[] frame) throws DecompressionException {
        return decompress(frame, 0, frame.length);
    }

    /**
     * Decompresses into a new array.
     *
     * @param frame has what one websocket message brought
     * @param offset where that begins
     * @param length its bytes
     * @return the payload; null if the message is not whole yet
     * @throws DecompressionException if the stream is not sound or above the limits
     * @throws IndexOutOfBoundsException if the range is not within the array; nothing is decoded then
     * @throws OutOfMemoryError if the heap has no room for the payload. The message is lost then, but not
     *     those that follow
     */
    public byte[] decompress(byte[] frame, int offset, int length) throws DecompressionException {
        Ranges.check(frame.length, offset, length);
        long connection = enter();
        try {
            stream.end();
            byte[] payload = Native.decode(connection, frame, offset, length);
            if (payload == null) {
                whole(connection, Native.outcome(connection));
            }
            return payload;
        } finally {
            exit();
        }
    }

    /**
     * Decompresses into an array that is used again.
     *
     * @param frame what one websocket message brought
     * @param into has the payload then; without one its length is 0
     * @return the length of the payload in bytes; -1 if the message is not whole yet
     * @throws DecompressionException if the stream is not sound or above the limits
     */
    public int decompress(byte[] frame, ReusableBuffer into) throws DecompressionException {
        return decompress(frame, 0, frame.length, into);
    }

    /**
     * Decompresses into an array that is used again.
     *
     * @param frame has what one websocket message brought
     * @param offset where that begins
     * @param length its bytes
     * @param into has the payload then; without one its length is 0
     * @return the length of the payload in bytes; -1 if the message is not whole yet
     * @throws DecompressionException if the stream is not sound or above the limits
     * @throws IndexOutOfBoundsException if the range is not within the array; nothing is decoded then
     * @throws OutOfMemoryError if the heap has no room for the payload. The message is lost then, but not
     *     those that follow
     */
    public int decompress(byte[] frame, int offset, int length, ReusableBuffer into)
            throws DecompressionException {
        Ranges.check(frame.length, offset, length);
        byte[] array = into.room(0);
        long connection = enter();
        try {
            stream.end();
            int payload = (int) Native.decodeInto(connection, frame, offset, length, array, array.length);
            if (!whole(connection, payload)) {
                return -1;
            }
            if (payload > array.length) {
                Native.fetch(connection, into.room(payload));
            }
            into.setLength(payload);
            return payload;
        } finally {
            exit();
        }
    }

    /**
     * Decompresses from memory outside the heap into such memory.
     *
     * @param frame what one websocket message brought, from its position to its limit. Its position is at its
     *     limit afterwards, except after an exception, which leaves it where it is
     * @param into has the payload then; without one its length is 0
     * @return whether there is a payload; false if the message is not whole yet
     * @throws DecompressionException if the stream is not sound or above the limits
     * @throws IllegalArgumentException if the frame is not direct, or the buffer of {@code into} itself
     * @throws OutOfMemoryError if there is no room for the payload. The message is lost then, but not those
     *     that follow
     */
    public boolean decompress(ByteBuffer frame, DirectBuffer into) throws DecompressionException {
        if (!frame.isDirect()) {
            throw new IllegalArgumentException("the frame is not a direct buffer");
        }
        if (frame == into.buffer()) {
            throw new IllegalArgumentException("the frame is the buffer that its payload should go to");
        }
        ByteBuffer memory = into.room(0);
        long connection = enter();
        try {
            stream.end();
            int payload =
                    (int) Native.decodeDirect(connection, frame, frame.position(), frame.remaining(), memory);
            boolean whole = whole(connection, payload);
            if (whole && payload > memory.capacity()) {
                Native.fetchDirect(connection, into.room(payload));
            }
            into.setLength(whole ? payload : 0);
            ((java.nio.Buffer) frame).position(frame.limit());
            return whole;
        } finally {
            exit();
        }
    }

    /**
     * Decompresses, to be read by a parser. The message is decoded when this returns, so the reader need not
     * read it to its end.
     *
     * @param frame what one websocket message brought
     * @return the payload; null if the message is not whole yet. It is the same object each time, and ends with
     *     the next message. Its reads count as calls of this decompressor; closed, it throws
     *     {@link java.io.IOException}
     * @throws DecompressionException if the stream is not sound or above the limits
     */
    public InputStream open(byte[] frame) throws DecompressionException {
        return open(frame, 0, frame.length);
    }

    /**
     * Decompresses, to be read by a parser. The message is decoded when this returns, so the reader need not
     * read it to its end.
     *
     * @param frame has what one websocket message brought
     * @param offset where that begins
     * @param length its bytes
     * @return the payload; null if the message is not whole yet. It is the same object each time, and ends with
     *     the next message. Its reads count as calls of this decompressor; closed, it throws
     *     {@link java.io.IOException}
     * @throws DecompressionException if the stream is not sound or above the limits
     * @throws IndexOutOfBoundsException if the range is not within the array; nothing is decoded then
     * @throws OutOfMemoryError if the heap has no room for the payload. The message is lost then, but not
     *     those that follow
     */
    public InputStream open(byte[] frame, int offset, int length) throws DecompressionException {
        Ranges.check(frame.length, offset, length);
        long connection = enter();
        try {
            stream.end();
            byte[] array = ArrayPool.take();
            int payload = Native.PART;
            try {
                payload = (int) Native.decodeInto(connection, frame, offset, length, array, array.length);
                if (!whole(connection, payload)) {
                    return null;
                }
                if (payload > array.length) {
                    array = new byte[ReusableBuffer.grown(payload)];
                    Native.fetch(connection, array);
                }
                stream.begin(array, payload);
                return stream;
            } finally {
                if (payload < 0) {
                    ArrayPool.give(array);
                }
            }
        } finally {
            exit();
        }
    }

    /**
     * The opcode of the last whole message.
     *
     * @return its {@code op}; -1 if it has none, or without {@link Checks}
     */
    public int lastOpcode() {
        long connection = enter();
        try {
            return Native.lastOpcode(connection);
        } finally {
            exit();
        }
    }

    /**
     * The sequence number of the last whole message.
     *
     * @return its {@code s}; -1 if it has none, or without {@link Checks}
     */
    public long lastSequence() {
        long connection = enter();
        try {
            return Native.lastSequence(connection);
        } finally {
            exit();
        }
    }

    /**
     * The event of the last whole message.
     *
     * @return its {@code t} as it is written; null if it has none, or without {@link Checks}
     */
    public String lastEvent() {
        long connection = enter();
        try {
            return Native.lastEvent(connection);
        } finally {
            exit();
        }
    }

    /**
     * Begins a new connection, also one that resumes an old one. History, fragments, counts, recent messages
     * and the error are forgotten, and memory is given back.
     */
    public void reset() {
        long connection = enter();
        try {
            stream.end();
            Native.reset(connection);
        } finally {
            exit();
        }
    }

    /**
     * Tells the last sequence number before this connection, when one is resumed that broke off. To be called
     * after {@link #reset}; of use only with checks of the sequence.
     *
     * @param sequence the {@code s} of the last event that came
     * @throws IllegalArgumentException if it is negative
     */
    public void resumeAfter(long sequence) {
        if (sequence < 0) {
            throw new IllegalArgumentException("the sequence number " + sequence);
        }
        long connection = enter();
        try {
            Native.resumeAfter(connection, sequence);
        } finally {
            exit();
        }
    }

    /**
     * Whole messages of this connection.
     *
     * @return their number since the last {@link #reset}
     */
    public long messages() {
        long connection = enter();
        try {
            return Native.messages(connection);
        } finally {
            exit();
        }
    }

    /**
     * Compressed bytes of this connection.
     *
     * @return bytes since the last {@link #reset}
     */
    public long compressedBytes() {
        long connection = enter();
        try {
            return Native.compressedBytes(connection);
        } finally {
            exit();
        }
    }

    /**
     * Memory of this connection.
     *
     * @return bytes outside the heap: history, tables, a part of a message, recent messages
     */
    public long memory() {
        long connection = enter();
        try {
            return Native.memory(connection);
        } finally {
            exit();
        }
    }

    /**
     * Memory that all connections of the process share, and which is of use only while a message is decoded.
     *
     * @return bytes outside the heap, without what threads are using at the moment
     */
    public static long sharedMemory() {
        NativeLoader.load();
        return Native.sharedMemory();
    }

    /**
     * The recent messages of this connection, the failed one too, as a file for {@code linerate gateway
     * replay}. They can be replayed only if none was forgotten since the beginning of the connection.
     *
     * @return the bytes of the file
     * @throws IllegalStateException unless {@link Builder#keepRecent} was told to keep some
     */
    public byte[] recording() {
        long connection = enter();
        try {
            byte[] file = Native.recording(connection);
            if (file == null) {
                throw new IllegalStateException("recent messages are not kept: see Builder.keepRecent");
            }
            return file;
        } finally {
            exit();
        }
    }

    /**
     * Whether {@link #close} was called.
     *
     * @return true from then on
     */
    public boolean isClosed() {
        return handle.isClosed();
    }

    /**
     * Frees the memory of the connection. It may be called from any thread and more than once. If another
     * thread is decoding a message, it ends that, and the memory is freed then.
     */
    @Override
    public void close() {
        if (handle.close()) {
            stream.end();
        }
    }

    long enter() {
        return handle.enter();
    }

    void exit() {
        handle.exit();
    }

    /** Whether there is a payload, by the number that the native library returned in place of its length. */
    private static boolean whole(long connection, int length) throws DecompressionException {
        if (length >= 0) {
            return true;
        }
        if (length == Native.PART) {
            return false;
        }
        if (length == Native.FAULT) {
            throw fault(connection);
        }
        throw defect();
    }

    private static DecompressionException fault(long connection) {
        long[] where = new long[3];
        String text = Native.fault(connection, where);
        return new DecompressionException(
                DecompressionException.Kind.values()[(int) where[0]], text, where[1], where[2]);
    }

    private static InternalError defect() {
        return new InternalError("a defect of linerate-gateway; what it is was written to the standard error");
    }
}
