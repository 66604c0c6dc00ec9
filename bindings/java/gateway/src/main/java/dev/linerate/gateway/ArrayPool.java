package dev.linerate.gateway;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * A pool of byte arrays that all decompressors of the process share. It keeps at most one idle
 * array per processor. A {@link PayloadStream} holds an array until its payload is read or the
 * stream ends; {@link Parts} holds one for the copy of a read-only heap buffer during one call.
 */
final class ArrayPool {
    /** Length in bytes of the longest array that the pool keeps. */
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

    /** Returns an array to the pool, which drops it if it is too long or the pool is full. */
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
