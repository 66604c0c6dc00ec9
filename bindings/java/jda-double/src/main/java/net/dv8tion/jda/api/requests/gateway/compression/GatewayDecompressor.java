package net.dv8tion.jda.api.requests.gateway.compression;

import java.io.InputStream;
import net.dv8tion.jda.api.exceptions.DecompressionException;

/**
 * A test double: the names and signatures of the interfaces that JDA's pull request 2985 proposes, and
 * nothing else of them. It is compiled against and never packaged; JDA brings the interfaces.
 */
public interface GatewayDecompressor {
    /**
     * Returns the transport in the query of the gateway's URL.
     *
     * @return such as {@code zstd-stream}; null without compression
     */
    String getQueryParameter();

    /** Shuts the shard down. */
    void shutdown();

    /** One compression context for a connection. */
    interface Transport extends GatewayDecompressor {
        /** Starts a new connection. */
        void reset();

        /** Payloads as arrays. */
        interface Buffered extends Transport {
            /**
             * Decompresses a websocket message.
             *
             * @param data the message
             * @return the payload, or null if it is incomplete
             * @throws DecompressionException if the stream is damaged
             */
            byte[] decompress(byte[] data) throws DecompressionException;
        }

        /** Payloads as streams. */
        interface Streamed extends Transport {
            /**
             * Decompresses a websocket message.
             *
             * @param data the message
             * @return the payload, or null if it is incomplete; reads throw {@link DecompressionException}
             */
            InputStream createInputStream(byte[] data);
        }
    }
}
