package dev.linerate.gateway.jda;

import dev.linerate.gateway.GatewayDecompressor;
import java.util.Objects;
import net.dv8tion.jda.api.exceptions.DecompressionException;

/** The decompressor of a shard, with its errors converted to JDA's. */
final class Shard {
    private final GatewayDecompressor decompressor;

    /** Takes ownership, also of one that it refuses. */
    Shard(GatewayDecompressor decompressor) {
        this.decompressor = Objects.requireNonNull(decompressor, "decompressor");
        if (!decompressor.transport().isStream()) {
            decompressor.close();
            throw new IllegalArgumentException("gateways do not have " + queryName());
        }
    }

    GatewayDecompressor decompressor() {
        return decompressor;
    }

    String queryName() {
        return decompressor.transport().queryName();
    }

    /** Resets. JDA may shut a shard down while another of its threads prepares the next connection. */
    void reset() {
        try {
            decompressor.reset();
        } catch (IllegalStateException state) {
            if (!decompressor.isClosed()) {
                throw state;
            }
        }
    }

    void shutdown() {
        decompressor.close();
    }

    /** Converts to JDA's exception; ours is its cause. */
    static DecompressionException translate(dev.linerate.gateway.DecompressionException error) {
        return new DecompressionException(error.getMessage(), error);
    }

    /** The exception of a shard that was shut down. Rethrows {@code state} if it reports concurrent use. */
    DecompressionException shutDownError(IllegalStateException state) {
        if (!decompressor.isClosed()) {
            throw state;
        }
        return new DecompressionException("the shard was shut down", state);
    }
}
