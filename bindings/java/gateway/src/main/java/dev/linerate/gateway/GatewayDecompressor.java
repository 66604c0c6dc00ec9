package dev.linerate.gateway;

import java.io.Closeable;
import java.io.InputStream;
import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.function.LongFunction;
import java.util.function.LongUnaryOperator;

/**
 * The decompressor of one connection to a gateway: one zlib or zstd stream for as long as the
 * connection lives, flushed after each message. With a {@link Transport} that is not a
 * {@linkplain Transport#isStream stream}, each message is compressed separately.
 *
 * <p>Each call takes the content of one binary websocket message, the <em>frame</em>, and returns
 * one payload. There is no payload until the last frame of a message of {@link Transport#ZLIB} that
 * is sent in several frames, nor for an event that {@link Builder#dropEvents} drops. The call then
 * returns null, false, or -1 in place of a length. Results are available as:
 *
 * <ul>
 *   <li>{@link #decompress(byte[])}: a new array
 *   <li>{@link #decompress(byte[], ReusableBuffer)}: an array of the caller, reused without garbage
 *   <li>{@link #open(byte[])}: an input stream for parsers; one small object per payload
 *   <li>{@link #decompress(ByteBuffer, DirectBuffer)}: memory outside the heap
 * </ul>
 *
 * <p><strong>Parts.</strong> Some websocket clients deliver a message in parts as they are
 * received, with a flag for the last one, in a {@link ByteBuffer} of any kind. These methods take
 * such parts: {@link #decompress(ByteBuffer, boolean)},
 * {@link #decompress(ByteBuffer, boolean, ReusableBuffer)},
 * {@link #decompress(ByteBuffer, boolean, DirectBuffer)} and {@link #open(ByteBuffer, boolean)}.
 * Parts are kept outside the heap until the last one; methods without the flag take a part as the
 * last one. With {@code java.net.http.WebSocket}:
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
 * <p><strong>Threads.</strong> A decompressor may be used by different threads, one at a time. On
 * concurrent use the second thread gets an {@link IllegalStateException}, and the state is
 * unaffected. Only {@link #close}, {@link #isClosed}, {@link #transport} and {@link #stats} may be
 * called at any time. Different decompressors are independent.
 *
 * <p><strong>Errors.</strong> After a {@link DecompressionException} every call that decompresses
 * throws one with the same error until {@link #reset}. For transports that are not
 * {@linkplain Transport#isStream streams}, an error affects only its own message: if it occurs
 * before the last part of a message, the remaining parts up to the last one throw the same
 * exception, and the next message is decoded. Each message is decoded completely before it is
 * returned, so a reader that stops early does not affect the next message. Once the decompressor is
 * closed, all methods that need a connection throw {@link IllegalStateException}.
 *
 * <p><strong>Memory.</strong> The native memory of a connection grows with its data, up to 34 KB
 * for zlib and 72 KB for zstd with the usual window. All connections of the process share the
 * memory that is needed only while a message is decoded, and keep at most one set per processor;
 * see {@link #sharedMemory}. A decompressor that becomes unreachable without {@link #close} is
 * freed some time after garbage collection.
 */
public final class GatewayDecompressor implements Closeable {
    private final Transport transport;
    private final Handle handle;
    private final boolean keepsRecent;
    /** Records the messages of this decompressor; null if they are not recorded. */
    private final StatsRecorder recorder;
    /** Number of this decompressor in the recorder; -1 if there is no recorder. */
    private final int number;
    /** The stream of the last payload, if it may still be read; otherwise null. */
    private PayloadStream stream;

    private GatewayDecompressor(Builder options) {
        NativeLoader.load();
        transport = options.transport;
        keepsRecent = options.keepMessages > 0 && options.keepBytes > 0;
        long connection = Native.create(
                transport.ordinal(),
                options.maxMessage,
                options.windowLog,
                options.checks.ordinal(),
                options.keepMessages,
                options.keepBytes);
        // Frees the connection even if one of the next calls throws.
        handle = Reaper.own(this, connection, Native::free);
        if (options.dropped.length > 0) {
            int result = Native.dropEvents(connection, options.dropped, options.dropped.length);
            NativeResult.requireMemory(result, "names of events", options.dropped.length);
        }
        if (options.dictionaries != null) {
            options.dictionaries.serve(connection);
        }
        recorder = options.recorder;
        number = recorder == null ? -1 : recorder.record(connection);
    }

    /**
     * Creates a decompressor with the default options of {@link Builder}.
     *
     * @param transport the gateway's compression
     * @return a decompressor for a new connection
     * @throws UnsatisfiedLinkError if there is no native library for this platform; see
     *     {@link NativeLoader}
     */
    public static GatewayDecompressor create(Transport transport) {
        return builder(transport).build();
    }

    /**
     * Returns a builder with the default options.
     *
     * @param transport the gateway's compression
     * @return a builder, which may build more than one decompressor
     */
    public static Builder builder(Transport transport) {
        return new Builder(transport);
    }

    /** Collects the options of decompressors and builds them. Not thread-safe. */
    public static final class Builder {
        private final Transport transport;
        private int maxMessage = 64 << 20;
        private int windowLog = 16;
        private Checks checks = Checks.NONE;
        private int keepMessages;
        private int keepBytes;
        private byte[] dropped = {};
        private Dictionaries dictionaries;
        private StatsRecorder recorder;

        private Builder(Transport transport) {
            this.transport = Objects.requireNonNull(transport, "transport");
        }

        /**
         * Limits the size of payloads. A larger one is an error of kind
         * {@link DecompressionException.Kind#LIMIT}, as are compressed bytes of an incomplete
         * message that exceed this limit by more than an eighth plus 64 KiB.
         *
         * @param bytes the largest payload in bytes; default: 64 MiB
         * @return this
         * @throws IllegalArgumentException if it is negative
         */
        public Builder maxMessage(int bytes) {
            if (bytes < 0) {
                throw new IllegalArgumentException("the largest payload cannot have " + bytes + " bytes");
            }
            maxMessage = bytes;
            return this;
        }

        /**
         * Limits the window of {@link Transport#ZSTD}, and with it the memory of the connection. A
         * zstd frame with a larger window is an error of kind
         * {@link DecompressionException.Kind#LIMIT} before anything is allocated for it. The other
         * transports ignore this limit: the window of zlib is at most 32 KiB, and that of messages
         * that are compressed on their own is the payload.
         *
         * @param log the base-2 logarithm of the window in bytes, 10 to 27; default: 16, as
         *     gateways use
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
         * Sets the checks of each payload.
         *
         * @param checks the checks; default: {@link Checks#NONE}
         * @return this
         */
        public Builder checks(Checks checks) {
            this.checks = Objects.requireNonNull(checks, "checks");
            return this;
        }

        /**
         * Keeps the last compressed websocket messages for {@link #recording}. They have the
         * private content of payloads, and count as memory of the connection. A message of more
         * than {@code bytes} bytes displaces all others and is not kept itself.
         *
         * @param messages the maximum number of messages; default: 0, which keeps none
         * @param bytes the maximum total of compressed bytes; 0 keeps none
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
         * Drops events before they reach Java. Their messages are decoded, because later ones may
         * refer to them, but not delivered: the call returns the same as for an incomplete message.
         * {@link GatewayDecompressor#lastEvent} and {@link GatewayDecompressor#lastSequence}
         * describe the message, even without {@link Checks}; resume after that number. Payloads are
         * read as ETF if the checks are for ETF, otherwise as JSON. Without checks, reading stops
         * after the last of {@code t}, {@code s} and {@code op}, and a payload that is not JSON is
         * delivered.
         *
         * @param names all names of events to drop, such as {@code TYPING_START}; a second call
         *     replaces those of the first
         * @return this
         * @throws IllegalArgumentException if one is empty or has a line feed
         */
        public Builder dropEvents(String... names) {
            StringBuilder lines = new StringBuilder();
            for (String name : names) {
                if (name.isEmpty() || name.indexOf('\n') >= 0) {
                    throw new IllegalArgumentException("not the name of an event: \"" + name + "\"");
                }
                lines.append(name).append('\n');
            }
            dropped = lines.toString().getBytes(StandardCharsets.UTF_8);
            return this;
        }

        /**
         * Sets the dictionaries of zstd frames. A frame that names a dictionary which is not among
         * them is an error of kind {@link DecompressionException.Kind#UNSUPPORTED}.
         *
         * @param dictionaries the dictionaries, which any number of decompressors may share
         * @return this
         * @throws IllegalArgumentException unless the transport is {@link Transport#ZSTD_FRAME}
         */
        public Builder dictionaries(Dictionaries dictionaries) {
            if (transport != Transport.ZSTD_FRAME) {
                throw new IllegalArgumentException("dictionaries are for zstd-frame, not for " + transport.queryName());
            }
            this.dictionaries = Objects.requireNonNull(dictionaries, "dictionaries");
            return this;
        }

        /**
         * Records the cost of each message: sizes and outcome, and the decoding time of one in 16,
         * but no payload.
         *
         * @param recorder the recorder, which any number of decompressors may share; null for none
         * @return this
         */
        public Builder recordStats(StatsRecorder recorder) {
            this.recorder = recorder;
            return this;
        }

        /**
         * Builds a decompressor.
         *
         * @return a decompressor for a new connection
         * @throws OutOfMemoryError if there is no memory for the names of dropped events
         * @throws UnsatisfiedLinkError if there is no native library for this platform; see
         *     {@link NativeLoader}
         */
        public GatewayDecompressor build() {
            return new GatewayDecompressor(this);
        }
    }

    /**
     * Returns the gateway's compression.
     *
     * @return the transport
     */
    public Transport transport() {
        return transport;
    }

    /**
     * Decompresses into a new array.
     *
     * @param frame the content of one websocket message
     * @return the payload; null if the message is incomplete, or its event is dropped
     * @throws DecompressionException if the stream is damaged or above the limits
     */
    public byte[] decompress(byte[] frame) throws DecompressionException {
        return decompress(frame, 0, frame.length);
    }

    /**
     * Decompresses into a new array.
     *
     * @param frame an array with the content of one websocket message
     * @param offset the offset of the content
     * @param length the length of the content in bytes
     * @return the payload; null if the message is incomplete, or its event is dropped
     * @throws DecompressionException if the stream is damaged or above the limits
     * @throws IndexOutOfBoundsException if the range is not within the array; then nothing is
     *     decoded
     * @throws OutOfMemoryError if the payload does not fit on the heap. This message is lost, later
     *     ones are not
     */
    public byte[] decompress(byte[] frame, int offset, int length) throws DecompressionException {
        Ranges.check(frame.length, offset, length);
        return decode(frame, false, offset, length, true);
    }

    /**
     * Decompresses a part of a websocket message into a new array.
     *
     * @param part the bytes from its position to its limit, in a buffer of any kind. Afterwards its
     *     position is its limit; after an exception it is unchanged
     * @param last whether this is the last part of the websocket message
     * @return the payload; null if the message is incomplete, or its event is dropped
     * @throws DecompressionException if the stream is damaged or above the limits
     * @throws OutOfMemoryError if the payload, or a copy of a read-only part, does not fit on the
     *     heap
     */
    public byte[] decompress(ByteBuffer part, boolean last) throws DecompressionException {
        Object memory = Parts.memory(part);
        try {
            byte[] payload = decode(memory, part.isDirect(), Parts.offset(part), part.remaining(), last);
            Parts.consume(part);
            return payload;
        } finally {
            Parts.release(part, memory);
        }
    }

    private byte[] decode(Object part, boolean direct, int offset, int length, boolean last)
            throws DecompressionException {
        long connection = enter();
        try {
            endStream();
            Parts.checkRange(part, direct, offset, length);
            byte[] payload = Native.decode(connection, part, direct, offset, length, last);
            if (payload == null) {
                NativeResult.isComplete(connection, Native.outcome(connection));
            }
            return payload;
        } finally {
            exit();
        }
    }

    /**
     * Decompresses into a reused array.
     *
     * @param frame the content of one websocket message
     * @param into receives the payload; its length is 0 if there is none
     * @return the length of the payload in bytes; -1 if the message is incomplete, or its event is
     *     dropped
     * @throws DecompressionException if the stream is damaged or above the limits
     */
    public int decompress(byte[] frame, ReusableBuffer into) throws DecompressionException {
        return decompress(frame, 0, frame.length, into);
    }

    /**
     * Decompresses into a reused array.
     *
     * @param frame an array with the content of one websocket message
     * @param offset the offset of the content
     * @param length the length of the content in bytes
     * @param into receives the payload; its length is 0 if there is none
     * @return the length of the payload in bytes; -1 if the message is incomplete, or its event is
     *     dropped
     * @throws DecompressionException if the stream is damaged or above the limits
     * @throws IndexOutOfBoundsException if the range is not within the array; then nothing is
     *     decoded
     * @throws OutOfMemoryError if the payload does not fit on the heap. {@link #fetch} can still
     *     deliver it until the next message
     */
    public int decompress(byte[] frame, int offset, int length, ReusableBuffer into)
            throws DecompressionException {
        Ranges.check(frame.length, offset, length);
        return decodeInto(frame, false, offset, length, true, into);
    }

    /**
     * Decompresses a part of a websocket message into a reused array.
     *
     * @param part the bytes from its position to its limit, in a buffer of any kind. Afterwards its
     *     position is its limit; after an exception it is unchanged
     * @param last whether this is the last part of the websocket message
     * @param into receives the payload; its length is 0 if there is none
     * @return the length of the payload in bytes; -1 if the message is incomplete, or its event is
     *     dropped
     * @throws DecompressionException if the stream is damaged or above the limits
     * @throws OutOfMemoryError if the payload, or a copy of a read-only part, does not fit on the
     *     heap
     */
    public int decompress(ByteBuffer part, boolean last, ReusableBuffer into) throws DecompressionException {
        Object memory = Parts.memory(part);
        try {
            int payload =
                    decodeInto(memory, part.isDirect(), Parts.offset(part), part.remaining(), last, into);
            Parts.consume(part);
            return payload;
        } finally {
            Parts.release(part, memory);
        }
    }

    private int decodeInto(
            Object part, boolean direct, int offset, int length, boolean last, ReusableBuffer into)
            throws DecompressionException {
        byte[] array = into.ensureCapacity(0);
        long connection = enter();
        try {
            int payload =
                    decodeTo(connection, part, direct, offset, length, last, array, false, 0, 0, array.length);
            if (payload > array.length) {
                fetchTo(connection, into.ensureCapacity(payload), false, 0);
            }
            into.setLength(Math.max(payload, 0));
            return payload;
        } finally {
            exit();
        }
    }

    /**
     * Decompresses into memory outside the heap.
     *
     * @param frame the content of one websocket message: the bytes from its position to its limit,
     *     in a buffer of any kind. Afterwards its position is its limit; after an exception it is
     *     unchanged
     * @param into receives the payload; its length is 0 if there is none. Nobody may use its bytes
     *     during the call
     * @return whether there is a payload; false if the message is incomplete, or its event is
     *     dropped
     * @throws DecompressionException if the stream is damaged or above the limits
     * @throws IllegalArgumentException if the frame is the buffer of {@code into} itself
     * @throws OutOfMemoryError if there is not enough memory for the payload, or for a copy of a
     *     read-only frame
     */
    public boolean decompress(ByteBuffer frame, DirectBuffer into) throws DecompressionException {
        return decompress(frame, true, into);
    }

    /**
     * Decompresses a part of a websocket message into memory outside the heap.
     *
     * @param part the bytes from its position to its limit, in a buffer of any kind. Afterwards its
     *     position is its limit; after an exception it is unchanged
     * @param last whether this is the last part of the websocket message
     * @param into receives the payload; its length is 0 if there is none. Nobody may use its bytes
     *     during the call
     * @return whether there is a payload; false if the message is incomplete, or its event is
     *     dropped
     * @throws DecompressionException if the stream is damaged or above the limits
     * @throws IllegalArgumentException if the part is the buffer of {@code into} itself
     * @throws OutOfMemoryError if there is not enough memory for the payload, or for a copy of a
     *     read-only part
     */
    public boolean decompress(ByteBuffer part, boolean last, DirectBuffer into) throws DecompressionException {
        if (part == into.buffer()) {
            throw new IllegalArgumentException("the part is the buffer that its payload should go to");
        }
        Object memory = Parts.memory(part);
        try {
            int offset = Parts.offset(part);
            boolean complete = decodeDirect(memory, part.isDirect(), offset, part.remaining(), last, into);
            Parts.consume(part);
            return complete;
        } finally {
            Parts.release(part, memory);
        }
    }

    private boolean decodeDirect(
            Object part, boolean direct, int offset, int length, boolean last, DirectBuffer into)
            throws DecompressionException {
        DirectBuffer.Memory memory = into.ensureCapacity(0);
        int room = memory.buffer.capacity();
        long connection = enter();
        try {
            int payload = decodeTo(
                    connection, part, direct, offset, length, last, memory.buffer, true, memory.address, 0, room);
            if (payload > room) {
                fetchTo(connection, into.ensureCapacity(payload).buffer, true, 0);
            }
            into.setLength(Math.max(payload, 0));
            return payload >= 0;
        } finally {
            exit();
        }
    }

    /**
     * Decompresses a part of a websocket message into a buffer of the caller, of any kind, such as
     * one of Netty's {@code ByteBuf.nioBuffer}. The payload goes to the position of {@code into},
     * which moves past the payload.
     *
     * @param part the bytes from its position to its limit, in a buffer of any kind. Afterwards its
     *     position is its limit; after an exception other than {@link BufferOverflowException} it
     *     is unchanged
     * @param last whether this is the last part of the websocket message
     * @param into receives the payload; its position is unchanged if there is none. If the buffer
     *     is direct, nobody may use its bytes during the call. Its bytes from position to limit may
     *     change whatever the result is
     * @return the length of the payload in bytes; -1 if the message is incomplete, or its event is
     *     dropped
     * @throws DecompressionException if the stream is damaged or above the limits
     * @throws BufferOverflowException if the payload is longer than what remains in {@code into}.
     *     The payload is kept until the next message: {@link #pendingLength} returns its length,
     *     {@link #fetch} delivers it
     * @throws ReadOnlyBufferException if {@code into} is read-only; then nothing is decoded
     * @throws IllegalArgumentException if both buffers are the same object
     * @throws OutOfMemoryError if a copy of a read-only part does not fit on the heap
     */
    public int decompress(ByteBuffer part, boolean last, ByteBuffer into) throws DecompressionException {
        requireWritable(into);
        if (part == into) {
            throw new IllegalArgumentException("the part is the buffer that its payload should go to");
        }
        Object memory = Parts.memory(part);
        int payload;
        try {
            payload = decodeTo(memory, part.isDirect(), Parts.offset(part), part.remaining(), last, into);
            Parts.consume(part);
        } finally {
            Parts.release(part, memory);
        }
        advance(into, payload);
        return payload;
    }

    private int decodeTo(Object part, boolean direct, int offset, int length, boolean last, ByteBuffer into)
            throws DecompressionException {
        Object memory = Parts.memory(into);
        int at = Parts.offset(into);
        int room = into.remaining();
        Parts.checkRange(memory, into.isDirect(), at, room);
        long connection = enter();
        try {
            return decodeTo(
                    connection, part, direct, offset, length, last, memory, into.isDirect(), 0, at, room);
        } finally {
            exit();
        }
    }

    /**
     * Decompresses a part of a websocket message into {@code into}, an array or a direct buffer.
     * Returns the length of the payload; if that exceeds {@code room}, the payload is kept instead
     * of written. Returns -1 if the message is incomplete, or its event is dropped.
     */
    private int decodeTo(
            long connection,
            Object part,
            boolean direct,
            int offset,
            int length,
            boolean last,
            Object into,
            boolean intoDirect,
            long intoAddress,
            int intoOffset,
            int room)
            throws DecompressionException {
        endStream();
        Parts.checkRange(part, direct, offset, length);
        int payload = (int) Native.decodeTo(
                connection, part, direct, offset, length, last, into, intoDirect, intoAddress, intoOffset, room);
        return NativeResult.isComplete(connection, payload) ? payload : -1;
    }

    /**
     * Returns the length of the payload that was too long for a buffer.
     *
     * @return the length in bytes; -1 if there is none
     */
    public int pendingLength() {
        return (int) queryLong(Native::pending);
    }

    /**
     * Delivers the payload that was too long for a buffer.
     *
     * @param into receives the payload at its position, which moves past the payload. The buffer is
     *     unchanged if there is none
     * @return the length of the payload in bytes; -1 if there is none
     * @throws BufferOverflowException if the payload is longer than what remains in {@code into};
     *     it is still kept
     * @throws ReadOnlyBufferException if {@code into} is read-only
     */
    public int fetch(ByteBuffer into) {
        requireWritable(into);
        long connection = enter();
        int payload;
        try {
            payload = (int) Native.pending(connection);
            if (payload >= 0 && payload <= into.remaining()) {
                Object memory = Parts.memory(into);
                int at = Parts.offset(into);
                Parts.checkRange(memory, into.isDirect(), at, payload);
                fetchTo(connection, memory, into.isDirect(), at);
            }
        } finally {
            exit();
        }
        advance(into, payload);
        return payload;
    }

    /** Writes the kept payload to an array or a direct buffer with room for it. */
    private static void fetchTo(long connection, Object into, boolean direct, int offset) {
        if (Native.fetchTo(connection, into, direct, offset) < 0) {
            throw NativeResult.defect();
        }
    }

    private static void requireWritable(ByteBuffer into) {
        if (into.isReadOnly()) {
            throw new ReadOnlyBufferException();
        }
    }

    private static void advance(ByteBuffer into, int payload) {
        if (payload > into.remaining()) {
            throw new BufferOverflowException();
        }
        Parts.setPosition(into, into.position() + Math.max(payload, 0));
    }

    /**
     * Decompresses a message to be read as a stream. The message is decoded completely before this
     * returns, so the stream need not be read to its end.
     *
     * @param frame the content of one websocket message
     * @return the payload; null if the message is incomplete, or its event is dropped. Each payload
     *     has a stream of its own, which throws {@link java.io.IOException} after it is closed,
     *     after the next call that decompresses, and after {@link #reset}. Its reads count as calls
     *     of this decompressor, so only one thread at a time may make them
     * @throws DecompressionException if the stream is damaged or above the limits
     */
    public InputStream open(byte[] frame) throws DecompressionException {
        return open(frame, 0, frame.length);
    }

    /**
     * Decompresses a message to be read as a stream. The message is decoded completely before this
     * returns, so the stream need not be read to its end.
     *
     * @param frame an array with the content of one websocket message
     * @param offset the offset of the content
     * @param length the length of the content in bytes
     * @return the payload, as {@link #open(byte[])} returns it; null if the message is incomplete,
     *     or its event is dropped
     * @throws DecompressionException if the stream is damaged or above the limits
     * @throws IndexOutOfBoundsException if the range is not within the array; then nothing is
     *     decoded
     * @throws OutOfMemoryError if the payload does not fit on the heap. {@link #fetch} can still
     *     deliver it until the next message
     */
    public InputStream open(byte[] frame, int offset, int length) throws DecompressionException {
        Ranges.check(frame.length, offset, length);
        return decodeStream(frame, false, offset, length, true);
    }

    /**
     * Decompresses a part of a websocket message to be read as a stream.
     *
     * @param part the bytes from its position to its limit, in a buffer of any kind. Afterwards its
     *     position is its limit; after an exception it is unchanged
     * @param last whether this is the last part of the websocket message
     * @return the payload, as {@link #open(byte[])} returns it; null if the message is incomplete,
     *     or its event is dropped
     * @throws DecompressionException if the stream is damaged or above the limits
     * @throws OutOfMemoryError if the payload, or a copy of a read-only part, does not fit on the
     *     heap
     */
    public InputStream open(ByteBuffer part, boolean last) throws DecompressionException {
        Object memory = Parts.memory(part);
        try {
            InputStream payload =
                    decodeStream(memory, part.isDirect(), Parts.offset(part), part.remaining(), last);
            Parts.consume(part);
            return payload;
        } finally {
            Parts.release(part, memory);
        }
    }

    private InputStream decodeStream(Object part, boolean direct, int offset, int length, boolean last)
            throws DecompressionException {
        PayloadStream next = new PayloadStream(this);
        long connection = enter();
        try {
            endStream(); // gives the array of the last payload back, so that the next line takes it
            byte[] array = ArrayPool.take();
            int payload = -1;
            try {
                payload = decodeTo(connection, part, direct, offset, length, last, array, false, 0, 0, array.length);
                if (payload < 0) {
                    return null;
                }
                if (payload > array.length) {
                    array = new byte[ReusableBuffer.grown(payload)];
                    fetchTo(connection, array, false, 0);
                }
                next.begin(array, payload);
                stream = next;
                return next;
            } finally {
                if (payload < 0) {
                    ArrayPool.release(array);
                }
            }
        } finally {
            exit();
        }
    }

    /**
     * Returns the opcode of the last complete message, which may have been dropped.
     *
     * @return its {@code op}; -1 if it has none, or with neither {@link Checks} nor
     *     {@link Builder#dropEvents}, since payloads are not read then
     */
    public int lastOpcode() {
        return (int) queryLong(Native::lastOpcode);
    }

    /**
     * Returns the sequence number of the last complete message, which may have been dropped.
     *
     * @return its {@code s}; -1 if it has none, or with neither {@link Checks} nor
     *     {@link Builder#dropEvents}, since payloads are not read then
     */
    public long lastSequence() {
        return queryLong(Native::lastSequence);
    }

    /**
     * Returns the event name of the last complete message, which may have been dropped.
     *
     * @return its {@code t} with escapes not decoded; null if it has none, or with neither
     *     {@link Checks} nor {@link Builder#dropEvents}, since payloads are not read then
     */
    public String lastEvent() {
        return query(Native::lastEvent);
    }

    /**
     * Starts a new connection, which may resume an old session. Clears history, fragments, parts,
     * a payload that was not fetched, counters, the last opcode, sequence number and event, recent
     * messages and the error, and frees their memory. The options stay.
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
     * Sets the last sequence number before this connection, when a session is resumed. Call it
     * after {@link #reset}; it is used only by checks of the sequence.
     *
     * @param sequence the {@code s} of the last event received
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
     * Returns the number of complete messages of this connection. Where each message is compressed
     * on its own, those that failed count, too.
     *
     * @return their number since the last {@link #reset}
     */
    public long messages() {
        return queryLong(Native::messages);
    }

    /**
     * Returns the number of compressed bytes of this connection. Parts of an incomplete websocket
     * message count once its last part has arrived.
     *
     * @return bytes since the last {@link #reset}
     */
    public long compressedBytes() {
        return queryLong(Native::compressedBytes);
    }

    /**
     * Returns the native memory of this connection.
     *
     * @return bytes outside the heap: history, tables, parts of a message, a payload that was not
     *     fetched, recent messages
     */
    public long memory() {
        return queryLong(Native::memory);
    }

    /**
     * Returns the native memory that all connections of the process share. It is needed only while
     * messages are decoded. A buffer that has grown above 1 MiB for a large payload may stay until
     * 256 messages in a row were smaller, or until {@link #trim}.
     *
     * @return an upper limit of this memory in bytes, without the memory that threads are using at
     *     the moment
     */
    public static long sharedMemory() {
        NativeLoader.load();
        return Native.sharedMemory();
    }

    /**
     * Returns memory outside the heap to the system: {@link #sharedMemory} that is not in use, and,
     * with glibc, memory of closed connections that its allocator keeps. This also happens
     * automatically some seconds after connections were closed, unless others are being closed
     * then. It takes milliseconds for hundreds of megabytes.
     */
    public static void trim() {
        NativeLoader.load();
        Native.trim();
    }

    /**
     * Returns the recent messages of this connection, including a failed one, as a file for
     * {@code linerate gateway replay}. Those of a stream can be replayed only if the limits of
     * {@link Builder#keepRecent} have displaced none since the beginning of the connection.
     *
     * @return the bytes of the file
     * @throws IllegalStateException unless {@link Builder#keepRecent} was set, with both numbers
     *     above 0; or if a kept message has more than 1 GiB of compressed bytes, which a file cannot
     *     have
     */
    public byte[] recording() {
        byte[] file = query(Native::recording);
        if (file == null) {
            if (!keepsRecent) {
                throw new IllegalStateException("recent messages are not kept: see Builder.keepRecent");
            }
            if (queryLong(Native::outcome) == Native.DEFECT) {
                throw NativeResult.defect();
            }
            throw new IllegalStateException("a recent message is larger than 1 GiB, which a recording cannot have");
        }
        return file;
    }

    /**
     * Returns the statistics of this connection, including those before the last {@link #reset}.
     *
     * @return statistics in which messages of the last 50 milliseconds may be missing; null without
     *     {@link Builder#recordStats}, after {@link #close}, and for a connection beyond
     *     {@link StatsRecorder.Builder#maxConnections}
     */
    public Stats stats() {
        return recorder == null ? null : recorder.ofConnection(number);
    }

    private long queryLong(LongUnaryOperator function) {
        long connection = enter();
        try {
            return function.applyAsLong(connection);
        } finally {
            exit();
        }
    }

    private <T> T query(LongFunction<T> function) {
        long connection = enter();
        try {
            return function.apply(connection);
        } finally {
            exit();
        }
    }

    /**
     * Returns whether {@link #close} was called.
     *
     * @return true after {@link #close}
     */
    public boolean isClosed() {
        return handle.isClosed();
    }

    /**
     * Closes the decompressor and frees its memory. This may be called from any thread and more
     * than once. If another thread is decoding a message, that thread finishes the message and
     * frees the memory.
     */
    @Override
    public void close() {
        if (handle.close()) {
            endStream();
        }
    }

    /** Ends the stream of the last payload. Call it between enter and exit, or after close. */
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
}
