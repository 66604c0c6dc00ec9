package dev.linerate.netty;

import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionData;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionUtil;
import java.util.List;
import java.util.Map;

/** Converts extensions between Netty's classes and the text of {@code Sec-WebSocket-Extensions}. */
final class Headers {
    private Headers() {}

    static String toText(WebSocketExtensionData extension) {
        StringBuilder text = new StringBuilder(extension.name());
        for (Map.Entry<String, String> parameter : extension.parameters().entrySet()) {
            text.append("; ").append(parameter.getKey());
            if (parameter.getValue() != null) {
                text.append('=').append(parameter.getValue());
            }
        }
        return text.toString();
    }

    static List<WebSocketExtensionData> parse(String text) {
        return WebSocketExtensionUtil.extractExtensions(text);
    }
}
