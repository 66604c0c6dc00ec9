package dev.linerate.gateway.jda;

import java.nio.charset.StandardCharsets;

/** The head of the server's answer to a websocket request, up to its blank line. */
final class AnswerHead {
    private static final byte[] UPGRADE = "HTTP/1.1 101".getBytes(StandardCharsets.US_ASCII);

    private long seen;
    private int newlines;
    private boolean upgrade = true;

    /** How many of some bytes are of the head. */
    int count(byte[] bytes, int from, int to) {
        int at = from;
        while (at < to && !isWhole()) {
            see(bytes[at++]);
        }
        return at - from;
    }

    private void see(byte next) {
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

    boolean isWhole() {
        return newlines == 2;
    }

    /** Whether websocket frames follow. */
    boolean isUpgrade() {
        return upgrade;
    }
}
