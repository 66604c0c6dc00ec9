package dev.linerate.gateway;

import java.lang.ref.ReferenceQueue;
import java.util.HashSet;
import java.util.Set;
import java.util.function.LongConsumer;

/**
 * Frees native objects, such as the connections of decompressors, whose owners became unreachable
 * without close.
 *
 * <p>Its thread runs only while there are such objects, so it does not keep the class loader of a
 * program alive that has closed all of them.
 */
final class Reaper implements Runnable {
    /** Interval at which the thread checks whether it is still needed. */
    private static final long CHECK_INTERVAL_MILLIS = 2_000;

    private static final ReferenceQueue<Object> UNREACHABLE = new ReferenceQueue<>();
    /**
     * Handles that are not freed. A phantom reference is enqueued only while it is reachable
     * itself.
     */
    private static final Set<Handle> LIVE = new HashSet<>();
    /** Number of objects freed so far. Guarded by {@link #LIVE}. */
    private static long freed;
    /** Value of {@link #freed} when memory was last returned to the system. Guarded by {@link #LIVE}. */
    private static long trimmed;
    /** Whether the thread runs. Guarded by {@link #LIVE}, like the content of that set. */
    private static boolean running;

    private Reaper() {}

    /**
     * Creates the handle of an object. {@code freeing} frees the object when {@code owner} becomes
     * unreachable, or at once if there is no memory for the handle.
     */
    static Handle own(Object owner, long address, LongConsumer freeing) {
        if (address == 0) {
            throw NativeResult.defect();
        }
        Handle watched = null;
        try {
            watched = watch(new Handle(owner, UNREACHABLE, address, freeing));
        } finally {
            if (watched == null) {
                freeing.accept(address);
            }
        }
        return watched;
    }

    private static Handle watch(Handle handle) {
        synchronized (LIVE) {
            if (!running) {
                start();
                running = true;
            }
            LIVE.add(handle);
        }
        return handle;
    }

    static void forget(Handle handle) {
        synchronized (LIVE) {
            LIVE.remove(handle);
            freed++;
        }
    }

    private static void start() {
        Thread thread = new Thread(new Reaper(), "linerate-gateway-reaper");
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
        thread.start();
    }

    @Override
    public void run() {
        do {
            long before = freed();
            try {
                Handle handle = (Handle) UNREACHABLE.remove(CHECK_INTERVAL_MILLIS);
                if (handle != null) {
                    handle.close();
                }
                trim(before);
            } catch (InterruptedException e) {
                // Interrupts have no meaning for this thread.
                continue;
            }
        } while (isNeeded());
    }

    private static long freed() {
        synchronized (LIVE) {
            return freed;
        }
    }

    /** Returns memory to the system if objects were freed, but none since {@code before}. */
    private static void trim(long before) {
        synchronized (LIVE) {
            if (freed == trimmed || (freed != before && !LIVE.isEmpty())) {
                return;
            }
            trimmed = freed;
        }
        Native.trim();
    }

    private static boolean isNeeded() {
        synchronized (LIVE) {
            running = !LIVE.isEmpty();
            return running;
        }
    }
}
