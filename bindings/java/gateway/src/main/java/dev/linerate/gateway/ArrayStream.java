package dev.linerate.gateway;

import java.io.InputStream;
import java.util.Objects;

/** Reads the beginning of an array. Unlike those of the platform it can begin anew with another one. */
final class ArrayStream extends InputStream {
    private byte[] array = new byte[0];
    private int position;
    private int end;

    void begin(byte[] array, int length) {
        this.array = array;
        position = 0;
        end = length;
    }

    @Override
    public int read() {
        return position < end ? array[position++] & 0xff : -1;
    }

    @Override
    public int read(byte[] into, int offset, int length) {
        Ranges.check(Objects.requireNonNull(into, "into").length, offset, length);
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
    public long skip(long count) {
        int skipped = (int) Math.max(0, Math.min(count, end - position));
        position += skipped;
        return skipped;
    }

    @Override
    public int available() {
        return end - position;
    }
}
