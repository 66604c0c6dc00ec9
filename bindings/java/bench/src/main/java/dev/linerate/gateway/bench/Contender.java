package dev.linerate.gateway.bench;

import dev.linerate.gateway.Transport;
import java.io.IOException;
import java.util.Arrays;

/** The decoders under test. */
public enum Contender {
    JDA_BULK("JDK bulk, as JDA", Transport.ZLIB, JdaInflater::new),
    JDK_STREAM("JDK stream", Transport.ZLIB, JdkStream::new),
    ZLIB_BULK("linerate bulk", Transport.ZLIB, () -> new LinerateBulk(Transport.ZLIB)),
    ZLIB_REUSABLE("linerate reusable", Transport.ZLIB, () -> new LinerateReusable(Transport.ZLIB)),
    ZLIB_DIRECT("linerate direct", Transport.ZLIB, () -> new LinerateDirect(Transport.ZLIB)),
    ZLIB_STREAM("linerate stream", Transport.ZLIB, () -> new LinerateStream(Transport.ZLIB)),
    ZSTD_JNI_STREAM("zstd-jni stream", Transport.ZSTD, ZstdJniStream::new),
    ZSTD_JNI_CONTEXT("zstd-jni direct", Transport.ZSTD, ZstdJniContext::new),
    ZSTD_JNI_BULK("zstd-jni bulk", Transport.ZSTD, ZstdJniBulk::new),
    DISCORD_BULK_8K("discord-zstd-java bulk 8K", Transport.ZSTD, () -> new DiscordZstdJava.Bulk(8 << 10)),
    DISCORD_BULK_128K("discord-zstd-java bulk 128K", Transport.ZSTD, () -> new DiscordZstdJava.Bulk(128 << 10)),
    DISCORD_STREAM("discord-zstd-java stream", Transport.ZSTD, DiscordZstdJava.Stream::new),
    ZSTD_BULK("linerate bulk", Transport.ZSTD, () -> new LinerateBulk(Transport.ZSTD)),
    ZSTD_REUSABLE("linerate reusable", Transport.ZSTD, () -> new LinerateReusable(Transport.ZSTD)),
    ZSTD_DIRECT("linerate direct", Transport.ZSTD, () -> new LinerateDirect(Transport.ZSTD)),
    ZSTD_STREAM("linerate stream", Transport.ZSTD, () -> new LinerateStream(Transport.ZSTD));

    private final String title;
    private final Transport transport;
    private final Opening opening;

    Contender(String title, Transport transport, Opening opening) {
        this.title = title;
        this.transport = transport;
        this.opening = opening;
    }

    /** Name in the records. */
    String title() {
        return title;
    }

    Transport transport() {
        return transport;
    }

    /** Whether its library is here. */
    boolean isAvailable() {
        return !title.startsWith("discord-zstd-java") || DiscordZstdJava.isPresent();
    }

    /** The names of those that can be measured here. */
    static String[] available() {
        return Arrays.stream(values())
                .filter(Contender::isAvailable)
                .map(Contender::name)
                .toArray(String[]::new);
    }

    /** Whether its payloads are outside the heap. */
    boolean givesBuffers() {
        return title.endsWith(" direct");
    }

    boolean ours() {
        return title.startsWith("linerate");
    }

    /** Creates a connection. */
    Connection connect() throws IOException {
        return opening.open();
    }

    private interface Opening {
        Connection open() throws IOException;
    }
}
