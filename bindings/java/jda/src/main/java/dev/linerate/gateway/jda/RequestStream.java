package dev.linerate.gateway.jda;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * The bytes that the client sends. The first line, that of the HTTP request, is buffered until it
 * is complete, so that it can be edited; everything after it passes through.
 */
final class RequestStream extends OutputStream {
    /** Returns the request line to be sent in place of that of the client. */
    interface Editor {
        RequestLine edit(RequestLine line) throws IOException;
    }

    /** Number of bytes from which a request line is sent without being edited. */
    private static final int MAX_LINE = 16 << 10;

    private final OutputStream delegate;
    private final Editor editor;
    /** The request line so far; null once it was sent. */
    private ByteArrayOutputStream line = new ByteArrayOutputStream(256);

    RequestStream(OutputStream delegate, Editor editor) {
        this.delegate = delegate;
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
                if (line.size() == MAX_LINE) {
                    line.writeTo(delegate);
                    line = null;
                }
            }
        }
        if (from < offset + length) {
            delegate.write(bytes, from, offset + length - from);
        }
    }

    private void sendLine() throws IOException {
        // ISO 8859-1 maps every byte to one character, so what is not edited stays the same.
        String text = new String(line.toByteArray(), StandardCharsets.ISO_8859_1);
        String edited = editor.edit(new RequestLine(text)).toString();
        line = null;
        delegate.write(edited.getBytes(StandardCharsets.ISO_8859_1));
    }

    @Override
    public void flush() throws IOException {
        delegate.flush();
    }

    @Override
    public void close() throws IOException {
        delegate.close();
    }
}
