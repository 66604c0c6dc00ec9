"""Gateway messages: round trips, buffers, envelopes, recordings."""

import array
import asyncio
import copy
import doctest
import inspect
import json
import mmap
import pickle
import random
import struct
import subprocess
import weakref

import numpy as np
import pytest
from gateway_serve import program
from gateways import HELLO, HELLO_FRAMES, KINDS, sample, frames_of, traffic
from support import run_python

import pylinerate
import pylinerate.gateway
from pylinerate.gateway import Decompressor, Envelope, GatewayError, peek

TRAFFIC = traffic()


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_message_decodes(kind):
    decompressor = Decompressor(kind)
    assert decompressor.decompress(HELLO_FRAMES[kind]) == HELLO
    assert (decompressor.messages, decompressor.compressed_bytes) == (1, len(HELLO_FRAMES[kind]))


@pytest.mark.parametrize("kind", KINDS)
def test_the_recorded_sample_decodes(kind):
    payloads, frames = sample("sample", kind)
    assert len(payloads) == len(frames) > 100
    decompressor = Decompressor(kind, checks="json", sequence=True)
    buffer = bytearray(max(map(len, payloads)))
    into, text = Decompressor(kind), Decompressor(kind)
    for payload, frame in zip(payloads, frames):
        assert decompressor.decompress(frame) == payload
        count = into.decompress_into(frame, buffer)
        assert buffer[:count] == payload
        assert text.decompress_text(frame) == payload.decode()
    assert decompressor.messages == len(payloads)
    assert decompressor.compressed_bytes == sum(map(len, frames))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [0, 1, 4000, 8000, 8192, 65_535, 65_536, 65_537, 131_072, 131_073, 700_000])
def test_payloads_of_any_size_round_trip(kind, size):
    rng = random.Random(size)
    payloads = [bytes(rng.choices(b"abc", k=size)), rng.randbytes(size), b"x" * size, b"{}"]
    decompressor = Decompressor(kind)
    for payload, frame in zip(payloads, frames_of(kind, payloads)):
        if frame:  # libzstd flushes nothing if there is nothing
            assert decompressor.decompress(frame) == payload


def test_zlib_messages_split_at_every_byte_decode():
    frames = frames_of("zlib-stream", TRAFFIC)
    at = next(i for i, payload in enumerate(TRAFFIC) if 100 < len(payload) < 400)
    for cut in range(1, len(frames[at])):
        decompressor = Decompressor("zlib-stream")
        for payload, frame in zip(TRAFFIC[:at], frames[:at]):
            assert decompressor.decompress(frame) == payload
        assert decompressor.decompress(frames[at][:cut]) is None
        assert decompressor.messages == at
        assert decompressor.decompress(frames[at][cut:]) == TRAFFIC[at]
        assert decompressor.decompress(frames[at + 1]) == TRAFFIC[at + 1]


def test_zlib_messages_in_random_fragments_decode():
    rng = random.Random(5)
    for max_part in (1, 2, 50, 3000):
        decompressor = Decompressor("zlib-stream")
        for payload, frame in zip(TRAFFIC, frames_of("zlib-stream", TRAFFIC)):
            while True:
                part = frame[: rng.randint(1, max_part)]
                frame = frame[len(part) :]
                got = decompressor.decompress(part)
                if not frame:
                    break
                assert got is None
            assert got == payload


def test_a_flush_marker_inside_stored_data_does_not_end_a_message():
    # A stored block whose content ends as an empty stored block does.
    stored = b"ordinary \x00\x00\xff\xff"
    first = b"\x78\x9c\x00" + struct.pack("<HH", len(stored) + 4, 0xFFFF - len(stored) - 4) + stored
    decompressor = Decompressor("zlib-stream")
    assert decompressor.decompress(first) is None
    assert decompressor.decompress(b"rest\x00\x00\x00\xff\xff") == stored + b"rest"


@pytest.mark.parametrize("kind", KINDS)
def test_any_contiguous_buffer_is_accepted(kind):
    frames = iter(frames_of(kind, TRAFFIC))
    decompressor = Decompressor(kind)
    mapped = mmap.mmap(-1, 1 << 20)

    def in_mapped_file(frame):
        mapped[: len(frame)] = frame
        return memoryview(mapped)[: len(frame)]

    makers = [bytes, bytearray, memoryview, lambda f: array.array("b", f), in_mapped_file]
    makers += [lambda f: np.frombuffer(f, np.uint8), lambda f: memoryview(bytearray(b"xx" + f))[2:]]
    for payload, make in zip(TRAFFIC, makers * 2):
        assert decompressor.decompress(make(next(frames))) == payload
    with pytest.raises(ValueError, match="not C-contiguous"):
        decompressor.decompress(memoryview(b"abcdef")[::2])
    for wrong in ("text", 7, None, [1, 2]):
        with pytest.raises(TypeError):
            decompressor.decompress(wrong)
    assert decompressor.error is None
    assert decompressor.messages == 2 * len(makers)


@pytest.mark.parametrize("kind", KINDS)
def test_decompress_into_writes_only_the_payload(kind):
    decompressor = Decompressor(kind)
    outs = [bytearray(20_000), memoryview(bytearray(20_000)), np.zeros(20_000, np.uint8)]
    outs.append(array.array("B", bytes(20_000)))
    for i, (payload, frame) in enumerate(zip(TRAFFIC, frames_of(kind, TRAFFIC))):
        out = outs[i % len(outs)]
        rest = bytes(memoryview(out)[len(payload) :])
        assert decompressor.decompress_into(frame, out) == len(payload)
        assert bytes(memoryview(out)[: len(payload)]) == payload
        assert bytes(memoryview(out)[len(payload) :]) == rest


@pytest.mark.parametrize("kind", KINDS)
def test_input_and_output_may_share_a_buffer(kind):
    buffer = bytearray(20_000)
    decompressor = Decompressor(kind)
    for payload, frame in zip(TRAFFIC, frames_of(kind, TRAFFIC)):
        buffer[: len(frame)] = frame
        with memoryview(buffer)[: len(frame)] as data:
            assert decompressor.decompress_into(data, buffer) == len(payload)
        assert buffer[: len(payload)] == payload


def test_unsuitable_outputs_are_rejected():
    frame = HELLO_FRAMES["zstd-stream"]
    decompressor = Decompressor("zstd-stream")
    for out in (bytes(1000), memoryview(bytes(1000)), memoryview(bytearray(2000))[::2]):
        with pytest.raises(ValueError, match="writeable and C-contiguous"):
            decompressor.decompress_into(frame, out)
    for out in (array.array("i", bytes(4000)), np.zeros(1000, np.float64), "text", None):
        with pytest.raises(TypeError):
            decompressor.decompress_into(frame, out)
    assert decompressor.messages == 0
    assert decompressor.decompress_into(frame, bytearray(1000)) == len(HELLO)


def test_decompress_into_accepts_fragments():
    frame, buffer = HELLO_FRAMES["zlib-stream"], bytearray(1000)
    decompressor = Decompressor("zlib-stream")
    assert decompressor.decompress_into(frame[:50], buffer) is None
    assert decompressor.decompress_into(frame[50:], buffer) == len(HELLO)
    assert buffer[: len(HELLO)] == HELLO and not any(buffer[len(HELLO) :])


@pytest.mark.parametrize("kind", KINDS)
def test_a_small_output_is_an_error_that_loses_nothing(kind):
    frames = frames_of(kind, TRAFFIC)
    decompressor = Decompressor(kind, checks="json", sequence=True)
    before = 0
    for i, (payload, frame) in enumerate(zip(TRAFFIC, frames)):
        small = bytearray(b"!" * (len(payload) - 1))
        for _ in range(2):
            with pytest.raises(pylinerate.Error, match=f"payload of {len(payload)} bytes") as caught:
                decompressor.decompress_into(frame, small)
            error = caught.value
            assert (type(error), error.kind) == (pylinerate.Error, "output too small")
            assert error.needed == len(payload)
            assert small == b"!" * len(small)
            # The call changed nothing.
            assert (decompressor.messages, decompressor.compressed_bytes) == (i, before)
        with pytest.raises(pylinerate.Error, match="was not delivered") as caught:
            decompressor.decompress(frames[(i + 1) % len(frames)])
        assert caught.value.kind == "bad argument" and decompressor.error is None
        if i % 2:
            buffer = bytearray(error.needed)
            assert decompressor.decompress_into(bytearray(frame), buffer) == len(buffer)
            assert buffer == payload
        else:
            assert decompressor.decompress(frame) == payload
        before += len(frame)
        assert (decompressor.messages, decompressor.compressed_bytes) == (i + 1, before)


@pytest.mark.parametrize("kind", KINDS)
def test_reset_discards_an_undelivered_message(kind):
    decompressor = Decompressor(kind)
    payload = random.Random(1).randbytes(50_000)
    (frame,) = frames_of(kind, [payload])
    with pytest.raises(pylinerate.Error):
        decompressor.decompress_into(frame, bytearray(10))
    assert decompressor.memory > 100_000
    decompressor.reset()
    assert decompressor.memory < 2000
    assert decompressor.decompress(HELLO_FRAMES[kind]) == HELLO


@pytest.mark.parametrize("kind", KINDS)
def test_decompress_text_returns_str_and_keeps_invalid_utf_8(kind):
    payloads = ['"naïve ☃ 🜁"'.encode(), b"\xff\xfe", b'"after"']
    frames = frames_of(kind, payloads)
    decompressor = Decompressor(kind)
    assert decompressor.decompress_text(frames[0]) == '"naïve ☃ 🜁"'
    with pytest.raises(UnicodeDecodeError):
        decompressor.decompress_text(frames[1])
    assert decompressor.messages == 1
    assert decompressor.decompress(frames[1]) == b"\xff\xfe"
    assert decompressor.decompress_text(frames[2]) == '"after"'


@pytest.mark.parametrize("kind", KINDS)
def test_reset_starts_a_new_connection(kind):
    decompressor = Decompressor(kind, checks="json", sequence=True, recent=(10, 10_000))
    for seed in range(3):
        payloads = traffic(seed, groups=1, events=20)
        for payload, frame in zip(payloads, frames_of(kind, payloads)):
            assert decompressor.decompress(frame) == payload
        assert decompressor.messages == len(payloads) and decompressor.envelope is not None
        decompressor.reset()
        assert (decompressor.messages, decompressor.compressed_bytes) == (0, 0)
        assert decompressor.envelope is None and len(decompressor.recording()) == 8


def test_resume_after_sets_the_expected_sequence_number():
    numbered = [b'{"op":0,"t":"A","s":%d,"d":0}' % number for number in (41, 42, 44)]
    for after, wrong in ((None, 2), (40, 2), (39, 0), (43, 0)):
        decompressor = Decompressor("zlib-stream", checks="json", sequence=True)
        if after is not None:
            decompressor.resume_after(after)
        frames = frames_of("zlib-stream", numbered)
        for i, frame in enumerate(frames[: wrong + 1]):
            if i < wrong:
                decompressor.decompress(frame)
            else:
                with pytest.raises(GatewayError, match="sequence number"):
                    decompressor.decompress(frame)


def test_the_envelope_is_that_of_the_last_payload():
    cases = {
        "json": [
            (b'{"op":10,"d":{}}', Envelope(10, None, None)),
            (b'{"t":"READY","s":1,"op":0,"d":{"s":9}}', Envelope(0, 1, "READY")),
            (b'{"t":"A_LONGER_NAME","s":2,"op":0}', Envelope(0, 2, "A_LONGER_NAME")),
            (b'{"t":null,"s":null,"op":11,"d":null}', Envelope(11, None, None)),
            (b"{}", Envelope(None, None, None)),
        ],
        "etf": [
            (b"\x83t\x00\x00\x00\x02m\x00\x00\x00\x02opa\x0bm\x00\x00\x00\x01sa\x07", Envelope(11, 7, None)),
        ],
    }
    for checks, expected in cases.items():
        decompressor = Decompressor("zstd-stream", checks=checks)
        assert decompressor.envelope is None
        for (payload, envelope), frame in zip(expected, frames_of("zstd-stream", [p for p, _ in expected])):
            assert decompressor.decompress(frame) == payload
            assert decompressor.envelope == envelope
    decompressor = Decompressor("zstd-stream")
    decompressor.decompress(HELLO_FRAMES["zstd-stream"])
    assert decompressor.envelope is None


def test_peek_reads_envelopes():
    payload = '{"t":"TYPING_START","s":7,"op":0,"d":"naïve"}'
    for given in (payload, payload.encode(), bytearray(payload.encode()), memoryview(payload.encode())):
        assert peek(given) == Envelope(0, 7, "TYPING_START")
    # Bytes after the members are not read.
    assert peek(payload[:34]) == Envelope(0, 7, "TYPING_START")
    assert peek("{}") == (None, None, None)
    etf = b"\x83t\x00\x00\x00\x02m\x00\x00\x00\x02opa\x0bm\x00\x00\x00\x01sa\x07"
    assert peek(etf, "etf") == Envelope(11, 7, None) == peek(etf, encoding="etf")
    for wrong, encoding in ((b"[]", "json"), ('{"op":', "json"), (b"{}", "etf"), (b"", "json")):
        with pytest.raises(pylinerate.Error) as caught:
            peek(wrong, encoding)
        assert caught.value.kind == "corrupt"
    with pytest.raises(ValueError, match="not an encoding"):
        peek(payload, "xml")
    with pytest.raises(TypeError):
        peek(7)
    with pytest.raises(UnicodeEncodeError):
        peek('{"op":1,"d":"\ud800"}')
    for kind in KINDS:
        for text in sample("sample", kind)[0]:
            parsed = json.loads(text)
            assert peek(text) == (parsed["op"], parsed["s"], parsed["t"])


def test_a_recording_has_the_last_messages():
    payloads, kind = TRAFFIC[:6], "zstd-stream"
    frames = frames_of(kind, payloads)
    decompressor = Decompressor(kind, recent=(100, 1 << 20))
    for frame in frames:
        decompressor.decompress(frame)
    for again, (payload, frame) in enumerate(zip(payloads, entries(decompressor.recording(), kind))):
        time, length, wire = frame
        assert (length, wire) == (len(payload), frames[again])
        assert 1_700_000_000 * 10**9 < time < 4_000_000_000 * 10**9
    with_few = Decompressor(kind, recent=(2, 1 << 20))
    for frame in frames:
        with_few.decompress(frame)
    assert [wire for _, _, wire in entries(with_few.recording(), kind)] == frames[-2:]
    with pytest.raises(pylinerate.Error, match="recent="):
        Decompressor(kind).recording()


@pytest.mark.parametrize("kind", KINDS)
def test_a_recording_replays_up_to_the_damaged_message(kind, tmp_path):
    """The damaged message is part of the recording."""
    decompressor = Decompressor(kind, recent=(1000, 1 << 20))
    for frame in frames_of(kind, TRAFFIC):
        decompressor.decompress(frame)
    path = tmp_path / "recorded.lgwr"

    def replay():
        path.write_bytes(decompressor.recording())
        command = [program(), "gateway", "replay", "--json", path]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        return done.returncode, json.loads(done.stdout)

    status, report = replay()
    assert (status, report["messages"], report["transport"]) == (0, len(TRAFFIC), kind)
    assert report["compressed_bytes"] == decompressor.compressed_bytes
    with pytest.raises(GatewayError) as caught:
        decompressor.decompress(b"\x06\x00\x00\xff\xff")
    status, report = replay()
    error = caught.value
    assert status != 0
    assert (report["error"], report["kind"]) == (str(error), error.kind)
    assert (report["message"], report["offset"]) == (error.message_index, error.offset)


def entries(recording, kind):
    """Time, payload length and compressed bytes of each message of a recording."""
    assert recording[:8] == b"LGWR\x01" + bytes([KINDS.index(kind), 0, 0])
    at, found = 8, []
    while at < len(recording):
        time, compressed, length, what = struct.unpack_from("<qIIH", recording, at)
        assert what == 0
        found.append((time, length, recording[at + 18 : at + 18 + compressed]))
        at += 18 + compressed
    return found


def test_invalid_arguments_are_rejected():
    for arguments, keywords, message in [
        (["lz4"], {}, 'kind is "lz4"'),
        (["zlib-stream"], {"checks": "xml"}, '"xml" is not an encoding'),
        (["zlib-stream"], {"sequence": True}, "sequence requires checks"),
        (["zstd-stream"], {"window_log": 9}, "window_log is 9"),
        (["zstd-stream"], {"window_log": 28}, "window_log is 28"),
    ]:
        with pytest.raises(ValueError, match=message):
            Decompressor(*arguments, **keywords)
    for arguments, keywords in [
        ([], {}),
        ([1], {}),
        (["zlib-stream", 1000], {}),
        (["zlib-stream"], {"max_message": "all"}),
        (["zlib-stream"], {"recent": 5}),
        (["zlib-stream"], {"level": 5}),
    ]:
        with pytest.raises(TypeError):
            Decompressor(*arguments, **keywords)
    for keywords in ({"max_message": -1}, {"window_log": -1}, {"window_log": 1000}):
        with pytest.raises(OverflowError):
            Decompressor("zlib-stream", **keywords)


def test_signatures_and_docstrings():
    assert str(inspect.signature(Decompressor)) == (
        "(kind, *, max_message=67108864, window_log=16, checks=None, sequence=False, recent=None, "
        "dictionaries=None, stats=None)"
    )
    assert str(inspect.signature(Decompressor.decompress_into)) == "(self, /, data, out)"
    names = [name for name in dir(Decompressor) if not name.startswith("_")]
    assert all(getattr(Decompressor, name).__doc__ for name in names)


def test_decompressors_cannot_be_pickled_or_copied():
    decompressor = Decompressor("zlib-stream")
    for work in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="a Decompressor cannot be pickled or copied"):
            work(decompressor)


def test_attributes_are_read_only():
    decompressor = Decompressor("zlib-stream")
    for name in ("kind", "messages", "error", "anything"):
        with pytest.raises(AttributeError):
            setattr(decompressor, name, 1)
    assert repr(decompressor) == "<Decompressor: zlib-stream, 0 messages>"
    with pytest.raises(GatewayError):
        decompressor.decompress(b"not a stream of zlib\x00\x00\xff\xff")
    assert repr(decompressor) == "<Decompressor: zlib-stream, 0 messages, failed>"


def test_weak_references_are_supported():
    decompressor = Decompressor("zlib-stream")
    reference = weakref.ref(decompressor)
    assert reference() is decompressor
    del decompressor
    assert reference() is None


def test_subclasses_may_override_decompress():
    class Counting(Decompressor):
        def __new__(cls, kind, name, **options):
            self = super().__new__(cls, kind, **options)
            self.name, self.bytes = name, 0
            return self

        def decompress(self, data):
            payload = super().decompress(data)
            self.bytes += len(payload or b"")
            return payload

    counting = Counting("zlib-stream", "first", checks="json")
    for payload, frame in zip(TRAFFIC, frames_of("zlib-stream", TRAFFIC)):
        assert counting.decompress(frame) == payload
    assert (counting.name, counting.bytes) == ("first", sum(map(len, TRAFFIC)))
    assert counting.envelope.op == 0 and "<Counting: zlib" in repr(counting)
    assert Decompressor.__module__ == "pylinerate.gateway" == GatewayError.__module__


def test_connections_share_an_event_loop_and_threads():
    """Many connections in one loop; large messages are decoded in worker threads."""

    async def connection(kind, seed):
        payloads = traffic(seed, groups=2, events=10)
        decompressor = Decompressor(kind, checks="json", sequence=True)
        for i, (payload, frame) in enumerate(zip(payloads, frames_of(kind, payloads))):
            if len(frame) > 1000 or i % 7 == 0:
                assert await asyncio.to_thread(decompressor.decompress, frame) == payload
            else:
                await asyncio.sleep(0)
                assert decompressor.decompress(frame) == payload
        return decompressor.messages

    async def all_of_them():
        return await asyncio.gather(*(connection(KINDS[i % 2], i) for i in range(20)))

    assert asyncio.run(all_of_them()) == [14] * 20


def test_doctests_pass():
    done = doctest.testmod(pylinerate.gateway)
    assert done.attempted > 4 and done.failed == 0


def test_numpy_h5py_and_zarr_are_not_imported():
    code = "import pylinerate.gateway, sys; print(*sorted({'numpy', 'h5py', 'zarr'} & set(sys.modules)))"
    assert run_python(code).split() == []
