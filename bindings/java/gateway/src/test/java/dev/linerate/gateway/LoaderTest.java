package dev.linerate.gateway;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Loading of the native library, each case in its own virtual machine. */
@Tag("children")
class LoaderTest {
    private static final String NAME = System.mapLibraryName("linerate_java");

    @TempDir Path folder;

    /** Decodes a message and prints the loaded file. If loading fails, prints the error twice. */
    static final class Main {
        public static void main(String[] arguments) throws Exception {
            if (!NativeLoader.isAvailable()) {
                for (int i = 0; i < 2; i++) {
                    try {
                        GatewayDecompressor.create(Transport.ZLIB);
                    } catch (UnsatisfiedLinkError e) {
                        System.out.println(e.getMessage());
                    }
                }
                System.exit(3);
            }
            try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZSTD)) {
                assertArrayEquals(Hello.TEXT, decompressor.decompress(Hello.wire(Transport.ZSTD)));
            }
            System.out.println(NativeLoader.path());
        }
    }

    private Child child(String... properties) throws Exception {
        List<String> options = new ArrayList<>();
        options.add("-Djava.io.tmpdir=" + folder);
        for (String property : properties) {
            options.add("-D" + property);
        }
        return Child.run(options, Main.class);
    }

    private static Path loaded(Child child) {
        assertEquals(0, child.exitCode, child.output);
        return Path.of(child.output);
    }

    /** The error message of a child, which is one line and the same both times. */
    private static String refused(Child child) {
        assertEquals(3, child.exitCode, child.output);
        // The virtual machine may have printed warnings.
        List<String> lines = child.output
                .lines()
                .filter(line -> line.startsWith("linerate-gateway: "))
                .collect(Collectors.toList());
        assertEquals(2, lines.size(), child.output);
        assertEquals(lines.get(0), lines.get(1));
        return lines.get(0);
    }

    private static void assertContains(String text, Object part) {
        assertTrue(text.contains(part.toString()), text);
    }

    @Test
    void libraryIsExtractedOnce() throws Exception {
        Path first = loaded(child());
        assertTrue(first.startsWith(folder));
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(first.getParent())));
        Object key = Files.readAttributes(first, BasicFileAttributes.class).fileKey();
        assertEquals(first, loaded(child()));
        assertEquals(key, Files.readAttributes(first, BasicFileAttributes.class).fileKey());
        // No other files are left.
        try (java.util.stream.Stream<Path> files = Files.list(first.getParent())) {
            assertEquals(1, files.count());
        }
    }

    @Test
    void manyProcessesAtOnce() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Future<Child>> children = threads.invokeAll(Collections.nCopies(4, () -> child()));
            Path first = loaded(children.get(0).get());
            for (Future<Child> child : children) {
                assertEquals(first, loaded(child.get()));
            }
        } finally {
            threads.shutdown();
        }
    }

    @Test
    void damagedFileIsReplaced() throws Exception {
        Path file = loaded(child());
        byte[] content = Files.readAllBytes(file);
        for (byte[] damaged : new byte[][] {new byte[0], Arrays.copyOf(content, 999), new byte[content.length]}) {
            Files.write(file, damaged);
            assertEquals(file, loaded(child()));
            assertArrayEquals(content, Files.readAllBytes(file));
        }
    }

    @Test
    void linkInPlaceOfTheFileIsReplaced() throws Exception {
        Path file = loaded(child());
        Path elsewhere = folder.resolve("elsewhere");
        Files.move(file, elsewhere);
        Files.createSymbolicLink(file, elsewhere);
        assertEquals(file, loaded(child()));
        assertTrue(Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS));
    }

    @Test
    void directoryWritableByOthersIsNotUsed() throws Exception {
        Path file = loaded(child());
        Files.setPosixFilePermissions(file.getParent(), PosixFilePermissions.fromString("rwxrwxrwx"));
        Path other = loaded(child());
        assertNotEquals(file.getParent(), other.getParent());
        // The copy is deleted once it is loaded.
        assertEquals(Collections.singletonList(file.getParent()), content(folder));
    }

    private static List<Path> content(Path folder) throws Exception {
        try (java.util.stream.Stream<Path> files = Files.list(folder)) {
            return files.sorted().collect(Collectors.toList());
        }
    }

    @Test
    void oldCopiesOfKilledProcessesAreDeleted() throws Exception {
        Path file = loaded(child());
        Files.setPosixFilePermissions(file.getParent(), PosixFilePermissions.fromString("rwxrwxrwx"));
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        Files.createFile(elsewhere.resolve(NAME));
        FileTime hoursAgo = FileTime.fromMillis(System.currentTimeMillis() - 10_000_000);
        copy("new");
        Files.setLastModifiedTime(copy("old"), hoursAgo);
        Files.createSymbolicLink(folder.resolve("linerate-gateway-copy-link"), elsewhere);
        Files.setLastModifiedTime(elsewhere, hoursAgo);
        loaded(child());
        assertFalse(Files.exists(folder.resolve("linerate-gateway-copy-old")));
        assertTrue(Files.exists(folder.resolve("linerate-gateway-copy-new").resolve(NAME)), "it may be loaded next");
        assertTrue(Files.exists(elsewhere.resolve(NAME)));
    }

    private Path copy(String name) throws Exception {
        Path copy = Files.createDirectory(folder.resolve("linerate-gateway-copy-" + name));
        Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rwx------"));
        Files.createFile(copy.resolve(NAME));
        return copy;
    }

    @Test
    void oldCopyThatCannotBeDeletedKeepsNoOther() throws Exception {
        Path file = loaded(child());
        Files.setPosixFilePermissions(file.getParent(), PosixFilePermissions.fromString("rwxrwxrwx"));
        FileTime hoursAgo = FileTime.fromMillis(System.currentTimeMillis() - 10_000_000);
        List<Path> left = new ArrayList<>(Collections.singletonList(file.getParent()));
        // A folder may be listed in any order. With eight copies that cannot be deleted and eight
        // that can, one of the former almost certainly comes before one of the latter.
        for (int i = 0; i < 8; i++) {
            Path stuck = copy("stuck-" + i);
            Files.createFile(stuck.resolve("something else"));
            Files.setLastModifiedTime(stuck, hoursAgo);
            left.add(stuck);
            Files.setLastModifiedTime(copy("old-" + i), hoursAgo);
        }
        loaded(child());
        Collections.sort(left);
        assertEquals(left, content(folder));
    }

    /**
     * Records statistics with the classes of a new class loader, closes everything and drops the
     * loader, eight times; prints how many libraries stay mapped.
     */
    static final class Reloads {
        public static void main(String[] arguments) throws Exception {
            List<URL> urls = new ArrayList<>();
            for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
                urls.add(Path.of(path).toUri().toURL());
            }
            for (int i = 0; i < 8; i++) {
                ClassLoader parent = ClassLoader.getSystemClassLoader().getParent();
                try (URLClassLoader loader = new URLClassLoader(urls.toArray(new URL[0]), parent)) {
                    Method method = loader.loadClass(Recording.class.getName()).getMethod("run");
                    method.invoke(null);
                }
            }
            long mapped = mapped();
            for (int i = 0; i < 60 && mapped > 1; i++) {
                System.gc();
                Thread.sleep(500);
                mapped = mapped();
            }
            System.out.println(mapped);
            // Without the hooks of a normal exit, files that are left would stay.
            Runtime.getRuntime().halt(0);
        }

        private static long mapped() throws Exception {
            Path maps = Path.of("/proc/self/maps");
            try (java.util.stream.Stream<String> lines = Files.lines(maps, StandardCharsets.ISO_8859_1)) {
                return lines.filter(line -> line.contains(NAME))
                        .map(line -> line.substring(line.indexOf('/')))
                        .distinct()
                        .count();
            }
        }
    }

    /** The work of {@link Reloads} in each class loader. */
    public static final class Recording {
        public static void run() throws Exception {
            StatsRecorder recorder = StatsRecorder.builder().start();
            try (GatewayDecompressor decompressor =
                    GatewayDecompressor.builder(Transport.ZSTD).recordStats(recorder).build()) {
                assertArrayEquals(Hello.TEXT, decompressor.decompress(Hello.wire(Transport.ZSTD)));
            }
            recorder.close();
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void librariesOfClassLoadersThatAreGoneAreUnmappedAndLeaveNoFile() throws Exception {
        Child child = Child.run(Arrays.asList("-Djava.io.tmpdir=" + folder), Reloads.class);
        assertEquals(0, child.exitCode, child.output);
        assertTrue(Integer.parseInt(child.output) <= 1, child.output + " of 8 are mapped");
        assertEquals(1, content(folder).size());
        assertEquals(1, content(content(folder).get(0)).size());
    }

    @Test
    void linkToADirectoryIsNotUsed() throws Exception {
        Path file = loaded(child());
        Path elsewhere = folder.resolve("elsewhere");
        Files.move(file.getParent(), elsewhere);
        Files.createSymbolicLink(file.getParent(), elsewhere);
        assertNotEquals(file.getParent(), loaded(child()).getParent());
    }

    @Test
    void libraryNamedByThePropertyIsLoaded() throws Exception {
        Path extracted = loaded(child());
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        Path copy = Files.copy(extracted, elsewhere.resolve(NAME));
        Path renamed = Files.copy(extracted, elsewhere.resolve("renamed"));
        assertEquals(copy, loaded(child("linerate.native.path=" + copy)));
        assertEquals(copy, loaded(child("linerate.native.path=" + elsewhere)));
        assertEquals(renamed, loaded(child("linerate.native.path=" + renamed)));
    }

    @Test
    void missingLibraryIsAnError() throws Exception {
        Path absent = folder.resolve("absent");
        String why = refused(child("linerate.native.path=" + absent));
        assertContains(why, "there is no file " + absent + ", which linerate.native.path names");
        why = refused(child("linerate.native.path=" + folder));
        assertContains(why, folder.resolve(NAME));
    }

    @Test
    void invalidLibraryIsAnError() throws Exception {
        Path text = Files.writeString(folder.resolve("text"), "not a library");
        assertContains(refused(child("linerate.native.path=" + text)), "cannot load " + text + " on ");
        Path foreign = Path.of(System.getProperty("java.home"), "lib", System.mapLibraryName("net"));
        assertTrue(Files.exists(foreign));
        assertContains(
                refused(child("linerate.native.path=" + foreign)), foreign + " is not the library of linerate-gateway");
    }

    @Test
    void unknownPlatformIsAnError() throws Exception {
        String why = refused(child("os.name=Plan 9", "os.arch=PDP11"));
        assertContains(why, "this jar has no library for plan_9-pdp11");
        assertContains(why, "-Dlinerate.native.path=FILE");
    }

    @Test
    void missingTemporaryDirectoryIsAnError() throws Exception {
        Path absent = folder.resolve("absent");
        String why = refused(child("java.io.tmpdir=" + absent));
        assertContains(why, "cannot extract the library into " + absent);
    }

    @Test
    void loadsAsAModule() throws Exception {
        String classes =
                Path.of(GatewayDecompressor.class.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
        Child child = Child.run(Arrays.asList("--module-path", classes, "--describe-module", "dev.linerate.gateway"));
        assertContains(child.output, "exports dev.linerate.gateway");
        assertContains(child.output, "requires java.base");
        assertFalse(child.output.contains("open "), child.output);
        List<String> options = new ArrayList<>(Arrays.asList(
                "-Djava.io.tmpdir=" + folder, "--module-path", classes, "--add-modules", "dev.linerate.gateway"));
        if (Runtime.version().feature() >= 22) {
            options.add("--enable-native-access=dev.linerate.gateway");
        }
        assertTrue(loadedByModule(options).startsWith(folder));
    }

    /** Uses the public classes from outside the module. */
    private static Path loadedByModule(List<String> options) throws Exception {
        return loaded(Child.run(options, dev.linerate.user.Main.class));
    }
}
