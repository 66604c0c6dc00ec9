package dev.linerate.gateway;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Memory is freed exactly once, and never during use. */
@Timeout(60)
class LifetimeTest {
    private static List<Executable> everyCall(GatewayDecompressor decompressor) {
        byte[] wire = Hello.wire(decompressor.transport());
        ByteBuffer direct = Hello.direct(decompressor.transport());
        ReusableBuffer into = new ReusableBuffer();
        DirectBuffer directInto = new DirectBuffer(9);
        return List.of(
                () -> decompressor.decompress(wire),
                () -> decompressor.decompress(wire, 0, 1),
                () -> decompressor.decompress(wire, into),
                () -> decompressor.decompress(wire, 0, 1, into),
                () -> decompressor.decompress(direct, directInto),
                () -> decompressor.open(wire),
                () -> decompressor.open(wire, 0, 1),
                () -> decompressor.decompress(direct, false),
                () -> decompressor.decompress(direct, false, into),
                () -> decompressor.decompress(direct, false, directInto),
                () -> decompressor.open(direct, false),
                decompressor::lastOpcode,
                decompressor::lastSequence,
                decompressor::lastEvent,
                decompressor::reset,
                () -> decompressor.resumeAfter(1),
                decompressor::messages,
                decompressor::compressedBytes,
                decompressor::memory,
                decompressor::recording);
    }

    /** Runs garbage collections until a condition holds, for at most 30 seconds. */
    static void await(BooleanSupplier so) throws InterruptedException {
        long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (!so.getAsBoolean()) {
            assertTrue(System.nanoTime() < end, "it did not happen within 30 seconds");
            System.gc();
            Thread.sleep(20);
        }
    }

    /** Number of native connections, once it no longer changes: those of other tests are freed. */
    private static long live() throws InterruptedException {
        NativeLoader.load();
        long live = -1;
        for (int same = 0; same < 3; same++) {
            System.gc();
            Thread.sleep(30);
            long now = Native.live();
            same = now == live ? same : -1;
            live = now;
        }
        return live;
    }

    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void useAfterClose(Transport transport) throws Exception {
        GatewayDecompressor decompressor = GatewayDecompressor.create(transport);
        InputStream stream = decompressor.open(Hello.wire(transport));
        assertEquals('{', stream.read());
        assertFalse(decompressor.isClosed());
        decompressor.close();
        decompressor.close();
        assertTrue(decompressor.isClosed());
        assertEquals(transport, decompressor.transport());
        for (Executable call : everyCall(decompressor)) {
            IllegalStateException e = assertThrows(IllegalStateException.class, call);
            assertEquals("this object is closed", e.getMessage());
        }
        assertThrows(IllegalStateException.class, stream::read);
        assertThrows(IllegalStateException.class, () -> stream.read(new byte[9]));
        assertThrows(IllegalStateException.class, () -> stream.skip(1));
        assertThrows(IllegalStateException.class, stream::available);
        stream.close();
    }

    @Test
    void closeFreesOnce() throws Exception {
        long before = live();
        List<GatewayDecompressor> many = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            many.add(GatewayDecompressor.create(Transport.values()[i % 2]));
        }
        assertEquals(before + 100, Native.live());
        many.forEach(GatewayDecompressor::close);
        assertEquals(before, Native.live());
        many.forEach(GatewayDecompressor::close);
        assertEquals(before, Native.live());
    }

    @Test
    void closeDuringACallFreesAfterIt() throws Exception {
        long before = live();
        GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZSTD);
        decompressor.enter();
        Thread other = new Thread(decompressor::close);
        other.start();
        other.join();
        assertTrue(decompressor.isClosed());
        assertEquals(before + 1, Native.live());
        decompressor.close();
        assertEquals(before + 1, Native.live());
        assertThrows(IllegalStateException.class, decompressor::messages);
        decompressor.exit();
        assertEquals(before, Native.live());
        assertTrue(decompressor.isClosed());
    }

    @Test
    void secondThreadGetsAnException() throws Exception {
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZLIB)) {
            InputStream stream = decompressor.open(Hello.wire(Transport.ZLIB));
            decompressor.enter();
            AtomicReference<Throwable> wrong = new AtomicReference<>();
            List<Executable> calls = new ArrayList<>(everyCall(decompressor));
            calls.addAll(List.of(stream::read, () -> stream.read(new byte[3]), stream::available, stream::close));
            Thread other = new Thread(() -> {
                try {
                    for (Executable call : calls) {
                        IllegalStateException e = assertThrows(IllegalStateException.class, call);
                        assertEquals("another thread is using this object", e.getMessage());
                    }
                } catch (Throwable e) {
                    wrong.set(e);
                }
            });
            other.start();
            other.join();
            decompressor.exit();
            if (wrong.get() != null) {
                throw new AssertionError(wrong.get());
            }
            assertArrayEquals(Hello.TEXT, stream.readAllBytes());
        }
    }

    /** Concurrent use: some threads get an exception, nothing breaks, all memory is freed. */
    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void concurrentUseBreaksNothing(Transport transport) throws Exception {
        long before = live();
        for (int round = 0; round < 20; round++) {
            GatewayDecompressor decompressor = GatewayDecompressor.create(transport);
            List<Executable> calls = new ArrayList<>(everyCall(decompressor));
            calls.add(() -> {
                try (InputStream in = decompressor.open(Hello.wire(transport))) {
                    if (in != null) {
                        in.readAllBytes();
                    }
                }
            });
            AtomicReference<Throwable> wrong = new AtomicReference<>();
            AtomicInteger closed = new AtomicInteger();
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                int first = t;
                threads.add(new Thread(() -> {
                    int next = first;
                    while (!decompressor.isClosed()) {
                        try {
                            calls.get(next++ % calls.size()).execute();
                        } catch (IllegalStateException | java.io.IOException e) {
                            // Concurrent use, or an error because messages are out of order.
                        } catch (Throwable e) {
                            wrong.set(e);
                            return;
                        }
                    }
                    closed.incrementAndGet();
                }));
            }
            threads.forEach(Thread::start);
            Thread.sleep(5);
            decompressor.close();
            for (Thread thread : threads) {
                thread.join();
            }
            if (wrong.get() != null) {
                throw new AssertionError(wrong.get());
            }
            assertEquals(4, closed.get());
        }
        await(() -> Native.live() <= before);
    }

    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void closeDuringReads(Transport transport) throws Exception {
        long before = live();
        for (int round = 0; round < 20; round++) {
            GatewayDecompressor decompressor = GatewayDecompressor.create(transport);
            CountDownLatch begun = new CountDownLatch(1);
            AtomicReference<Throwable> end = new AtomicReference<>();
            Thread reader = new Thread(() -> {
                try {
                    byte[] part = new byte[10];
                    while (true) {
                        InputStream in = decompressor.open(Hello.wire(transport));
                        int at = 0;
                        for (int count = in.read(part); count >= 0; count = in.read(part)) {
                            for (int i = 0; i < count; i++) {
                                assertEquals(Hello.TEXT[at++], part[i]);
                            }
                        }
                        assertEquals(Hello.TEXT.length, at);
                        decompressor.reset();
                        begun.countDown();
                    }
                } catch (Throwable e) {
                    end.set(e);
                }
            });
            reader.start();
            begun.await();
            decompressor.close();
            reader.join();
            assertEquals(IllegalStateException.class, end.get().getClass(), () -> String.valueOf(end.get()));
            assertEquals("this object is closed", end.get().getMessage());
        }
        assertTrue(Native.live() <= before);
    }

    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void unreachableConnectionsAreFreed(Transport transport) throws Exception {
        long before = live();
        for (int i = 0; i < 200; i++) {
            GatewayDecompressor decompressor = GatewayDecompressor.create(transport);
            assertNotNull(decompressor.decompress(Hello.wire(transport)));
        }
        await(() -> Native.live() <= before);
    }

    @Test
    void streamKeepsItsDecompressorReachable() throws Exception {
        InputStream stream = GatewayDecompressor.create(Transport.ZSTD).open(Hello.wire(Transport.ZSTD));
        for (int i = 0; i < 5; i++) {
            System.gc();
            Thread.sleep(10);
        }
        assertArrayEquals(Hello.TEXT, stream.readAllBytes());
    }

    @Test
    void reaperThreadEndsWithoutDecompressors() throws Exception {
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZLIB)) {
            assertTrue(reaperRuns());
            assertEquals(0, decompressor.messages());
        }
        await(() -> !reaperRuns());
        GatewayDecompressor.create(Transport.ZLIB).close();
        assertTrue(reaperRuns());
    }

    private static boolean reaperRuns() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("linerate-gateway-reaper"));
    }

    @ParameterizedTest
    @EnumSource(names = {"ZLIB", "ZSTD"})
    void oneThreadPerConnection(Transport transport) throws Exception {
        List<byte[]> payloads = Traffic.payloads();
        List<byte[]> frames = Traffic.frames(transport);
        AtomicReference<Throwable> wrong = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 50; t++) {
            threads.add(start(() -> {
                ReusableBuffer into = new ReusableBuffer();
                try (GatewayDecompressor decompressor = GatewayDecompressor.create(transport)) {
                    for (int i = 0; i < 100; i++) {
                        assertEquals(payloads.get(i).length, decompressor.decompress(frames.get(i), into));
                        assertArrayEquals(payloads.get(i), into.toByteArray());
                        Thread.yield();
                    }
                } catch (Throwable e) {
                    wrong.set(e);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (wrong.get() != null) {
            throw new AssertionError(wrong.get());
        }
    }

    /** Starts a virtual thread if the virtual machine has them, otherwise an ordinary one. */
    private static Thread start(Runnable body) {
        try {
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
        } catch (ReflectiveOperationException e) {
            Thread thread = new Thread(body);
            thread.start();
            return thread;
        }
    }
}
