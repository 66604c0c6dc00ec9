package dev.linerate.gateway;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

/**
 * Reads the payload of a message, which is decoded whole before that. So a reader may stop anywhere.
 *
 * <p>Each payload has its own, so that who holds an old one cannot read, or close, what came later. The array
 * is that of {@link ArrayPool} and goes back there when the last byte was read, when the stream is closed, or
 * with the next message. A reader is inside the {@link Handle} meanwhile, so that no array goes back under
 * it.
 */
final class PayloadStream extends InputStream {
    /** Keeps the decompressor, too, as long as somebody reads. */
    private final GatewayDecompressor owner;

    private byte[] array;
    private int position;
    private int end;
    private boolean open;

    PayloadStream(GatewayDecompressor owner) {
        this.owner = owner;
    }

    /** Begins with a payload. To be called inside. */
    void begin(byte[] array, int length) {
        this.array = array;
        position = 0;
        end = length;
        open = true;
        giveBackAtEnd();
    }

    /** Ends, whatever is left. To be called inside, or when nobody can get inside any more. */
    void end() {
        open = false;
        position = end;
        giveBackAtEnd();
    }

    private void giveBackAtEnd() {
        if (position == end && array != null) {
            ArrayPool.give(array);
            array = null;
        }
    }

    private void mustBeOpen() throws IOException {
        if (!open) {
            throw new IOException("the stream is closed, or the next message came");
        }
    }

    @Override
    public int read() throws IOException {
        owner.enter();
        try {
            mustBeOpen();
            if (position == end) {
                return -1;
            }
            int value = array[position++] & 0xff;
            giveBackAtEnd();
            return value;
        } finally {
            owner.exit();
        }
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        Ranges.check(Objects.requireNonNull(into, "into").length, offset, length);
        owner.enter();
        try {
            mustBeOpen();
            if (length == 0) {
                return 0;
            }
            int count = Math.min(length, end - position);
            if (count == 0) {
                return -1;
            }
            System.arraycopy(array, position, into, offset, count);
            position += count;
            giveBackAtEnd();
            return count;
        } finally {
            owner.exit();
        }
    }

    @Override
    public long skip(long count) throws IOException {
        owner.enter();
        try {
            mustBeOpen();
            int skipped = (int) Math.max(0, Math.min(count, end - position));
            position += skipped;
            giveBackAtEnd();
            return skipped;
        } finally {
            owner.exit();
        }
    }

    @Override
    public int available() throws IOException {
        owner.enter();
        try {
            mustBeOpen();
            return end - position;
        } finally {
            owner.exit();
        }
    }

    /** Ends the stream; the decompressor stays. It may be called again, and after the decompressor was closed. */
    @Override
    public void close() {
        try {
            owner.enter();
        } catch (IllegalStateException e) {
            if (owner.isClosed()) {
                return;
            }
            throw e;
        }
        try {
            end();
        } finally {
            owner.exit();
        }
    }
}
