package dev.linerate.gateway.bench;

import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.Transport;
import java.io.IOException;
import java.io.InputStream;

/** A stream per payload. */
final class LinerateStream implements Connection {
    private final GatewayDecompressor decompressor;

    LinerateStream(Transport transport) {
        decompressor = GatewayDecompressor.create(transport);
    }

    @Override
    public void message(Frame frame, Taker taker) throws IOException {
        try (InputStream stream = decompressor.open(frame.heap)) {
            taker.stream(stream);
        }
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
