package dev.linerate.netty;

import java.util.Random;

/** Messages like those of gateways. */
final class Traffic {
    private Traffic() {}

    /** Returns a message of several hundred bytes, always the same for a number. */
    static String message(int number) {
        Random random = new Random(number);
        StringBuilder text = new StringBuilder("{\"op\":0,\"s\":" + number + ",\"t\":\"PRESENCE_UPDATE\",\"d\":{\"user\":{\"id\":\"");
        text.append(random.nextLong()).append("\"},\"status\":\"").append(random.nextBoolean() ? "online" : "idle");
        text.append("\",\"client_status\":{\"desktop\":\"online\"},\"activities\":[");
        for (int i = random.nextInt(5); i > 0; i--) {
            text.append("{\"name\":\"ünïcode ").append(random.nextInt(50)).append("\",\"type\":0,\"created_at\":");
            text.append(1_700_000_000_000L + random.nextInt(1 << 30)).append("},");
        }
        return text.append("null]}}").toString();
    }

    static String messages(int from, int count) {
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < count; i++) {
            all.append(message(from + i));
        }
        return all.toString();
    }
}
