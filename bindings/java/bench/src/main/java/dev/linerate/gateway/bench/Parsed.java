package dev.linerate.gateway.bench;

import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.util.ByteBufferBackedInputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.HashMap;
import net.dv8tion.jda.api.utils.data.DataObject;

/** Parses payloads to maps. */
abstract class Parsed implements Taker {
    private long sum;

    /** Returns the number of members of the payload's object, and closes the stream. */
    abstract int members(InputStream stream) throws IOException;

    abstract int members(byte[] array, int length) throws IOException;

    @Override
    public final void array(byte[] array, int length) throws IOException {
        sum += members(array, length);
    }

    @Override
    public final void stream(InputStream stream) throws IOException {
        sum += members(stream);
    }

    @Override
    public final void buffer(ByteBuffer buffer) throws IOException {
        sum += members(new ByteBufferBackedInputStream(buffer));
    }

    @Override
    public final long sum() {
        return sum;
    }

    /** Parses with Jackson to a {@link HashMap}, as JDA does. */
    static final class Tree extends Parsed {
        private final ObjectMapper mapper = new ObjectMapper();
        private final JavaType map = mapper.getTypeFactory().constructRawMapType(HashMap.class);

        @Override
        int members(byte[] array, int length) throws IOException {
            return mapper.<HashMap<?, ?>>readValue(array, 0, length, map).size();
        }

        @Override
        int members(InputStream stream) throws IOException {
            return mapper.<HashMap<?, ?>>readValue(stream, map).size();
        }
    }

    /**
     * Parses with JDA's own {@link DataObject}: from an array that holds exactly the payload,
     * otherwise from a stream.
     */
    static final class DataObjects extends Parsed {
        @Override
        int members(byte[] array, int length) {
            return array.length == length
                    ? DataObject.fromJson(array).keys().size()
                    : members(new ByteArrayInputStream(array, 0, length));
        }

        @Override
        int members(InputStream stream) {
            return DataObject.fromJson(stream).keys().size();
        }
    }
}
