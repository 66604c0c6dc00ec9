package dev.linerate.gateway.jda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.Transport;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import net.dv8tion.jda.api.exceptions.DecompressionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(60)
class DecompressorsTest {
    static Stream<Arguments> forms() {
        return Stream.of(Form.Kind.values())
                .flatMap(form -> Stream.of(new Transport[] {Transport.ZLIB, Transport.ZSTD}).map(transport -> Arguments.of(form, transport)));
    }

    @ParameterizedTest
    @MethodSource("forms")
    void queryParameterIsTheTransport(Form.Kind kind, Transport transport) {
        Form form = kind.of(transport);
        assertEquals(
                transport == Transport.ZLIB ? "zlib-stream" : "zstd-stream",
                form.decompressor().getQueryParameter());
        form.decompressor().shutdown();
    }

    @ParameterizedTest
    @MethodSource("forms")
    void payloadsAreCompleteAndInOrder(Form.Kind kind, Transport transport) throws IOException {
        Form form = kind.of(transport);
        Gateway gateway = new Gateway(transport);
        for (int bytes : new int[] {1, 120, 36, 8192, 65_536, 470_206, 2, 131_073, 750}) {
            byte[] payload = Gateway.text(bytes, bytes);
            assertArrayEquals(payload, form.payload(gateway.frame(payload)));
        }
        form.decompressor().shutdown();
    }

    @ParameterizedTest
    @EnumSource(Form.Kind.class)
    void fragmentsAreNullUntilTheLast(Form.Kind kind) throws IOException {
        Form form = kind.of(Transport.ZLIB);
        Gateway gateway = new Gateway(Transport.ZLIB);
        for (int message = 0; message < 60; message++) {
            byte[] payload = Gateway.text(200, message);
            byte[] frame = gateway.frame(payload);
            int cut = 1 + message % (frame.length - 1);
            assertNull(form.payload(Arrays.copyOf(frame, cut)));
            assertArrayEquals(payload, form.payload(Arrays.copyOfRange(frame, cut, frame.length)));
        }
        form.decompressor().shutdown();
    }

    /** Defect of JDA's own class: it keeps the first half, so the next connection never decodes a message. */
    @ParameterizedTest
    @EnumSource(Form.Kind.class)
    void resetDiscardsAnIncompleteMessage(Form.Kind kind) throws IOException {
        Form form = kind.of(Transport.ZLIB);
        for (int cut = 1; cut < 60; cut += 7) {
            byte[] lost = new Gateway(Transport.ZLIB).frame(Gateway.text(3000, cut));
            assertNull(form.payload(Arrays.copyOf(lost, cut)));
            form.decompressor().reset();
            assertSoundConnection(form, Transport.ZLIB);
            form.decompressor().reset();
        }
        form.decompressor().shutdown();
    }

    /** Defect of JDA's pull request: the streamed class resets another inflater than it reads with. */
    @ParameterizedTest
    @MethodSource("forms")
    void resetStartsANewStream(Form.Kind kind, Transport transport) throws IOException {
        Form form = kind.of(transport);
        for (int connection = 0; connection < 5; connection++) {
            assertSoundConnection(form, transport);
            form.decompressor().reset();
        }
        form.decompressor().shutdown();
    }

    @ParameterizedTest
    @MethodSource("forms")
    void errorPersistsUntilReset(Form.Kind kind, Transport transport) throws IOException {
        Form form = kind.of(transport);
        Gateway gateway = new Gateway(transport);
        byte[] first = gateway.frame(Gateway.text(500, 1));
        assertArrayEquals(Gateway.text(500, 1), form.payload(first));
        byte[] bad = gateway.frame(Gateway.text(500, 2));
        bad[0] ^= 6;

        DecompressionException error = assertThrows(DecompressionException.class, () -> form.payload(bad));
        dev.linerate.gateway.DecompressionException cause =
                assertInstanceOf(dev.linerate.gateway.DecompressionException.class, error.getCause());
        assertEquals(cause.getMessage(), error.getMessage());
        assertEquals(1, cause.messageIndex());
        assertTrue(cause.offset() >= first.length && cause.offset() <= first.length + bad.length, error.getMessage());

        byte[] good = gateway.frame("{}");
        assertEquals(
                error.getMessage(),
                assertThrows(DecompressionException.class, () -> form.payload(good)).getMessage());
        form.decompressor().reset();
        assertSoundConnection(form, transport);
        form.decompressor().shutdown();
    }

    @ParameterizedTest
    @MethodSource("forms")
    void afterShutdownMessagesAreErrorsAndResetHasNoEffect(Form.Kind kind, Transport transport) throws IOException {
        Form form = kind.of(transport);
        byte[] frame = new Gateway(transport).frame("{}");
        form.decompressor().shutdown();
        form.decompressor().shutdown();
        form.decompressor().reset();
        assertThrows(DecompressionException.class, () -> form.payload(frame));
    }

    @ParameterizedTest
    @MethodSource("forms")
    void shutdownDuringMessagesEndsThem(Form.Kind kind, Transport transport) throws Exception {
        for (int round = 0; round < 20; round++) {
            Form form = kind.of(transport);
            Gateway gateway = new Gateway(transport);
            CountDownLatch running = new CountDownLatch(1);
            AtomicReference<Throwable> wrong = new AtomicReference<>();
            Thread reader = new Thread(() -> {
                try {
                    for (int message = 0; ; message++) {
                        byte[] payload = Gateway.text(20_000, message);
                        assertArrayEquals(payload, form.payload(gateway.frame(payload)));
                        running.countDown();
                    }
                } catch (DecompressionException end) {
                    // Expected.
                } catch (Throwable other) {
                    wrong.set(other);
                }
            });
            reader.start();
            assertTrue(running.await(20, TimeUnit.SECONDS));
            form.decompressor().shutdown();
            reader.join(20_000);
            assertFalse(reader.isAlive());
            assertNull(wrong.get());
        }
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void shutdownEndsTheStream(Transport transport) throws IOException {
        StreamedDecompressor decompressor = new StreamedDecompressor(transport);
        InputStream stream = decompressor.createInputStream(new Gateway(transport).frame(Gateway.text(500, 1)));
        assertEquals('{', stream.read());
        decompressor.shutdown();
        assertThrows(DecompressionException.class, stream::read);
        assertThrows(DecompressionException.class, () -> stream.read(new byte[8], 0, 8));
        assertThrows(DecompressionException.class, () -> stream.skip(8));
        assertThrows(DecompressionException.class, stream::available);
        stream.close();
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void closeEndsTheStream(Transport transport) throws IOException {
        StreamedDecompressor decompressor = new StreamedDecompressor(transport);
        InputStream stream = decompressor.createInputStream(new Gateway(transport).frame(Gateway.text(500, 1)));
        assertEquals('{', stream.read());
        decompressor.reset();
        assertThrows(IOException.class, stream::read);
        stream.close();
        assertThrows(IOException.class, () -> stream.read(new byte[8], 0, 8));
        decompressor.shutdown();
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void readersMayStopEarly(Transport transport) throws IOException {
        StreamedDecompressor decompressor = new StreamedDecompressor(transport);
        Gateway gateway = new Gateway(transport);
        for (int message = 0; message < 40; message++) {
            byte[] payload = Gateway.text(5000 + message, message);
            InputStream stream = decompressor.createInputStream(gateway.frame(payload));
            assertEquals(payload.length, stream.available());
            byte[] start = new byte[message];
            assertEquals(message, stream.read(start));
            assertArrayEquals(Arrays.copyOf(payload, message), start);
            assertEquals(1, stream.skip(1));
            if (message % 2 == 0) {
                stream.close();
            }
        }
        decompressor.shutdown();
    }

    @Test
    void earlierStreamThrowsAfterTheNextMessage() throws IOException {
        StreamedDecompressor decompressor = new StreamedDecompressor(Transport.ZSTD);
        Gateway gateway = new Gateway(Transport.ZSTD);
        InputStream first = decompressor.createInputStream(gateway.frame("{\"a\":1}"));
        InputStream second = decompressor.createInputStream(gateway.frame("{\"b\":2}"));
        assertThrows(IOException.class, first::read);
        first.close();
        assertArrayEquals("{\"b\":2}".getBytes(), Form.all(second));
        decompressor.shutdown();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = {"ZLIB", "ZSTD"})
    void transportsThatAreNoStreamsAreRefused(Transport transport) {
        GatewayDecompressor own = GatewayDecompressor.create(transport);
        assertThrows(IllegalArgumentException.class, () -> new BufferedDecompressor(own));
        assertTrue(own.isClosed());
        assertThrows(IllegalArgumentException.class, () -> new StreamedDecompressor(transport));
    }

    @Test
    void suppliedDecompressorsKeepTheirOptions() throws IOException {
        GatewayDecompressor own =
                GatewayDecompressor.builder(Transport.ZSTD).maxMessage(100).build();
        BufferedDecompressor decompressor = new BufferedDecompressor(own);
        Gateway gateway = new Gateway(Transport.ZSTD);
        assertEquals(100, decompressor.decompress(gateway.frame(Gateway.text(100, 1))).length);
        byte[] tooLong = gateway.frame(Gateway.text(101, 2));
        DecompressionException error =
                assertThrows(DecompressionException.class, () -> decompressor.decompress(tooLong));
        assertEquals(
                dev.linerate.gateway.DecompressionException.Kind.LIMIT,
                ((dev.linerate.gateway.DecompressionException) error.getCause()).kind());
        decompressor.shutdown();
        assertTrue(own.isClosed());
    }

    private static void assertSoundConnection(Form form, Transport transport) throws IOException {
        Gateway gateway = new Gateway(transport);
        for (int message = 0; message < 3; message++) {
            byte[] payload = Gateway.text(1000 + message, message);
            assertArrayEquals(payload, form.payload(gateway.frame(payload)));
        }
    }
}
