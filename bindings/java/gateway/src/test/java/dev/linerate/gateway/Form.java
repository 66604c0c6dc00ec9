package dev.linerate.gateway;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/** A form in which a decompressor returns a payload. */
enum Form {
    NEW_ARRAY {
        @Override
        byte[] decode(GatewayDecompressor decompressor, byte[] bytes, int offset, int length)
                throws IOException {
            return decompressor.decompress(bytes, offset, length);
        }
    },
    REUSABLE {
        private final ReusableBuffer into = new ReusableBuffer(100);

        @Override
        byte[] decode(GatewayDecompressor decompressor, byte[] bytes, int offset, int length)
                throws IOException {
            int count = decompressor.decompress(bytes, offset, length, into);
            return count < 0 ? null : into.toByteArray();
        }
    },
    DIRECT {
        private final DirectBuffer into = new DirectBuffer(100);

        @Override
        byte[] decode(GatewayDecompressor decompressor, byte[] bytes, int offset, int length)
                throws IOException {
            ByteBuffer frame = ByteBuffer.allocateDirect(bytes.length);
            frame.put(bytes).position(offset).limit(offset + length);
            if (!decompressor.decompress(frame, into)) {
                return null;
            }
            byte[] payload = new byte[into.length()];
            into.buffer().get(payload);
            return payload;
        }
    },
    STREAM {
        @Override
        byte[] decode(GatewayDecompressor decompressor, byte[] bytes, int offset, int length)
                throws IOException {
            try (InputStream in = decompressor.open(bytes, offset, length)) {
                return in == null ? null : in.readAllBytes();
            }
        }
    };

    /**
     * Decodes the frame in {@code length} bytes from {@code offset} on; null if the message is
     * incomplete.
     */
    abstract byte[] decode(GatewayDecompressor decompressor, byte[] bytes, int offset, int length)
            throws IOException;

    byte[] decode(GatewayDecompressor decompressor, byte[] frame) throws IOException {
        return decode(decompressor, frame, 0, frame.length);
    }
}
