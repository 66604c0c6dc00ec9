package dev.linerate.gateway;

/** Counts native objects, which the public classes do not report. */
public final class LiveCodecs {
    private LiveCodecs() {}

    /** Returns the number of encoders, decoders and prepared messages that are not freed. */
    public static long count() {
        NativeLoader.load();
        return NativeDeflate.live();
    }
}
