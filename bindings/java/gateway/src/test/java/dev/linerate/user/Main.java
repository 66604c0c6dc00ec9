package dev.linerate.user;

import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.NativeLoader;
import dev.linerate.gateway.Transport;

/** A program that uses the module {@code dev.linerate.gateway} from outside. */
public final class Main {
    private Main() {}

    /**
     * Prints the file of the loaded library.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) {
        if (!GatewayDecompressor.class.getModule().isNamed()) {
            throw new IllegalStateException("this is no module");
        }
        try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZSTD)) {
            if (decompressor.messages() == 0) {
                System.out.println(NativeLoader.path());
            }
        }
    }
}
