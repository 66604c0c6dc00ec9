package dev.linerate.gateway;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.util.Collections;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Payloads that do not fit on the heap. */
@Tag("children")
class FullHeapTest {
    private static final int LARGE = 60 << 20;

    /**
     * Decodes a message that does not fit on the heap and the next one, in each form that returns
     * payloads on the heap. Prints the forms in which this works.
     */
    static final class Main {
        public static void main(String[] arguments) throws Exception {
            byte[] large = large();
            // The next message of the zstd stream: a raw block and an RLE block.
            byte[] small = {5 << 3 & 0xff, 0, 0, 's', 'm', 'a', 'l', 'l', 3 << 3 | 2, 0, 0, 'x'};
            for (Form form : Form.values()) {
                if (form == Form.DIRECT) {
                    continue;
                }
                try (GatewayDecompressor decompressor = GatewayDecompressor.create(Transport.ZSTD)) {
                    try {
                        form.decode(decompressor, large);
                        System.out.println("no OutOfMemoryError for " + LARGE + " bytes");
                    } catch (OutOfMemoryError e) {
                        assertEquals(1, decompressor.messages());
                        assertArrayEquals("smallxxx".getBytes("US-ASCII"), form.decode(decompressor, small));
                        System.out.println(form);
                    }
                }
            }
        }

        private static byte[] large() {
            ByteArrayOutputStream frame = new ByteArrayOutputStream();
            frame.writeBytes(Traffic.zstdHeader(16));
            int block = 64 << 10;
            int header = block << 3 | 2;
            for (int length = 0; length < LARGE; length += block) {
                frame.writeBytes(new byte[] {(byte) header, (byte) (header >> 8), (byte) (header >> 16), 'a'});
            }
            return frame.toByteArray();
        }
    }

    @Test
    void onlyTheMessageThatDoesNotFitIsLost() throws Exception {
        Child child = Child.run(Collections.singletonList("-Xmx32m"), Main.class);
        assertEquals("NEW_ARRAY\nREUSABLE\nSTREAM", child.output.replace("\r", ""));
        assertEquals(0, child.exitCode);
    }
}
