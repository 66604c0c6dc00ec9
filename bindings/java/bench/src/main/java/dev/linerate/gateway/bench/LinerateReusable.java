package dev.linerate.gateway.bench;

import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.ReusableBuffer;
import dev.linerate.gateway.Transport;
import java.io.IOException;

/** Decodes into one array shared by the connections. */
final class LinerateReusable implements Connection {
    private static final ReusableBuffer BUFFER = new ReusableBuffer();

    private final GatewayDecompressor decompressor;

    LinerateReusable(Transport transport) {
        decompressor = GatewayDecompressor.create(transport);
    }

    @Override
    public void message(Frame frame, Taker taker) throws IOException {
        int length = decompressor.decompress(frame.heap, BUFFER);
        taker.array(BUFFER.array(), length);
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
