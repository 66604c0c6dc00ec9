package dev.linerate.gateway;

import java.lang.ref.ReferenceQueue;
import java.util.HashSet;
import java.util.Set;
import java.util.function.LongConsumer;

/**
 * Frees native objects, such as the connections of decompressors, whose owners became unreachable
 * without close.
 *
 * <p>Its thread runs only while there are native objects that were not freed, and ends a few
 * seconds after the last one was. So it does not keep the class loader of a program alive that has
 * closed all its objects.
 */
final class Reaper implements Runnable {
    /** Interval in milliseconds at which the thread checks whether it is still needed. */
    private static final long CHECK_INTERVAL_MILLIS = 2_000;

    private static final ReferenceQueue<Object> UNREACHABLE = new ReferenceQueue<>();
    /**
     * Handles of the native objects that are not freed. This set keeps them reachable, because a
     * phantom reference is enqueued only while it is reachable itself.
     */
    private static final Set<Handle> LIVE = new HashSet<>();
    /** Number of native objects freed so far, by anyone. Guarded by {@link #LIVE}. */
    private static long freed;
    /**
     * Value of {@link #freed} when this thread last returned memory to the system. Guarded by
     * {@link #LIVE}.
     */
    private static long trimmed;
    /** Whether the thread runs. Guarded by {@link #LIVE}, which also guards its own content. */
    private static boolean running;

    private Reaper() {}

    /**
     * Creates the handle of a native object. {@code freeing} frees the object when the handle is
     * closed, when {@code owner} becomes unreachable, or at once if the handle cannot be created.
     * Throws {@link InternalError} if {@code address} is 0, since the library has then failed to
     * create the object.
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

    /**
     * Returns memory to the system if objects were freed since it did so last. It waits while more
     * are being freed: if their number is no longer {@code before} and some objects are left, the
     * thread's next turn tries again.
     */
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
