package dev.linerate.gateway;

import java.io.Closeable;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A message that is compressed once for many websockets, by
 * {@link DeflateEncoder#encode(PreparedMessage, ByteBuffer)}. It does not refer to other messages,
 * so every peer can decode it.
 *
 * <p>Thread-safe. You may close it as soon as the last encoder has got it, because encoders keep
 * what they need of it. A message that becomes unreachable without {@link #close} is freed some
 * time after garbage collection.
 */
public final class PreparedMessage implements Closeable {
    private final int length;
    private final Handle handle;
    private final long address;
    /**
     * Number of calls that are using the native object, plus one until {@link #close}. Whoever
     * brings the number to 0 frees the object.
     */
    private final AtomicInteger users = new AtomicInteger(1);

    private final AtomicBoolean isClosed = new AtomicBoolean();

    /**
     * Copies a message. It is compressed at level 6 when an encoder first needs it, once for each
     * window size that makes a difference.
     *
     * @param message the bytes from its position to its limit, in a buffer of any kind; its
     *     position does not change
     * @throws OutOfMemoryError if there is not enough memory for the copy
     * @throws UnsatisfiedLinkError if there is no native library for this platform; see
     *     {@link NativeLoader}
     */
    public PreparedMessage(ByteBuffer message) {
        NativeLoader.load();
        length = message.remaining();
        Object memory = Parts.memory(message);
        int offset = Parts.offset(message);
        try {
            Parts.checkRange(memory, message.isDirect(), offset, length);
            address = NativeDeflate.createPrepared(memory, message.isDirect(), offset, length);
        } finally {
            Parts.release(message, memory);
        }
        if (address == Native.ERROR) {
            throw new OutOfMemoryError("a message of " + length + " bytes");
        }
        handle = Reaper.own(this, address, NativeDeflate::freePrepared);
    }

    /**
     * Returns the length of the message.
     *
     * @return bytes, uncompressed
     */
    public int length() {
        return length;
    }

    /**
     * Acquires the native object until {@link #exit}, and returns its address. Other threads may do
     * so at the same time. Throws {@link IllegalStateException} after {@link #close}.
     */
    long enter() {
        int before;
        do {
            before = users.get();
            if (before == 0 || isClosed.get()) {
                throw new IllegalStateException("this message is closed");
            }
        } while (!users.compareAndSet(before, before + 1));
        return address;
    }

    void exit() {
        if (users.decrementAndGet() == 0) {
            handle.close();
        }
    }

    /**
     * Frees the memory once no thread uses it. It may be called from any thread and more than once.
     */
    @Override
    public void close() {
        if (isClosed.compareAndSet(false, true)) {
            exit();
        }
    }
}
