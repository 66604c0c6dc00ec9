package dev.linerate.gateway.jda;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;

/** Bytes of a server, and a stream that returns them in pieces of any size. */
final class Wire {
    static final String UPGRADE = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";

    static final int TEXT = 1;
    static final int BINARY = 2;
    static final int CLOSE = 8;
    static final int PING = 9;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    Wire answer(String head) {
        return raw(head.getBytes(StandardCharsets.ISO_8859_1));
    }

    Wire raw(byte[] some) {
        bytes.write(some, 0, some.length);
        return this;
    }

    Wire frame(int opcode, byte[] payload) {
        return frame(true, opcode, payload);
    }

    Wire frame(boolean last, int opcode, byte[] payload) {
        bytes.write((last ? 0x80 : 0) | opcode);
        if (payload.length < 126) {
            bytes.write(payload.length);
        } else if (payload.length < 1 << 16) {
            bytes.write(126);
            bytes.write(payload.length >> 8);
            bytes.write(payload.length);
        } else {
            bytes.write(127);
            for (int shift = 56; shift >= 0; shift -= 8) {
                bytes.write((int) ((long) payload.length >> shift));
            }
        }
        return raw(payload);
    }

    /** Adds one message in frames of this many bytes. */
    Wire pieces(int opcode, byte[] payload, int size) {
        for (int at = 0; at < payload.length; at += size) {
            int end = Math.min(at + size, payload.length);
            frame(end == payload.length, at == 0 ? opcode : 0, Arrays.copyOfRange(payload, at, end));
        }
        return this;
    }

    byte[] bytes() {
        return bytes.toByteArray();
    }

    /**
     * Returns a stream that gives the bytes in pieces of a random size up to a maximum, and, with
     * {@code timeouts}, throws a timeout before each.
     */
    static InputStream slowly(byte[] bytes, int maxPart, boolean timeouts) {
        Random random = new Random(maxPart);
        return new FilterInputStream(new ByteArrayInputStream(bytes)) {
            private boolean timedOut;

            @Override
            public int read(byte[] into, int offset, int length) throws IOException {
                timedOut = timeouts && !timedOut;
                if (timedOut) {
                    throw new SocketTimeoutException("once more");
                }
                return super.read(into, offset, Math.min(length, 1 + random.nextInt(maxPart)));
            }
        };
    }

    /** Reads to the end, retrying after timeouts. */
    static byte[] all(InputStream stream, int maxPart) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] part = new byte[maxPart];
        while (true) {
            try {
                int count = stream.read(part, 0, maxPart);
                if (count < 0) {
                    return all.toByteArray();
                }
                all.write(part, 0, count);
            } catch (SocketTimeoutException again) {
                // Retry.
            }
        }
    }
}
