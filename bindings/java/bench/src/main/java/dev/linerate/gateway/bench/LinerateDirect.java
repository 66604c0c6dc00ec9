package dev.linerate.gateway.bench;

import dev.linerate.gateway.DirectBuffer;
import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.Transport;
import java.io.IOException;

/** Decodes from direct buffers into one direct buffer shared by the connections. */
final class LinerateDirect implements Connection {
    private static final DirectBuffer BUFFER = new DirectBuffer(64 << 10);

    private final GatewayDecompressor decompressor;

    LinerateDirect(Transport transport) {
        decompressor = GatewayDecompressor.create(transport);
    }

    @Override
    public void message(Frame frame, Taker taker) throws IOException {
        if (!decompressor.decompress(frame.direct.rewind(), BUFFER)) {
            throw new IOException("the message is not whole");
        }
        taker.buffer(BUFFER.buffer());
    }

    @Override
    public void reset() {
        decompressor.reset();
    }

    @Override
    public void close() {
        decompressor.close();
    }
}
