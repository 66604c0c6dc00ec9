package dev.linerate.gateway;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Arrays for the streams of all decompressors: as many as there are processors. A stream needs one only
 * until it is read to its end.
 */
final class ArrayPool {
    /** Longer arrays are left to the garbage collector. */
    static final int LONGEST = 1 << 20;

    private static final int SHORTEST = 64 << 10;
    private static final AtomicReferenceArray<byte[]> IDLE =
            new AtomicReferenceArray<>(Runtime.getRuntime().availableProcessors());

    private ArrayPool() {}

    /** An array of at least 64 KiB, for the caller alone. */
    static byte[] take() {
        for (int i = 0; i < IDLE.length(); i++) {
            byte[] array = IDLE.get(i) == null ? null : IDLE.getAndSet(i, null);
            if (array != null) {
                return array;
            }
        }
        return new byte[SHORTEST];
    }

    /** Gives an array back. */
    static void give(byte[] array) {
        if (array.length > LONGEST) {
            return;
        }
        for (int i = 0; i < IDLE.length(); i++) {
            if (IDLE.get(i) == null && IDLE.compareAndSet(i, null, array)) {
                return;
            }
        }
    }
}
