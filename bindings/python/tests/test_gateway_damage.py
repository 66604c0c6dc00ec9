"""Damaged, hostile and truncated streams give the right payload, or an error that persists until
reset."""

import pickle
import random
import struct
import zlib

import pytest
from gateways import HELLO, HELLO_FRAMES, KINDS, frames_of, traffic
from support import run_python

import pylinerate
from pylinerate.gateway import Decompressor, GatewayError

TRAFFIC = traffic(2, groups=1, events=40)
CHECKED = {"checks": "json", "sequence": True}
#: The header of a zstd frame with a window of 64 KiB, and an empty last block.
HEADER = bytes.fromhex("28b52ffd0030")
LAST = bytes.fromhex("010000")


def assert_fails(decompressor, frame, kind):
    """Decompresses ``frame``, which must fail with ``kind``; returns the error."""
    with pytest.raises(GatewayError) as caught:
        decompressor.decompress(frame)
    assert caught.value.kind == kind
    return caught.value


def assert_reset_recovers(decompressor):
    """Resets, then decodes a new connection."""
    decompressor.reset()
    assert decompressor.error is None
    for payload, frame in zip(TRAFFIC[:5], frames_of(decompressor.kind, TRAFFIC[:5])):
        assert decompressor.decompress(frame) == payload


def rle_block(size, byte=b"x"):
    """A zstd RLE block: one byte, ``size`` times."""
    return struct.pack("<I", size << 3 | 1 << 1)[:3] + byte


@pytest.mark.parametrize("kind", KINDS)
def test_errors_persist_with_their_message_and_offset(kind):
    frames = frames_of(kind, TRAFFIC)
    decompressor = Decompressor(kind)
    for frame in frames[:3]:
        decompressor.decompress(frame)
    before = sum(map(len, frames[:3]))
    # A reserved block type in both formats.
    bad = b"\x06\x00\x00\xff\xff" if kind == "zlib-stream" else b"\x06\x00\x00"
    error = assert_fails(decompressor, bad, "corrupt")
    assert isinstance(error, (pylinerate.Error, ValueError)) and error.message_index == 3
    assert before <= error.offset <= before + len(bad)
    assert str(error).startswith("message 3: ") and str(error).endswith(f"(at byte {error.offset})")
    # All methods raise it again, even for a valid message.
    expected = (str(error), error.kind, error.offset, error.message_index)
    for call in (
        lambda: decompressor.decompress(frames[3]),
        lambda: decompressor.decompress_text(frames[3]),
        lambda: decompressor.decompress_into(frames[3], bytearray(1 << 20)),
    ):
        with pytest.raises(GatewayError) as caught:
            call()
        again = caught.value
        assert (str(again), again.kind, again.offset, again.message_index) == expected
    assert str(decompressor.error) == expected[0] and type(decompressor.error) is GatewayError
    assert decompressor.messages == 3
    pickled = pickle.loads(pickle.dumps(error))
    assert (str(pickled), pickled.kind, pickled.offset, pickled.message_index) == expected
    assert_reset_recovers(decompressor)


@pytest.mark.parametrize("kind", KINDS)
def test_max_message_is_exact(kind):
    for size in (0, 1, 100, 65_536, 200_000):
        for payload in (b"z" * size, random.Random(size).randbytes(size)):
            (frame,) = frames_of(kind, [payload])
            if not frame:  # libzstd flushes nothing if there is nothing
                continue
            assert Decompressor(kind, max_message=size).decompress(frame) == payload
            if size:
                decompressor = Decompressor(kind, max_message=size - 1)
                error = assert_fails(decompressor, frame, "limit exceeded")
                assert "longer than the limit" in str(error)


@pytest.mark.parametrize("kind", KINDS)
def test_max_message_applies_to_every_message(kind):
    payloads = [b"a" * 1000, b"b" * 1000, b"c" * 1001]
    decompressor = Decompressor(kind, max_message=1000)
    frames = frames_of(kind, payloads)
    assert [decompressor.decompress(frame) for frame in frames[:2]] == payloads[:2]
    assert assert_fails(decompressor, frames[2], "limit exceeded").message_index == 2
    assert_reset_recovers(Decompressor(kind))


#: Decompresses 1 GiB with each transport; prints the errors, and the peak memory in MiB.
BOMB = """
import resource, struct, zlib
from pylinerate.gateway import Decompressor, GatewayError

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

block = struct.pack("<I", 65536 << 3 | 2)[:3] + b"x"
zstd = bytes.fromhex("28b52ffd0030") + block * (16 << 10)
stream = zlib.compressobj(9)
first, *others = (stream.compress(bytes(1 << 20)) + stream.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
before = peak()
for kind, frame in (("zstd-stream", zstd), ("zlib-stream", first + others[0] * 1023)):
    decompressor = Decompressor(kind)
    try:
        decompressor.decompress(frame)
    except GatewayError as error:
        print(error.kind, error.message_index, error.offset < len(frame) // 8, decompressor.memory < 80000)
print(peak() - before)
"""


def test_decompression_bombs_stop_at_the_limit():
    *errors, grown = run_python(BOMB).splitlines()
    assert errors == ["limit exceeded 0 True True"] * 2
    # The limit of 64 MiB, and the reallocations up to it.
    assert int(grown) < 300


def test_windows_above_the_limit_are_errors():
    for log in (17, 20, 27):
        frame = HEADER[:5] + bytes([(log - 10) << 3]) + LAST
        decompressor = Decompressor("zstd-stream")
        before = decompressor.memory
        error = assert_fails(decompressor, frame, "limit exceeded")
        assert "window" in str(error) and decompressor.memory == before
        assert_reset_recovers(decompressor)
        assert Decompressor("zstd-stream", window_log=log).decompress(frame) == b""
        assert assert_fails(Decompressor("zstd-stream", window_log=log - 1), frame, "limit exceeded")
    # Memory grows with the decoded data, not with the declared window.
    decompressor = Decompressor("zstd-stream", window_log=27)
    frame = HEADER[:5] + bytes([17 << 3]) + rle_block(5)
    assert decompressor.decompress(frame) == b"x" * 5
    assert decompressor.memory < 100_000


def test_several_zstd_frames_in_a_message_decode():
    first, second = frames_of("zstd-stream", TRAFFIC[:1]), frames_of("zstd-stream", TRAFFIC[1:3])
    skipped = bytes.fromhex("502a4d18 03000000 aabbcc")
    decompressor = Decompressor("zstd-stream")
    both = decompressor.decompress(first[0] + LAST + skipped + second[0])
    assert both == TRAFFIC[0] + TRAFFIC[1]
    assert decompressor.decompress(second[1]) == TRAFFIC[2]


@pytest.mark.parametrize(
    "kind, frame, wrong",
    [
        ("zstd-stream", b"not zstd at all", "corrupt"),
        ("zstd-stream", HEADER[:4] + b"\x08\x30" + LAST, "corrupt|unsupported"),  # reserved bit
        ("zstd-stream", HEADER[:4] + b"\x01\x30\x07" + LAST, "unsupported"),  # dictionary 7
        ("zstd-stream", HEADER + b"\x07\x00\x00", "corrupt"),  # reserved block type
        ("zstd-stream", HEADER + rle_block(65_537), "corrupt"),  # block larger than the window
        ("zstd-stream", HEADER[:3], "truncated"),
        ("zstd-stream", HEADER + b"\x00", "truncated"),
        ("zlib-stream", b"\x78\x9d\x00\x00\x00\xff\xff", "corrupt"),  # wrong header checksum
        ("zlib-stream", b"\x79\x9c\x00\x00\x00\xff\xff", "corrupt"),  # method is not deflate
        ("zlib-stream", b"\x78\xbb\x00\x00\x00\x00\x00\x00\x00\xff\xff", "unsupported"),  # a dictionary
        ("zlib-stream", b"\x78\x9c\x07\x00\x00\xff\xff", "corrupt"),  # reserved block type
        ("zlib-stream", b"\x78\x9c\x07", "corrupt"),  # the same without the marker of a flush
        ("zlib-stream", zlib.compress(HELLO), "corrupt"),  # a complete stream, which has no marker of a flush either
        ("zlib-stream", b"\x78\x9c" + 100 * b"garbage ", "corrupt"),
        ("zlib-stream", b"\x78\x9c\x01\x00\x00\xff\xff\x00\x00\xff\xff", "corrupt"),  # final block
        ("zlib-stream", b"\x78\x9c\x00\x02\x00\x00\x00\x00\x00\xff\xff", "corrupt"),  # length does not match its complement
    ],
)
def test_invalid_streams_are_errors(kind, frame, wrong):
    decompressor = Decompressor(kind)
    with pytest.raises(GatewayError) as caught:
        decompressor.decompress(frame)
    assert caught.value.kind in wrong.split("|") and caught.value.message_index == 0
    assert_reset_recovers(decompressor)


@pytest.mark.parametrize("kind", KINDS)
def test_the_other_transport_is_corrupt(kind):
    other = KINDS[1 - KINDS.index(kind)]
    decompressor = Decompressor(kind)
    assert_fails(decompressor, HELLO_FRAMES[other] + b"\x00\x00\xff\xff", "corrupt")
    assert_reset_recovers(decompressor)


@pytest.mark.parametrize("at", [0, 3])
@pytest.mark.parametrize("options", [{}, CHECKED])
def test_truncated_zstd_messages_are_errors(at, options):
    frames = frames_of("zstd-stream", TRAFFIC[: at + 1])
    for length in range(len(frames[at])):
        decompressor = Decompressor("zstd-stream", **options)
        for frame in frames[:at]:
            decompressor.decompress(frame)
        assert assert_fails(decompressor, frames[at][:length], "truncated").message_index == at
        assert_reset_recovers(decompressor)


def test_truncated_zlib_messages_are_found_by_later_ones():
    """A truncated message looks like a fragment; a later message exposes it."""
    frames = frames_of("zlib-stream", TRAFFIC)
    for length in range(len(frames[3])):
        decompressor = Decompressor("zlib-stream", **CHECKED)
        for frame in frames[:3]:
            decompressor.decompress(frame)
        assert decompressor.decompress(frames[3][:length]) is None
        with pytest.raises(GatewayError):
            for frame in frames[4:]:
                decompressor.decompress(frame)
        assert_reset_recovers(decompressor)


def test_reset_discards_a_fragment():
    decompressor = Decompressor("zlib-stream")
    for _ in range(3):
        assert decompressor.decompress(HELLO_FRAMES["zlib-stream"][:60]) is None
        assert_reset_recovers(decompressor)
        decompressor.reset()
    assert decompressor.decompress(HELLO_FRAMES["zlib-stream"]) == HELLO


@pytest.mark.parametrize("kind", KINDS)
def test_a_lost_message_is_found_by_the_next_event(kind):
    frames = frames_of(kind, TRAFFIC)
    numbered = [i for i, payload in enumerate(TRAFFIC) if b'"s":null' not in payload]
    for skipped in numbered[:-2]:
        decompressor = Decompressor(kind, **CHECKED)
        with pytest.raises(GatewayError) as caught:
            for i, (payload, frame) in enumerate(zip(TRAFFIC, frames)):
                if i != skipped:
                    payload_now = decompressor.decompress(frame)
                    assert i < skipped or b'"s":null' in payload
                    assert i > skipped or payload_now == payload
        # Found at the next event at the latest.
        follower = min(i for i in numbered if i > skipped)
        assert caught.value.kind == "corrupt" and skipped <= caught.value.message_index < follower
        assert_reset_recovers(decompressor)


@pytest.mark.parametrize("kind", KINDS)
def test_checks_find_more_flipped_bits(kind):
    frames = frames_of(kind, TRAFFIC)
    at = next(i for i, payload in enumerate(TRAFFIC) if b"MESSAGE_CREATE" in payload)
    rng = random.Random(7)
    bits = rng.sample(range(8 * len(frames[at])), 60)
    found = {}
    for name, options in (("without", {}), ("with", CHECKED)):
        found[name] = 0
        for bit in bits:
            damaged = bytearray(frames[at])
            damaged[bit // 8] ^= 1 << bit % 8
            decompressor = Decompressor(kind, max_message=1 << 20, **options)
            try:
                for payload, frame in zip(TRAFFIC[:at], frames):
                    assert decompressor.decompress(frame) == payload
                for frame in (damaged, *frames[at + 1 :]):
                    got = decompressor.decompress(frame)
                    assert got is None or len(got) <= 1 << 20
            except GatewayError as error:
                assert error.message_index >= at
                found[name] += 1
                assert_reset_recovers(decompressor)
    assert 0 < found["without"] < found["with"] <= 60


@pytest.mark.parametrize("kind", KINDS)
def test_random_bytes_decode_or_are_errors(kind):
    rng = random.Random(9)
    decompressor = Decompressor(kind, max_message=1 << 20)
    begin = b"\x78\x9c" if kind == "zlib-stream" else HEADER
    refused = 0
    for _ in range(500):
        noise = begin + rng.randbytes(rng.randrange(300)) + b"\x00\x00\xff\xff"
        try:
            got = decompressor.decompress(noise)
            assert got is None or len(got) <= 1 << 20
        except GatewayError as error:
            refused += 1
            assert error.kind in ("corrupt", "truncated", "limit exceeded", "unsupported")
        decompressor.reset()
    assert refused > 400


def test_checks_reject_payloads_that_are_not_one_object():
    for checks, wrong in [
        ("json", b'{"op":0}{}'),
        ("json", b'{"op":0'),
        ("json", b""),
        ("json", b'{"a":"\xff"}'),
        ("etf", b"\x83t\x00\x00\x00\x01"),
        ("etf", b"{}"),
    ]:
        (frame,) = frames_of("zlib-stream", [wrong])
        assert Decompressor("zlib-stream").decompress(frame) == wrong
        assert_fails(Decompressor("zlib-stream", checks=checks), frame, "corrupt")


def test_an_endless_message_stops_at_the_limit():
    decompressor = Decompressor("zlib-stream", max_message=100_000)
    stream = zlib.compressobj(0)
    with pytest.raises(GatewayError, match="longer than the limit"):
        for _ in range(100):
            assert decompressor.decompress(stream.compress(bytes(70_000))) is None
            assert decompressor.memory < 600_000
    assert_reset_recovers(decompressor)
