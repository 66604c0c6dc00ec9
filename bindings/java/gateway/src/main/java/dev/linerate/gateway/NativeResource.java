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
 * before it deletes its copy; the next process that makes a copy deletes those that are older than
 * an hour.
 */
final class NativeResource {
    private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rwx------");
    private static final String COPY = "linerate-gateway-copy-";
    /**
     * Age in milliseconds, an hour, above which a copy may be deleted: no process is still about to
     * load it.
     */
    private static final long OLD = 3_600_000;

    private final String name;
    private final byte[] content;

    private NativeResource(String name, byte[] content) {
        this.name = name;
        this.content = content;
    }

    /** Finds the library for a platform; null if the jar has none. */
    static NativeResource find(String platform, String name) throws IOException {
        try (InputStream in = NativeResource.class.getResourceAsStream("natives/" + platform + "/" + name)) {
            return in == null ? null : new NativeResource(name, readAll(in));
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
     * Extracts the library to a file that processes of the same user share, unless the file exists
     * with this content. If the file's folder exists but is not private to this user, extracts to a
     * copy in a new folder.
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

    /**
     * Extracts the library to a copy in a new folder. {@link #loaded} deletes both. Also deletes
     * old copies of other processes.
     */
    File extractAnother() throws IOException {
        Path parent = parent();
        deleteOldCopies(parent);
        Path folder = Files.createTempDirectory(parent, COPY);
        Path file = folder.resolve(name);
        Files.write(file, content);
        return file.toAbsolutePath().toFile();
    }

    /**
     * Deletes a file and its folder if the file is a copy. Call it once the file was loaded or
     * could not be loaded. What cannot be deleted now is deleted when the virtual machine exits.
     */
    static void loaded(File file) {
        File folder = file.getParentFile();
        if (folder.getName().startsWith(COPY) && !(file.delete() && folder.delete())) {
            // At exit the path that was registered last is deleted first, so the folder is empty
            // when its turn comes.
            folder.deleteOnExit();
            file.deleteOnExit();
        }
    }

    /** Deletes old copies that other processes of this user made, if they can be deleted. */
    private void deleteOldCopies(Path parent) {
        try (DirectoryStream<Path> copies = Files.newDirectoryStream(parent, COPY + "*")) {
            for (Path folder : copies) {
                deleteIfOld(folder);
            }
        } catch (IOException | DirectoryIteratorException e) {
            // The next process that makes a copy tries again.
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
            // The copy is still loaded on Windows, another process deletes it at the same time, or
            // the folder has other files. The remaining copies are tried all the same.
        }
    }

    /**
     * Renames a file, atomically where the file system can, so that no process loads a partial
     * file.
     */
    private static void moveIntoPlace(Path from, Path to) throws IOException {
        try {
            Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        } catch (AtomicMoveNotSupportedException e) {
            Files.move(from, to, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            // Windows does not replace a loaded file. Its content is the same, because the name of
            // its directory has the hash of the content.
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
     * Creates or finds the directory of the shared file. On POSIX systems only this user may write
     * to it, since another user could replace the library otherwise; null if the existing directory
     * does not meet that. On Windows the access rights of {@code java.io.tmpdir} have to ensure it;
     * null if there is something other than a directory.
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
        // A file that this process creates belongs to its user, whose name as Java reports it need
        // not be known to the system.
        Path probe = Files.createTempFile("linerate-gateway-", ".tmp");
        try {
            return Files.getOwner(probe).equals(found.owner());
        } finally {
            Files.delete(probe);
        }
    }

    /** Returns the first 16 hexadecimal digits of the library's SHA-256. */
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
