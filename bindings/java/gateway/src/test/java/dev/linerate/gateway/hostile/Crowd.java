package dev.linerate.gateway.hostile;

import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.ReusableBuffer;
import dev.linerate.gateway.Transport;
import java.io.InputStream;

/**
 * Opens 2,500 connections and keeps them ("live"), or opens 12,000 one after the other that are
 * dropped without being closed ("forgotten"). Arguments: one of these words, and a transport.
 * Prints by how many KB the process has grown.
 */
public final class Crowd {
    private static final int CONNECTIONS = 2500;
    private static final int FORGOTTEN = 12_000;

    private Crowd() {}

    public static void main(String[] arguments) throws Exception {
        Transport transport = Transport.valueOf(arguments[1]);
        byte[][] payloads = new byte[30][];
        for (int k = 0; k < payloads.length; k++) {
            payloads[k] = Wire.sized(5000 + k);
        }
        byte[][] frames = Wire.stream(transport, payloads);
        ReusableBuffer into = new ReusableBuffer();
        for (int k = 0; k < 50; k++) {
            use(transport, frames, into).close();
        }
        long before = Resident.kilobytes();
        if (arguments[0].equals("live")) {
            live(transport, frames, into);
        } else {
            forget(transport, frames, into);
        }
        System.out.println(Resident.kilobytes() - before);
    }

    private static GatewayDecompressor[] held;

    private static void live(Transport transport, byte[][] frames, ReusableBuffer into) throws Exception {
        held = new GatewayDecompressor[CONNECTIONS];
        for (int c = 0; c < held.length; c++) {
            held[c] = GatewayDecompressor.create(transport);
        }
        for (byte[] frame : frames) {
            for (GatewayDecompressor decompressor : held) {
                decompressor.decompress(frame, into);
            }
        }
        long maxMemory = transport == Transport.ZLIB ? 40_000 : 90_000;
        for (GatewayDecompressor decompressor : held) {
            if (decompressor.messages() != frames.length || decompressor.memory() > maxMemory) {
                throw new AssertionError(decompressor.messages() + " messages, " + decompressor.memory() + " bytes");
            }
        }
    }

    /**
     * Drops connections without closing them, so that the garbage collector must free their memory.
     * Every third one also leaves a stream that was not read to its end.
     */
    private static void forget(Transport transport, byte[][] frames, ReusableBuffer into) throws Exception {
        for (int k = 0; k < FORGOTTEN; k++) {
            GatewayDecompressor forgotten = use(transport, frames, into);
            if (k % 3 == 0) {
                forgotten.reset();
                InputStream stream = forgotten.open(frames[0]);
                stream.read();
            }
            if (k % 500 == 499) {
                System.gc();
                Thread.sleep(20);
            }
        }
        System.gc();
        Thread.sleep(200);
    }

    private static GatewayDecompressor use(Transport transport, byte[][] frames, ReusableBuffer into) throws Exception {
        GatewayDecompressor decompressor = GatewayDecompressor.create(transport);
        for (int k = 0; k < 15; k++) {
            decompressor.decompress(frames[k], into);
        }
        return decompressor;
    }
}
