package dev.linerate.gateway.jda;

import dev.linerate.gateway.GatewayDecompressor;
import java.util.Objects;
import net.dv8tion.jda.api.exceptions.DecompressionException;

/** The decompressor of a shard, and how its errors look to JDA. */
final class Shard {
    private final GatewayDecompressor decompressor;

    Shard(GatewayDecompressor decompressor) {
        this.decompressor = Objects.requireNonNull(decompressor, "decompressor");
    }

    GatewayDecompressor decompressor() {
        return decompressor;
    }

    String queryName() {
        return decompressor.transport().queryName();
    }

    /** JDA may shut a shard down while another of its threads prepares the next connection. */
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

    /** The exception that JDA knows, with our sentence, kind and place. */
    static DecompressionException translated(dev.linerate.gateway.DecompressionException fault) {
        return new DecompressionException(fault.getMessage(), fault);
    }

    /** The same for a shard that was shut down; misuse by two threads at once stays what it is. */
    DecompressionException shutDown(IllegalStateException state) {
        if (!decompressor.isClosed()) {
            throw state;
        }
        return new DecompressionException("the shard was shut down", state);
    }
}
