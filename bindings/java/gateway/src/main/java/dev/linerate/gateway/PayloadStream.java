package dev.linerate.gateway;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

/**
 * Reads the payload of a message. The message was decoded completely before, so a reader may stop
 * anywhere.
 *
 * <p>Each payload has its own stream, so that an old stream cannot read or close a later payload.
 * The array is from {@link ArrayPool}. It is released when the last byte is read, when the stream
 * or the decompressor is closed, when the decompressor is reset, or with the next message. Reads
 * hold the {@link Handle} of the decompressor, so that no array is released during a read.
 */
final class PayloadStream extends InputStream {
    /** Keeps the decompressor reachable as long as the stream is. */
    private final GatewayDecompressor owner;

    private byte[] array;
    private int position;
    private int end;
    private boolean open;

    PayloadStream(GatewayDecompressor owner) {
        this.owner = owner;
    }

    /**
     * Starts with a payload, the first {@code length} bytes of {@code array}. Call it between enter
     * and exit of the decompressor.
     */
    void begin(byte[] array, int length) {
        this.array = array;
        position = 0;
        end = length;
        open = true;
        releaseAtEnd();
    }

    /**
     * Ends the stream: later reads throw. Call it between enter and exit of the decompressor, or
     * after the decompressor was closed.
     */
    void end() {
        open = false;
        position = end;
        releaseAtEnd();
    }

    private void releaseAtEnd() {
        if (position == end && array != null) {
            ArrayPool.release(array);
            array = null;
        }
    }

    private void mustBeOpen() throws IOException {
        if (!open) {
            throw new IOException("the stream is closed, or the next message was decoded");
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
            releaseAtEnd();
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
            releaseAtEnd();
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
            releaseAtEnd();
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

    /**
     * Closes the stream, not the decompressor. It may be called again, and after the decompressor
     * was closed. Throws {@link IllegalStateException} while another thread uses the decompressor.
     */
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
