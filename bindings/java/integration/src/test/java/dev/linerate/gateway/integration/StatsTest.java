package dev.linerate.gateway.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.StatsRecorder;
import dev.linerate.gateway.Transport;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.Deflater;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code linerate gateway stats} reads the logs of Java's recorder. */
class StatsTest {
    private static final int MESSAGES = 100;

    @TempDir
    Path folder;

    @Test
    void programReadsTheLog() throws Exception {
        byte[] payload = "{\"op\":11,\"d\":null}".getBytes(StandardCharsets.UTF_8);
        Deflater server = new Deflater();
        try (StatsRecorder recorder = StatsRecorder.builder().log(folder).start();
                GatewayDecompressor gateway =
                        GatewayDecompressor.builder(Transport.ZLIB).recordStats(recorder).build()) {
            for (int k = 0; k < MESSAGES; k++) {
                byte[] frame = new byte[100];
                server.setInput(payload);
                int length = server.deflate(frame, 0, frame.length, Deflater.SYNC_FLUSH);
                gateway.decompress(Arrays.copyOf(frame, length));
            }
        } finally {
            server.end();
        }
        String said = LocalGateway.stats("--json", folder.resolve("gateway-000001.stats").toString());
        JsonNode found = new ObjectMapper().readTree(said);
        assertEquals(MESSAGES, found.findValue("messages").asInt(), said);
        assertEquals(MESSAGES * payload.length, found.findValue("payload_bytes").asInt(), said);
        assertTrue(found.findValue("compressed_bytes").asInt() > 0, said);
    }
}
