package dev.linerate.gateway.bench;

import dev.linerate.gateway.Transport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The messages of several connections in a folder: {@code shard-K.msgs}, {@code .zlib} and {@code .zst} with K from 0,
 * each a sequence of a length (four bytes, little-endian) and as many bytes. The k-th of all three is one message.
 */
final class Corpus {
    /** The folder's property, which the forks inherit. */
    static final String PROPERTY = "linerate.bench.data";

    /** The property with the number of shards to read; default: all. */
    static final String SHARDS = "linerate.bench.shards";

    private final Path folder;
    private final int shards;

    /** The first {@code maxShards} shards of a folder, or all if it has fewer. */
    Corpus(Path folder, int maxShards) throws IOException {
        this.folder = folder;
        int n = 0;
        while (n < maxShards && Files.exists(folder.resolve("shard-" + n + ".msgs"))) {
            n++;
        }
        if (n == 0) {
            throw new IOException("there is no shard-0.msgs in " + folder);
        }
        shards = n;
    }

    /** The folder that the property {@value PROPERTY} or the variable LINERATE_GATEWAY_DATA names. */
    static Corpus chosen() throws IOException {
        String folder = System.getProperty(PROPERTY, System.getenv("LINERATE_GATEWAY_DATA"));
        if (folder == null || folder.isEmpty()) {
            throw new IOException("no data: name a folder with -D" + PROPERTY + " or LINERATE_GATEWAY_DATA");
        }
        return new Corpus(Path.of(folder), Integer.getInteger(SHARDS, Integer.MAX_VALUE));
    }

    int shards() {
        return shards;
    }

    byte[][] payloads(int shard) throws IOException {
        return records(folder.resolve("shard-" + shard + ".msgs"));
    }

    byte[][] stream(int shard, Transport transport) throws IOException {
        return records(folder.resolve("shard-" + shard + (transport == Transport.ZLIB ? ".zlib" : ".zst")));
    }

    /** The folder's name, for the records. */
    String name() {
        return folder.toAbsolutePath().normalize().getFileName().toString();
    }

    private static byte[][] records(Path file) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        List<byte[]> found = new ArrayList<>();
        while (bytes.hasRemaining()) {
            int length = bytes.remaining() < 4 ? -1 : bytes.getInt();
            if (length < 0 || length > bytes.remaining()) {
                throw new IOException(file + " ends within a message");
            }
            int begin = bytes.position();
            found.add(Arrays.copyOfRange(bytes.array(), begin, begin + length));
            bytes.position(begin + length);
        }
        return found.toArray(new byte[0][]);
    }
}
