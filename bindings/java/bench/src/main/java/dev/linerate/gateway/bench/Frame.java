package dev.linerate.gateway.bench;

import java.nio.ByteBuffer;

/**
 * The content of one websocket message: in a Java array, as websocket libraries deliver it, and
 * outside the heap.
 */
final class Frame {
    final byte[] heap;
    final ByteBuffer direct;

    private Frame(byte[] heap, ByteBuffer direct) {
        this.heap = heap;
        this.direct = direct;
    }

    /** The frames of one stream. Their copies outside the heap are contiguous. */
    static Frame[] of(byte[][] stream) {
        int total = 0;
        for (byte[] frame : stream) {
            total += frame.length;
        }
        ByteBuffer all = ByteBuffer.allocateDirect(total);
        Frame[] frames = new Frame[stream.length];
        for (int k = 0; k < stream.length; k++) {
            byte[] heap = stream[k];
            frames[k] = new Frame(heap, all.slice(all.position(), heap.length));
            all.put(heap);
        }
        return frames;
    }
}
