package dev.linerate.gateway;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * The native connection of a decompressor, and the state word that guards it.
 *
 * <p>One thread at a time is between {@link #enter} and {@link #exit}. A close during that time only sets the state,
 * and the thread inside frees the memory in {@code exit}. So memory is freed exactly once and never during
 * decoding, whether by the program or by the {@link Reaper}.
 */
final class Handle extends PhantomReference<GatewayDecompressor> {
    private static final AtomicIntegerFieldUpdater<Handle> STATE =
            AtomicIntegerFieldUpdater.newUpdater(Handle.class, "state");

    private static final int IDLE = 0;
    private static final int BUSY = 1;
    /** Busy; the thread inside frees the connection. */
    private static final int CLOSING = 2;
    private static final int CLOSED = 3;

    private final long connection;
    private volatile int state = IDLE;

    Handle(GatewayDecompressor owner, ReferenceQueue<GatewayDecompressor> queue, long connection) {
        super(owner, queue);
        this.connection = connection;
    }

    /** Acquires the connection until {@link #exit}. */
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

    /** Frees the connection, or leaves that to the thread inside. Returns true if this call has freed it. */
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
