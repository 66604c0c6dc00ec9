package dev.linerate.gateway;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

/**
 * Reads the beginning of an array. Unlike {@link java.io.ByteArrayInputStream} it can be reused for
 * another array.
 */
final class ArrayStream extends InputStream {
    /** Null before {@link #begin} and after {@link #end}. */
    private byte[] array;
    private int position;
    private int end;

    void begin(byte[] array, int length) {
        this.array = array;
        position = 0;
        end = length;
    }

    /**
     * Makes {@code read}, {@code skip} and {@code available} throw until the next {@link #begin},
     * because the array is about to get another payload or to be replaced.
     */
    void end() {
        array = null;
    }

    private void mustBeOpen() throws IOException {
        if (array == null) {
            throw new IOException("the buffer has a new payload; get its stream again");
        }
    }

    @Override
    public int read() throws IOException {
        mustBeOpen();
        return position < end ? array[position++] & 0xff : -1;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        Ranges.check(Objects.requireNonNull(into, "into").length, offset, length);
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
        return count;
    }

    @Override
    public long skip(long count) throws IOException {
        mustBeOpen();
        int skipped = (int) Math.max(0, Math.min(count, end - position));
        position += skipped;
        return skipped;
    }

    @Override
    public int available() throws IOException {
        mustBeOpen();
        return end - position;
    }
}
