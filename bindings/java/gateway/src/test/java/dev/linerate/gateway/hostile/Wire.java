package dev.linerate.gateway.hostile;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.Transport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;

/** Streams as gateways send them, made by zlib and libzstd. */
final class Wire {
    private static final String[] WORDS = {
        "gateway", "presence", "member", "guild", "channel", "the", "quick", "message", "of", "rather", "plain", "words",
        "online", "idle", "embed", "author", "reply", "thread", "voice", "state"
    };

    private Wire() {}

    /** Events with sequence numbers from 1, after a HELLO without one. */
    static byte[][] events(int n) {
        Random random = new Random(n);
        byte[][] payloads = new byte[n][];
        payloads[0] = utf8("{\"t\":null,\"s\":null,\"op\":10,\"d\":{\"heartbeat_interval\":41250}}");
        for (int s = 1; s < n; s++) {
            payloads[s] = event(s, 4 + random.nextInt(60), random);
        }
        return payloads;
    }

    static byte[] event(int sequence, int words, Random random) {
        StringBuilder text = new StringBuilder();
        for (int k = 0; k < words; k++) {
            text.append(WORDS[random.nextInt(WORDS.length)]).append(random.nextInt(4) == 0 ? ", " : " ");
        }
        return utf8("{\"t\":\"MESSAGE_CREATE\",\"s\":" + sequence + ",\"op\":0,\"d\":{\"id\":\"" + Math.abs(random.nextLong())
                + "\",\"type\":0,\"pinned\":false,\"content\":\"" + text + "\",\"nonce\":" + random.nextInt() + "}}");
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** A JSON string of exactly {@code size} bytes that compresses poorly. */
    static byte[] sized(int size) {
        byte[] bytes = new byte[size];
        Random random = new Random(size);
        for (int k = 0; k < size; k++) {
            bytes[k] = (byte) ('a' + random.nextInt(1 + k / 7 % 26));
        }
        bytes[0] = '"';
        bytes[size - 1] = '"';
        return bytes;
    }

    /** One stream for all payloads, flushed after each. */
    static byte[][] stream(Transport transport, byte[]... payloads) {
        ByteArrayOutputStream wire = new ByteArrayOutputStream();
        byte[][] frames = new byte[payloads.length][];
        try (OutputStream encoder = encoder(transport, wire)) {
            for (int k = 0; k < payloads.length; k++) {
                wire.reset();
                encoder.write(payloads[k]);
                encoder.flush();
                frames[k] = wire.toByteArray();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return frames;
    }

    static OutputStream encoder(Transport transport, OutputStream wire) throws IOException {
        if (transport == Transport.ZLIB) {
            return new DeflaterOutputStream(wire, new Deflater(6), 1 << 16, true);
        }
        return new ZstdOutputStreamNoFinalizer(wire, 7).setWindowLog(16).setChainLog(15).setHashLog(15);
    }

    /**
     * A zstd frame of one raw block with a window of {@code 1 << windowLog} bytes. Without
     * {@code last} the frame is unfinished.
     */
    static byte[] storedFrame(int windowLog, boolean last, String text) {
        byte[] content = utf8(text);
        int header = content.length << 3 | (last ? 1 : 0);
        return concat(
                new byte[] {0x28, (byte) 0xb5, 0x2f, (byte) 0xfd, 0, (byte) (windowLog - 10 << 3)},
                new byte[] {(byte) header, (byte) (header >> 8), (byte) (header >> 16)},
                content);
    }

    static byte[] concat(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.write(part, 0, part.length);
        }
        return all.toByteArray();
    }

    static byte[] flipped(byte[] bytes, int bit) {
        byte[] copy = bytes.clone();
        copy[bit / 8] ^= (byte) (1 << bit % 8);
        return copy;
    }

    static byte[] prefix(byte[] bytes, int length) {
        return Arrays.copyOf(bytes, length);
    }

    /** Resets the decompressor and decodes a whole valid connection with it, in all forms. */
    static void assertGoodConnection(GatewayDecompressor decompressor) throws IOException {
        byte[][] payloads = events(40);
        byte[][] frames = stream(decompressor.transport(), payloads);
        for (Form form : Form.values()) {
            decompressor.reset();
            for (int k = 0; k < frames.length; k++) {
                assertArrayEquals(payloads[k], form.decode(decompressor, frames[k]), form + ", message " + k);
            }
        }
    }
}
