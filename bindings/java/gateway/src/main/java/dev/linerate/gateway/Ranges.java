package dev.linerate.gateway;

/** Range checks of array arguments. */
final class Ranges {
    private Ranges() {}

    /**
     * Throws {@link IndexOutOfBoundsException} unless {@code length} bytes from {@code offset} on
     * are within an array of {@code size} bytes.
     */
    static void check(int size, int offset, int length) {
        if ((offset | length) < 0 || length > size - offset) {
            throw new IndexOutOfBoundsException(
                    "offset " + offset + " and length " + length + " in an array of " + size + " bytes");
        }
    }
}
