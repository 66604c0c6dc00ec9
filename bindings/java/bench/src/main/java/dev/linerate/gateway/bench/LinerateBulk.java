package dev.linerate.gateway.bench;

import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.Transport;
import java.io.IOException;

/** A new array per payload. */
final class LinerateBulk implements Connection {
    private final GatewayDecompressor decompressor;

    LinerateBulk(Transport transport) {
        decompressor = GatewayDecompressor.create(transport);
    }

    @Override
    public void message(Frame frame, Taker taker) throws IOException {
        byte[] payload = decompressor.decompress(frame.heap);
        taker.array(payload, payload.length);
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
