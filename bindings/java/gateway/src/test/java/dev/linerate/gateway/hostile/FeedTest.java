package dev.linerate.gateway.hostile;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdDictTrainer;
import dev.linerate.gateway.DecompressionException;
import dev.linerate.gateway.Dictionaries;
import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.Transport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Messages that are compressed separately: whole, damaged, endless, and with missing dictionaries.
 */
class FeedTest {
    private static final byte[] GOOD = Wire.utf8("{\"good\":\"message\"}");

    private static byte[] message(Transport transport, byte[] payload) {
        if (transport == Transport.ZSTD_FRAME) {
            return Zstd.compress(payload, 3);
        }
        ByteArrayOutputStream wire = new ByteArrayOutputStream();
        try (OutputStream encoder = encoder(transport, wire)) {
            encoder.write(payload);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return wire.toByteArray();
    }

    private static OutputStream encoder(Transport transport, OutputStream wire) throws IOException {
        if (transport == Transport.GZIP) {
            return new GZIPOutputStream(wire);
        }
        return new DeflaterOutputStream(wire, new Deflater(6, transport == Transport.RAW_DEFLATE));
    }

    private static DecompressionException.Kind failure(GatewayDecompressor gateway, byte[] message) {
        return assertThrows(DecompressionException.class, () -> gateway.decompress(message)).kind();
    }

    /** Asserts that a valid message decodes, whatever the message before it was. */
    private static void assertGoesOn(GatewayDecompressor gateway) throws IOException {
        for (Form form : Form.values()) {
            assertArrayEquals(GOOD, form.decode(gateway, message(gateway.transport(), GOOD)), form.name());
        }
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, mode = EnumSource.Mode.EXCLUDE, names = {"ZLIB", "ZSTD"})
    void messagesDecodeInAnyOrderAndInParts(Transport transport) throws IOException {
        byte[][] payloads = Wire.events(40);
        try (GatewayDecompressor gateway = GatewayDecompressor.create(transport)) {
            for (int k = payloads.length - 1; k >= 0; k--) {
                byte[] message = message(transport, payloads[k]);
                for (Form form : Form.values()) {
                    assertArrayEquals(payloads[k], form.decode(gateway, message), form + ", message " + k);
                }
                int half = message.length / 2;
                assertNull(gateway.decompress(ByteBuffer.wrap(message, 0, half), false));
                assertArrayEquals(
                        payloads[k], gateway.decompress(ByteBuffer.wrap(message, half, message.length - half), true));
            }
            assertEquals(transport, Transport.ofQueryName(transport.queryName()));
        }
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, mode = EnumSource.Mode.EXCLUDE, names = {"ZLIB", "ZSTD"})
    void truncatedMessagesAreErrorsOfTheirOwn(Transport transport) throws IOException {
        byte[] message = message(transport, Wire.events(2)[1]);
        try (GatewayDecompressor gateway = GatewayDecompressor.create(transport)) {
            for (int length = 0; length < message.length; length++) {
                failure(gateway, Wire.prefix(message, length));
                assertArrayEquals(GOOD, gateway.decompress(message(transport, GOOD)), "after " + length);
            }
            assertGoesOn(gateway);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, mode = EnumSource.Mode.EXCLUDE, names = {"ZLIB", "ZSTD"})
    void flippedBitsHarmNoOtherMessage(Transport transport) throws IOException {
        byte[] message = message(transport, Wire.events(2)[1]);
        int errors = 0;
        try (GatewayDecompressor gateway =
                GatewayDecompressor.builder(transport).maxMessage(100_000).build()) {
            for (int bit = 0; bit < 8 * message.length; bit++) {
                try {
                    gateway.decompress(Wire.flipped(message, bit));
                } catch (DecompressionException e) {
                    errors++;
                }
                assertArrayEquals(GOOD, gateway.decompress(message(transport, GOOD)), "after bit " + bit);
            }
        }
        boolean hasChecksum = transport == Transport.ZLIB_MESSAGE || transport == Transport.GZIP;
        int most = 8 * message.length;
        assertTrue(errors > (hasChecksum ? most * 9 / 10 : 0), errors + " of " + most);
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, mode = EnumSource.Mode.EXCLUDE, names = {"ZLIB", "ZSTD"})
    void limitIsExactToTheByteAndBombsAreErrors(Transport transport) throws IOException {
        int limit = 100_000;
        try (GatewayDecompressor gateway =
                GatewayDecompressor.builder(transport).maxMessage(limit).build()) {
            byte[] longest = Wire.sized(limit);
            byte[] bomb = message(transport, new byte[1 << 26]);
            for (Form form : Form.values()) {
                assertArrayEquals(longest, form.decode(gateway, message(transport, longest)), form.name());
                byte[] oneMore = message(transport, Wire.sized(limit + 1));
                for (byte[] tooLong : new byte[][] {oneMore, bomb}) {
                    DecompressionException e =
                            assertThrows(DecompressionException.class, () -> form.decode(gateway, tooLong));
                    assertEquals(DecompressionException.Kind.LIMIT, e.kind(), e::toString);
                }
            }
            assertTrue(gateway.memory() < 300_000, "holds " + gateway.memory());
            assertGoesOn(gateway);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZSTD_FRAME", "GZIP"})
    void framesAndMembersAreJoined(Transport transport) throws IOException {
        byte[] one = message(transport, GOOD);
        try (GatewayDecompressor gateway = GatewayDecompressor.create(transport)) {
            assertArrayEquals(Wire.concat(GOOD, GOOD), gateway.decompress(Wire.concat(one, one)));
            failure(gateway, Wire.concat(one, new byte[] {1}));
            assertGoesOn(gateway);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB_MESSAGE", "RAW_DEFLATE"})
    void bytesBehindTheEndAreErrors(Transport transport) throws IOException {
        byte[] one = message(transport, GOOD);
        try (GatewayDecompressor gateway = GatewayDecompressor.create(transport)) {
            assertEquals(DecompressionException.Kind.CORRUPT, failure(gateway, Wire.concat(one, one)));
            assertEquals(DecompressionException.Kind.CORRUPT, failure(gateway, Wire.concat(one, new byte[1])));
            assertGoesOn(gateway);
        }
    }

    private static byte[] dictionary(int id) {
        ZstdDictTrainer trainer = new ZstdDictTrainer(1 << 20, 8 << 10);
        for (byte[] sample : Wire.events(2000)) {
            trainer.addSample(sample);
        }
        byte[] dictionary = trainer.trainSamples();
        // The id follows the magic number.
        ByteBuffer.wrap(dictionary).order(java.nio.ByteOrder.LITTLE_ENDIAN).putInt(4, id);
        return dictionary;
    }

    @Test
    void dictionariesAreFoundByTheirIds() throws IOException {
        byte[] first = dictionary(40_000);
        byte[] second = dictionary(50_000);
        byte[] other = dictionary(60_000);
        byte[] raw = Wire.events(30)[29];
        Dictionaries dictionaries = new Dictionaries(second, first, raw);
        assertArrayEquals(new long[] {0, 40_000, 50_000}, dictionaries.ids());
        assertTrue(dictionaries.memory() > first.length + second.length);
        byte[] payload = Wire.events(50)[49];
        try (GatewayDecompressor gateway = GatewayDecompressor.builder(Transport.ZSTD_FRAME)
                .dictionaries(dictionaries)
                .build()) {
            for (byte[] known : new byte[][] {first, second, raw}) {
                assertArrayEquals(payload, gateway.decompress(Zstd.compressUsingDict(payload, known, 3)));
            }
            assertEquals(
                    DecompressionException.Kind.UNSUPPORTED,
                    failure(gateway, Zstd.compressUsingDict(payload, other, 3)));
            assertGoesOn(gateway);
            gateway.reset();
            assertArrayEquals(payload, gateway.decompress(Zstd.compressUsingDict(payload, first, 3)));
        }
    }

    @Test
    void wrongDictionaries() {
        byte[] dictionary = dictionary(7);
        assertThrows(IllegalArgumentException.class, () -> new Dictionaries(dictionary, dictionary));
        byte[] truncated = Arrays.copyOf(dictionary, 20);
        assertThrows(IllegalArgumentException.class, () -> new Dictionaries(truncated));
        assertThrows(NullPointerException.class, () -> new Dictionaries(dictionary, null));
        assertEquals(0, new Dictionaries().ids().length);
        Dictionaries dictionaries = new Dictionaries(dictionary);
        GatewayDecompressor.Builder stream = GatewayDecompressor.builder(Transport.ZSTD);
        assertThrows(IllegalArgumentException.class, () -> stream.dictionaries(dictionaries));
        GatewayDecompressor.Builder frames = GatewayDecompressor.builder(Transport.ZSTD_FRAME);
        assertThrows(NullPointerException.class, () -> frames.dictionaries(null));
    }
}
