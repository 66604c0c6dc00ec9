"""Version 2 streams in memory."""

import numpy as np
import pytest
from support import waves

import pylinerate
from pylinerate.rice import decode2, decode2_segments, encode, encode2, info2

TYPES = ["int16", "uint16", "int32", "uint32"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "shape", [(6, 1000), (500,), (3, 4, 50), (1,), (0,), (0, 7), (5, 0), (2, 20_000)], ids=str
)
def test_arrays_round_trip(dtype, shape):
    array = waves(shape, dtype) if 0 not in shape else np.zeros(shape, dtype)
    stream = encode2(array)
    decoded = decode2(stream, array.shape)
    assert decoded.dtype == array.dtype and np.array_equal(decoded, array)
    for threads in (2, 5, 10**9):
        assert encode2(array, threads=threads) == stream
        assert np.array_equal(decode2(stream, array.shape, threads=threads), array)


@pytest.mark.parametrize("dtype", TYPES)
def test_extreme_samples_round_trip(dtype):
    rng = np.random.default_rng(3)
    ends = np.iinfo(dtype)
    for array in (
        rng.integers(ends.min, ends.max, 5000, dtype, endpoint=True),
        np.resize(np.array([ends.min, ends.max], dtype), 999),
        np.full(5000, ends.max, dtype),
        (rng.integers(0, 100, 5000) * 16).astype(dtype),
    ):
        assert np.array_equal(decode2(encode2(array)), array)


@pytest.mark.parametrize(
    "shape",
    [(6, 1000), (1000,), (2, 3, 1000), (2, 3, 1), (1,) * 20 + (5,), (2, 2, 2, 3), (0, 7), (5, 0), (0, 3, 4), (3, 0, 4)]
    + [(1, 100), (100, 1), ()],
    ids=str,
)
@pytest.mark.parametrize("dtype", TYPES)
def test_shapes_round_trip(shape, dtype):
    array = np.arange(np.prod(shape, dtype=int), dtype=dtype).reshape(shape)
    for threads in (1, 3):
        stream = encode2(array, 64, threads)
        decoded = decode2(stream, threads=threads)
        assert decoded.shape == info2(stream).shape == shape and np.array_equal(decoded, array)
    buffer = np.empty(len(stream), np.uint8)
    assert encode2(array, 64, out=buffer) == len(stream) and buffer.tobytes() == stream
    assert np.array_equal(decode2(stream, shape=-1), array.reshape(-1))


def test_streams_of_one_and_two_axes_have_no_shape_record():
    """Such streams have the same bytes as in releases before shape records."""
    array = waves((6, 1000))
    for plain in (array, array[0]):
        stream = encode2(plain)
        assert stream[6:8] == b"\0\0" and info2(stream).axes is None
    assert encode2(array.reshape(2, 3, 1000))[6:8] == b"\1\0"
    # Streams without a shape record: all axes but the last are joined.
    assert decode2(encode2(array.reshape(6, 1000)), (2, 3, -1)).shape == (2, 3, 1000)
    with pytest.raises(ValueError, match="6000 samples"):
        decode2(encode2(array), (7, 1000))


def test_concatenated_streams_of_three_axes_are_joined_along_the_first():
    parts = [waves((n, 4, 50), seed=n) for n in (2, 1, 5)]
    stream = b"".join(map(encode2, parts))
    assert np.array_equal(decode2(stream), np.concatenate(parts))
    # Streams of other or unknown shapes are joined row by row.
    for other in (waves((2, 3, 50)), waves((3, 50))):
        assert decode2(encode2(parts[0]) + encode2(other)).shape == (8 + other.size // 50, 50)


def test_streams_that_follow_one_with_a_shape_are_part_of_its_array():
    """The command writes such streams if one index of the first axis has more samples than a stream
    can hold."""
    array = waves((2, 30, 50))
    named = encode2(array[:0])
    parts = [encode2(part) for part in (array[0, :20], array[0, 20:], array[1])]
    decoded = decode2(named + b"".join(parts))
    assert decoded.shape == array.shape and np.array_equal(decoded, array)
    assert decode2(named + b"".join(parts[:2] + parts[:1])).shape == (50, 50)


def test_version_2_is_smaller_than_version_1():
    for noise in (2, 20, 200):
        array = waves((20, 5000), noise=noise)
        assert len(encode2(array)) < len(encode(array))


def test_info_describes_the_encoded_array():
    stream = encode2(waves((6, 1000), "uint16"), segment=500)
    info = info2(stream + b"more")
    assert (info.dtype, info.samples, info.row, info.segment, info.segments) == (
        np.uint16,
        6000,
        1000,
        500,
        12,
    )
    assert info.size == len(stream) and info.shape == (6, 1000)
    assert info2(encode2(waves((70,)))).row is None


def test_concatenated_streams_decode():
    parts = [waves((n, 300), seed=n) for n in (2, 1, 5)]
    stream = b"".join(map(encode2, parts))
    assert np.array_equal(decode2(stream), np.concatenate(parts))
    out = np.empty((8, 300), "int16")
    assert decode2(stream, out=out) == 2400 and np.array_equal(out, np.concatenate(parts))
    for other in (waves((2, 300), "uint16"), waves((2, 301)), waves((300,))):
        with pytest.raises(ValueError, match="different type or row"):
            decode2(stream + encode2(other))
    with pytest.raises(pylinerate.Error) as e:
        decode2(stream + b"\x00")
    assert e.value.offset >= len(stream)


def test_decode2_segments_returns_the_selected_rows():
    array = waves((7, 300))
    stream = encode2(array, segment=300)
    for start, stop in ((0, 1), (3, 5), (6, 7), (0, 7), (4, 4)):
        assert np.array_equal(decode2_segments(stream, start, stop), array[start:stop])
    partial = encode2(array, segment=1000)
    assert np.array_equal(decode2_segments(partial, 1, 3), array.reshape(-1)[1000:])
    for start, stop in ((0, 8), (-1, 2), (5, 3)):
        with pytest.raises(IndexError):
            decode2_segments(stream, start, stop)


def test_results_are_written_to_out():
    array = waves((6, 1000), "int32")
    stream = encode2(array)
    for buffer in (np.empty(30_000, np.uint8), bytearray(30_000)):
        n = encode2(array, out=buffer)
        assert bytes(memoryview(buffer)[:n]) == stream
    out = np.empty_like(array)
    assert decode2(stream, out=out) == array.size and np.array_equal(out, array)
    with pytest.raises(pylinerate.Error) as e:
        encode2(array, out=bytearray(len(stream) - 1))
    assert e.value.kind == "output too small"
    with pytest.raises(pylinerate.Error):
        decode2(stream, out=np.empty(10, "int32"))
    with pytest.raises(TypeError):
        decode2(stream, out=np.empty(6000, "int16"))


def test_invalid_types_segments_and_channels_are_rejected():
    for dtype in ("int64", "int8", "float32", ">i2", ">u4", "bool"):
        with pytest.raises(TypeError, match="samples are"):
            encode2(np.zeros(10, dtype))
    for segment in (0, -1, 65537):
        with pytest.raises(ValueError):
            encode2(waves((5, 5)), segment=segment)
    for channels in (0, -1, 1025):
        with pytest.raises(ValueError, match="channels is"):
            encode2(waves((5, 5)), channels=channels)


def test_truncations_and_flipped_bits_are_errors():
    array = waves((2, 60))
    stream = encode2(array, segment=60)
    for n in range(len(stream)):
        with pytest.raises(pylinerate.Error):
            decode2(stream[:n])
    caught = 0
    for bit in range(8 * len(stream)):
        damaged = bytearray(stream)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            assert np.array_equal(decode2(damaged), array)  # padding bits are ignored
        except pylinerate.Error as e:
            assert 0 <= e.offset <= len(stream)
            caught += 1
    assert caught > 0.95 * 8 * len(stream)


def test_version_1_chunks_are_rejected():
    with pytest.raises(pylinerate.Error, match="not a version 2 stream"):
        decode2(encode(waves()))
    with pytest.raises(pylinerate.Error):
        info2(b"")


def leads(frames, channels, dtype):
    """Makes channels, the last of which is the difference of the first two."""
    array = np.cumsum(np.random.default_rng(3).integers(-40, 40, (frames, channels)), 0)
    array[:, -1] = array[:, 0] - array[:, 1]
    return (array + 20_000).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_channels_are_found_and_decode(dtype):
    array = leads(5000, 4, dtype)
    stream = encode2(array)
    assert info2(stream).channels == 4 and np.array_equal(decode2(stream), array)
    assert encode2(array, channels=4, threads=3) == stream
    without = encode2(array, channels=1)
    assert info2(without).channels == 1 and len(stream) < 0.8 * len(without)
    assert np.array_equal(decode2(without), array)
    segment = info2(stream).segment
    assert np.array_equal(decode2_segments(stream, 1, 2).reshape(-1), array.reshape(-1)[segment : 2 * segment])


def test_channels_of_other_shapes_are_kept_or_refused():
    array = leads(600, 3, "int16")
    for shape in [(1800,), (2, 300, 3)]:
        stream = encode2(array.reshape(shape), channels=3)
        assert info2(stream).channels == 3
        assert decode2(stream).shape == shape and np.array_equal(decode2(stream).reshape(-1), array.reshape(-1))
    for channels in (2, 0, 1025):
        with pytest.raises(ValueError):
            encode2(array, channels=channels)
