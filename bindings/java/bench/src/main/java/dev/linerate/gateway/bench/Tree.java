package dev.linerate.gateway.bench;

import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.util.ByteBufferBackedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.HashMap;

/** Payloads parsed by Jackson to maps, as in JDA. */
final class Tree implements Taker {
    private final ObjectMapper mapper = new ObjectMapper();
    private final JavaType map = mapper.getTypeFactory().constructRawMapType(HashMap.class);
    private long sum;

    @Override
    public void array(byte[] array, int length) throws IOException {
        take(mapper.readValue(array, 0, length, map));
    }

    @Override
    public void stream(InputStream stream) throws IOException {
        take(mapper.readValue(stream, map)); // which closes it
    }

    @Override
    public void buffer(ByteBuffer buffer) throws IOException {
        take(mapper.readValue(new ByteBufferBackedInputStream(buffer), map));
    }

    private void take(HashMap<?, ?> tree) {
        sum += tree.size();
    }

    @Override
    public long sum() {
        return sum;
    }
}
