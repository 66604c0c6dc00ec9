package dev.linerate.gateway;

/** Converts result codes of the native library to exceptions. */
final class NativeResult {
    private NativeResult() {}

    /**
     * Returns whether there is a payload. Throws {@link InternalError} after a panic of the
     * library.
     *
     * @param length the payload's length, or one of the negative codes of {@link Native}
     * @throws DecompressionException for {@link Native#ERROR}
     */
    static boolean isComplete(long connection, int length) throws DecompressionException {
        if (length >= 0) {
            return true;
        }
        if (length == Native.INCOMPLETE) {
            return false;
        }
        if (length == Native.ERROR) {
            throw error(connection);
        }
        throw defect();
    }

    /**
     * Throws {@link OutOfMemoryError} if a result is {@link Native#ERROR}, because there is no
     * memory for a copy of {@code length} bytes of {@code what}, and {@link InternalError} for
     * {@link Native#DEFECT}.
     */
    static void requireMemory(long result, String what, int length) {
        if (result == Native.ERROR) {
            throw new OutOfMemoryError(what + " of " + length + " bytes");
        }
        if (result == Native.DEFECT) {
            throw defect();
        }
    }

    private static DecompressionException error(long connection) {
        long[] where = new long[3];
        String text = Native.error(connection, where);
        if (text == null) {
            throw defect();
        }
        return exception(text, where);
    }

    /** Makes the exception for an error. {@code where} has its kind, offset and message index. */
    static DecompressionException exception(String text, long[] where) {
        return new DecompressionException(
                DecompressionException.Kind.values()[(int) where[0]], text, where[1], where[2]);
    }

    static InternalError defect() {
        return new InternalError("a defect of linerate-gateway; see the panic message on the standard error");
    }
}
