package dev.linerate.gateway;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** HELLO of a gateway, compressed by zlib and libzstd. */
final class Hello {
    static final byte[] TEXT =
            ("{\"t\":null,\"s\":null,\"op\":10,\"d\":{\"heartbeat_interval\":41250,\"_trace\":"
                            + "[\"[\\\"gateway-prd-us-east1-d-0\\\",{\\\"micros\\\":0.0}]\"]}}")
                    .getBytes(StandardCharsets.US_ASCII);

    private static final byte[] ZLIB = bytes(
            "789c34c9410ac2301005d0bbfc752289e866aed29432368316625b26534542eeae1b770f5e8381d6a31487fac7b68362"
                    + "70c8a08687b0da4dd8a66535d11717d0259eafbf9f4c7916d08021e1ce266ffef85db33faa17ae167df621c1"
                    + "b584e732eb5613289c421f31f6fe050000ffff");
    private static final byte[] ZSTD = bytes(
            "28b52ffd00304403001207181b7069db1441e86e30fb898f22fcfbf0e3ffdf4c882e612b50ff8710ef1d3f5e02529f1a"
                    + "c312e5f0e4ce53a242d46d191b02156b70b10aee2d3c1937f49c2c6be427070124d0af4d30ee45417a99d06c"
                    + "d970a7573f89f40dd37ed6422cfabe0b0100244a12");

    private Hello() {}

    static byte[] wire(Transport transport) {
        return transport == Transport.ZLIB ? ZLIB.clone() : ZSTD.clone();
    }

    static ByteBuffer direct(Transport transport) {
        byte[] wire = wire(transport);
        ByteBuffer frame = ByteBuffer.allocateDirect(wire.length);
        frame.put(wire).flip();
        return frame;
    }

    private static byte[] bytes(String hex) {
        byte[] bytes = new byte[hex.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Integer.parseInt(hex, 2 * i, 2 * i + 2, 16);
        }
        return bytes;
    }
}
