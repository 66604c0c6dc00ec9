package dev.linerate.gateway.hostile;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.linerate.gateway.Transport;
import java.util.List;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Resident memory of many connections, measured in child processes. */
@EnabledOnOs(OS.LINUX)
class CrowdTest {
    /** Heap that is touched first, so that the process grows only by memory outside the heap. */
    private static final List<String> HEAP = List.of("-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC");

    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void memoryPerConnectionIsBounded(Transport transport) throws Exception {
        long kilobytes = growth("live", transport);
        long maxKilobytes = transport == Transport.ZLIB ? 2500 * 40 : 2500 * 90;
        System.out.println("2,500 connections, " + transport + ": " + kilobytes + " KB");
        assertTrue(kilobytes < maxKilobytes, kilobytes + " KB");
    }

    /**
     * If 12,000 connections leaked, they would hold 390 MB with zlib (33 KB each) or 890 MB with
     * zstd (76 KB each).
     */
    @ParameterizedTest
    @EnumSource(value = Transport.class, names = {"ZLIB", "ZSTD"})
    void unreachableConnectionsAreFreed(Transport transport) throws Exception {
        long kilobytes = growth("forgotten", transport);
        System.out.println("12,000 connections forgotten, " + transport + ": " + kilobytes + " KB");
        assertTrue(kilobytes < 200_000, kilobytes + " KB");
    }

    private static long growth(String what, Transport transport) throws Exception {
        String output = Child.run(120, HEAP, Crowd.class, what, transport.name());
        return Long.parseLong(output.trim());
    }
}
