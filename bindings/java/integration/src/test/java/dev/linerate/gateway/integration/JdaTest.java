package dev.linerate.gateway.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.neovisionaries.ws.client.WebSocketFactory;
import dev.linerate.gateway.DecompressionException;
import dev.linerate.gateway.Transport;
import dev.linerate.gateway.jda.GatewaySockets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import net.dv8tion.jda.api.events.GatewayPingEvent;
import net.dv8tion.jda.api.events.guild.GuildReadyEvent;
import net.dv8tion.jda.api.events.session.ReadyEvent;
import net.dv8tion.jda.api.events.session.SessionDisconnectEvent;
import net.dv8tion.jda.api.events.session.SessionRecreateEvent;
import net.dv8tion.jda.api.events.session.SessionResumeEvent;
import net.dv8tion.jda.api.utils.Compression;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The released JDA: with its own decompressor, which tests the gateway, and with ours below it. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class JdaTest {
    private static final Traffic TRAFFIC = new Traffic(100);

    @TempDir
    static Path folder;

    private static String messages;

    @BeforeAll
    static void writeTraffic() throws Exception {
        messages = TRAFFIC.write(folder.resolve("traffic.msgs")).toString();
    }

    @Test
    void jdaWithItsOwnDecompressorResumesAfterAForcedClose() throws Exception {
        try (LocalGateway gateway = LocalGateway.start("--messages", messages, "--close-after", "40");
                Bot bot = new Bot(gateway.url(), gateway, Compression.ZLIB, new WebSocketFactory())) {
            assertAllArrives(bot, 1);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void jdaWithOursResumesAfterAForcedClose(Transport transport) throws Exception {
        try (LocalGateway gateway = LocalGateway.start("--messages", messages, "--close-after", "40");
                Bot bot = bot(gateway, Compression.NONE, GatewaySockets.of(transport))) {
            assertAllArrives(bot, 1);
        }
    }

    /** Here JDA's own compression is switched on, and the gateway sends payloads in fragments. */
    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void jdaWithOursResumesAfterCorruption(Transport transport) throws Exception {
        List<DecompressionException> errors = Collections.synchronizedList(new ArrayList<>());
        try (LocalGateway gateway =
                        LocalGateway.start("--messages", messages, "--fragment", "50", "--corrupt-at", "60");
                Bot bot = bot(gateway, Compression.ZLIB, GatewaySockets.of(transport).onError(errors::add))) {
            assertAllArrives(bot, 1);
        }
        assertEquals(1, errors.size(), errors.toString());
        assertEquals(DecompressionException.Kind.CORRUPT, errors.get(0).kind());
        // HELLO is message 0, and the event with sequence number n is message n. Each answer to a
        // heartbeat before it adds one.
        long index = errors.get(0).messageIndex();
        assertTrue(index >= 60 && index < 64, "message " + index);
    }

    @Test
    void heartbeatsAreAnswered() throws Exception {
        try (LocalGateway gateway = LocalGateway.start("--heartbeat", "100");
                Bot bot = bot(gateway, Compression.NONE, GatewaySockets.of(Transport.ZSTD))) {
            bot.await("heartbeats", () -> bot.count(GatewayPingEvent.class) >= 5);
            assertEquals(1, bot.count(ReadyEvent.class));
            assertEquals(0, bot.count(SessionDisconnectEvent.class));
        }
    }

    private static Bot bot(LocalGateway gateway, Compression compression, GatewaySockets sockets) {
        return new Bot(
                gateway.url(), gateway, compression, new WebSocketFactory().setSocketFactory(sockets.plain()));
    }

    private static void assertAllArrives(Bot bot, int resumed) throws InterruptedException {
        bot.await("messages", () -> bot.contents().size() >= TRAFFIC.contents().size());
        // RESUMED of the gateway comes after the last message.
        bot.await("the end of resuming", () -> bot.count(SessionResumeEvent.class) >= resumed);
        assertEquals(TRAFFIC.contents(), bot.contents());
        assertEquals(1, bot.count(ReadyEvent.class));
        assertEquals(1, bot.count(GuildReadyEvent.class));
        assertEquals(resumed, bot.count(SessionDisconnectEvent.class));
        assertEquals(resumed, bot.count(SessionResumeEvent.class));
        assertEquals(0, bot.count(SessionRecreateEvent.class));
    }
}
