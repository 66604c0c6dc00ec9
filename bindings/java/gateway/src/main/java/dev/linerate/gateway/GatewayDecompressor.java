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
 *   <li>{@link #open(byte[])}: an input stream for parsers, a small object for each payload
 *   <li>{@link #decompress(ByteBuffer, DirectBuffer)}: memory outside the heap
 * </ul>
 *
 * <p><strong>Parts.</strong> Some websockets give a message in parts as they come, with a flag for the last one, and
 * in a {@link ByteBuffer} of whatever kind. Each form takes such: {@link #decompress(ByteBuffer, boolean)},
 * {@link #decompress(ByteBuffer, boolean, ReusableBuffer)}, {@link #decompress(ByteBuffer, boolean, DirectBuffer)}
 * and {@link #open(ByteBuffer, boolean)}. Parts are kept outside the heap until the last one; what the
 * methods without that flag are given is the last one. With {@code java.net.http.WebSocket}:
 *
 * <pre>{@code
 * public CompletionStage<?> onBinary(WebSocket socket, ByteBuffer part, boolean last) {
 *     try {
 *         int length = gateway.decompress(part, last, buffer);
 *         if (length >= 0) {
 *             handle(buffer.array(), length);
 *         }
 *     } catch (DecompressionException e) {
 *         socket.abort();
 *     }
 *     socket.request(1);
 *     return null;
 * }
 * }</pre>
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
    /** The payload that may still be read; null if there is none. */
    private PayloadStream stream;

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
         * a message in several frames or parts waits with has a limit that follows: an eighth and 64 KiB
         * more.
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
        return decode(frame, false, offset, length, true);
    }

    /**
     * Decompresses a part of a websocket message into a new array.
     *
     * @param part bytes from its position to its limit, in a buffer of any kind. Its position is at its limit
     *     afterwards, except after an exception, which leaves it where it is
     * @param last whether the websocket message ends with it
     * @return the payload; null if the message is not whole yet
     * @throws DecompressionException if the stream is not sound or above the limits
     * @throws OutOfMemoryError if the heap has no room for the payload, or a copy of a part that is read-only
     */
    public byte[] decompress(ByteBuffer part, boolean last) throws DecompressionException {
        Object memory = Parts.memory(part);
        try {
            byte[] payload = decode(memory, part.isDirect(), Parts.offset(part), part.remaining(), last);
            Parts.consume(part);
            return payload;
        } finally {
            Parts.giveBack(part, memory);
        }
    }

    private byte[] decode(Object part, boolean direct, int offset, int length, boolean last)
            throws DecompressionException {
        long connection = enter();
        try {
            endStream();
            byte[] payload = Native.decode(connection, part, direct, offset, length, last);
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
        return decodeInto(frame, false, offset, length, true, into);
    }

    /**
     * Decompresses a part of a websocket message into an array that is used again.
     *
     * @param part bytes from its position to its limit, in a buffer of any kind. Its position is at its limit
     *     afterwards, except after an exception, which leaves it where it is
     * @param last whether the websocket message ends with it
     * @param into has the payload then; without one its length is 0
     * @return the length of the payload in bytes; -1 if the message is not whole yet
     * @throws DecompressionException if the stream is not sound or above the limits
     * @throws OutOfMemoryError if the heap has no room for the payload, or a copy of a part that is read-only
     */
    public int decompress(ByteBuffer part, boolean last, ReusableBuffer into) throws DecompressionException {
        Object memory = Parts.memory(part);
        try {
            int payload =
                    decodeInto(memory, part.isDirect(), Parts.offset(part), part.remaining(), last, into);
            Parts.consume(part);
            return payload;
        } finally {
            Parts.giveBack(part, memory);
        }
    }

    private int decodeInto(
            Object part, boolean direct, int offset, int length, boolean last, ReusableBuffer into)
            throws DecompressionException {
        byte[] array = into.room(0);
        long connection = enter();
        try {
            endStream();
            int payload = (int)
                    Native.decodeInto(connection, part, direct, offset, length, last, array, array.length);
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
     * Decompresses into memory outside the heap.
     *
     * @param frame what one websocket message brought, as {@code decompress(frame, true, into)} takes it
     * @param into has the payload then; without one its length is 0
     * @return whether there is a payload; false if the message is not whole yet
     * @throws DecompressionException if the stream is not sound or above the limits
     * @throws IllegalArgumentException if the frame is the buffer of {@code into} itself
     * @throws OutOfMemoryError if there is no room for the payload, or a copy of a frame that is read-only
     */
    public boolean decompress(ByteBuffer frame, DirectBuffer into) throws DecompressionException {
        return decompress(frame, true, into);
    }

    /**
     * Decompresses a part of a websocket message into memory outside the heap.
     *
     * @param part bytes from its position to its limit, in a buffer of any kind. Its position is at its limit
     *     afterwards, except after an exception, which leaves it where it is
     * @param last whether the websocket message ends with it
     * @param into has the payload then; without one its length is 0
     * @return whether there is a payload; false if the message is not whole yet
     * @throws DecompressionException if the stream is not sound or above the limits
     * @throws IllegalArgumentException if the part is the buffer of {@code into} itself
     * @throws OutOfMemoryError if there is no room for the payload, or a copy of a part that is read-only
     */
    public boolean decompress(ByteBuffer part, boolean last, DirectBuffer into) throws DecompressionException {
        if (part == into.buffer()) {
            throw new IllegalArgumentException("the part is the buffer that its payload should go to");
        }
        Object memory = Parts.memory(part);
        try {
            int offset = Parts.offset(part);
            boolean whole = decodeDirect(memory, part.isDirect(), offset, part.remaining(), last, into);
            Parts.consume(part);
            return whole;
        } finally {
            Parts.giveBack(part, memory);
        }
    }

    private boolean decodeDirect(
            Object part, boolean direct, int offset, int length, boolean last, DirectBuffer into)
            throws DecompressionException {
        ByteBuffer memory = into.room(0);
        long connection = enter();
        try {
            endStream();
            int payload =
                    (int) Native.decodeDirect(connection, part, direct, offset, length, last, memory);
            boolean whole = whole(connection, payload);
            if (whole && payload > memory.capacity()) {
                Native.fetchDirect(connection, into.room(payload));
            }
            into.setLength(whole ? payload : 0);
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
     * @return the payload; null if the message is not whole yet. Each payload has a stream of its own. Once it is
     *     closed, or the next call for a message or {@link #reset} came, it throws {@link java.io.IOException}. Its
     *     reads count as calls of this decompressor
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
     * @return the payload; null if the message is not whole yet. Each payload has a stream of its own. Once it is
     *     closed, or the next call for a message or {@link #reset} came, it throws {@link java.io.IOException}. Its
     *     reads count as calls of this decompressor
     * @throws DecompressionException if the stream is not sound or above the limits
     * @throws IndexOutOfBoundsException if the range is not within the array; nothing is decoded then
     * @throws OutOfMemoryError if the heap has no room for the payload. The message is lost then, but not
     *     those that follow
     */
    public InputStream open(byte[] frame, int offset, int length) throws DecompressionException {
        Ranges.check(frame.length, offset, length);
        return decodeStream(frame, false, offset, length, true);
    }

    /**
     * Decompresses a part of a websocket message, to be read by a parser.
     *
     * @param part bytes from its position to its limit, in a buffer of any kind. Its position is at its limit
     *     afterwards, except after an exception, which leaves it where it is
     * @param last whether the websocket message ends with it
     * @return the payload, as {@link #open(byte[])} returns it; null if the message is not whole yet
     * @throws DecompressionException if the stream is not sound or above the limits
     * @throws OutOfMemoryError if the heap has no room for the payload, or a copy of a part that is read-only
     */
    public InputStream open(ByteBuffer part, boolean last) throws DecompressionException {
        Object memory = Parts.memory(part);
        try {
            InputStream payload =
                    decodeStream(memory, part.isDirect(), Parts.offset(part), part.remaining(), last);
            Parts.consume(part);
            return payload;
        } finally {
            Parts.giveBack(part, memory);
        }
    }

    private InputStream decodeStream(Object part, boolean direct, int offset, int length, boolean last)
            throws DecompressionException {
        PayloadStream next = new PayloadStream(this);
        long connection = enter();
        try {
            endStream();
            byte[] array = ArrayPool.take();
            int payload = Native.PART;
            try {
                payload = (int)
                        Native.decodeInto(connection, part, direct, offset, length, last, array, array.length);
                if (!whole(connection, payload)) {
                    return null;
                }
                if (payload > array.length) {
                    array = new byte[ReusableBuffer.grown(payload)];
                    Native.fetch(connection, array);
                }
                next.begin(array, payload);
                stream = next;
                return next;
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
     * Begins a new connection, also one that resumes an old one. History, fragments and parts, counts, recent messages
     * and the error are forgotten, and memory is given back.
     */
    public void reset() {
        long connection = enter();
        try {
            endStream();
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
     * @return bytes outside the heap: history, tables, parts of a message, recent messages
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
            endStream();
        }
    }

    /** To be called inside, or when nobody can get inside any more. */
    private void endStream() {
        if (stream != null) {
            stream.end();
            stream = null;
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
        if (text == null) {
            throw defect();
        }
        return new DecompressionException(
                DecompressionException.Kind.values()[(int) where[0]], text, where[1], where[2]);
    }

    private static InternalError defect() {
        return new InternalError("a defect of linerate-gateway; what it is was written to the standard error");
    }
}
