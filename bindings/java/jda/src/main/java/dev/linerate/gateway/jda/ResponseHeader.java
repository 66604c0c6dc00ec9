package dev.linerate.gateway.jda;

import java.nio.charset.StandardCharsets;

/** Follows the HTTP response to a websocket handshake up to the blank line that ends it. */
final class ResponseHeader {
    private static final byte[] UPGRADE = "HTTP/1.1 101".getBytes(StandardCharsets.US_ASCII);

    private long seen;
    private int newlines;
    private boolean upgrade = true;

    /** Returns how many of the bytes from {@code from} to {@code to} belong to the response. */
    int count(byte[] bytes, int from, int to) {
        int at = from;
        while (at < to && !isComplete()) {
            accept(bytes[at++]);
        }
        return at - from;
    }

    private void accept(byte next) {
        if (seen < UPGRADE.length && next != UPGRADE[(int) seen]) {
            upgrade = false;
        }
        seen++;
        if (next == '\n') {
            newlines++;
        } else if (next != '\r') {
            newlines = 0;
        }
    }

    boolean isComplete() {
        return newlines == 2;
    }

    /** Whether websocket frames follow a complete response, since its status is 101. */
    boolean isUpgrade() {
        return upgrade;
    }
}
