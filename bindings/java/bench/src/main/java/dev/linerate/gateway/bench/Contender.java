package dev.linerate.gateway.bench;

import dev.linerate.gateway.Transport;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/** The decoders that are measured. */
enum Contender {
    JDA_BULK("JDK bulk, as JDA", Transport.ZLIB, JdkInflater.Bulk::new),
    JDK_STREAM("JDK stream", Transport.ZLIB, JdkInflater.Stream::new),
    ZLIB_BULK("linerate bulk", Transport.ZLIB, () -> new Linerate(Transport.ZLIB, Linerate::bulk)),
    ZLIB_REUSABLE("linerate reusable", Transport.ZLIB, () -> new Linerate(Transport.ZLIB, Linerate::reusable)),
    ZLIB_DIRECT("linerate direct", Transport.ZLIB, () -> new Linerate(Transport.ZLIB, Linerate::direct)),
    ZLIB_STREAM("linerate stream", Transport.ZLIB, () -> new Linerate(Transport.ZLIB, Linerate::stream)),
    ZSTD_JNI_STREAM("zstd-jni stream", Transport.ZSTD, ZstdJni.Stream::new),
    ZSTD_JNI_CONTEXT("zstd-jni direct", Transport.ZSTD, () -> new ZstdJni.Context(false)),
    ZSTD_JNI_BULK("zstd-jni bulk", Transport.ZSTD, () -> new ZstdJni.Context(true)),
    DISCORD_BULK_8K("discord-zstd-java bulk 8K", Transport.ZSTD, () -> new DiscordZstdJava.Bulk(8 << 10)),
    DISCORD_BULK_128K("discord-zstd-java bulk 128K", Transport.ZSTD, () -> new DiscordZstdJava.Bulk(128 << 10)),
    DISCORD_STREAM("discord-zstd-java stream", Transport.ZSTD, DiscordZstdJava.Stream::new),
    ZSTD_BULK("linerate bulk", Transport.ZSTD, () -> new Linerate(Transport.ZSTD, Linerate::bulk)),
    ZSTD_REUSABLE("linerate reusable", Transport.ZSTD, () -> new Linerate(Transport.ZSTD, Linerate::reusable)),
    ZSTD_DIRECT("linerate direct", Transport.ZSTD, () -> new Linerate(Transport.ZSTD, Linerate::direct)),
    ZSTD_STREAM("linerate stream", Transport.ZSTD, () -> new Linerate(Transport.ZSTD, Linerate::stream));

    /** The contender's name in the records. */
    final String title;

    final Transport transport;
    private final Opening opening;

    Contender(String title, Transport transport, Opening opening) {
        this.title = title;
        this.transport = transport;
        this.opening = opening;
    }

    /** The contenders whose libraries are on the class path. */
    static List<Contender> available() {
        return Arrays.stream(values())
                .filter(one -> !one.title.startsWith("discord-zstd-java") || DiscordZstdJava.isPresent())
                .toList();
    }

    /** Creates a connection. */
    Connection connect() throws IOException {
        return opening.open();
    }

    private interface Opening {
        Connection open() throws IOException;
    }
}
