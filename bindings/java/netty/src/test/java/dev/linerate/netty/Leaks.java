package dev.linerate.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.linerate.gateway.LiveCodecs;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetric;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.function.BiFunction;
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

    /**
     * {@link #ALLOCATOR}, except that a function of this allocator and a capacity makes the direct
     * buffers.
     */
    static ByteBufAllocator allocator(BiFunction<ByteBufAllocator, Integer, ByteBuf> directBuffer) {
        InvocationHandler calls = (proxy, method, arguments) ->
                method.getName().equals("directBuffer") && arguments.length == 1
                        ? directBuffer.apply((ByteBufAllocator) proxy, (Integer) arguments[0])
                        : method.invoke(ALLOCATOR, arguments);
        return (ByteBufAllocator)
                Proxy.newProxyInstance(Leaks.class.getClassLoader(), new Class<?>[] {ByteBufAllocator.class}, calls);
    }

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
