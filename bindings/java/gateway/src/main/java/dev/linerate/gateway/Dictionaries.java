package dev.linerate.gateway;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Dictionaries of zstd frames, found by their IDs. They are digested once and shared by any number
 * of decompressors of {@link Transport#ZSTD_FRAME}. Thread-safe. The memory is freed some time
 * after this object and all these decompressors are unreachable.
 */
public final class Dictionaries {
    private final Handle handle;
    private final int count;

    /**
     * Digests dictionaries.
     *
     * @param dictionaries each in zstd's format, with its own ID; at most one may be raw content,
     *     which serves frames that name no dictionary
     * @throws ArithmeticException if they have 2 GiB or more together
     * @throws IllegalArgumentException if one is damaged, or two have the same ID
     * @throws UnsatisfiedLinkError if there is no native library for this platform; see
     *     {@link NativeLoader}
     */
    public Dictionaries(byte[]... dictionaries) {
        NativeLoader.load();
        count = dictionaries.length;
        long[] created = new long[1];
        String error = Native.createDictionaries(joined(dictionaries), created);
        if (error != null) {
            throw new IllegalArgumentException(error);
        }
        handle = Reaper.own(this, created[0], Native::freeDictionaries);
    }

    private static byte[] joined(byte[][] dictionaries) {
        int length = 0;
        for (byte[] dictionary : dictionaries) {
            length = Math.addExact(length, Integer.BYTES + dictionary.length);
        }
        ByteBuffer all = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        for (byte[] dictionary : dictionaries) {
            all.putInt(dictionary.length).put(dictionary);
        }
        return all.array();
    }

    /**
     * Returns the IDs of the dictionaries.
     *
     * @return the IDs in ascending order, as unsigned numbers; 0 stands for raw content
     */
    public long[] ids() {
        return Arrays.copyOfRange(numbers(), 1, count + 1);
    }

    /**
     * Returns the native memory of the dictionaries.
     *
     * @return bytes outside the heap: contents and tables
     */
    public long memory() {
        return numbers()[0];
    }

    private synchronized long[] numbers() {
        long[] numbers = new long[count + 1];
        long address = handle.enter();
        try {
            Native.dictionaryNumbers(address, numbers);
            return numbers;
        } finally {
            handle.exit();
        }
    }

    /** Sets the dictionaries of a new connection. */
    synchronized void serve(long connection) {
        long address = handle.enter();
        try {
            Native.setDictionaries(connection, address);
        } finally {
            handle.exit();
        }
    }
}
