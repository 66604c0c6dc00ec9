package net.dv8tion.jda.api.requests.gateway.compression;

import java.io.InputStream;
import net.dv8tion.jda.api.exceptions.DecompressionException;

/**
 * A test double: the names and signatures of the interfaces that JDA's pull request 2985 proposes, and
 * nothing else of them. It is compiled against and never packaged; JDA brings the interfaces.
 */
public interface GatewayDecompressor {
    /**
     * The transport in the query of the gateway's address.
     *
     * @return such as {@code zstd-stream}; null without compression
     */
    String getQueryParameter();

    /** The end of the shard. */
    void shutdown();

    /** One compression context for a connection. */
    interface Transport extends GatewayDecompressor {
        /** A new connection begins. */
        void reset();

        /** Whole payloads. */
        interface Buffered extends Transport {
            /**
             * Takes a websocket message.
             *
             * @param data the message
             * @return the payload, or null if more messages are needed for it
             * @throws DecompressionException if the connection cannot go on
             */
            byte[] decompress(byte[] data) throws DecompressionException;
        }

        /** Payloads to be read. */
        interface Streamed extends Transport {
            /**
             * Takes a websocket message.
             *
             * @param data the message
             * @return the payload, or null if more messages are needed for it; a {@link DecompressionException} comes
             *     from reading
             */
            InputStream createInputStream(byte[] data);
        }
    }
}
