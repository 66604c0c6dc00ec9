package dev.linerate.gateway;

/** Attributes of a recorder. */
final class RecorderBean implements StatsMXBean {
    private final StatsRecorder recorder;

    RecorderBean(StatsRecorder recorder) {
        this.recorder = recorder;
    }

    @Override
    public long getMessages() {
        return recorder.stats().messages();
    }

    @Override
    public long getErrors() {
        return recorder.stats().errors();
    }

    @Override
    public long getCompressedBytes() {
        return recorder.stats().compressedBytes();
    }

    @Override
    public long getPayloadBytes() {
        return recorder.stats().payloadBytes();
    }

    @Override
    public double getRatio() {
        return recorder.stats().ratio();
    }

    @Override
    public long getDecodeNanos() {
        return recorder.stats().decodeNanos();
    }

    @Override
    public long getMedianNanos() {
        return recorder.stats().medianNanos();
    }

    @Override
    public long getP99Nanos() {
        return recorder.stats().p99Nanos();
    }

    @Override
    public long getMaxNanos() {
        return recorder.stats().maxNanos();
    }

    @Override
    public int getConnections() {
        return recorder.connections();
    }

    @Override
    public long getDropped() {
        return recorder.stats().dropped();
    }
}
