package dev.linerate.gateway.bench;

import com.fasterxml.jackson.databind.util.ByteBufferBackedInputStream;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.ByteBuffer;
import net.dv8tion.jda.api.utils.data.DataObject;

/** Payloads parsed by JDA's own {@link DataObject}: an array of exactly the payload as such, all else as a stream. */
final class DataObjects implements Taker {
    private long sum;

    @Override
    public void array(byte[] array, int length) {
        if (array.length == length) {
            take(DataObject.fromJson(array));
        } else {
            stream(new ByteArrayInputStream(array, 0, length));
        }
    }

    @Override
    public void stream(InputStream stream) {
        take(DataObject.fromJson(stream)); // which closes it
    }

    @Override
    public void buffer(ByteBuffer buffer) {
        stream(new ByteBufferBackedInputStream(buffer));
    }

    private void take(DataObject payload) {
        sum += payload.keys().size();
    }

    @Override
    public long sum() {
        return sum;
    }
}
