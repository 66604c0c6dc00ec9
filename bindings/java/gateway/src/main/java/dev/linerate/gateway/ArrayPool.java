package dev.linerate.gateway;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * A pool of arrays for the streams of all decompressors, one per processor. A stream holds one
 * until it is read to its end.
 */
final class ArrayPool {
    /** Longer arrays are not pooled. */
    static final int MAX_POOLED = 1 << 20;

    private static final int MIN_LENGTH = 64 << 10;
    private static final AtomicReferenceArray<byte[]> IDLE =
            new AtomicReferenceArray<>(Runtime.getRuntime().availableProcessors());

    private ArrayPool() {}

    /** Takes an array of at least 64 KiB for exclusive use. */
    static byte[] take() {
        for (int i = 0; i < IDLE.length(); i++) {
            byte[] array = IDLE.get(i) == null ? null : IDLE.getAndSet(i, null);
            if (array != null) {
                return array;
            }
        }
        return new byte[MIN_LENGTH];
    }

    /** Returns an array to the pool. */
    static void release(byte[] array) {
        if (array.length > MAX_POOLED) {
            return;
        }
        for (int i = 0; i < IDLE.length(); i++) {
            if (IDLE.get(i) == null && IDLE.compareAndSet(i, null, array)) {
                return;
            }
        }
    }
}
