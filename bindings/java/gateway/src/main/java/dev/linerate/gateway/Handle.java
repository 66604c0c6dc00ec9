package dev.linerate.gateway;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.LongConsumer;

/**
 * A native object, such as the connection of a decompressor, and the state word that guards it.
 *
 * <p>Only one thread at a time is between {@link #enter} and {@link #exit}. A close during that
 * time only sets the state, and the thread inside frees the memory in {@code exit}. So memory is
 * freed exactly once and never during decoding, whether by the program or by the {@link Reaper}.
 */
final class Handle extends PhantomReference<Object> {
    private static final AtomicIntegerFieldUpdater<Handle> STATE =
            AtomicIntegerFieldUpdater.newUpdater(Handle.class, "state");

    private static final int IDLE = 0;
    private static final int BUSY = 1;
    /** Closed while busy: the thread between enter and exit frees the object in exit. */
    private static final int CLOSING = 2;
    private static final int CLOSED = 3;

    private final long address;
    private final LongConsumer freeing;
    private volatile int state = IDLE;

    Handle(Object owner, ReferenceQueue<Object> queue, long address, LongConsumer freeing) {
        super(owner, queue);
        this.address = address;
        this.freeing = freeing;
    }

    /**
     * Acquires the native object for this thread until {@link #exit}, and returns its address.
     * Throws {@link IllegalStateException} if it is closed, or if another thread has acquired it.
     */
    long enter() {
        if (STATE.compareAndSet(this, IDLE, BUSY)) {
            return address;
        }
        throw new IllegalStateException(
                isClosed() ? "this object is closed" : "another thread is using this object");
    }

    void exit() {
        if (!STATE.compareAndSet(this, BUSY, IDLE)) {
            state = CLOSED;
            free();
        }
    }

    /**
     * Frees the native object, or leaves that to the thread between enter and exit. Returns true if
     * this call has freed it.
     */
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
        freeing.accept(address);
    }
}
