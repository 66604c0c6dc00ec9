package dev.linerate.gateway.integration;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Minimal events of one guild that JDA accepts, then messages of many lengths. The gateway sets the
 * sequence numbers; READY is 1, and RESUMED has a number too.
 */
final class Traffic {
    /** The client's user in the gateway's default READY. */
    private static final String SELF = "1000000000000000001";

    private static final String EVERYONE = "100";

    private static final String CHANNEL = "200";

    /** Placeholder of the sequence number. */
    private static final String NUMBER = "\0";

    private final List<String> events = new ArrayList<>();
    private final List<String> contents = new ArrayList<>();

    Traffic(int messages) {
        add("GUILD_CREATE", guild());
        Random random = new Random(messages);
        for (int i = 0; i < messages; i++) {
            StringBuilder content = new StringBuilder().append(i);
            // Some messages are so long that they take several compressed blocks and several reads.
            int words = i % 25 == 24 ? 20_000 : random.nextInt(60);
            for (int word = 0; word < words; word++) {
                content.append(' ').append(Integer.toString(random.nextInt(1 << 20), 36));
            }
            contents.add(content.toString());
            add("MESSAGE_CREATE", message(i, content));
        }
    }

    private void add(String name, String data) {
        events.add("{\"t\":\"" + name + "\",\"s\":" + NUMBER + ",\"op\":0,\"d\":" + data + "}");
    }

    /** Number of events, without READY. */
    int events() {
        return events.size();
    }

    /** The payload of an event with a sequence number. */
    byte[] event(int index, long sequence) {
        return events.get(index).replace(NUMBER, Long.toString(sequence)).getBytes(StandardCharsets.UTF_8);
    }

    /** Contents of the messages. */
    List<String> contents() {
        return contents;
    }

    /** Writes a file for {@code linerate gateway serve --messages}. */
    Path write(Path file) throws IOException {
        try (OutputStream out = Files.newOutputStream(file)) {
            for (int index = 0; index < events(); index++) {
                byte[] bytes = event(index, index + 2);
                out.write(ByteBuffer.allocate(4)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putInt(bytes.length)
                        .array());
                out.write(bytes);
            }
        }
        return file;
    }

    private static String user(String id) {
        return "{\"id\":\"" + id + "\",\"username\":\"user" + id + "\",\"discriminator\":\"0\"}";
    }

    private static String guild() {
        return "{\"id\":\"" + EVERYONE + "\",\"name\":\"g\",\"owner_id\":\"5\",\"member_count\":1,\"afk_timeout\":300,"
                + "\"threads\":[],\"voice_states\":[],\"presences\":[],\"emojis\":[],\"stickers\":[],\"features\":[],"
                + "\"guild_scheduled_events\":[],\"stage_instances\":[],"
                + "\"channels\":[{\"id\":\"" + CHANNEL + "\",\"type\":0,\"name\":\"c\",\"permission_overwrites\":[],"
                + "\"position\":0}],"
                + "\"members\":[{\"user\":" + user(SELF) + ",\"roles\":[],"
                + "\"joined_at\":\"2026-01-01T00:00:00.000000+00:00\"}],"
                + "\"roles\":[{\"id\":\"" + EVERYONE + "\",\"name\":\"@everyone\",\"position\":0,\"color\":0,"
                + "\"colors\":{\"primary_color\":0},\"permissions\":\"0\",\"mentionable\":false,\"managed\":false,"
                + "\"hoist\":false}]}";
    }

    private static String message(int index, CharSequence content) {
        return "{\"id\":\"" + (1000 + index) + "\",\"channel_id\":\"" + CHANNEL + "\",\"guild_id\":\"" + EVERYONE
                + "\",\"type\":0,\"content\":\"" + content + "\",\"author\":" + user("7") + ",\"member\":{\"roles\":[],"
                + "\"joined_at\":\"2026-01-01T00:00:00.000000+00:00\"},\"mentions\":[],\"mention_roles\":[],"
                + "\"attachments\":[],\"embeds\":[],\"tts\":false,\"mention_everyone\":false,\"pinned\":false,"
                + "\"flags\":0,\"timestamp\":\"2026-01-01T00:00:00.000000+00:00\"}";
    }
}
