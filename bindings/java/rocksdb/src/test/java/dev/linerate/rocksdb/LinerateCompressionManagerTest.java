package dev.linerate.rocksdb;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompactRangeOptions;
import org.rocksdb.CompressionOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;

class LinerateCompressionManagerTest {
    private static final int ROWS = 20_000;

    @TempDir Path folder;
    /**
     * Counters from before the database is opened, because the dictionary of a file is digested
     * when the file is opened.
     */
    private LinerateCompressionManager.Counters before;

    /** Writes a database of ordinary files with dictionaries, without the plugin. */
    @BeforeEach
    void write() throws Exception {
        before = LinerateCompressionManager.counters();
        try (CompressionOptions dictionaries =
                        new CompressionOptions().setMaxDictBytes(8192).setZStdMaxTrainBytes(819_200);
                Options options = new Options()
                        .setCreateIfMissing(true)
                        .setCompressionType(CompressionType.ZSTD_COMPRESSION)
                        .setCompressionOptions(dictionaries);
                RocksDB database = RocksDB.open(options, folder.toString());
                FlushOptions flush = new FlushOptions();
                CompactRangeOptions force = new CompactRangeOptions()
                        .setBottommostLevelCompaction(CompactRangeOptions.BottommostLevelCompaction.kForce)) {
            for (int row = 0; row < ROWS; row++) {
                database.put(key(row), value(row));
            }
            database.flush(flush);
            // Only files of the bottommost level get dictionaries.
            database.compactRange(null, null, null, force);
        }
    }

    private static byte[] key(int row) {
        return String.format("row/%08d", row).getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] value(int row) {
        Random random = new Random(row);
        String text = "{\"service\":\"" + "abcdefgh".charAt(random.nextInt(8)) + "\",\"status\":" + (200 + random.nextInt(9))
                + ",\"bytes\":" + random.nextInt(100_000) + ",\"trace\":\"" + Long.toHexString(random.nextLong()) + "\"}";
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void readRandomRows(RocksDB database) throws Exception {
        Random random = new Random(1);
        for (int i = 0; i < 5_000; i++) {
            int row = random.nextInt(ROWS);
            assertArrayEquals(value(row), database.get(key(row)));
        }
        LinerateCompressionManager.Counters after = LinerateCompressionManager.counters();
        assertTrue(after.zstdBlocks() > before.zstdBlocks());
        assertTrue(after.dictionaries() > before.dictionaries());
        assertEquals(before.zlibBlocks(), after.zlibBlocks());
        assertEquals(before.refused(), after.refused());
    }

    /** Another file's name is not UTF-8, and the path of RocksDB's library is not ASCII. */
    @Test
    void librariesBesideMappedFilesOfAnyNameAreFound() throws Exception {
        ByteArrayOutputStream maps = new ByteArrayOutputStream();
        maps.write("7f0000000000-7f0000001000 r--p 00000000 08:01 7 /tmp/".getBytes(StandardCharsets.US_ASCII));
        maps.write(new byte[] {(byte) 0xff, (byte) 0xe9, '\n'});
        String library = "/tmp/\u00e9t\u00e9/librocksdbjni1.so";
        maps.write(("7f1000000000-7f1000001000 r-xp 00000000 08:01 8 " + library + " (deleted)\n")
                .getBytes(StandardCharsets.UTF_8));
        Path file = Files.write(folder.resolve("maps"), maps.toByteArray());
        assertEquals(library, LinerateCompressionManager.rocksdb(file));
        Files.write(file, new byte[] {(byte) 0xff});
        UnsatisfiedLinkError e =
                assertThrows(UnsatisfiedLinkError.class, () -> LinerateCompressionManager.rocksdb(file));
        assertTrue(e.getMessage().endsWith("no loaded library is named librocksdbjni"), e.getMessage());
    }

    @Test
    void options() throws Exception {
        try (Options options = new Options()) {
            LinerateCompressionManager.use(options);
            try (RocksDB database = RocksDB.openReadOnly(options, folder.toString())) {
                readRandomRows(database);
            }
        }
    }

    @Test
    void columnFamily() throws Exception {
        try (ColumnFamilyOptions options = new ColumnFamilyOptions()) {
            LinerateCompressionManager.use(options);
            openAndRead(options);
        }
    }

    @Test
    void optionString() throws Exception {
        LinerateCompressionManager.load();
        Properties properties = new Properties();
        properties.setProperty("compression_manager", LinerateCompressionManager.NAME);
        try (ColumnFamilyOptions options = ColumnFamilyOptions.getColumnFamilyOptionsFromProps(properties)) {
            openAndRead(options);
        }
    }

    private void openAndRead(ColumnFamilyOptions options) throws Exception {
        List<ColumnFamilyDescriptor> families =
                List.of(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, options));
        List<ColumnFamilyHandle> handles = new java.util.ArrayList<>();
        try (DBOptions database = new DBOptions();
                RocksDB opened = RocksDB.open(database, folder.toString(), families, handles)) {
            readRandomRows(opened);
            handles.forEach(ColumnFamilyHandle::close);
        }
    }

    /** Runs the example of docs/dict/rocksdb.md, which reads a million rows. */
    @Test
    void page(@TempDir Path work) throws Exception {
        String page = Files.readString(Path.of(System.getProperty("linerate.page")));
        Matcher block = Pattern.compile("```java\n([^`]*class RandomRows \\{[^`]*)```").matcher(page);
        assertTrue(block.find());
        Path source = Files.writeString(work.resolve("RandomRows.java"), block.group(1));
        Path output = work.resolve("output");
        // Apart from the output, because Java 25 prints warnings about RocksDB's native code.
        Path errors = work.resolve("errors");
        String java = System.getProperty("java.home") + File.separator + "bin" + File.separator + "java";
        Process program = new ProcessBuilder(
                        java, "-cp", System.getProperty("java.class.path"), source.toString(), folder.toString(), "1000000")
                .redirectOutput(output.toFile())
                .redirectError(errors.toFile())
                .start();
        int status = program.waitFor();
        String printed = Files.readString(output);
        assertEquals(0, status, Files.readString(errors));
        assertTrue(printed.matches("(?s)1000000 rows alike, [1-9][0-9]* blocks by Linerate\\R"), printed);
    }
}
