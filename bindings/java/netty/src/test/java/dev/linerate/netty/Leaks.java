package dev.linerate.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.linerate.gateway.LiveCodecs;
import io.netty.buffer.ByteBufAllocatorMetric;
import io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails tests that leave buffers of {@link #ALLOCATOR}, encoders, decoders or prepared messages
 * behind.
 */
final class Leaks implements BeforeEachCallback, AfterEachCallback {
    /** Allocates outside the pool, so that each byte is counted. */
    static final UnpooledByteBufAllocator ALLOCATOR = new UnpooledByteBufAllocator(true, true);

    private long codecs;

    static long bytes() {
        ByteBufAllocatorMetric metric = ALLOCATOR.metric();
        return metric.usedDirectMemory() + metric.usedHeapMemory();
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        codecs = LiveCodecs.count();
        assertEquals(0, bytes());
    }

    @Override
    public void afterEach(ExtensionContext context) {
        assertEquals(codecs, LiveCodecs.count(), "native encoders and decoders");
        assertEquals(0, bytes(), "bytes of buffers");
    }
}
