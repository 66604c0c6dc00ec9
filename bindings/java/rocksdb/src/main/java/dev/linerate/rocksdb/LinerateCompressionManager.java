package dev.linerate.rocksdb;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;

/**
 * The compression manager for RocksDB that decodes zstd and zlib blocks with Linerate. It leaves
 * everything else to RocksDB, and the files of a database do not change. It needs rocksdbjni in the
 * version that this module was built for, on Linux with glibc. After {@link #load}, libraries that
 * are loaded later see the symbols of RocksDB's native library.
 *
 * <pre>{@code
 * Options options = new Options();
 * LinerateCompressionManager.use(options);
 * RocksDB database = RocksDB.open(options, path);
 * }</pre>
 *
 * <p>After {@link #load}, the name of the compression manager in option strings is {@value #NAME}.
 */
public final class LinerateCompressionManager {
    /** The manager's name in RocksDB's option strings: {@code compression_manager=Linerate}. */
    public static final String NAME = "Linerate";

    /** Beginning of the title of the module's jar; the version of RocksDB follows. */
    private static final String TITLE = "linerate-rocksdb for RocksDB ";

    private static final String PLUGIN = "liblinerate_rocksdb.so";
    private static final String LOADER = "liblinerate_rocksdb_java.so";

    private static boolean loaded;

    private LinerateCompressionManager() {}

    /**
     * Loads RocksDB and Linerate's plugin for it, unless they are loaded.
     *
     * @throws UnsatisfiedLinkError if that fails; the message has the reason
     */
    public static synchronized void load() {
        if (loaded) {
            return;
        }
        RocksDB.loadLibrary();
        checkVersion();
        try {
            Path folder = Files.createTempDirectory("linerate-rocksdb");
            try {
                System.load(extract(LOADER, folder).toString());
                String failure = load0(rocksdb(Paths.get("/proc/self/maps")), extract(PLUGIN, folder).toString());
                if (failure != null) {
                    throw failed(failure);
                }
            } finally {
                // Loaded libraries stay mapped after their files are deleted.
                Files.deleteIfExists(folder.resolve(LOADER));
                Files.deleteIfExists(folder.resolve(PLUGIN));
                Files.delete(folder);
            }
        } catch (IOException e) {
            throw failed("cannot extract the libraries into " + System.getProperty("java.io.tmpdir") + ": " + e);
        }
        loaded = true;
    }

    /**
     * Makes databases that are opened with these options decode with Linerate.
     *
     * @param options the options of the database and its default column family
     * @throws UnsatisfiedLinkError as {@link #load}
     */
    public static void use(Options options) {
        load();
        requireUsed(useInOptions(options.getNativeHandle()));
    }

    /**
     * Makes a column family that is opened with these options decode with Linerate.
     *
     * @param options the options of the column family
     * @throws UnsatisfiedLinkError as {@link #load}
     */
    public static void use(ColumnFamilyOptions options) {
        load();
        requireUsed(useInFamily(options.getNativeHandle()));
    }

    /**
     * Returns what this process has decoded so far.
     *
     * @return a snapshot
     * @throws UnsatisfiedLinkError as {@link #load}
     */
    public static Counters counters() {
        load();
        long[] values = new long[4];
        counters0(values);
        return new Counters(values);
    }

    private static void checkVersion() {
        String wanted = LinerateCompressionManager.class.getPackage().getImplementationTitle();
        String found = RocksDB.rocksdbVersion().toString();
        // The title of the module's jar ends with the version of RocksDB. Outside a jar there is no
        // title, and a jar into which several libraries were merged has another one; then nothing
        // is checked.
        if (wanted != null && wanted.startsWith(TITLE) && !wanted.equals(TITLE + found)) {
            throw failed("rocksdbjni has version " + found + ", but this is " + wanted);
        }
    }

    private static void requireUsed(boolean used) {
        if (!used) {
            throw failed("the plugin was not built for rocksdbjni " + RocksDB.rocksdbVersion());
        }
    }

    private static Path extract(String library, Path folder) throws IOException {
        try (InputStream in = LinerateCompressionManager.class.getResourceAsStream(platform() + "/" + library)) {
            if (in == null) {
                throw failed("this jar has no library for " + platform());
            }
            Path file = folder.resolve(library);
            Files.copy(in, file);
            return file;
        }
    }

    private static String platform() {
        String processor = System.getProperty("os.arch", "");
        return System.getProperty("os.name", "").toLowerCase(java.util.Locale.ROOT)
                + "-"
                + (processor.equals("amd64") ? "x86_64" : processor);
    }

    /**
     * Returns the path of RocksDB's library under which the system's loader knows it. {@code maps}
     * lists the files that this process has mapped (proc(5)).
     */
    static String rocksdb(Path maps) {
        // The names of other mapped files need not be UTF-8, and any byte is valid ISO 8859-1.
        try (BufferedReader lines = Files.newBufferedReader(maps, StandardCharsets.ISO_8859_1)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                int slash = line.indexOf('/');
                if (slash >= 0 && line.indexOf("librocksdbjni", line.lastIndexOf('/')) >= 0) {
                    String path = line.substring(slash).replace(" (deleted)", "");
                    return new String(path.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
                }
            }
        } catch (IOException e) {
            throw failed("cannot read the names of the loaded libraries: " + e);
        }
        throw failed("no loaded library is named librocksdbjni");
    }

    private static UnsatisfiedLinkError failed(String why) {
        return new UnsatisfiedLinkError("linerate-rocksdb: " + why);
    }

    private static native String load0(String rocksdb, String plugin);

    private static native boolean useInOptions(long options);

    private static native boolean useInFamily(long options);

    private static native void counters0(long[] out);

    /** Counts of what the plugin has decoded in this process. */
    public static final class Counters {
        private final long[] values;

        Counters(long[] values) {
            this.values = values;
        }

        /**
         * Returns how many dictionaries Linerate has digested (made into decoding tables).
         *
         * @return a count
         */
        public long dictionaries() {
            return values[0];
        }

        /**
         * Returns how many zstd blocks Linerate has decoded.
         *
         * @return a count
         */
        public long zstdBlocks() {
            return values[1];
        }

        /**
         * Returns how many zlib blocks Linerate has decoded.
         *
         * @return a count
         */
        public long zlibBlocks() {
            return values[2];
        }

        /**
         * Returns how many zstd and zlib blocks and dictionaries Linerate has refused, for example
         * because they are damaged, and passed on to RocksDB's own decompressor. Blocks of other
         * compressions are passed on, too, but not counted.
         *
         * @return a count
         */
        public long refused() {
            return values[3];
        }
    }
}
