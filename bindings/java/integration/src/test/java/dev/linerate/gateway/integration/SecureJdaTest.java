package dev.linerate.gateway.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.neovisionaries.ws.client.HostnameUnverifiedException;
import com.neovisionaries.ws.client.WebSocketException;
import com.neovisionaries.ws.client.WebSocketFactory;
import dev.linerate.gateway.Transport;
import dev.linerate.gateway.jda.GatewaySockets;
import java.nio.file.Path;
import net.dv8tion.jda.api.events.session.ReadyEvent;
import net.dv8tion.jda.api.utils.Compression;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** JDA over an encrypted connection. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SecureJdaTest {
    @TempDir
    static Path folder;

    private static Certificates localhost;
    private static Certificates elsewhere;

    @BeforeAll
    static void makeCertificates() throws Exception {
        localhost = new Certificates(folder, "dns:localhost");
        elsewhere = new Certificates(folder, "dns:elsewhere");
    }

    @Test
    void messagesArrive() throws Exception {
        Traffic traffic = new Traffic(50);
        String messages = traffic.write(folder.resolve("traffic.msgs")).toString();
        try (LocalGateway gateway = LocalGateway.start("--messages", messages);
                SecureFront front = SecureFront.of(gateway, localhost);
                Bot bot = new Bot(
                        "wss://localhost:" + front.port(), gateway, Compression.NONE, sockets(localhost))) {
            bot.await("messages", () -> bot.contents().size() >= traffic.contents().size());
            assertEquals(traffic.contents(), bot.contents());
            assertEquals(1, bot.count(ReadyEvent.class));
        }
    }

    @Test
    void hostNamesAreVerified() throws Exception {
        try (LocalGateway gateway = LocalGateway.start();
                SecureFront front = SecureFront.of(gateway, elsewhere)) {
            assertThrows(HostnameUnverifiedException.class, () -> sockets(elsewhere)
                    .createSocket("wss://localhost:" + front.port() + "/?encoding=json")
                    .connect());
        }
    }

    @Test
    void certificatesAreVerified() throws Exception {
        try (LocalGateway gateway = LocalGateway.start();
                SecureFront front = SecureFront.of(gateway, localhost)) {
            assertThrows(WebSocketException.class, () -> sockets(elsewhere)
                    .createSocket("wss://localhost:" + front.port() + "/?encoding=json")
                    .connect());
        }
    }

    private static WebSocketFactory sockets(Certificates trusted) throws Exception {
        return new WebSocketFactory()
                .setSSLSocketFactory(GatewaySockets.of(Transport.ZSTD)
                        .secure(trusted.context().getSocketFactory()));
    }
}
