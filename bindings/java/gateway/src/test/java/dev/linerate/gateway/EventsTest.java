package dev.linerate.gateway;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Envelopes, and dropping events by them. */
class EventsTest {
    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static List<String> events(List<byte[]> payloads) {
        List<String> events = new ArrayList<>();
        for (byte[] payload : payloads) {
            events.add(Envelope.peek(payload).event());
        }
        return events;
    }

    private static String lastEvent(List<String> events) {
        return events.stream().filter(Objects::nonNull).reduce((one, later) -> later).orElseThrow();
    }

    @Test
    void envelopesOfPayloads() {
        byte[] payload = bytes("xx{\"t\":\"TYPING_START\",\"s\":7,\"op\":0,\"d\":{\"user_id\":");
        Envelope envelope = Envelope.peek(payload, 2, payload.length - 2);
        assertEquals(0, envelope.opcode());
        assertEquals(7, envelope.sequence());
        assertEquals("TYPING_START", envelope.event());
        envelope = Envelope.peek(bytes("{\"op\":11,\"s\":null,\"t\":null}"));
        assertEquals(11, envelope.opcode());
        assertEquals(-1, envelope.sequence());
        assertNull(envelope.event());
        // {op: 10} in Erlang's external term format: a map whose only key is an atom.
        byte[] term = {(byte) 131, 116, 0, 0, 0, 1, 119, 2, 'o', 'p', 97, 10};
        assertEquals(10, Envelope.peekEtf(term, 0, term.length).opcode());
    }

    @Test
    void whatIsNoPayload() {
        for (String text : new String[] {"", "[1]", "{\"t\":\"READY"}) {
            assertThrows(IllegalArgumentException.class, () -> Envelope.peek(bytes(text)), text);
            assertThrows(
                    IllegalArgumentException.class, () -> Envelope.peekEtf(bytes(text), 0, bytes(text).length), text);
        }
        assertThrows(IndexOutOfBoundsException.class, () -> Envelope.peek(new byte[3], 2, 2));
        assertThrows(IndexOutOfBoundsException.class, () -> Envelope.peek(new byte[3], -1, 2));
        assertThrows(NullPointerException.class, () -> Envelope.peek(null));
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void droppedEventsAreNotDelivered(Transport transport) throws IOException {
        List<byte[]> payloads = Traffic.payloads();
        List<byte[]> frames = Traffic.frames(transport);
        List<String> events = events(payloads);
        String dropped = lastEvent(events);
        ReusableBuffer reusable = new ReusableBuffer();
        DirectBuffer direct = new DirectBuffer(10);
        ByteBuffer buffer = ByteBuffer.allocate(1 << 20);
        try (GatewayDecompressor gateway =
                GatewayDecompressor.builder(transport).dropEvents("NO_SUCH_EVENT", dropped).build()) {
            int count = 0;
            for (int i = 0; i < frames.size(); i++) {
                ByteBuffer frame = ByteBuffer.wrap(frames.get(i));
                boolean drops = dropped.equals(events.get(i));
                count += drops ? 1 : 0;
                int length = drops ? -1 : payloads.get(i).length;
                switch (i % 5) {
                    case 0 -> assertArrayEquals(drops ? null : payloads.get(i), gateway.decompress(frames.get(i)));
                    case 1 -> assertEquals(length, gateway.decompress(frame, true, reusable));
                    case 2 -> assertEquals(!drops, gateway.decompress(frame, direct));
                    case 3 -> assertEquals(drops, gateway.open(frames.get(i)) == null);
                    default -> assertEquals(length, gateway.decompress(frame, true, buffer.clear()));
                }
                assertEquals(i + 1, gateway.messages());
                assertEquals(events.get(i), gateway.lastEvent());
                assertEquals(Envelope.peek(payloads.get(i)).sequence(), gateway.lastSequence());
            }
            assertTrue(count > 0);
            assertNotEquals(frames.size(), count);
        }
    }

    /** Checks also read dropped events, so their sequence numbers are not missing. */
    @Test
    void checksSeeDroppedEvents() throws IOException {
        List<byte[]> frames = Traffic.frames(Transport.ZLIB);
        List<String> events = events(Traffic.payloads());
        try (GatewayDecompressor gateway = GatewayDecompressor.builder(Transport.ZLIB)
                .checks(Checks.JSON_SEQUENCE)
                .dropEvents(lastEvent(events))
                .build()) {
            for (byte[] frame : frames) {
                gateway.decompress(frame);
            }
            assertEquals(events.get(events.size() - 1), gateway.lastEvent());
        }
    }

    @Test
    void whatCannotBeReadIsDelivered() throws IOException {
        try (GatewayDecompressor gateway =
                GatewayDecompressor.builder(Transport.ZSTD).dropEvents("READY").build()) {
            assertArrayEquals(bytes("[]"), gateway.decompress(Traffic.first(Transport.ZSTD, bytes("[]"))));
            assertNull(gateway.lastEvent());
        }
        GatewayDecompressor.Builder builder = GatewayDecompressor.builder(Transport.ZSTD);
        assertThrows(IllegalArgumentException.class, () -> builder.dropEvents("READY", ""));
        assertThrows(IllegalArgumentException.class, () -> builder.dropEvents("A\nB"));
    }
}
