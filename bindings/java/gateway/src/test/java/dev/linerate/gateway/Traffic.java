package dev.linerate.gateway;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.Deflater;

/** Frames as gateways send them. */
final class Traffic {
    /** Largest block of a zstd frame with the window of gateways, in bytes. */
    private static final int BLOCK = 64 << 10;

    private Traffic() {}

    /** The payloads of {@code testdata/gateway/sample}. */
    static List<byte[]> payloads() throws IOException {
        return read("sample.msgs");
    }

    /** The frames of {@link #payloads}, compressed by zlib or libzstd. */
    static List<byte[]> frames(Transport transport) throws IOException {
        return read(transport == Transport.ZLIB ? "sample.zlib" : "sample.zst");
    }

    private static List<byte[]> read(String name) throws IOException {
        Path file = Paths.get(System.getProperty("linerate.testdata"), "gateway", name);
        ByteBuffer rest = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        List<byte[]> messages = new ArrayList<>();
        while (rest.hasRemaining()) {
            byte[] message = new byte[rest.getInt()];
            rest.get(message);
            messages.add(message);
        }
        return messages;
    }

    /** The first frame of a connection, with an arbitrary payload. */
    static byte[] first(Transport transport, byte[] payload) {
        return transport == Transport.ZLIB ? zlib(payload) : zstd(payload);
    }

    private static byte[] zlib(byte[] payload) {
        Deflater deflater = new Deflater();
        try {
            deflater.setInput(payload);
            ByteArrayOutputStream frame = new ByteArrayOutputStream();
            byte[] part = new byte[8192];
            int count;
            do {
                count = deflater.deflate(part, 0, part.length, Deflater.SYNC_FLUSH);
                frame.write(part, 0, count);
            } while (count == part.length);
            return frame.toByteArray();
        } finally {
            deflater.end();
        }
    }

    /** An unfinished zstd frame of raw blocks, or RLE blocks where the content allows. */
    private static byte[] zstd(byte[] payload) {
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        frame.writeBytes(zstdHeader(16));
        for (int at = 0; at < payload.length || at == 0; at += BLOCK) {
            int size = Math.min(BLOCK, payload.length - at);
            boolean repeats = size > 0;
            for (int i = at; i < at + size && repeats; i++) {
                repeats = payload[i] == payload[at];
            }
            int header = size << 3 | (repeats ? 1 : 0) << 1;
            frame.write(header);
            frame.write(header >> 8);
            frame.write(header >> 16);
            frame.write(payload, at, repeats ? 1 : size);
        }
        return frame.toByteArray();
    }

    /** The header of a zstd frame with a window of {@code 1 << windowLog} bytes. */
    static byte[] zstdHeader(int windowLog) {
        return new byte[] {0x28, (byte) 0xb5, 0x2f, (byte) 0xfd, 0, (byte) (windowLog - 10 << 3)};
    }
}
