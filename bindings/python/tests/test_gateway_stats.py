"""Statistics: counts, times, logs, and the metrics for prometheus_client."""

import struct
import time
import zlib

import pytest
from gateways import frames_of, traffic
from prometheus_client import CollectorRegistry, generate_latest
from support import run_python

from pylinerate.gateway import Decompressor, GatewayError, StatsRecorder

PAYLOADS = traffic()


def settled(recorder, messages):
    """Waits until the statistics have this number of messages, since records are collected every 50
    ms."""
    end = time.monotonic() + 60
    while recorder.stats().messages < messages and time.monotonic() < end:
        time.sleep(0.01)
    return recorder.stats()


@pytest.mark.parametrize("clock", ["elapsed", "cpu"])
def test_messages_bytes_and_times_are_counted(clock):
    with StatsRecorder(clock=clock) as recorder:
        sent = 0
        connections = {kind: Decompressor(kind, stats=recorder) for kind in ("zlib-stream", "zstd-stream")}
        for kind, decompressor in connections.items():
            for frame, payload in zip(frames_of(kind, PAYLOADS), PAYLOADS, strict=True):
                assert decompressor.decompress(frame) == payload
                sent += len(frame)
        stats = settled(recorder, 2 * len(PAYLOADS))
        assert (stats.messages, stats.errors, stats.dropped) == (2 * len(PAYLOADS), {}, 0)
        assert stats.compressed_bytes == sent
        assert stats.payload_bytes == 2 * sum(map(len, PAYLOADS))
        assert stats.ratio == pytest.approx(stats.payload_bytes / sent)
        assert 0 < stats.quantile_ns(0.5) <= stats.quantile_ns(0.99) <= stats.quantile_ns(1.0)
        assert stats.decode_ns >= stats.quantile_ns(1.0) * 0.99
        # The first message of each connection is timed, and every 16th after it.
        assert stats.timed == 2 * ((len(PAYLOADS) + 15) // 16)
        assert {kind: made.stats.messages for kind, made in connections.items()} == {
            kind: made.messages for kind, made in recorder.by_transport().items()
        }
        assert recorder.connections == 2
        del connections, decompressor
        assert recorder.connections == 0
    assert recorder.stats().messages == 2 * len(PAYLOADS)


def test_a_forked_process_closes_and_reads_a_recorder_without_harm(tmp_path):
    """The fork does not have the collecting thread, so there is nothing to wait for."""
    run_python(
        f"""
import os, signal, sys, zlib
from pylinerate.gateway import Decompressor, StatsRecorder

with StatsRecorder({str(tmp_path)!r}) as recorder:
    kept = Decompressor("zlib", stats=recorder)
    assert kept.decompress(zlib.compress(b"a")) == b"a"
    child = os.fork()
    if not child:
        signal.alarm(20)
        try:
            assert kept.decompress(zlib.compress(b"b")) == b"b"
            assert Decompressor("zlib", stats=recorder).decompress(zlib.compress(b"c")) == b"c"
            recorder.stats(), recorder.by_transport(), recorder.prometheus(), recorder.connections, kept.stats
            recorder.close()
            recorder.close()
            del kept, recorder
        except BaseException as error:  # a panic is no Exception
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0, status
assert recorder.stats().messages == 1
"""
    )


def test_a_process_forked_while_other_threads_read_a_recorder_does_not_wait_for_them():
    """Locks that a thread of the parent held stay locked in the child for ever."""
    run_python(
        """
import os, signal, threading
from pylinerate.gateway import Decompressor, StatsRecorder

recorder = StatsRecorder()
stop = threading.Event()

def read():
    while not stop.is_set():
        recorder.prometheus()

readers = [threading.Thread(target=read) for _ in range(3)]
for reader in readers:
    reader.start()
for _ in range(50):
    child = os.fork()
    if not child:
        signal.alarm(20)
        recorder.stats()
        Decompressor("zlib", stats=recorder)
        recorder.close()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0, status
stop.set()
for reader in readers:
    reader.join()
recorder.close()
"""
    )


def test_errors_are_counted_by_kind_and_connections_beyond_the_limit_among_all_only():
    recorder = StatsRecorder(max_connections=1)
    first = Decompressor("zlib", max_message=10, stats=recorder)
    second = Decompressor("zlib", stats=recorder)
    for frame in (zlib.compress(bytes(11)), b"\xff\xff\xff"):
        with pytest.raises(GatewayError):
            first.decompress(frame)
    assert second.decompress(zlib.compress(b"{}")) == b"{}"
    recorder.close()
    recorder.close()
    assert recorder.stats().errors == {"limit exceeded": 1, "corrupt": 1}
    assert first.stats.errors == recorder.stats().errors
    assert second.stats is None
    assert Decompressor("zlib").stats is None


def test_logs_have_a_record_of_each_message(tmp_path):
    with StatsRecorder(tmp_path / "logs", name="shard") as recorder:
        decompressor = Decompressor("zlib-stream", stats=recorder)
        frames = list(frames_of("zlib-stream", PAYLOADS))
        for frame in frames:
            decompressor.decompress(frame)
    (log,) = (tmp_path / "logs").iterdir()
    assert log.name == "shard-000001.stats"
    data = log.read_bytes()
    assert data[:4] == b"LGST" and len(data) == 32 * (1 + len(frames))
    for i, (frame, payload) in enumerate(zip(frames, PAYLOADS, strict=True), 1):
        record = data[32 * i : 32 * i + 32]
        kind, _, verdict, untimed, connection, _, compressed, length = struct.unpack("<BBBBIqII", record[:24])
        assert (kind, verdict, connection, compressed, length) == (0, 0, 0, len(frame), len(payload))
        assert untimed == (i % 16 != 1)
        assert zlib.crc32(record[:28]) == struct.unpack("<I", record[28:])[0]


def test_messages_are_metrics_of_prometheus_client():
    registry = CollectorRegistry()
    with StatsRecorder() as recorder:
        registry.register(recorder)
        assert Decompressor("gzip", stats=recorder).kind == "gzip"
        decompressor = Decompressor("zlib", stats=recorder)
        decompressor.decompress(zlib.compress(b"{}"))
        settled(recorder, 1)
    value = registry.get_sample_value
    assert value("linerate_gateway_messages_total", {"transport": "zlib", "verdict": "decoded"}) == 1
    assert value("linerate_gateway_payload_bytes_total", {"transport": "zlib"}) == 2
    assert value("linerate_gateway_decode_seconds_count", {"transport": "zlib"}) == 1
    assert value("linerate_gateway_decode_seconds", {"transport": "zlib", "quantile": "0.5"}) > 0
    assert value("linerate_gateway_connections") == 1
    assert b"linerate_gateway_dropped_records_total 0.0" in generate_latest(registry)
    assert 'linerate_gateway_payload_bytes_total{transport="zlib"} 2' in recorder.prometheus()


def test_wrong_arguments_are_refused(tmp_path):
    with pytest.raises(ValueError, match='clock is "sun", but must be "elapsed" or "cpu"'):
        StatsRecorder(clock="sun")
    with pytest.raises(ValueError, match="max_age is -1"):
        StatsRecorder(tmp_path, max_age=-1.0)
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        StatsRecorder(tmp_path / "file")
    recorder = StatsRecorder()
    with pytest.raises(ValueError, match=r"quantile is 1\.5"):
        recorder.stats().quantile_ns(1.5)
    with pytest.raises(TypeError, match="a StatsRecorder cannot be pickled or copied"):
        __import__("pickle").dumps(recorder)
