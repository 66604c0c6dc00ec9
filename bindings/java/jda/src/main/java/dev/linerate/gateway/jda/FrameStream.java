package dev.linerate.gateway.jda;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * The bytes that the client receives: the HTTP response, then websocket frames (RFC 6455) in which
 * compressed messages of a gateway are replaced by uncompressed ones.
 *
 * <p>All progress is in fields, so that a read can continue after a timeout.
 */
final class FrameStream extends InputStream {
    private static final int FINAL = 0x80;
    private static final int RESERVED = 0x70;
    private static final int OPCODE = 0x0f;
    private static final int CONTINUATION = 0;
    private static final int TEXT = 1;
    private static final int BINARY = 2;
    private static final int MASKED = 0x80;
    private static final int MAX_HEADER = 14;

    private enum Phase {
        /** The next bytes belong to the HTTP response. */
        RESPONSE,
        /** The next bytes begin a frame. */
        FRAME,
        /** The next bytes belong to a frame of a compressed message. */
        COMPRESSED,
        /** The next bytes belong to a frame that is passed through. */
        PASS_FRAME,
        /** A decompressed payload is being read by the client. */
        PAYLOAD,
        /**
         * Everything is passed through: this is no gateway connection, the server did not switch to
         * websocket frames, or there was a protocol error.
         */
        PASS_ALL
    }

    private final InputStream delegate;
    private final Supplier<GatewayConnection> requested;
    private GatewayConnection gateway;
    private Phase phase = Phase.RESPONSE;

    /** Received bytes; those from {@code position} to {@code limit} were not consumed. */
    private final byte[] buffer = new byte[8 << 10];
    private int position;
    private int limit;

    /** The header of a frame for the client, which has read it up to {@code headerPosition}. */
    private final byte[] header = new byte[MAX_HEADER];
    private int headerPosition;
    private int headerLimit;

    private final ResponseHeader response = new ResponseHeader();
    /** Number of bytes of the current frame that were not consumed. */
    private long left;
    private boolean lastFrame;
    private boolean inMessage;
    private InputStream payload;

    FrameStream(InputStream delegate, Supplier<GatewayConnection> requested) {
        this.delegate = delegate;
        this.requested = requested;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        if (offset < 0 || length < 0 || length > Objects.requireNonNull(into, "into").length - offset) {
            throw new IndexOutOfBoundsException(offset + " and " + length + " of " + into.length + " bytes");
        }
        if (length == 0) {
            return 0;
        }
        while (true) {
            int count = headerPosition < headerLimit ? takeHeader(into, offset, length) : step(into, offset, length);
            if (count != 0) {
                return count;
            }
        }
    }

    private int takeHeader(byte[] into, int offset, int length) {
        int count = Math.min(length, headerLimit - headerPosition);
        System.arraycopy(header, headerPosition, into, offset, count);
        headerPosition += count;
        return count;
    }

    /**
     * Does one step. Returns the number of bytes for the client, 0 if another step is needed, -1 at
     * the end.
     */
    private int step(byte[] into, int offset, int length) throws IOException {
        switch (phase) {
            case RESPONSE:
                return takeResponse(into, offset, length);
            case FRAME:
                return beginFrame();
            case COMPRESSED:
                return takeCompressed();
            case PASS_FRAME:
                return takePassedFrame(into, offset, length);
            case PAYLOAD:
                return takePayload(into, offset, length);
            default:
                return position < limit ? takeBuffered(into, offset, length) : delegate.read(into, offset, length);
        }
    }

    private int takeResponse(byte[] into, int offset, int length) throws IOException {
        if (!ensureBuffered(1)) {
            return -1;
        }
        gateway = requested.get();
        if (gateway == null) {
            phase = Phase.PASS_ALL;
            return 0;
        }
        int count = response.count(buffer, position, Math.min(limit, position + length));
        System.arraycopy(buffer, position, into, offset, count);
        position += count;
        if (response.isComplete()) {
            phase = response.isUpgrade() ? Phase.FRAME : Phase.PASS_ALL;
        }
        return count;
    }

    /** Reads the header of a frame and chooses the next phase. Returns 0, or -1 at the end. */
    private int beginFrame() throws IOException {
        if (!ensureBuffered(2)) {
            return position == limit ? -1 : passAll();
        }
        int first = buffer[position];
        int second = buffer[position + 1];
        int size = headerSize(second);
        if (!ensureBuffered(size)) {
            return passAll();
        }
        left = payloadLength(size, second & 0x7f);
        // Frames of a server have no mask, and a 64-bit length has its top bit clear. The client
        // itself reports frames that break these rules.
        if ((second & MASKED) != 0 || left < 0) {
            return passAll();
        }
        if (isCompressed(first)) {
            gateway.checkLength(left);
            position += size;
            lastFrame = (first & FINAL) != 0;
            inMessage = true;
            phase = Phase.COMPRESSED;
        } else {
            takeBuffered(header, 0, size);
            setHeader(size);
            phase = Phase.PASS_FRAME;
        }
        return 0;
    }

    private static int headerSize(int second) {
        int length = second & 0x7f;
        int mask = (second & MASKED) != 0 ? 4 : 0;
        return mask + (length < 126 ? 2 : length == 126 ? 4 : 10);
    }

    private long payloadLength(int size, int short7) {
        if (short7 < 126) {
            return short7;
        }
        long length = 0;
        for (int i = 2; i < size; i++) {
            length = length << 8 | buffer[position + i] & 0xff;
        }
        return length;
    }

    /**
     * Whether a frame belongs to a compressed message: a binary frame, or a continuation of a
     * compressed message. {@code first} is the first byte of its header.
     */
    private boolean isCompressed(int first) {
        int opcode = first & OPCODE;
        return (first & RESERVED) == 0 && (opcode == BINARY && !inMessage || opcode == CONTINUATION && inMessage);
    }

    private int takeCompressed() throws IOException {
        if (isSingleFrame() && left <= buffer.length) {
            if (!ensureBuffered((int) left)) {
                return -1;
            }
            payload = gateway.payload(buffer, position, (int) left);
            position += (int) left;
            endMessage();
            return 0;
        }
        while (left > 0) {
            int count = copyCompressed();
            if (count < 0) {
                return -1;
            }
            left -= count;
        }
        if (lastFrame) {
            payload = gateway.payload();
            endMessage();
        } else {
            phase = Phase.FRAME;
        }
        return 0;
    }

    private boolean isSingleFrame() {
        return lastFrame && gateway.length() == 0;
    }

    /**
     * Copies received bytes of the frame to the message, at most 8 KiB. Returns their number, -1 at
     * the end. Memory grows with them, not with the length that the frame declares.
     */
    private int copyCompressed() throws IOException {
        int max = (int) Math.min(left, buffer.length);
        byte[] message = gateway.ensureCapacity(max);
        int count = position < limit
                ? takeBuffered(message, gateway.length(), max)
                : delegate.read(message, gateway.length(), max);
        gateway.add(Math.max(count, 0));
        return count;
    }

    private void endMessage() throws IOException {
        inMessage = false;
        if (payload == null) {
            phase = Phase.FRAME;
            return;
        }
        writeHeader(FINAL | (gateway.isEtf() ? BINARY : TEXT), available(payload));
        phase = Phase.PAYLOAD;
    }

    private void writeHeader(int first, int length) {
        header[0] = (byte) first;
        int size = length < 126 ? 2 : length < 1 << 16 ? 4 : 10;
        header[1] = (byte) (size == 2 ? length : size == 4 ? 126 : 127);
        for (int i = size - 1, rest = length; i > 1; i--, rest >>>= 8) {
            header[i] = (byte) rest;
        }
        setHeader(size);
    }

    private void setHeader(int size) {
        headerPosition = 0;
        headerLimit = size;
    }

    private int takePassedFrame(byte[] into, int offset, int length) throws IOException {
        if (left == 0) {
            phase = Phase.FRAME;
            return 0;
        }
        int max = (int) Math.min(left, length);
        int count = position < limit ? takeBuffered(into, offset, max) : delegate.read(into, offset, max);
        left -= Math.max(count, 0);
        return count;
    }

    private int takePayload(byte[] into, int offset, int length) throws IOException {
        try {
            int count = payload.read(into, offset, length);
            if (count >= 0) {
                return count;
            }
        } catch (IllegalStateException e) {
            throw gateway.closedError(e);
        }
        payload = null;
        phase = Phase.FRAME;
        return 0;
    }

    private int passAll() {
        phase = Phase.PASS_ALL;
        return 0;
    }

    private int takeBuffered(byte[] into, int offset, int length) {
        int count = Math.min(length, limit - position);
        System.arraycopy(buffer, position, into, offset, count);
        position += count;
        return count;
    }

    /** Fills the buffer to at least this many bytes. Returns false if the stream ends before. */
    private boolean ensureBuffered(int bytes) throws IOException {
        if (limit - position >= bytes) {
            return true;
        }
        System.arraycopy(buffer, position, buffer, 0, limit - position);
        limit -= position;
        position = 0;
        while (limit < bytes) {
            int count = delegate.read(buffer, limit, buffer.length - limit);
            if (count < 0) {
                return false;
            }
            limit += count;
        }
        return true;
    }

    @Override
    public int available() throws IOException {
        int ready = headerLimit - headerPosition;
        switch (phase) {
            case PASS_FRAME:
                return ready + (int) Math.min(left, limit - position);
            case PAYLOAD:
                return ready + available(payload);
            case PASS_ALL:
                return ready + limit - position + delegate.available();
            default:
                return ready;
        }
    }

    private int available(InputStream payload) throws IOException {
        try {
            return payload.available();
        } catch (IllegalStateException e) {
            throw gateway.closedError(e);
        }
    }

    @Override
    public void close() throws IOException {
        delegate.close();
    }
}
