package dev.linerate.gateway.bench;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * discord-zstd-java, if it is on the class path. It is called by reflection, because the bench must
 * not depend on it. The method handles are constants, which the compiler inlines like direct calls.
 */
final class DiscordZstdJava {
    private static final String API = "dev.freya02.discord.zstd.api.";

    private DiscordZstdJava() {}

    /** Whether the library is on the class path. */
    static boolean isPresent() {
        try {
            type("DiscordZstdProvider");
            return true;
        } catch (ClassNotFoundException absent) {
            return false;
        }
    }

    /** The version of the library's jar, or "unknown" if the jar's manifest has none. */
    static String version() {
        try {
            String version = type("DiscordZstdProvider").getPackage().getImplementationVersion();
            return version == null ? "unknown" : version;
        } catch (ClassNotFoundException absent) {
            throw new IllegalStateException(absent);
        }
    }

    private static Class<?> type(String name) throws ClassNotFoundException {
        return Class.forName(API + name, false, DiscordZstdJava.class.getClassLoader());
    }

    /** A decompressor or context of a connection. */
    private abstract static class Open implements Connection {
        final Object decoder;
        private final MethodHandle reset;
        private final MethodHandle close;

        Open(Object decoder, MethodHandle reset, MethodHandle close) {
            this.decoder = decoder;
            this.reset = reset;
            this.close = close;
        }

        @Override
        public final void reset() throws IOException {
            call(reset);
        }

        @Override
        public final void close() throws IOException {
            call(close);
        }

        private void call(MethodHandle method) throws IOException {
            try {
                method.invokeExact(decoder);
            } catch (Throwable failure) {
                throw failed(failure);
            }
        }
    }

    /** Makes a new array for each payload, which is decoded in pieces of the size of a buffer. */
    static final class Bulk extends Open {
        Bulk(int buffer) throws IOException {
            super(decompressor(buffer), Calls.RESET_DECOMPRESSOR, Calls.CLOSE_DECOMPRESSOR);
        }

        private static Object decompressor(int buffer) throws IOException {
            try {
                Object factory = Calls.FACTORY.invokeExact(Calls.LIBRARY, buffer);
                return Calls.DECOMPRESSOR.invokeExact(factory);
            } catch (Throwable failure) {
                throw failed(failure);
            }
        }

        @Override
        public void message(Frame frame, Taker taker) throws IOException {
            byte[] payload;
            try {
                payload = (byte[]) Calls.DECOMPRESS.invokeExact(decoder, frame.heap);
            } catch (Throwable failure) {
                throw failed(failure);
            }
            taker.array(payload, payload.length);
        }
    }

    /** Returns a stream for each payload, which decodes into the reader's array. */
    static final class Stream extends Open {
        private final byte[] rest = new byte[512];

        Stream() throws IOException {
            super(context(), Calls.RESET_CONTEXT, Calls.CLOSE_CONTEXT);
        }

        private static Object context() throws IOException {
            try {
                return Calls.CONTEXT.invokeExact(Calls.LIBRARY);
            } catch (Throwable failure) {
                throw failed(failure);
            }
        }

        @Override
        public void message(Frame frame, Taker taker) throws IOException {
            try (InputStream stream = open(frame)) {
                taker.stream(stream);
                // A parser stops at the end of its value, but the library must read each message to
                // its end.
                while (stream.read(rest, 0, rest.length) >= 0) {}
            }
        }

        private InputStream open(Frame frame) throws IOException {
            try {
                return (InputStream) Calls.STREAM.invokeExact(decoder, frame.heap);
            } catch (Throwable failure) {
                throw failed(failure);
            }
        }
    }

    private static IOException failed(Throwable failure) {
        return new IOException("discord-zstd-java failed", failure);
    }

    /** The library's methods. Java loads this class when the first connection is opened. */
    private static final class Calls {
        static final Object LIBRARY;
        static final MethodHandle CONTEXT;
        static final MethodHandle STREAM;
        static final MethodHandle RESET_CONTEXT;
        static final MethodHandle CLOSE_CONTEXT;
        static final MethodHandle FACTORY;
        static final MethodHandle DECOMPRESSOR;
        static final MethodHandle DECOMPRESS;
        static final MethodHandle RESET_DECOMPRESSOR;
        static final MethodHandle CLOSE_DECOMPRESSOR;

        static {
            try {
                Class<?> library = type("DiscordZstd");
                Class<?> context = type("DiscordZstdContext");
                Class<?> factory = type("DiscordZstdDecompressorFactory");
                Class<?> decompressor = type("DiscordZstdDecompressor");
                LIBRARY = MethodHandles.publicLookup()
                        .findStatic(type("DiscordZstdProvider"), "get", MethodType.methodType(library))
                        .invoke();
                CONTEXT = find(library, "createContext", context);
                STREAM = find(context, "createInputStream", InputStream.class, byte[].class);
                RESET_CONTEXT = find(context, "reset", void.class);
                CLOSE_CONTEXT = find(context, "close", void.class);
                FACTORY = find(library, "createDecompressorFactory", factory, int.class);
                DECOMPRESSOR = find(factory, "create", decompressor);
                DECOMPRESS = find(decompressor, "decompress", byte[].class, byte[].class);
                RESET_DECOMPRESSOR = find(decompressor, "reset", void.class);
                CLOSE_DECOMPRESSOR = find(decompressor, "close", void.class);
            } catch (Throwable failure) {
                throw new ExceptionInInitializerError(failure);
            }
        }

        /**
         * Finds a method. In the type of its handle, the receiver is an {@link Object}, and so is a
         * result of one of the library's types, because the bench does not know these types.
         */
        private static MethodHandle find(Class<?> type, String name, Class<?> result, Class<?>... arguments)
                throws ReflectiveOperationException {
            MethodHandle found =
                    MethodHandles.publicLookup().findVirtual(type, name, MethodType.methodType(result, arguments));
            MethodType plain = found.type().changeParameterType(0, Object.class);
            return found.asType(result.getName().startsWith(API) ? plain.changeReturnType(Object.class) : plain);
        }
    }
}
