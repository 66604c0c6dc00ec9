package dev.linerate.gateway;

/**
 * Opcode, sequence number and event of a payload, read without the rest of the payload, to decide
 * whether it is worth parsing.
 *
 * <p>Reading stops as soon as all three members ({@code op}, {@code s} and {@code t}) were read,
 * which gateways write first in JSON; the bytes after that are not checked.
 */
public final class Envelope {
    private final long opcode;
    private final long sequence;
    private final String event;

    private Envelope(long opcode, long sequence, String event) {
        this.opcode = opcode;
        this.sequence = sequence;
        this.event = event;
    }

    /**
     * Reads the envelope of a payload in JSON.
     *
     * @param payload the payload
     * @return its envelope
     * @throws IllegalArgumentException if the payload is not an object, or is damaged before the
     *     last of the members
     * @throws OutOfMemoryError if there is no memory for a copy of the payload outside the heap
     */
    public static Envelope peek(byte[] payload) {
        return peek(payload, 0, payload.length);
    }

    /**
     * Reads the envelope of a payload in JSON.
     *
     * @param payload an array with the payload, such as that of a {@link ReusableBuffer}
     * @param offset the offset of the payload
     * @param length the length of the payload in bytes
     * @return its envelope
     * @throws IllegalArgumentException if the payload is not an object, or is damaged before the
     *     last of the members
     * @throws IndexOutOfBoundsException if the range is not within the array
     * @throws OutOfMemoryError if there is no memory for a copy of the payload outside the heap
     */
    public static Envelope peek(byte[] payload, int offset, int length) {
        return read(payload, offset, length, false);
    }

    /**
     * Reads the envelope of a payload in Erlang's external term format.
     *
     * @param payload an array with the payload
     * @param offset the offset of the payload
     * @param length the length of the payload in bytes
     * @return its envelope
     * @throws IllegalArgumentException if the payload is not a map, or is damaged before the last
     *     of the members
     * @throws IndexOutOfBoundsException if the range is not within the array
     * @throws OutOfMemoryError if there is no memory for a copy of the payload outside the heap
     */
    public static Envelope peekEtf(byte[] payload, int offset, int length) {
        return read(payload, offset, length, true);
    }

    private static Envelope read(byte[] payload, int offset, int length, boolean etf) {
        Ranges.check(payload.length, offset, length);
        NativeLoader.load();
        long[] members = new long[3];
        String event = Native.peek(payload, offset, length, etf, members);
        NativeResult.requireMemory(members[2], "a payload", length);
        if (members[2] == 0) {
            throw new IllegalArgumentException(etf ? "the payload is not a map" : "the payload is not a JSON object");
        }
        return new Envelope(members[0], members[1], event);
    }

    /**
     * Returns the opcode.
     *
     * @return {@code op}: 0 for events; -1 if there is none
     */
    public long opcode() {
        return opcode;
    }

    /**
     * Returns the sequence number.
     *
     * @return {@code s}; -1 if there is none
     */
    public long sequence() {
        return sequence;
    }

    /**
     * Returns the name of the event.
     *
     * @return {@code t} with escapes not decoded; null if there is none
     */
    public String event() {
        return event;
    }
}
