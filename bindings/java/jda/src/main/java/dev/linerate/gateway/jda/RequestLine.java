package dev.linerate.gateway.jda;

import dev.linerate.gateway.Transport;

/** The request line of an HTTP request, such as {@code GET /?encoding=json&v=10 HTTP/1.1}. */
final class RequestLine {
    private final String text;
    private final int query;
    private final int end;

    RequestLine(String text) {
        this.text = text;
        end = Math.max(text.lastIndexOf(' '), 0);
        int mark = text.indexOf('?');
        query = mark >= 0 && mark < end ? mark + 1 : end;
    }

    /**
     * Whether this is the request of a gateway connection. Only these have the parameter
     * {@code encoding}; voice connections do not.
     */
    boolean isGateway() {
        return text.startsWith("GET ") && value("encoding") != null;
    }

    boolean isEtf() {
        return "etf".equals(value("encoding"));
    }

    /** Whether the client itself requests compression. */
    boolean isCompressed() {
        return value("compress") != null;
    }

    /** Returns this line with this transport as its only {@code compress} parameter. */
    RequestLine withCompression(Transport transport) {
        StringBuilder line = new StringBuilder(text.substring(0, query));
        for (String parameter : text.substring(query, end).split("&")) {
            if (!isNamed(parameter, "compress")) {
                line.append(parameter).append('&');
            }
        }
        line.append("compress=").append(transport.queryName());
        return new RequestLine(line.append(text, end, text.length()).toString());
    }

    private String value(String name) {
        for (String parameter : text.substring(query, end).split("&")) {
            if (isNamed(parameter, name)) {
                return parameter.substring(name.length() + 1);
            }
        }
        return null;
    }

    private static boolean isNamed(String parameter, String name) {
        return parameter.startsWith(name) && parameter.startsWith("=", name.length());
    }

    @Override
    public String toString() {
        return text;
    }
}
