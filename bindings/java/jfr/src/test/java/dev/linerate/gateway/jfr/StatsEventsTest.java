package dev.linerate.gateway.jfr;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.StatsRecorder;
import dev.linerate.gateway.Transport;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.Deflater;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Events have what the recorder has. */
@SuppressWarnings("try") // A closed recorder has counted everything.
class StatsEventsTest {
    private static final String NAME = "dev.linerate.gateway.Statistics";
    private static final byte[] PAYLOAD = "{\"op\":11,\"d\":null}".getBytes(StandardCharsets.UTF_8);

    @TempDir
    Path folder;

    private static StatsRecorder recorder() throws IOException {
        Deflater server = new Deflater();
        server.setInput(PAYLOAD);
        byte[] frame = new byte[100];
        int length = server.deflate(frame, 0, frame.length, Deflater.SYNC_FLUSH);
        server.end();
        StatsRecorder recorder = StatsRecorder.builder().start();
        try (GatewayDecompressor gateway =
                GatewayDecompressor.builder(Transport.ZLIB).recordStats(recorder).build()) {
            assertArrayEquals(PAYLOAD, gateway.decompress(Arrays.copyOf(frame, length)));
        }
        recorder.close();
        return recorder;
    }

    /** The events that are written when the recording ends. */
    private List<RecordedEvent> atTheEnd(Recording recording, String file) throws IOException {
        recording.enable(NAME).with("period", "endChunk");
        recording.start();
        recording.stop();
        Path path = folder.resolve(file);
        recording.dump(path);
        return RecordingFile.readAllEvents(path).stream()
                .filter(event -> event.getEventType().getName().equals(NAME))
                .toList();
    }

    @Test
    void transportsThatHadMessagesHaveAnEvent() throws IOException {
        StatsRecorder recorder = recorder();
        try (StatsEvents events = StatsEvents.of(recorder);
                Recording recording = new Recording()) {
            List<RecordedEvent> written = atTheEnd(recording, "one.jfr");
            assertEquals(1, written.size());
            RecordedEvent event = written.get(0);
            assertEquals("zlib-stream", event.getString("transport"));
            assertEquals(1, event.getLong("messages"));
            assertEquals(0, event.getLong("errors"));
            assertEquals(PAYLOAD.length, event.getLong("payload"));
            assertEquals(recorder.stats().compressedBytes(), event.getLong("compressed"));
            assertEquals(recorder.stats().maxNanos(), event.getDuration("longest").toNanos());
            // Closing it twice is as closing it once.
            events.close();
        }
    }

    @Test
    void closedEventsAreNotWritten() throws IOException {
        StatsEvents.of(recorder()).close();
        try (Recording recording = new Recording()) {
            assertEquals(List.of(), atTheEnd(recording, "none.jfr"));
        }
        assertThrows(NullPointerException.class, () -> StatsEvents.of(null));
    }
}
