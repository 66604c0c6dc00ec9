package dev.linerate.gateway.hostile;

import dev.linerate.gateway.DirectBuffer;
import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.ReusableBuffer;
import dev.linerate.gateway.Transport;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Decodes large messages in a small heap while two other threads keep the garbage collector busy. A
 * decoder that blocks the collector would stall the virtual machine. Argument: the number of
 * seconds to run. Prints the number of decoded messages, or that no message was decoded for ten
 * seconds.
 */
public final class SmallHeap {
    private static final int[] SIZES = {2 << 20, 600_000, 60_000};
    private static final int PATIENCE_SECONDS = 10;

    private static final AtomicLong MESSAGES = new AtomicLong();
    private static final AtomicBoolean RUNNING = new AtomicBoolean(true);
    private static volatile Object garbage;
    private static volatile Throwable failure;

    private SmallHeap() {}

    public static void main(String[] arguments) throws Exception {
        long seconds = Long.parseLong(arguments[0]);
        Thread[] threads = new Thread[3];
        for (int k = 0; k < 2; k++) {
            threads[k] = new Thread(SmallHeap::allocate);
        }
        threads[2] = new Thread(SmallHeap::decode);
        for (Thread thread : threads) {
            thread.setDaemon(true);
            thread.start();
        }
        watch(seconds);
        RUNNING.set(false);
        for (Thread thread : threads) {
            thread.join(PATIENCE_SECONDS * 1000L);
        }
        if (failure != null) {
            failure.printStackTrace(System.out);
            System.exit(1);
        }
        System.out.println(MESSAGES + " messages");
    }

    /** Waits for the end of the run. Ends the program at once if no message is decoded for long. */
    private static void watch(long seconds) throws InterruptedException {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        long last = -1;
        int idle = 0;
        while (System.nanoTime() < end && failure == null) {
            Thread.sleep(1000);
            idle = MESSAGES.get() == last ? idle + 1 : 0;
            last = MESSAGES.get();
            if (idle == PATIENCE_SECONDS) {
                System.out.println("stalled after " + last + " messages");
                Runtime.getRuntime().halt(3);
            }
        }
    }

    private static void allocate() {
        while (RUNNING.get()) {
            garbage = new byte[100_000];
        }
    }

    private static void decode() {
        try {
            byte[][] payloads = new byte[SIZES.length][];
            for (int k = 0; k < SIZES.length; k++) {
                payloads[k] = Wire.sized(SIZES[k]);
            }
            byte[][] zlib = Wire.stream(Transport.ZLIB, payloads);
            byte[][] zstd = Wire.stream(Transport.ZSTD, payloads);
            ReusableBuffer reusable = new ReusableBuffer();
            DirectBuffer direct = new DirectBuffer(1024);
            while (RUNNING.get()) {
                round(Transport.ZLIB, zlib, reusable, direct);
                round(Transport.ZSTD, zstd, reusable, direct);
                reusable.trim(1024);
            }
        } catch (Throwable e) {
            failure = e;
        }
    }

    /** Uses a new connection for each form. Half of the messages use the form with new arrays. */
    private static void round(Transport transport, byte[][] frames, ReusableBuffer reusable, DirectBuffer direct)
            throws Exception {
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
            for (int form = 0; form < 6; form++) {
                decompressor.reset();
                for (int k = 0; k < frames.length && RUNNING.get(); k++) {
                    long length = length(decompressor, frames[k], form, reusable, direct);
                    if (length != SIZES[k]) {
                        throw new AssertionError(length + " bytes instead of " + SIZES[k]);
                    }
                    MESSAGES.incrementAndGet();
                }
            }
        }
    }

    private static long length(
            GatewayDecompressor decompressor, byte[] frame, int form, ReusableBuffer reusable, DirectBuffer direct)
            throws Exception {
        switch (form) {
            case 0:
                return decompressor.decompress(frame, reusable);
            case 1:
                ByteBuffer outside = ByteBuffer.allocateDirect(frame.length).put(frame).flip();
                return decompressor.decompress(outside, direct) ? direct.buffer().remaining() : -1;
            case 2:
                try (InputStream stream = decompressor.open(frame)) {
                    return Form.all(stream).length;
                }
            default:
                return decompressor.decompress(frame).length;
        }
    }
}
