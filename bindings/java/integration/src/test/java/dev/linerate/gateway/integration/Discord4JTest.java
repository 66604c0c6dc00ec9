package dev.linerate.gateway.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.linerate.gateway.DecompressionException;
import dev.linerate.gateway.Transport;
import dev.linerate.netty.GatewayHandler;
import discord4j.common.JacksonResources;
import discord4j.common.ReactorResources;
import discord4j.common.retry.ReconnectOptions;
import discord4j.common.sinks.EmissionStrategy;
import discord4j.discordjson.json.gateway.Dispatch;
import discord4j.discordjson.json.gateway.MessageCreate;
import discord4j.discordjson.json.gateway.Ready;
import discord4j.discordjson.json.gateway.Resumed;
import discord4j.gateway.DefaultGatewayClient;
import discord4j.gateway.GatewayObserver;
import discord4j.gateway.GatewayOptions;
import discord4j.gateway.GatewayReactorResources;
import discord4j.gateway.IdentifyOptions;
import discord4j.gateway.limiter.RateLimitTransformer;
import discord4j.gateway.payload.JacksonPayloadReader;
import discord4j.gateway.payload.JacksonPayloadWriter;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.netty.NettyPipeline;
import reactor.netty.http.client.HttpClient;

/**
 * The released Discord4J: with its own inflater, which tests the gateway, and with our handler
 * below it. The gateway closes connections with code 1001, because Discord4J resumes only after
 * codes below 4000.
 */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class Discord4JTest {
    private static final Duration MOST = Duration.ofSeconds(60);

    @TempDir
    static Path folder;

    private static String messages;

    private static final List<String> CONTENTS = new ArrayList<>();

    /** Generates traffic, because {@link Traffic} has only what JDA needs. */
    @BeforeAll
    static void generateTraffic() throws Exception {
        Path file = LocalGateway.generate(folder, "--shards", "1", "--guilds", "1", "--events", "150", "--seed", "1");
        messages = file.toString();
        ByteBuffer records = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        while (records.hasRemaining()) {
            byte[] payload = new byte[records.getInt()];
            records.get(payload);
            JsonNode event = new ObjectMapper().readTree(payload);
            if (event.path("t").asText().equals("MESSAGE_CREATE")) {
                CONTENTS.add(event.path("d").path("content").asText());
            }
        }
        assertTrue(CONTENTS.size() > 20);
    }

    @Test
    void itsOwnInflaterResumesAfterAForcedClose() throws Exception {
        try (LocalGateway gateway = LocalGateway.start("--messages", messages, "--close-after", "40:1001")) {
            assertAllArrives(gateway, ReactorResources.DEFAULT_HTTP_CLIENT.get());
        }
    }

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void oursResumesAfterAForcedClose(Transport transport) throws Exception {
        List<Throwable> errors = Collections.synchronizedList(new ArrayList<>());
        try (LocalGateway gateway = LocalGateway.start("--messages", messages, "--close-after", "40:1001")) {
            assertAllArrives(gateway, ours(transport, errors));
        }
        assertEquals(List.of(), errors);
    }

    /** The gateway damages an event, and sends all payloads in fragments. */
    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void oursResumesAfterCorruption(Transport transport) throws Exception {
        List<Throwable> errors = Collections.synchronizedList(new ArrayList<>());
        try (LocalGateway gateway =
                LocalGateway.start("--messages", messages, "--fragment", "500", "--corrupt-at", "60")) {
            assertAllArrives(gateway, ours(transport, errors));
        }
        // The gateway damages event 60 each time that it sends it, so there may be several errors.
        assertTrue(!errors.isEmpty());
        for (Throwable error : errors) {
            assertEquals(DecompressionException.Kind.CORRUPT, ((DecompressionException) error).kind());
        }
    }

    /** Uses the handler as docs/gateway/java.md does, and keeps the errors that it passes on. */
    private static HttpClient ours(Transport transport, List<Throwable> errors) {
        return ReactorResources.DEFAULT_HTTP_CLIENT
                .get()
                .doOnChannelInit((observer, channel, address) -> {
                    channel.pipeline()
                            .addBefore(NettyPipeline.ReactiveBridge, "linerate", GatewayHandler.toZlib(transport));
                    keepErrors(channel, errors);
                });
    }

    private static void keepErrors(Channel channel, List<Throwable> errors) {
        channel.pipeline().addAfter("linerate", "errors", new ChannelInboundHandlerAdapter() {
            @Override
            public void exceptionCaught(ChannelHandlerContext context, Throwable error) {
                errors.add(error);
                context.fireExceptionCaught(error);
            }
        });
    }

    private static void assertAllArrives(LocalGateway gateway, HttpClient http) throws Exception {
        DefaultGatewayClient client = client(http);
        List<Dispatch> events = new ArrayList<>();
        // RESUMED comes after the events that the client has missed, which may be all of them.
        CompletableFuture<Void> end = client.dispatch()
                .doOnNext(events::add)
                .takeUntil(event -> contents(events).size() >= CONTENTS.size() && count(events, Resumed.class) > 0)
                .then()
                .toFuture();
        Disposable running = client.execute(gateway.url() + "/?v=10&encoding=json&compress=zlib-stream")
                .subscribe(done -> {}, end::completeExceptionally);
        try {
            end.get(MOST.toSeconds(), TimeUnit.SECONDS);
        } finally {
            // The end of the close is not awaited, because Discord4J sometimes waits for an end of
            // the connection that it has already seen.
            client.close(false).subscribe(done -> {}, error -> {});
            running.dispose();
        }
        assertEquals(CONTENTS, contents(events));
        assertEquals(1, count(events, Ready.class));
    }

    private static long count(List<Dispatch> events, Class<? extends Dispatch> kind) {
        return events.stream().filter(kind::isInstance).count();
    }

    private static List<String> contents(List<Dispatch> events) {
        List<String> contents = new ArrayList<>();
        for (Dispatch event : events) {
            if (event instanceof MessageCreate) {
                contents.add(((MessageCreate) event).message().content());
            }
        }
        return contents;
    }

    private static DefaultGatewayClient client(HttpClient http) {
        JacksonResources jackson = JacksonResources.create();
        return new DefaultGatewayClient(new GatewayOptions(
                "any.token",
                GatewayReactorResources.builder().httpClient(http).build(),
                new JacksonPayloadReader(jackson.getObjectMapper()),
                new JacksonPayloadWriter(jackson.getObjectMapper()),
                ReconnectOptions.create(),
                IdentifyOptions.create(0, 1),
                GatewayObserver.emptyListener(),
                new RateLimitTransformer(1, Duration.ofMillis(10)),
                1,
                true,
                EmissionStrategy.timeoutError(MOST)));
    }
}
