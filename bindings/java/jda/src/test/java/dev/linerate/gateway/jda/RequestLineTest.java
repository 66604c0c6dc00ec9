package dev.linerate.gateway.jda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.linerate.gateway.Transport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RequestLineTest {
    @ParameterizedTest
    @CsvSource({
        "GET /?encoding=json&v=10 HTTP/1.1, GET /?encoding=json&v=10&compress=zstd-stream HTTP/1.1",
        "GET /?encoding=json&v=10&compress=zlib-stream HTTP/1.1, GET /?encoding=json&v=10&compress=zstd-stream HTTP/1.1",
        "GET /?compress=zlib-stream&encoding=json HTTP/1.1, GET /?encoding=json&compress=zstd-stream HTTP/1.1",
        "GET /path?x=?&encoding=etf HTTP/1.1, GET /path?x=?&encoding=etf&compress=zstd-stream HTTP/1.1",
    })
    void transportIsAddedToGatewayRequests(String line, String expected) {
        assertTrue(new RequestLine(line).isGateway());
        assertEquals(expected, new RequestLine(line).withCompression(Transport.ZSTD).toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET /?v=8 HTTP/1.1",
                "GET / HTTP/1.1",
                "GET /encoding=json HTTP/1.1",
                "GET /?myencoding=json HTTP/1.1",
                "GET /?encoding HTTP/1.1",
                "POST /?encoding=json HTTP/1.1",
                "GET",
                "GET ?encoding=json",
                "",
                " ?",
            })
    void othersAreNot(String line) {
        assertFalse(new RequestLine(line).isGateway());
    }

    @Test
    void onlyTheRequestLineIsEdited() throws IOException {
        String request = "GET /?encoding=json HTTP/1.1\r\nHost: h\r\n\r\nGET /?encoding=json HTTP/1.1\r\n";
        byte[] bytes = request.getBytes(StandardCharsets.ISO_8859_1);
        for (int part = 1; part <= bytes.length; part++) {
            ByteArrayOutputStream sent = new ByteArrayOutputStream();
            RequestStream stream = new RequestStream(sent, line -> line.withCompression(Transport.ZLIB));
            for (int at = 0; at < bytes.length; at += part) {
                stream.write(bytes, at, Math.min(part, bytes.length - at));
            }
            assertEquals(
                    request.replaceFirst("json ", "json&compress=zlib-stream "),
                    sent.toString(StandardCharsets.ISO_8859_1));
        }
    }

    @Test
    void endlessRequestLineIsNotEdited() throws IOException {
        ByteArrayOutputStream sent = new ByteArrayOutputStream();
        RequestStream stream = new RequestStream(sent, line -> {
            throw new AssertionError(line);
        });
        String endless = "GET /?encoding=" + String.join("", Collections.nCopies(20_000, "x")) + "\r\n";
        stream.write(endless.getBytes(StandardCharsets.ISO_8859_1));
        stream.write('!');
        assertEquals(endless + "!", sent.toString(StandardCharsets.ISO_8859_1));
    }
}
