package dev.linerate.gateway.jda;

import dev.linerate.gateway.Transport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import net.dv8tion.jda.api.requests.gateway.compression.GatewayDecompressor;

/** The two decompressor interfaces of JDA as one. */
interface Form {
    /** The payload of a frame, null if it is incomplete. */
    byte[] payload(byte[] frame) throws IOException;

    GatewayDecompressor.Transport decompressor();

    enum Kind {
        BUFFERED {
            @Override
            Form of(Transport transport) {
                BufferedDecompressor decompressor = new BufferedDecompressor(transport);
                return new Form() {
                    @Override
                    public byte[] payload(byte[] frame) throws IOException {
                        return decompressor.decompress(frame);
                    }

                    @Override
                    public GatewayDecompressor.Transport decompressor() {
                        return decompressor;
                    }
                };
            }
        },
        STREAMED {
            @Override
            Form of(Transport transport) {
                StreamedDecompressor decompressor = new StreamedDecompressor(transport);
                return new Form() {
                    @Override
                    public byte[] payload(byte[] frame) throws IOException {
                        try (InputStream stream = decompressor.createInputStream(frame)) {
                            return stream == null ? null : all(stream);
                        }
                    }

                    @Override
                    public GatewayDecompressor.Transport decompressor() {
                        return decompressor;
                    }
                };
            }
        };

        abstract Form of(Transport transport);
    }

    static byte[] all(InputStream stream) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] part = new byte[1000];
        for (int count; (count = stream.read(part)) >= 0; ) {
            all.write(part, 0, count);
        }
        return all.toByteArray();
    }
}
