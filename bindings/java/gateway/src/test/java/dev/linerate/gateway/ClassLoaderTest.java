package dev.linerate.gateway;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The classes loaded more than once in one process, as in application servers. */
@Timeout(60)
class ClassLoaderTest {
    private static URLClassLoader another() {
        URL classes = GatewayDecompressor.class.getProtectionDomain().getCodeSource().getLocation();
        return new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader());
    }

    /** Decodes a message with the classes of a loader; returns the file of its library. */
    private static String use(ClassLoader loader) throws Exception {
        Class<?> decompressors = loader.loadClass(GatewayDecompressor.class.getName());
        assertNotSame(GatewayDecompressor.class, decompressors);
        Class<?> transports = loader.loadClass(Transport.class.getName());
        Object decompressor =
                decompressors.getMethod("create", transports).invoke(null, transports.getEnumConstants()[1]);
        Object payload = decompressors.getMethod("decompress", byte[].class)
                .invoke(decompressor, (Object) Hello.wire(Transport.ZSTD));
        assertArrayEquals(Hello.TEXT, (byte[]) payload);
        decompressors.getMethod("close").invoke(decompressor);
        return (String) loader.loadClass(NativeLoader.class.getName()).getMethod("path").invoke(null);
    }

    @Test
    void eachClassLoaderHasItsOwnLibrary() throws Exception {
        String ours = NativeLoader.path();
        try (URLClassLoader one = another(); URLClassLoader two = another()) {
            String first = use(one);
            String second = use(two);
            assertNotEquals(ours, first);
            assertNotEquals(first, second);
        } catch (InvocationTargetException e) {
            throw new AssertionError(e.getCause());
        }
    }

    @Test
    void jarThatCannotBeReadIsAnUnsatisfiedLinkError() throws Exception {
        URL classes = GatewayDecompressor.class.getProtectionDomain().getCodeSource().getLocation();
        try (URLClassLoader loader = new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader()) {
            @Override
            public InputStream getResourceAsStream(String name) {
                return new InputStream() {
                    @Override
                    public int read() throws IOException {
                        throw new IOException("damaged");
                    }
                };
            }
        }) {
            Class<?> loading = loader.loadClass(NativeLoader.class.getName());
            assertEquals(false, loading.getMethod("isAvailable").invoke(null));
            InvocationTargetException e =
                    assertThrows(InvocationTargetException.class, () -> loading.getMethod("load").invoke(null));
            assertInstanceOf(UnsatisfiedLinkError.class, e.getCause());
            assertTrue(e.getCause().getMessage().contains("cannot read the library in this jar"));
        }
    }

    @Test
    void libraryIsUnloadedWithItsClassLoader() throws Exception {
        WeakReference<ClassLoader> gone = useAndForget();
        LifetimeTest.await(() -> gone.get() == null);
    }

    private static WeakReference<ClassLoader> useAndForget() throws Exception {
        try (URLClassLoader loader = another()) {
            use(loader);
            return new WeakReference<>(loader);
        }
    }
}
