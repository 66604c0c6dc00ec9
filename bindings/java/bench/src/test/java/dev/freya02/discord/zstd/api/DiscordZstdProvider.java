package dev.freya02.discord.zstd.api;

import com.github.luben.zstd.ZstdDecompressCtx;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.ByteBuffer;

public final class DiscordZstdProvider {
    private DiscordZstdProvider() {}

    public static DiscordZstd get() {
        return new Double();
    }

    private static final class Double implements DiscordZstd {
        @Override
        public DiscordZstdContext createContext() {
            return new Decoder(1024);
        }

        @Override
        public DiscordZstdDecompressorFactory createDecompressorFactory(int bufferSizeHint) {
            return () -> new Decoder(bufferSizeHint);
        }
    }

    private static final class Decoder implements DiscordZstdContext, DiscordZstdDecompressor {
        private final ZstdDecompressCtx context = new ZstdDecompressCtx();
        private final ByteBuffer piece;

        Decoder(int buffer) {
            piece = ByteBuffer.allocateDirect(buffer);
        }

        @Override
        public byte[] decompress(byte[] data) {
            ByteBuffer input = ByteBuffer.allocateDirect(data.length).put(data).flip();
            ByteArrayOutputStream payload = new ByteArrayOutputStream();
            do {
                context.decompressDirectByteBufferStream(piece.clear(), input);
                byte[] decoded = new byte[piece.flip().remaining()];
                piece.get(decoded);
                payload.write(decoded, 0, decoded.length);
            } while (input.hasRemaining() || piece.limit() != 0);
            return payload.toByteArray();
        }

        @Override
        public InputStream createInputStream(byte[] input) {
            return new ByteArrayInputStream(decompress(input));
        }

        @Override
        public void reset() {
            context.reset();
        }

        @Override
        public void close() {
            context.close();
        }
    }
}
