package dev.linerate.gateway.jda;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * What the client receives: the server's answer, then websocket frames (RFC 6455), compressed messages of a
 * gateway as uncompressed ones.
 *
 * <p>All progress is in fields, so that a read that times out goes on later where it was.
 */
final class FrameStream extends InputStream {
    private static final int FINAL = 0x80;
    private static final int RESERVED = 0x70;
    private static final int OPCODE = 0x0f;
    private static final int CONTINUATION = 0;
    private static final int TEXT = 1;
    private static final int BINARY = 2;
    private static final int MASKED = 0x80;
    private static final int LONGEST_HEAD = 14;

    private enum Phase {
        /** The head of the server's answer. */
        ANSWER,
        /** Between frames. */
        FRAME,
        /** In a piece of a compressed message. */
        PIECE,
        /** In a frame that goes to the client as it is. */
        PASSED,
        /** In a payload. */
        PAYLOAD,
        /** No gateway: the rest is not looked at. */
        ALL
    }

    private final InputStream below;
    private final Supplier<GatewayConnection> asked;
    private GatewayConnection gateway;
    private Phase phase = Phase.ANSWER;

    /** Bytes from below that were not used yet. */
    private final byte[] buffer = new byte[8 << 10];
    private int position;
    private int limit;

    /** The head of a frame for the client. */
    private final byte[] head = new byte[LONGEST_HEAD];
    private int headPosition;
    private int headLimit;

    private final AnswerHead answer = new AnswerHead();
    /** Bytes left of the frame. */
    private long left;
    private boolean lastPiece;
    private boolean inPieces;
    private InputStream payload;

    FrameStream(InputStream below, Supplier<GatewayConnection> asked) {
        this.below = below;
        this.asked = asked;
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
            int count = headPosition < headLimit ? takeHead(into, offset, length) : take(into, offset, length);
            if (count != 0) {
                return count;
            }
        }
    }

    private int takeHead(byte[] into, int offset, int length) {
        int count = Math.min(length, headLimit - headPosition);
        System.arraycopy(head, headPosition, into, offset, count);
        headPosition += count;
        return count;
    }

    /** One step: bytes for the client, 0 if it needs another step, -1 at the end. */
    private int take(byte[] into, int offset, int length) throws IOException {
        switch (phase) {
            case ANSWER:
                return takeAnswer(into, offset, length);
            case FRAME:
                return beginFrame();
            case PIECE:
                return takePiece();
            case PASSED:
                return takePassed(into, offset, length);
            case PAYLOAD:
                return takePayload(into, offset, length);
            default:
                return position < limit ? takeBuffered(into, offset, length) : below.read(into, offset, length);
        }
    }

    private int takeAnswer(byte[] into, int offset, int length) throws IOException {
        if (!buffered(1)) {
            return -1;
        }
        gateway = asked.get();
        if (gateway == null) {
            phase = Phase.ALL;
            return 0;
        }
        int count = answer.count(buffer, position, Math.min(limit, position + length));
        System.arraycopy(buffer, position, into, offset, count);
        position += count;
        if (answer.isWhole()) {
            phase = answer.isUpgrade() ? Phase.FRAME : Phase.ALL;
        }
        return count;
    }

    /** Reads the head of a frame and decides what becomes of the frame. */
    private int beginFrame() throws IOException {
        if (!buffered(2)) {
            return position == limit ? -1 : passAll();
        }
        int first = buffer[position];
        int second = buffer[position + 1];
        int size = headSize(second);
        if (!buffered(size)) {
            return passAll();
        }
        left = payloadLength(size, second & 0x7f);
        // Frames of a server have no mask, and the longest length has its top bit clear.
        if ((second & MASKED) != 0 || left < 0) {
            return passAll();
        }
        if (isPiece(first)) {
            gateway.mustFit(left);
            position += size;
            lastPiece = (first & FINAL) != 0;
            inPieces = true;
            phase = Phase.PIECE;
        } else {
            takeBuffered(head, 0, size);
            setHead(size);
            phase = Phase.PASSED;
        }
        return 0;
    }

    private static int headSize(int second) {
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

    /** Whether a frame is of a compressed message: binary, or what continues such a one. */
    private boolean isPiece(int first) {
        int opcode = first & OPCODE;
        return (first & RESERVED) == 0 && (opcode == BINARY && !inPieces || opcode == CONTINUATION && inPieces);
    }

    private int takePiece() throws IOException {
        if (isWholeMessage() && left <= buffer.length) {
            if (!buffered((int) left)) {
                return -1;
            }
            payload = gateway.payload(buffer, position, (int) left);
            position += (int) left;
            endMessage();
            return 0;
        }
        while (left > 0) {
            int count = copyPiece();
            if (count < 0) {
                return -1;
            }
            left -= count;
        }
        if (lastPiece) {
            payload = gateway.payload();
            endMessage();
        } else {
            phase = Phase.FRAME;
        }
        return 0;
    }

    private boolean isWholeMessage() {
        return lastPiece && gateway.length() == 0;
    }

    /** Memory grows with what arrives, not with what a frame's head declares. */
    private int copyPiece() throws IOException {
        int most = (int) Math.min(left, buffer.length);
        byte[] pieces = gateway.room(most);
        int count = position < limit
                ? takeBuffered(pieces, gateway.length(), most)
                : below.read(pieces, gateway.length(), most);
        gateway.add(Math.max(count, 0));
        return count;
    }

    private void endMessage() throws IOException {
        inPieces = false;
        if (payload == null) {
            phase = Phase.FRAME;
            return;
        }
        writeHead(FINAL | (gateway.isEtf() ? BINARY : TEXT), available(payload));
        phase = Phase.PAYLOAD;
    }

    private void writeHead(int first, int length) {
        head[0] = (byte) first;
        int size = length < 126 ? 2 : length < 1 << 16 ? 4 : 10;
        head[1] = (byte) (size == 2 ? length : size == 4 ? 126 : 127);
        for (int i = size - 1, rest = length; i > 1; i--, rest >>>= 8) {
            head[i] = (byte) rest;
        }
        setHead(size);
    }

    private void setHead(int size) {
        headPosition = 0;
        headLimit = size;
    }

    private int takePassed(byte[] into, int offset, int length) throws IOException {
        if (left == 0) {
            phase = Phase.FRAME;
            return 0;
        }
        int most = (int) Math.min(left, length);
        int count = position < limit ? takeBuffered(into, offset, most) : below.read(into, offset, most);
        left -= Math.max(count, 0);
        return count;
    }

    private int takePayload(byte[] into, int offset, int length) throws IOException {
        try {
            int count = payload.read(into, offset, length);
            if (count >= 0) {
                return count;
            }
        } catch (IllegalStateException state) {
            throw gateway.closed(state);
        }
        payload = null;
        phase = Phase.FRAME;
        return 0;
    }

    private int passAll() {
        phase = Phase.ALL;
        return 0;
    }

    private int takeBuffered(byte[] into, int offset, int length) {
        int count = Math.min(length, limit - position);
        System.arraycopy(buffer, position, into, offset, count);
        position += count;
        return count;
    }

    /** Sees to it that so many bytes are in the buffer. False if the stream ends before. */
    private boolean buffered(int bytes) throws IOException {
        if (limit - position >= bytes) {
            return true;
        }
        System.arraycopy(buffer, position, buffer, 0, limit - position);
        limit -= position;
        position = 0;
        while (limit < bytes) {
            int count = below.read(buffer, limit, buffer.length - limit);
            if (count < 0) {
                return false;
            }
            limit += count;
        }
        return true;
    }

    @Override
    public int available() throws IOException {
        int ready = headLimit - headPosition;
        switch (phase) {
            case PASSED:
                return ready + (int) Math.min(left, limit - position);
            case PAYLOAD:
                return ready + available(payload);
            case ALL:
                return ready + limit - position + below.available();
            default:
                return ready;
        }
    }

    private int available(InputStream payload) throws IOException {
        try {
            return payload.available();
        } catch (IllegalStateException state) {
            throw gateway.closed(state);
        }
    }

    @Override
    public void close() throws IOException {
        below.close();
    }
}
