package dev.linerate.gateway.jda;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** What the client sends. The first line of it waits until it is whole and may then be another one. */
final class RequestStream extends OutputStream {
    /** Says which line goes out. */
    interface Editor {
        RequestLine edit(RequestLine line) throws IOException;
    }

    /** Longer first lines are left alone. */
    private static final int LONGEST = 16 << 10;

    private final OutputStream below;
    private final Editor editor;
    /** Null as soon as the line went out. */
    private ByteArrayOutputStream line = new ByteArrayOutputStream(256);

    RequestStream(OutputStream below, Editor editor) {
        this.below = below;
        this.editor = editor;
    }

    @Override
    public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        int from = offset;
        while (line != null && from < offset + length) {
            byte next = bytes[from++];
            if (next == '\r' || next == '\n') {
                sendLine();
                from--;
            } else {
                line.write(next);
                if (line.size() == LONGEST) {
                    line.writeTo(below);
                    line = null;
                }
            }
        }
        if (from < offset + length) {
            below.write(bytes, from, offset + length - from);
        }
    }

    private void sendLine() throws IOException {
        // ISO 8859-1 keeps every byte what it is.
        String text = new String(line.toByteArray(), StandardCharsets.ISO_8859_1);
        String edited = editor.edit(new RequestLine(text)).toString();
        line = null;
        below.write(edited.getBytes(StandardCharsets.ISO_8859_1));
    }

    @Override
    public void flush() throws IOException {
        below.flush();
    }

    @Override
    public void close() throws IOException {
        below.close();
    }
}
