package dev.linerate.gateway.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.linerate.gateway.DecompressionException;
import dev.linerate.gateway.DirectBuffer;
import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.ReusableBuffer;
import dev.linerate.gateway.Transport;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Decompressors that are closed too early, too often, at the wrong moment, or never. */
class LifetimeTest {
    @Test
    void allMethodsThrowAfterClose() throws IOException {
        for (Transport transport : new Transport[] {Transport.ZLIB, Transport.ZSTD}) {
            byte[] frame = Wire.stream(transport, Wire.events(1))[0];
            GatewayDecompressor decompressor = GatewayDecompressor.create(transport);
            assertFalse(decompressor.isClosed());
            decompressor.decompress(frame);
            decompressor.close();
            decompressor.close();
            assertTrue(decompressor.isClosed());
            assertEquals(transport, decompressor.transport());
            List<Executable> uses = List.of(
                    () -> decompressor.decompress(frame),
                    () -> decompressor.decompress(frame, 0, frame.length),
                    () -> decompressor.decompress(frame, new ReusableBuffer()),
                    () -> decompressor.decompress(ByteBuffer.allocateDirect(8), new DirectBuffer(8)),
                    () -> decompressor.open(frame),
                    decompressor::reset,
                    () -> decompressor.resumeAfter(1),
                    decompressor::messages,
                    decompressor::compressedBytes,
                    decompressor::memory,
                    decompressor::lastOpcode,
                    decompressor::lastSequence,
                    decompressor::lastEvent,
                    decompressor::recording);
            for (Executable use : uses) {
                assertThrows(IllegalStateException.class, use);
            }
        }
    }

    @Test
    void streamOfAClosedDecompressorThrows() throws IOException {
        for (Transport transport : new Transport[] {Transport.ZLIB, Transport.ZSTD}) {
            GatewayDecompressor decompressor = GatewayDecompressor.create(transport);
            InputStream stream = decompressor.open(Wire.stream(transport, Wire.sized(5000))[0]);
            assertEquals('"', stream.read());
            decompressor.close();
            assertTold(() -> stream.read(new byte[8]));
            assertTold(stream::read);
            stream.close();
        }
    }

    private static void assertTold(Executable use) {
        Exception e = assertThrows(Exception.class, use);
        assertTrue(e instanceof IllegalStateException || e instanceof IOException, e::toString);
    }

    /**
     * The closing thread does not wait; the decoding thread finishes its message or gets an
     * exception.
     */
    @Test
    void closeWhileAnotherThreadDecodesAndReads() throws Exception {
        AtomicInteger decoded = new AtomicInteger();
        for (Transport transport : new Transport[] {Transport.ZLIB, Transport.ZSTD}) {
            byte[] payload = Wire.sized(60_000);
            byte[] frame = Wire.stream(transport, payload)[0];
            for (int k = 0; k < 400; k++) {
                GatewayDecompressor decompressor = GatewayDecompressor.create(transport);
                Form form = Form.values()[k % Form.values().length];
                CountDownLatch begun = new CountDownLatch(1);
                AtomicReference<Throwable> wrong = new AtomicReference<>();
                Thread reader = new Thread(() -> {
                    try {
                        while (true) {
                            begun.countDown();
                            decompressor.reset();
                            byte[] given = form.decode(decompressor, frame);
                            if (!Arrays.equals(given, payload)) {
                                throw new AssertionError("a wrong payload");
                            }
                            decoded.incrementAndGet();
                        }
                    } catch (IllegalStateException | IOException e) {
                        if (!decompressor.isClosed()) {
                            wrong.set(e);
                        }
                    } catch (Throwable e) {
                        wrong.set(e);
                    }
                });
                reader.start();
                begun.await();
                spin(k * 997 % 300_000);
                decompressor.close();
                reader.join(TimeUnit.SECONDS.toMillis(20));
                assertFalse(reader.isAlive(), "the reader hangs");
                if (wrong.get() != null) {
                    throw new AssertionError(transport + ", " + form, wrong.get());
                }
            }
        }
        assertTrue(decoded.get() > 0);
    }

    private static void spin(long nanoseconds) {
        long end = System.nanoTime() + nanoseconds;
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
    }

    /**
     * While one thread decodes, others get an exception. The threads take messages out of order, so
     * they may also get errors of the stream, and payloads are not compared. Afterwards the
     * decompressor works.
     */
    @Test
    void concurrentThreadsGetAnException() throws Exception {
        for (Transport transport : new Transport[] {Transport.ZLIB, Transport.ZSTD}) {
            byte[][] frames = Wire.stream(transport, Wire.sized(20_000), Wire.sized(20_000), Wire.sized(20_000));
            try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
                AtomicReference<Throwable> wrong = new AtomicReference<>();
                CyclicBarrier together = new CyclicBarrier(3);
                Thread[] threads = new Thread[3];
                for (int t = 0; t < threads.length; t++) {
                    Form form = Form.values()[t];
                    threads[t] = new Thread(() -> {
                        try {
                            together.await();
                            for (int k = 0; k < 300; k++) {
                                try {
                                    form.decode(decompressor, frames[k % frames.length]);
                                } catch (IllegalStateException | IOException e) {
                                    // Another thread is inside, or has taken a message of the
                                    // stream.
                                    resetIfFree(decompressor);
                                }
                            }
                        } catch (Throwable e) {
                            wrong.set(e);
                        }
                    });
                    threads[t].start();
                }
                for (Thread thread : threads) {
                    thread.join(TimeUnit.SECONDS.toMillis(60));
                    assertFalse(thread.isAlive(), "a thread hangs");
                }
                if (wrong.get() != null) {
                    throw new AssertionError(wrong.get());
                }
                Wire.assertGoodConnection(decompressor);
            }
        }
    }

    private static void resetIfFree(GatewayDecompressor decompressor) {
        try {
            decompressor.reset();
        } catch (IllegalStateException e) {
            // Another thread is decoding.
        }
    }

    /** Regression of another decoder: reset acted on another object than the one that decodes. */
    @Test
    void resetStartsANewConnectionInAnyState() throws IOException {
        for (Transport transport : new Transport[] {Transport.ZLIB, Transport.ZSTD}) {
            byte[][] payloads = {Wire.sized(3000), Wire.sized(70_000), Wire.sized(500)};
            byte[][] frames = Wire.stream(transport, payloads);
            try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
                decompressor.reset();
                Wire.assertGoodConnection(decompressor);
                // Resets in the middle of a stream, of a read and of a message, and after an error.
                decompressor.reset();
                decompressor.decompress(frames[0]);
                Wire.assertGoodConnection(decompressor);
                decompressor.reset();
                decompressor.open(frames[0]).read();
                Wire.assertGoodConnection(decompressor);
                decompressor.reset();
                byte[] half = Wire.prefix(frames[0], frames[0].length / 2);
                if (transport == Transport.ZLIB) {
                    decompressor.decompress(half);
                } else {
                    assertThrows(DecompressionException.class, () -> decompressor.decompress(half));
                }
                Wire.assertGoodConnection(decompressor);
                decompressor.reset();
                assertThrows(DecompressionException.class, () -> decompressor.decompress(new byte[] {1, 2, 3, 4, 0, 0, -1, -1}));
                Wire.assertGoodConnection(decompressor);
                assertEquals(40, decompressor.messages());
            }
        }
    }
}
