package dev.linerate.netty;

import dev.linerate.gateway.DeflateEncoder;
import dev.linerate.gateway.PreparedMessage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import io.netty.util.ResourceLeakTracker;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The content of a prepared message, uncompressed and in its compressed forms. Frames on all event
 * loops share it through derived buffers; releasing the last of these frees everything.
 */
final class PreparedContent extends UnpooledDirectByteBuf {
    private static final ResourceLeakDetector<PreparedContent> LEAKS =
            ResourceLeakDetectorFactory.instance().newResourceLeakDetector(PreparedContent.class);
    /** Takes the place of compressed content if that would not be smaller than the message. */
    private static final ByteBuf AS_IT_IS = Unpooled.EMPTY_BUFFER;

    private static final ByteBuffer NO_ROOM = ByteBuffer.allocateDirect(0);
    private static final int MAX_WINDOW_BITS = 15;

    /**
     * Compressed content by the base-2 logarithm of the window size; null until an encoder with
     * that window needs it.
     */
    private final AtomicReferenceArray<ByteBuf> compressed = new AtomicReferenceArray<>(MAX_WINDOW_BITS + 1);

    private final ResourceLeakTracker<PreparedContent> leak = LEAKS.track(this);
    /** The message, for the encoders; null until the content was copied. */
    private PreparedMessage message;

    private PreparedContent(ByteBufAllocator allocator, int length) {
        super(allocator, length, length);
    }

    /**
     * Copies and releases {@code content}. The copy and all buffers derived from it are read-only.
     */
    static ByteBuf of(ByteBuf content) {
        try {
            PreparedContent copy = new PreparedContent(content.alloc(), content.readableBytes());
            try {
                copy.writeBytes(content, content.readerIndex(), content.readableBytes());
                copy.message = new PreparedMessage(copy.nioBuffer());
                return copy.asReadOnly();
            } finally {
                if (copy.message == null) {
                    copy.release();
                }
            }
        } finally {
            content.release();
        }
    }

    /**
     * Returns the prepared content from which a buffer was derived; null if the buffer is only a
     * part of it.
     */
    static PreparedContent behind(ByteBuf buffer) {
        ByteBuf root = buffer;
        while (!(root instanceof PreparedContent)) {
            root = root.unwrap();
        }
        boolean isWhole = buffer.readerIndex() == 0 && buffer.readableBytes() == root.capacity();
        return isWhole ? (PreparedContent) root : null;
    }

    /**
     * Returns the compressed content for a connection, which the caller releases; null if the
     * message should be sent uncompressed.
     */
    ByteBuf encode(DeflateEncoder encoder) {
        int bits = encoder.windowBits();
        ByteBuf known = compressed.get(bits);
        if (known == null) {
            return encodeFirst(encoder);
        }
        if (known == AS_IT_IS) {
            return null;
        }
        // The encoder would produce these bytes, so it only has to know that they are sent.
        encoder.encode(message, NO_ROOM);
        return known.retainedDuplicate();
    }

    private ByteBuf encodeFirst(DeflateEncoder encoder) {
        ByteBuf room = alloc().directBuffer(message.length());
        ByteBuf encoded = AS_IT_IS;
        try {
            int length = encoder.encode(message, room.internalNioBuffer(0, room.capacity()));
            if (length >= 0) {
                DeflateFrameEncoder.giveRoomBack(room, length);
                encoded = room.writerIndex(length).asReadOnly();
            }
        } finally {
            if (encoded == AS_IT_IS) {
                room.release();
            }
        }
        ByteBuf duplicate = encoded == AS_IT_IS ? null : encoded.retainedDuplicate();
        if (!compressed.compareAndSet(encoder.windowBits(), null, encoded)) {
            // Another event loop was faster.
            encoded.release();
        }
        return duplicate;
    }

    @Override
    protected void deallocate() {
        super.deallocate();
        if (message != null) {
            message.close();
        }
        for (int bits = 0; bits < compressed.length(); bits++) {
            ByteBuf encoded = compressed.get(bits);
            if (encoded != null) {
                encoded.release();
            }
        }
        if (leak != null) {
            leak.close(this);
        }
    }
}
