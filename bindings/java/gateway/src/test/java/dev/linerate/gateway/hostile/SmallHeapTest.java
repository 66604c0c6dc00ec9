package dev.linerate.gateway.hostile;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Decodes messages of up to 2 MiB in a heap of 128 MiB, for eight seconds with each collector.
 * {@code make soak-java} sets the property linerate.soak.seconds to run for longer.
 */
class SmallHeapTest {
    private static final int SECONDS = Integer.getInteger("linerate.soak.seconds", 8);

    @ParameterizedTest
    @ValueSource(strings = {"G1", "Parallel", "Serial"})
    void garbageCollectionIsNotBlocked(String collector) throws Exception {
        String output = Child.run(SECONDS + 60, List.of("-Xmx128m", "-XX:+Use" + collector + "GC"), SmallHeap.class, "" + SECONDS);
        System.out.println(collector + ", " + SECONDS + " s: " + output.trim());
        int messages = Integer.parseInt(output.trim().replaceAll(" messages$", ""));
        assertTrue(messages > 18, output);
    }
}
