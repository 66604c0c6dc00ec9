package dev.linerate.gateway.integration;

import com.neovisionaries.ws.client.WebSocketFactory;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import net.dv8tion.jda.api.JDA;
import net.dv8tion.jda.api.JDABuilder;
import net.dv8tion.jda.api.events.GenericEvent;
import net.dv8tion.jda.api.events.message.MessageReceivedEvent;
import net.dv8tion.jda.api.hooks.EventListener;
import net.dv8tion.jda.api.requests.GatewayIntent;
import net.dv8tion.jda.api.requests.RestConfig;
import net.dv8tion.jda.api.utils.Compression;
import net.dv8tion.jda.api.utils.SessionControllerAdapter;

/** A JDA client of a local gateway, and the events it received. */
final class Bot implements AutoCloseable, EventListener {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Map<String, Integer> seen = new ConcurrentHashMap<>();
    private final List<String> contents = new CopyOnWriteArrayList<>();
    private final JDA jda;

    /** Connects to the address of a gateway. */
    Bot(String url, LocalGateway gateway, Compression compression, WebSocketFactory sockets) {
        this(url, gateway, compression, sockets, UnaryOperator.identity());
    }

    /** Connects with JDA's builder as {@code change} returns it. */
    Bot(
            String url,
            LocalGateway gateway,
            Compression compression,
            WebSocketFactory sockets,
            UnaryOperator<JDABuilder> change) {
        JDABuilder builder = JDABuilder.createLight("no.real.token", EnumSet.allOf(GatewayIntent.class))
                .setCompression(compression)
                .setWebsocketFactory(sockets)
                .setRestConfig(new RestConfig().setBaseUrl("http://127.0.0.1:" + gateway.port() + "/api/v10/"))
                .setSessionController(new SessionControllerAdapter() {
                    @Override
                    public String getGateway() {
                        return url;
                    }
                })
                .setEnableShutdownHook(false)
                .addEventListeners(this);
        jda = change.apply(builder).build();
    }

    @Override
    public void onEvent(GenericEvent event) {
        if (event instanceof MessageReceivedEvent) {
            contents.add(((MessageReceivedEvent) event).getMessage().getContentRaw());
        }
        seen.merge(event.getClass().getSimpleName(), 1, Integer::sum);
        synchronized (this) {
            notifyAll();
        }
    }

    /** Number of events of a class. */
    int count(Class<? extends GenericEvent> event) {
        return seen.getOrDefault(event.getSimpleName(), 0);
    }

    /** Contents of the messages, in order. */
    List<String> contents() {
        return contents;
    }

    /** The client. */
    JDA jda() {
        return jda;
    }

    /** Waits until a condition holds. Fails after 60 seconds. */
    synchronized void await(String what, BooleanSupplier isThere) throws InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!isThere.getAsBoolean()) {
            long left = (end - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                throw new AssertionError(
                        "not enough " + what + ": events " + seen + ", state " + jda.getStatus());
            }
            wait(left);
        }
    }

    @Override
    public void close() {
        jda.shutdownNow();
        try {
            if (!jda.awaitShutdown(PATIENCE)) {
                throw new AssertionError("JDA does not shut down");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
