package dev.linerate.gateway.bench;

import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import dev.linerate.gateway.Transport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;

/**
 * Messages of an established connection: the last 2,400 of a shard, recompressed as one stream, since decoding all
 * guilds first on thousands of connections takes minutes.
 */
final class Live {
    private static final int MESSAGES = 2400;

    private Live() {}

    static byte[][] payloads(Corpus corpus, int shard) throws IOException {
        byte[][] all = corpus.payloads(shard);
        return Arrays.copyOfRange(all, Math.max(0, all.length - MESSAGES), all.length);
    }

    /** With the parameters of gateways: zlib level 6; zstd level 7, a window of 64 KiB, tables of 2^15. */
    static byte[][] compressed(byte[][] payloads, Transport transport) throws IOException {
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
        return frames;
    }

    private static OutputStream zlib(OutputStream wire) {
        return new DeflaterOutputStream(wire, new Deflater(6), 1 << 16, true);
    }

    private static OutputStream zstd(OutputStream wire) throws IOException {
        return new ZstdOutputStreamNoFinalizer(wire, 7).setWindowLog(16).setChainLog(15).setHashLog(15);
    }
}
