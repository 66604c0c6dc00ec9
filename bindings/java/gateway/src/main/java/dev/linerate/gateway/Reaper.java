package dev.linerate.gateway;

import java.lang.ref.ReferenceQueue;
import java.util.HashSet;
import java.util.Set;

/**
 * Frees the connections of decompressors that were forgotten.
 *
 * <p>Its thread runs only while there are decompressors. So it does not keep a class loader alive whose
 * program has closed them all.
 */
final class Reaper implements Runnable {
    /** How long the thread waits before it looks whether it is still needed. */
    private static final long PATIENCE_MILLIS = 2_000;

    private static final ReferenceQueue<GatewayDecompressor> FORGOTTEN = new ReferenceQueue<>();
    /** What is not freed yet: references are of use only as long as they are reachable themselves. */
    private static final Set<Handle> LIVE = new HashSet<>();
    /** Whether the thread runs. As {@link #LIVE}, guarded by that. */
    private static boolean running;

    private Reaper() {}

    /** The handle of a connection that is freed when {@code owner} is forgotten. */
    static Handle watch(GatewayDecompressor owner, long connection) {
        Handle handle = new Handle(owner, FORGOTTEN, connection);
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
            try {
                Handle handle = (Handle) FORGOTTEN.remove(PATIENCE_MILLIS);
                if (handle != null) {
                    handle.close();
                }
            } catch (InterruptedException e) {
                // Nobody has a reason to interrupt this thread. It goes on.
                continue;
            }
        } while (isNeeded());
    }

    private static boolean isNeeded() {
        synchronized (LIVE) {
            running = !LIVE.isEmpty();
            return running;
        }
    }
}
