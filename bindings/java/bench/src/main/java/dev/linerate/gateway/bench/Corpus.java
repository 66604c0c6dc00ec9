package dev.linerate.gateway.bench;

import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import dev.linerate.gateway.Transport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;

/**
 * The messages of several connections in a folder: {@code shard-K.msgs}, {@code .zlib} and
 * {@code .zst}, with K from 0. Each file is a sequence of messages with their length in front (four
 * bytes, little-endian). The k-th message is the same in all three.
 */
final class Corpus {
    /**
     * Number of messages at the end of a shard that serve as those of an established connection.
     * Decoding also the guilds at the beginning on thousands of connections would take minutes.
     */
    private static final int LIVE = 2400;

    private final Path folder;
    /** The payloads of each shard. */
    final byte[][][] payloads;

    /** Reads the first {@code maxShards} shards of a folder, or all if it has fewer. */
    Corpus(Path folder, int maxShards) throws IOException {
        this.folder = folder;
        List<byte[][]> shards = new ArrayList<>();
        while (shards.size() < maxShards && Files.exists(folder.resolve("shard-" + shards.size() + ".msgs"))) {
            shards.add(records(folder.resolve("shard-" + shards.size() + ".msgs")));
        }
        if (shards.isEmpty()) {
            throw new IOException("there is no shard-0.msgs in " + folder);
        }
        payloads = shards.toArray(new byte[0][][]);
    }

    /** The folder's name, for the records. */
    String name() {
        return folder.normalize().getFileName().toString();
    }

    long messages() {
        return Arrays.stream(payloads).mapToLong(shard -> shard.length).sum();
    }

    long bytes() {
        return Arrays.stream(payloads).flatMap(Arrays::stream).mapToLong(payload -> payload.length).sum();
    }

    /** The frames of a shard's messages on one connection. */
    Frame[] frames(int shard, Transport transport) throws IOException {
        return Frame.of(records(folder.resolve("shard-" + shard + (transport == Transport.ZLIB ? ".zlib" : ".zst"))));
    }

    /** The last {@link #LIVE} messages of a shard, or all if it has fewer. */
    byte[][] live(int shard) {
        byte[][] all = payloads[shard];
        return Arrays.copyOfRange(all, Math.max(0, all.length - LIVE), all.length);
    }

    /**
     * Compresses messages as one stream, with the parameters of gateways: zlib level 6, or zstd
     * level 7 with a window of 64 KiB and tables of 2^15 entries.
     */
    static Frame[] compressed(byte[][] payloads, Transport transport) throws IOException {
        ByteArrayOutputStream wire = new ByteArrayOutputStream();
        byte[][] frames = new byte[payloads.length][];
        try (OutputStream encoder = transport == Transport.ZLIB ? zlib(wire) : zstd(wire)) {
            for (int k = 0; k < payloads.length; k++) {
                wire.reset();
                encoder.write(payloads[k]);
                encoder.flush();
                frames[k] = wire.toByteArray();
            }
        }
        return Frame.of(frames);
    }

    private static OutputStream zlib(OutputStream wire) {
        return new DeflaterOutputStream(wire, new Deflater(6), 1 << 16, true);
    }

    private static OutputStream zstd(OutputStream wire) throws IOException {
        return new ZstdOutputStreamNoFinalizer(wire, 7).setWindowLog(16).setChainLog(15).setHashLog(15);
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
