package dev.linerate.gateway.bench;

import com.github.luben.zstd.ZstdDecompressCtx;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * zstd-jni's context from a direct buffer into a shared direct buffer: libzstd with the fewest copies possible in Java.
 */
final class ZstdJniContext implements Connection {
    private static final ByteBuffer OUTPUT = ByteBuffer.allocateDirect(16 << 20);

    private final ZstdDecompressCtx context = new ZstdDecompressCtx();

    @Override
    public void message(Frame frame, Taker taker) throws IOException {
        ByteBuffer input = frame.direct.rewind();
        ByteBuffer output = OUTPUT.clear();
        // A call that consumes all input can have output left, since the blocks of a message are written one at a time.
        int before;
        do {
            before = output.position();
            context.decompressDirectByteBufferStream(output, input);
        } while (input.hasRemaining() || output.position() != before);
        taker.buffer(output.flip());
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
