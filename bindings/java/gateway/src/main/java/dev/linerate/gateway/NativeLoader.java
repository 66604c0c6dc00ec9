package dev.linerate.gateway;

import java.io.File;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.util.Locale;

/**
 * Loads the native library. Classes that need it, such as {@link GatewayDecompressor}, call
 * {@link #load} by themselves.
 *
 * <p>The library for the platform is extracted from the jar to a directory below
 * {@code java.io.tmpdir}. The directory's name contains the user's name and a hash of the library,
 * so that versions do not conflict. If other users might write to it, the library is loaded from a
 * copy in a new directory, which is deleted afterwards. The system property
 * {@value #PATH_PROPERTY} names a library to load instead, or its directory.
 */
public final class NativeLoader {
    /** The system property that names a library or its directory. */
    public static final String PATH_PROPERTY = "linerate.native.path";

    private static final String NAME = System.mapLibraryName("linerate_java");

    private static final String EXTRACTED =
            "; a folder that is mounted noexec cannot hold it: choose another with -Djava.io.tmpdir, or name a"
                    + " library with -D" + PATH_PROPERTY + "=FILE";

    private static volatile File loaded;
    /** The reason why loading failed; null if it has not. After a failure it is not tried again. */
    private static String failure;

    private NativeLoader() {}

    /**
     * Loads the library if it is not loaded yet.
     *
     * @throws UnsatisfiedLinkError if there is none for this platform, or it cannot be loaded. The
     *     message is one line with the reason; further calls throw an error with the same message
     */
    public static void load() {
        if (loaded == null) {
            loadOnce();
        }
    }

    /**
     * Returns whether the library can be loaded.
     *
     * @return false if {@link #load} throws
     */
    public static boolean isAvailable() {
        try {
            load();
            return true;
        } catch (UnsatisfiedLinkError e) {
            return false;
        }
    }

    /**
     * Returns the file of the library, which is loaded if necessary. The file may no longer exist
     * if the library was loaded from a copy, as in a second class loader of the process.
     *
     * @return the absolute path
     * @throws UnsatisfiedLinkError as {@link #load}
     */
    public static String path() {
        load();
        return loaded.getPath();
    }

    /**
     * Returns the platform name, as used in the jar.
     *
     * @return operating system and architecture, such as {@code linux-x86_64}, followed by
     *     {@code -musl} on a Linux with the C library musl, such as Alpine
     */
    public static String platform() {
        String system = system(System.getProperty("os.name", "").toLowerCase(Locale.ROOT));
        String processor = System.getProperty("os.arch", "").toLowerCase(Locale.ROOT);
        return system + "-" + processor(processor) + (system.equals("linux") && Libc.isMusl() ? "-musl" : "");
    }

    private static String system(String name) {
        if (name.startsWith("mac")) {
            return "macos";
        }
        return name.startsWith("windows") ? "windows" : name.replace(' ', '_');
    }

    private static String processor(String name) {
        switch (name) {
            case "amd64":
            case "x86_64":
            case "x64":
                return "x86_64";
            case "arm64":
                return "aarch64";
            default:
                return name;
        }
    }

    private static synchronized void loadOnce() {
        if (loaded != null) {
            return;
        }
        if (failure != null) {
            throw new UnsatisfiedLinkError(failure);
        }
        try {
            String path = System.getProperty(PATH_PROPERTY);
            loaded = path == null ? loadFromJar() : loadFrom(named(path), "");
        } catch (UnsatisfiedLinkError e) {
            failure = e.getMessage();
            throw e;
        }
    }

    private static File named(String path) {
        File file = new File(path).getAbsoluteFile();
        if (file.isDirectory()) {
            file = new File(file, NAME);
        }
        if (!file.isFile()) {
            throw failed("there is no file " + file + ", which " + PATH_PROPERTY + " names", null);
        }
        return file;
    }

    private static File loadFromJar() {
        NativeResource resource;
        try {
            resource = NativeResource.find(platform(), NAME);
        } catch (IOException e) {
            throw failed(
                    "cannot read the library in this jar: " + e + "; replace the jar, or name a library with -D"
                            + PATH_PROPERTY + "=FILE",
                    e);
        }
        if (resource == null) {
            throw failed(
                    "this jar has no library for " + platform() + "; build it there, or name one with -D"
                            + PATH_PROPERTY + "=FILE",
                    null);
        }
        try {
            File file = resource.extract();
            try {
                return loadFrom(file, EXTRACTED);
            } catch (UnsatisfiedLinkError e) {
                if (!isTaken(e)) {
                    throw e;
                }
            }
            // Another class loader of this process has loaded that file, and a file can be loaded
            // only once.
            return loadFrom(resource.extractAnother(), EXTRACTED);
        } catch (IOException | InvalidPathException e) {
            throw failed(
                    "cannot extract the library into " + System.getProperty("java.io.tmpdir") + ": " + e
                            + "; choose another folder with -Djava.io.tmpdir, or name a library with -D"
                            + PATH_PROPERTY + "=FILE",
                    e);
        }
    }

    private static boolean isTaken(UnsatisfiedLinkError e) {
        return String.valueOf(e.getMessage()).contains("already loaded in another classloader");
    }

    private static File loadFrom(File file, String advice) {
        try {
            System.load(file.getPath());
        } catch (UnsatisfiedLinkError e) {
            throw failed("cannot load " + file + " on " + platform() + ": " + reason(e, file) + advice, e);
        } finally {
            NativeResource.loaded(file);
        }
        int version;
        try {
            version = Native.version();
        } catch (UnsatisfiedLinkError e) {
            throw failed(file + " is not the library of linerate-gateway", e);
        }
        if (version != Native.VERSION) {
            throw failed(file + " is of version " + version + ", these classes of " + Native.VERSION, null);
        }
        return file;
    }

    /**
     * Returns the first line of the system's message, without the file name, which our own message
     * already has.
     */
    private static String reason(UnsatisfiedLinkError e, File file) {
        return String.valueOf(e.getMessage()).split("\\R", 2)[0].replace(file + ": ", "");
    }

    private static UnsatisfiedLinkError failed(String why, Throwable cause) {
        UnsatisfiedLinkError error = new UnsatisfiedLinkError("linerate-gateway: " + why);
        error.initCause(cause);
        return error;
    }
}
