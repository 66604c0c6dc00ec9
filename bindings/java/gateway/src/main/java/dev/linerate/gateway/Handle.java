package dev.linerate.gateway;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * The native connection of a decompressor, and the word that says whether it may be used.
 *
 * <p>One thread at a time is inside. Who closes while another is inside only says so, and that other
 * thread frees the memory when it leaves. So memory is freed once, never under a decoder, whoever closes:
 * the program, or the reaper when the program forgot to.
 */
final class Handle extends PhantomReference<GatewayDecompressor> {
    private static final AtomicIntegerFieldUpdater<Handle> STATE =
            AtomicIntegerFieldUpdater.newUpdater(Handle.class, "state");

    private static final int IDLE = 0;
    private static final int BUSY = 1;
    /** Busy, and to be freed then. */
    private static final int CLOSING = 2;
    private static final int CLOSED = 3;

    private final long connection;
    private volatile int state = IDLE;

    Handle(GatewayDecompressor owner, ReferenceQueue<GatewayDecompressor> queue, long connection) {
        super(owner, queue);
        this.connection = connection;
    }

    /** Goes inside, until {@link #exit}. */
    long enter() {
        if (STATE.compareAndSet(this, IDLE, BUSY)) {
            return connection;
        }
        throw new IllegalStateException(
                isClosed() ? "the decompressor is closed" : "another thread is using the decompressor");
    }

    void exit() {
        if (!STATE.compareAndSet(this, BUSY, IDLE)) {
            state = CLOSED;
            free();
        }
    }

    /** Frees the connection, or has the thread inside do it. True if this call has freed it. */
    boolean close() {
        while (true) {
            if (STATE.compareAndSet(this, IDLE, CLOSED)) {
                free();
                return true;
            }
            if (STATE.compareAndSet(this, BUSY, CLOSING) || isClosed()) {
                return false;
            }
        }
    }

    boolean isClosed() {
        return state >= CLOSING;
    }

    private void free() {
        Reaper.forget(this);
        Native.free(connection);
    }
}
