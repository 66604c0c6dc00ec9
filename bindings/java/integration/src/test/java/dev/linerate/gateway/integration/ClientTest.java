package dev.linerate.gateway.integration;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.linerate.gateway.DecompressionException;
import dev.linerate.gateway.Transport;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A small client over the decompressor alone receives exactly the bytes given to the gateway. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClientTest {
    private static final Traffic TRAFFIC = new Traffic(200);
    private static final int EVENTS = TRAFFIC.events();

    @TempDir
    static Path folder;

    private static String messages;

    @BeforeAll
    static void writeTraffic() throws Exception {
        messages = TRAFFIC.write(folder.resolve("traffic.msgs")).toString();
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void everyMessageArrives(Transport transport) throws Exception {
        try (LocalGateway gateway = LocalGateway.start("--messages", messages);
                Client client = new Client(gateway.url(), transport)) {
            assertAllArrives(client);
            assertEquals(1, client.connections());
            assertEquals(1, client.acknowledged());
            assertEquals(0, client.incomplete());
        }
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void messagesMayComeInFragments(Transport transport) throws Exception {
        try (LocalGateway gateway = LocalGateway.start("--messages", messages, "--fragment", "40");
                Client client = new Client(gateway.url(), transport)) {
            assertAllArrives(client);
            // zstd fragments are frames of one websocket message, which the client's library
            // reassembles.
            assertEquals(transport == Transport.ZLIB, client.incomplete() > EVENTS);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void connectionsMayEndInEveryWay(Transport transport) throws Exception {
        try (LocalGateway gateway = LocalGateway.start(
                        "--messages", messages, "--close-after", "30", "--disconnect-after", "80", "--reconnect-after",
                        "130");
                Client client = new Client(gateway.url(), transport)) {
            assertAllArrives(client);
            assertEquals(4, client.connections());
            assertEquals(3, client.resumed());
            assertEquals(List.of(), client.errors());
        }
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void damagedStreamIsAnErrorAndANewStreamIsNot(Transport transport) throws Exception {
        try (LocalGateway gateway = LocalGateway.start("--messages", messages, "--corrupt-at", "50");
                Client client = new Client(gateway.url(), transport)) {
            assertAllArrives(client);
            assertEquals(2, client.connections());
            DecompressionException error = only(client.errors());
            assertEquals(DecompressionException.Kind.CORRUPT, error.kind());
            assertTrue(error.messageIndex() >= 50 && error.messageIndex() < 54, error.toString());
        }
    }

    /** Without the check of sequence numbers the loss could go unnoticed. */
    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void lostMessageIsAnError(Transport transport) throws Exception {
        try (LocalGateway gateway = LocalGateway.start("--messages", messages, "--drop-at", "50");
                Client client = new Client(gateway.url(), transport)) {
            assertAllArrives(client);
            assertEquals(2, client.connections());
            only(client.errors());
        }
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void truncatedMessageIsAnError(Transport transport) throws Exception {
        try (LocalGateway gateway = LocalGateway.start("--messages", messages, "--truncate-at", "50");
                Client client = new Client(gateway.url(), transport)) {
            assertAllArrives(client);
            assertEquals(2, client.connections());
            only(client.errors());
        }
    }

    private static DecompressionException only(List<DecompressionException> errors) {
        assertEquals(1, errors.size(), errors.toString());
        return errors.get(0);
    }

    private static void assertAllArrives(Client client) throws Exception {
        client.receive(EVENTS);
        assertEquals(EVENTS, client.events().size());
        MessageDigest sent = MessageDigest.getInstance("SHA-256");
        MessageDigest received = MessageDigest.getInstance("SHA-256");
        for (int event = 0; event < EVENTS; event++) {
            sent.update(TRAFFIC.event(event, client.sequences().get(event)));
            received.update(client.events().get(event));
            assertTrue(event == 0 || client.sequences().get(event - 1) < client.sequences().get(event));
        }
        assertEquals(EVENTS + 1 + client.resumed(), client.sequences().get(EVENTS - 1));
        assertArrayEquals(sent.digest(), received.digest());
    }
}
