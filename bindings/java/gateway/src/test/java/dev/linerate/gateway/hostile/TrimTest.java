package dev.linerate.gateway.hostile;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.linerate.gateway.GatewayDecompressor;
import dev.linerate.gateway.ReusableBuffer;
import dev.linerate.gateway.Transport;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Resident memory after connections were closed. */
@EnabledOnOs(OS.LINUX)
class TrimTest {
    private static final int CONNECTIONS = 1000;

    @Test
    void residentMemoryReturnsAfterTheClose() throws Exception {
        long[] sizes = closedCrowd();
        GatewayDecompressor.trim();
        assertReturned(sizes);
    }

    @Test
    void residentMemoryReturnsByItself() throws Exception {
        long[] sizes = closedCrowd();
        long end = System.nanoTime() + 60_000_000_000L;
        while (Resident.kilobytes() > sizes[0] + (sizes[1] - sizes[0]) / 3 && System.nanoTime() < end) {
            Thread.sleep(50);
        }
        assertReturned(sizes);
    }

    /**
     * Opens connections and closes them. Returns the resident KB before they were opened, and while
     * they were open.
     */
    private static long[] closedCrowd() throws IOException {
        byte[] frame = Wire.stream(Transport.ZSTD, Wire.sized(64 << 10))[0];
        // Memory freed by earlier tests would be reused, and would not count.
        GatewayDecompressor.trim();
        long before = Resident.kilobytes();
        ReusableBuffer payload = new ReusableBuffer();
        List<GatewayDecompressor> crowd = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            GatewayDecompressor gateway = GatewayDecompressor.create(Transport.ZSTD);
            // Decodes into an existing buffer, because new arrays would make the heap grow.
            gateway.decompress(frame, payload);
            crowd.add(gateway);
        }
        long open = Resident.kilobytes();
        assertTrue(open - before > CONNECTIONS * 40L, open - before + " KB");
        // Closes connections in another order than they were opened: in the same order the
        // allocator would return some of their memory even without a trim.
        for (int i = 1; i < 2 * CONNECTIONS; i += 2) {
            crowd.get(i * 7 % CONNECTIONS).close();
        }
        crowd.forEach(GatewayDecompressor::close);
        return new long[] {before, open};
    }

    private static void assertReturned(long[] sizes) throws IOException {
        long left = Resident.kilobytes() - sizes[0];
        assertTrue(left < (sizes[1] - sizes[0]) / 2, left + " KB are left of " + (sizes[1] - sizes[0]));
    }
}
