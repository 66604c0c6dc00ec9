package dev.linerate.gateway;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Set;

/**
 * The library in the jar, and its extraction to a file, because only files can be loaded.
 *
 * <p>The processes of a user share one file. Where they cannot, a process makes a copy, which is
 * deleted once it is loaded. Windows does not delete loaded files, and a process may be killed
 * before it deletes its copy; the next process that makes a copy deletes these old ones.
 */
final class NativeResource {
    private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rwx------");
    private static final String COPY = "linerate-gateway-copy-";
    /** Age in milliseconds after which no process is about to load a copy. */
    private static final long OLD = 3_600_000;

    private final String name;
    private final byte[] content;

    private NativeResource(String name, byte[] content) {
        this.name = name;
        this.content = content;
    }

    /** Finds the library for a platform; null if the jar has none. */
    static NativeResource find(String platform, String name) {
        try (InputStream in = NativeResource.class.getResourceAsStream("natives/" + platform + "/" + name)) {
            return in == null ? null : new NativeResource(name, readAll(in));
        } catch (IOException e) {
            throw new IllegalStateException("cannot read the jar of linerate-gateway", e);
        }
    }

    private static byte[] readAll(InputStream in) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] part = new byte[64 << 10];
        for (int count = in.read(part); count >= 0; count = in.read(part)) {
            all.write(part, 0, count);
        }
        return all.toByteArray();
    }

    /**
     * Extracts to a file that processes of the same user share. If another user has made its
     * folder, extracts to a copy in a new folder.
     */
    File extract() throws IOException {
        Path folder = folder();
        if (folder == null) {
            return extractAnother();
        }
        Path file = folder.resolve(name);
        if (!isExtracted(file)) {
            Path temporary = Files.createTempFile(folder, name, ".tmp");
            try {
                Files.write(temporary, content);
                moveIntoPlace(temporary, file);
            } finally {
                Files.deleteIfExists(temporary);
            }
        }
        return file.toAbsolutePath().toFile();
    }

    /** Extracts to a copy in a new folder, which {@link #loaded} deletes. */
    File extractAnother() throws IOException {
        Path parent = parent();
        deleteOldCopies(parent);
        Path folder = Files.createTempDirectory(parent, COPY);
        Path file = folder.resolve(name);
        Files.write(file, content);
        return file.toAbsolutePath().toFile();
    }

    /** Deletes a file that was loaded or cannot be loaded, if it is a copy. */
    static void loaded(File file) {
        File folder = file.getParentFile();
        if (folder.getName().startsWith(COPY) && !(file.delete() && folder.delete())) {
            // The file that is registered last is deleted first.
            folder.deleteOnExit();
            file.deleteOnExit();
        }
    }

    /** Deletes old copies of other processes, except those that cannot be deleted. */
    private void deleteOldCopies(Path parent) {
        try (DirectoryStream<Path> copies = Files.newDirectoryStream(parent, COPY + "*")) {
            for (Path folder : copies) {
                deleteIfOld(folder);
            }
        } catch (IOException | DirectoryIteratorException e) {
            // The next process tries again.
        }
    }

    private void deleteIfOld(Path folder) {
        try {
            long modified = Files.getLastModifiedTime(folder, LinkOption.NOFOLLOW_LINKS).toMillis();
            if (modified < System.currentTimeMillis() - OLD && isOurs(folder)) {
                Files.deleteIfExists(folder.resolve(name));
                Files.delete(folder);
            }
        } catch (IOException e) {
            // It is still loaded on Windows, another process deletes it, or the folder has other
            // files. The other copies are still deleted.
        }
    }

    /** Renames atomically, so that no process loads a partial file. */
    private static void moveIntoPlace(Path from, Path to) throws IOException {
        try {
            Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        } catch (AtomicMoveNotSupportedException e) {
            Files.move(from, to, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            // Windows does not replace a loaded file. Its content is the same, because the
            // directory's name has its hash.
            if (!Files.exists(to)) {
                throw e;
            }
        }
    }

    private boolean isExtracted(Path file) throws IOException {
        return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
                && Files.size(file) == content.length
                && Arrays.equals(Files.readAllBytes(file), content);
    }

    /**
     * A directory that only this user can write to; otherwise another user could replace the
     * library. Null if the directory of this name is not like that.
     */
    private Path folder() throws IOException {
        Path parent = parent();
        String user = System.getProperty("user.name", "").replaceAll("[^A-Za-z0-9._-]", "_");
        Path folder = parent.resolve("linerate-gateway-" + user + "-" + hash());
        FileAttribute<?>[] attributes = isPosix(parent)
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PRIVATE)}
                : new FileAttribute<?>[0];
        try {
            Files.createDirectory(folder, attributes);
            return folder;
        } catch (FileAlreadyExistsException e) {
            return isOurs(folder) ? folder : null;
        }
    }

    private static Path parent() {
        return Paths.get(System.getProperty("java.io.tmpdir"));
    }

    private static boolean isPosix(Path path) {
        return path.getFileSystem().supportedFileAttributeViews().contains("posix");
    }

    private static boolean isOurs(Path folder) throws IOException {
        if (!isPosix(folder)) {
            return Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS);
        }
        PosixFileAttributes found =
                Files.readAttributes(folder, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (!found.isDirectory() || !found.permissions().equals(PRIVATE)) {
            return false;
        }
        // A file of this process belongs to the user; Java has no other way to find the user's
        // principal.
        Path probe = Files.createTempFile("linerate-gateway-", ".tmp");
        try {
            return Files.getOwner(probe).equals(found.owner());
        } finally {
            Files.delete(probe);
        }
    }

    /** The first sixteen hexadecimal digits of the library's SHA-256. */
    private String hash() {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(content);
            StringBuilder digits = new StringBuilder();
            for (int i = 0; i < 8; i++) {
                digits.append(String.format("%02x", digest[i]));
            }
            return digits.toString();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
