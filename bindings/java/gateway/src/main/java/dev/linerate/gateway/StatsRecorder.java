package dev.linerate.gateway;

import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/**
 * Records the cost of each message of any number of connections: compressed bytes, payload bytes
 * and outcome, and the decoding time of one message in 16. It records no payload, token or address.
 *
 * <p>For each message the decoder puts a record of 32 bytes into a bounded buffer. It does not wait
 * for the recorder: a record for which there is no room, or for which other threads leave the
 * buffer locked for about 2 microseconds, is dropped and counted. The decoder reads a clock before
 * and after the first message of a connection and every 16th message after it. A thread of the
 * recorder counts the records and, if you ask for it, writes them to the logs that
 * {@code linerate gateway stats} reads.
 *
 * <p>Thread-safe. {@link #close} writes the waiting records; the statistics can be read afterwards.
 */
public final class StatsRecorder implements Closeable {
    private static final int MAX_CAPACITY = 1 << 24;

    private final Handle handle;

    private StatsRecorder(Builder options) throws IOException {
        NativeLoader.load();
        long[] created = new long[1];
        String error = onAnotherThread(() -> Native.createRecorder(
                options.folder == null ? null : utf8(options.folder.toString()),
                utf8(options.name),
                options.maxBytes,
                options.maxAgeMillis,
                options.maxFiles,
                options.cpuTime,
                options.capacity,
                options.maxConnections,
                created));
        if (error != null) {
            throw notStarted(options.folder, error);
        }
        handle = Reaper.own(this, created[0], Native::freeRecorder);
    }

    /** Returns the exception for a recorder that does not start. {@code log} may be null. */
    static IOException notStarted(Path log, String error) {
        String what = log == null ? "start the thread of the recorder" : "write the statistics log in " + log;
        return new IOException("cannot " + what + ": " + error);
    }

    /**
     * Makes a call on a thread that ends afterwards. Native code that starts a thread leaves
     * thread-local variables in the calling thread. They would keep the library loaded for as long
     * as the calling thread lives, even after the library's class loader is gone.
     */
    private static String onAnotherThread(Callable<String> start) {
        FutureTask<String> task = new FutureTask<>(start);
        Thread thread = new Thread(task, "linerate-gateway-start");
        thread.setDaemon(true);
        thread.start();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return task.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    throw new IllegalStateException(e.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Returns a builder with the default options.
     *
     * @return a builder, which may start more than one recorder
     */
    public static Builder builder() {
        return new Builder();
    }

    /** Collects the options of recorders and starts them. Not thread-safe. */
    public static final class Builder {
        private Path folder;
        private String name = "gateway";
        private long maxBytes = 256L << 20;
        private long maxAgeMillis = TimeUnit.DAYS.toMillis(1);
        private int maxFiles = 8;
        private boolean cpuTime;
        private int capacity = 1 << 14;
        private int maxConnections = 10_000;

        private Builder() {}

        /**
         * Makes the recorder write logs named {@code gateway-000001.stats} and so on, with 32 bytes
         * for each message. Numbers continue from the highest existing one.
         *
         * @param folder the folder, which is created if it does not exist; default: no logs
         * @return this
         */
        public Builder log(Path folder) {
            this.folder = Objects.requireNonNull(folder, "folder");
            return this;
        }

        /**
         * Sets the prefix of the names of logs.
         *
         * @param name the prefix; default: {@code gateway}
         * @return this
         * @throws IllegalArgumentException if it is empty or has a slash or a backslash
         */
        public Builder logName(String name) {
            if (name.isEmpty() || name.indexOf('/') >= 0 || name.indexOf('\\') >= 0) {
                throw new IllegalArgumentException("not the name of a log: " + name);
            }
            this.name = name;
            return this;
        }

        /**
         * Sets when another log begins, and how many logs are kept. The oldest ones are deleted.
         *
         * @param bytes the size of the largest log in bytes, at least 64 (less counts as 64);
         *     default: 256 MiB
         * @param age the longest time that one log is written to; default: a day
         * @param unit the unit of {@code age}
         * @param files the number of logs to keep, including the one that is being written;
         *     default: 8
         * @return this
         * @throws IllegalArgumentException if one of the numbers is not above 0
         */
        public Builder rotate(long bytes, long age, TimeUnit unit, int files) {
            if (bytes <= 0 || age <= 0 || files <= 0) {
                throw new IllegalArgumentException(files + " logs of " + bytes + " bytes and " + age + " " + unit);
            }
            maxBytes = bytes;
            maxAgeMillis = Math.max(1, unit.toMillis(age));
            maxFiles = files;
            return this;
        }

        /**
         * Measures decoding times as CPU time of the decoding thread, which takes two calls of the
         * operating system for each timed message. By default, and on systems other than Unix, they
         * are elapsed time.
         *
         * @return this
         */
        public Builder cpuTime() {
            cpuTime = true;
            return this;
        }

        /**
         * Sets how many records the common buffer has room for while they wait to be counted,
         * rounded up to a power of two. Buffers of single threads have room for at least as many
         * again. Records that find no room are dropped.
         *
         * @param records the number, 1 to 16,777,216; each takes 64 bytes, 32 in the common buffer
         *     and 32 in those of threads; default: 16,384
         * @return this
         * @throws IllegalArgumentException if it is not within that range
         */
        public Builder capacity(int records) {
            if (records < 1 || records > MAX_CAPACITY) {
                throw new IllegalArgumentException("a capacity of " + records + " records");
            }
            capacity = records;
            return this;
        }

        /**
         * Limits the number of connections with separate statistics. Messages of further
         * connections are counted only in the statistics of their transport and in those of all
         * messages.
         *
         * @param connections the number of open connections, which take 2 KiB each; default: 10,000
         * @return this
         * @throws IllegalArgumentException if it is negative
         */
        public Builder maxConnections(int connections) {
            if (connections < 0) {
                throw new IllegalArgumentException(connections + " connections");
            }
            maxConnections = connections;
            return this;
        }

        /**
         * Starts a recorder with its thread.
         *
         * @return the recorder
         * @throws IOException if the log cannot be created, or the thread cannot be started
         * @throws UnsatisfiedLinkError if there is no native library for this platform; see
         *     {@link NativeLoader}
         */
        public StatsRecorder start() throws IOException {
            return new StatsRecorder(this);
        }
    }

    /**
     * Returns the statistics of all messages.
     *
     * @return statistics in which messages of the last 50 milliseconds may be missing
     */
    public Stats stats() {
        return numbers(-1, -1);
    }

    /**
     * Returns the statistics of a transport.
     *
     * @param transport the transport
     * @return statistics in which messages of the last 50 milliseconds may be missing
     */
    public Stats stats(Transport transport) {
        return numbers(-1, transport.ordinal());
    }

    /**
     * Returns the statistics of the connection with this number; null if it is closed or has no
     * statistics of its own.
     */
    Stats ofConnection(int number) {
        return numbers(number, -1);
    }

    private synchronized Stats numbers(int connection, int transport) {
        long[] numbers = new long[Stats.NUMBERS];
        long recorder = handle.enter();
        try {
            return Native.stats(recorder, connection, transport, numbers) ? new Stats(numbers) : null;
        } finally {
            handle.exit();
        }
    }

    /**
     * Returns the number of open connections with separate statistics.
     *
     * @return their number
     */
    public synchronized int connections() {
        long recorder = handle.enter();
        try {
            return Native.recordedConnections(recorder);
        } finally {
            handle.exit();
        }
    }

    /**
     * Returns the statistics in Prometheus' text format, version 0.0.4.
     *
     * @return the answer to a request for {@code /metrics}
     */
    public synchronized String prometheus() {
        long recorder = handle.enter();
        try {
            String text = Native.prometheus(recorder);
            if (text == null) {
                throw NativeResult.defect();
            }
            return text;
        } finally {
            handle.exit();
        }
    }

    /**
     * Makes this recorder record the messages of a new connection. Returns the connection's number,
     * -1 after a panic of the library.
     */
    synchronized int record(long connection) {
        long recorder = handle.enter();
        try {
            return Native.recordStats(connection, recorder);
        } finally {
            handle.exit();
        }
    }

    /**
     * Counts and writes the waiting records, and ends the log and the recorder's thread. Messages
     * that are decoded later are not counted. A second call does nothing.
     *
     * @throws IOException the first error of writing the log. The statistics are complete even then
     */
    @Override
    public synchronized void close() throws IOException {
        long recorder = handle.enter();
        try {
            String error = Native.stopRecorder(recorder);
            if (error != null) {
                throw new IOException("cannot write the statistics log: " + error);
            }
        } finally {
            handle.exit();
        }
    }
}
