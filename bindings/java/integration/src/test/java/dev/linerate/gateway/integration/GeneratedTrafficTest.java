package dev.linerate.gateway.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.neovisionaries.ws.client.WebSocketFactory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import net.dv8tion.jda.api.GatewayEncoding;
import net.dv8tion.jda.api.events.guild.GuildReadyEvent;
import net.dv8tion.jda.api.events.message.MessageReceivedEvent;
import net.dv8tion.jda.api.events.message.react.MessageReactionAddEvent;
import net.dv8tion.jda.api.events.session.ReadyEvent;
import net.dv8tion.jda.api.events.session.SessionDisconnectEvent;
import net.dv8tion.jda.api.events.user.UserTypingEvent;
import net.dv8tion.jda.api.utils.ChunkingFilter;
import net.dv8tion.jda.api.utils.Compression;
import net.dv8tion.jda.api.utils.MemberCachePolicy;
import net.dv8tion.jda.api.utils.cache.CacheFlag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** JDA with all caches on traffic of {@code linerate gateway generate}. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GeneratedTrafficTest {
    private static final int GUILDS = 4;

    @TempDir
    static Path folder;

    /** Both encodings of the gateway are tested, because JDA also reads ETF. */
    @ParameterizedTest
    @EnumSource(GatewayEncoding.class)
    void jdaGetsReadyAndSeesEveryEvent(GatewayEncoding encoding) throws Exception {
        Path messages = LocalGateway.generate(
                folder.resolve(encoding.name()), "--guilds", Integer.toString(GUILDS), "--events", "300");
        try (LocalGateway gateway = LocalGateway.start("--messages", messages.toString());
                Bot bot = new Bot(
                        gateway.url(), gateway, Compression.ZLIB, new WebSocketFactory(), builder -> builder
                                .setGatewayEncoding(encoding)
                                .enableCache(EnumSet.allOf(CacheFlag.class))
                                .setMemberCachePolicy(MemberCachePolicy.ALL)
                                .setChunkingFilter(ChunkingFilter.ALL))) {
            int sent = count(messages, "MESSAGE_CREATE");
            bot.await("messages", () -> bot.count(MessageReceivedEvent.class) >= sent);
            int typed = count(messages, "TYPING_START");
            bot.await("typing", () -> bot.count(UserTypingEvent.class) >= typed);
            int reacted = count(messages, "MESSAGE_REACTION_ADD");
            bot.await("reactions", () -> bot.count(MessageReactionAddEvent.class) >= reacted);
            bot.await("readiness", () -> bot.count(ReadyEvent.class) >= 1);
            assertEquals(1, bot.count(ReadyEvent.class));
            assertEquals(GUILDS, bot.count(GuildReadyEvent.class));
            assertEquals(0, bot.count(SessionDisconnectEvent.class));
            assertEquals(sent, bot.contents().size());
            assertEquals(GUILDS, bot.jda().getGuilds().size());
            assertTrue(bot.jda().getGuilds().stream().allMatch(guild -> guild.getVoiceChannels().stream()
                    .allMatch(channel -> channel.getBitrate() >= 64_000)));
        }
    }

    /** Number of events of a name in a file of messages with length prefixes. */
    private static int count(Path messages, String name) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(messages)).order(ByteOrder.LITTLE_ENDIAN);
        Pattern event = Pattern.compile("\\{\"t\":\"" + name + "\"");
        int count = 0;
        while (bytes.hasRemaining()) {
            byte[] message = new byte[bytes.getInt()];
            bytes.get(message);
            Matcher matcher = event.matcher(new String(message, StandardCharsets.UTF_8));
            count += matcher.lookingAt() ? 1 : 0;
        }
        return count;
    }
}
