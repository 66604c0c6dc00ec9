package dev.linerate.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.channel.ChannelHandler;
import java.io.DataInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class PackagingTest {
    private static InputStream resource(String name) {
        return PackagingTest.class.getClassLoader().getResourceAsStream(name);
    }

    /**
     * Netty looks for annotations on a handler's methods, which a native image only contains if
     * they are registered.
     */
    @Test
    void nativeImageKnowsTheHandlers() throws Exception {
        String text;
        try (InputStream in = resource("META-INF/native-image/dev.linerate/linerate-netty/reachability-metadata.json")) {
            text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
        Set<String> names = Pattern.compile("\"type\": \"([^\"]*)\"")
                .matcher(text)
                .results()
                .map(match -> match.group(1))
                .collect(Collectors.toSet());
        assertEquals(
                Set.of(
                        DeflateFrameEncoder.class.getName(),
                        DeflateFrameDecoder.class.getName(),
                        GatewayHandler.class.getName()),
                names);
        for (String name : names) {
            assertEquals(true, ChannelHandler.class.isAssignableFrom(Class.forName(name)));
        }
    }

    @Test
    void classesForJava8() throws Exception {
        for (Class<?> type : new Class<?>[] {LinerateDeflateServerExtensionHandshaker.class, DeflateFrameDecoder.class}) {
            try (DataInputStream data = new DataInputStream(resource(type.getName().replace('.', '/') + ".class"))) {
                assertEquals(0xcafebabe, data.readInt());
                data.readUnsignedShort();
                assertEquals(52, data.readUnsignedShort());
            }
        }
    }
}
