package dev.linerate.gateway.bench;

import dev.linerate.gateway.DirectBuffer;
import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.ReusableBuffer;
import dev.linerate.gateway.Transport;
import java.io.IOException;
import java.io.InputStream;

/** Our decompressor in one of its forms. All connections share the buffers for payloads. */
final class Linerate implements Connection {
    private static final ReusableBuffer REUSABLE = new ReusableBuffer();
    private static final DirectBuffer DIRECT = new DirectBuffer(64 << 10);

    private final GatewayDecompressor decompressor;
    private final Form form;

    /** Decompresses a frame in one of the forms. */
    interface Form {
        void message(GatewayDecompressor decompressor, Frame frame, Taker taker) throws IOException;
    }

    Linerate(Transport transport, Form form) {
        decompressor = GatewayDecompressor.create(transport);
        this.form = form;
    }

    static void bulk(GatewayDecompressor decompressor, Frame frame, Taker taker) throws IOException {
        byte[] payload = decompressor.decompress(frame.heap);
        taker.array(payload, payload.length);
    }

    static void reusable(GatewayDecompressor decompressor, Frame frame, Taker taker) throws IOException {
        int length = decompressor.decompress(frame.heap, REUSABLE);
        taker.array(REUSABLE.array(), length);
    }

    static void direct(GatewayDecompressor decompressor, Frame frame, Taker taker) throws IOException {
        if (!decompressor.decompress(frame.direct.rewind(), DIRECT)) {
            throw new IOException("the message is incomplete");
        }
        taker.buffer(DIRECT.buffer());
    }

    static void stream(GatewayDecompressor decompressor, Frame frame, Taker taker) throws IOException {
        try (InputStream stream = decompressor.open(frame.heap)) {
            taker.stream(stream);
        }
    }

    @Override
    public void message(Frame frame, Taker taker) throws IOException {
        form.message(decompressor, frame, taker);
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
