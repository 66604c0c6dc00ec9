package dev.linerate.gateway.jda;

import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import dev.linerate.gateway.Transport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.zip.DeflaterOutputStream;

/** The gateway's side of a connection, which compresses with zlib or libzstd. */
final class Gateway {
    private final ByteArrayOutputStream sent = new ByteArrayOutputStream();
    private final OutputStream compressor;

    Gateway(Transport transport) throws IOException {
        compressor = transport == Transport.ZLIB ? new DeflaterOutputStream(sent, true) : zstd(sent);
    }

    /** Returns an encoder with the parameters that gateways use. */
    private static OutputStream zstd(OutputStream sent) throws IOException {
        return new ZstdOutputStreamNoFinalizer(sent)
                .setLevel(7)
                .setWindowLog(16)
                .setChainLog(15)
                .setHashLog(15)
                .setCloseFrameOnFlush(false);
    }

    /** Returns the content of the websocket message that carries a payload. */
    byte[] frame(byte[] payload) throws IOException {
        sent.reset();
        compressor.write(payload);
        compressor.flush();
        return sent.toByteArray();
    }

    byte[] frame(String payload) throws IOException {
        return frame(payload.getBytes(StandardCharsets.UTF_8));
    }

    /** JSON-like text of this many bytes. */
    static byte[] text(int bytes, long seed) {
        Random random = new Random(seed);
        StringBuilder text = new StringBuilder();
        while (text.length() < bytes) {
            text.append("{\"id\":\"").append(random.nextInt(1 << 20)).append("\",\"name\":\"a b c\"},");
        }
        return text.substring(0, bytes).getBytes(StandardCharsets.UTF_8);
    }
}
