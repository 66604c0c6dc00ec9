package dev.linerate.gateway.hostile;

import dev.linerate.gateway.DirectBuffer;
import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.ReusableBuffer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The forms in which a decompressor returns a payload. All return {@code null} for an incomplete
 * message.
 */
enum Form {
    BULK {
        @Override
        byte[] decode(GatewayDecompressor decompressor, byte[] frame) throws IOException {
            return decompressor.decompress(frame);
        }
    },
    REUSABLE {
        @Override
        byte[] decode(GatewayDecompressor decompressor, byte[] frame) throws IOException {
            ReusableBuffer into = new ReusableBuffer();
            int length = decompressor.decompress(frame, into);
            return length < 0 ? null : Arrays.copyOf(into.array(), length);
        }
    },
    DIRECT {
        @Override
        byte[] decode(GatewayDecompressor decompressor, byte[] frame) throws IOException {
            ByteBuffer direct = ByteBuffer.allocateDirect(frame.length);
            direct.put(frame);
            direct.flip();
            DirectBuffer into = new DirectBuffer(16);
            if (!decompressor.decompress(direct, into)) {
                return null;
            }
            byte[] payload = new byte[into.buffer().remaining()];
            into.buffer().get(payload);
            return payload;
        }
    },
    STREAM {
        @Override
        byte[] decode(GatewayDecompressor decompressor, byte[] frame) throws IOException {
            try (InputStream stream = decompressor.open(frame)) {
                return stream == null ? null : all(stream);
            }
        }
    };

    abstract byte[] decode(GatewayDecompressor decompressor, byte[] frame) throws IOException;

    /** Reads the rest of a stream. A read must not return zero bytes. */
    static byte[] all(InputStream stream) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] piece = new byte[1000];
        for (int n; (n = stream.read(piece)) >= 0; ) {
            if (n == 0) {
                throw new AssertionError("read returned 0 for an array of 1,000 bytes");
            }
            all.write(piece, 0, n);
        }
        return all.toByteArray();
    }
}
