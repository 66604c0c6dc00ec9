"""Chunks in memory: golden files, arguments, results, threads."""

import doctest
import os
import pickle
import threading
import tracemalloc

import numpy as np
import pytest
from support import releases_the_interpreter_lock, waves

import pylinerate
from pylinerate import rice
from pylinerate.rice import Chunk, Params, decode, decode2, decode_segments, encode, encode2, tune


def test_all_golden_chunks_are_present(goldens):
    assert len(goldens) == 27


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_golden_chunks_encode_and_decode(goldens, threads):
    for g in goldens:
        chunk = encode(g.words, params=g.params, threads=threads, allow_expansion=True)
        assert chunk == g.chunk, g.name
        assert np.array_equal(decode(g.chunk, params=g.params, threads=threads), g.words), g.name


def test_unsigned_samples_give_the_same_chunks(goldens):
    for g in goldens:
        words = g.words.view("u2")
        assert encode(words, params=g.params, allow_expansion=True) == g.chunk
        decoded = decode(g.chunk, params=g.params, dtype="uint16")
        assert decoded.dtype == np.uint16 and np.array_equal(decoded, words)


def test_a_chunk_decodes_without_arguments():
    for array in (waves(), waves(dtype="uint16"), waves((3, 4, 50)), waves((500,)), waves((0, 7))):
        chunk = encode(array)
        decoded = decode(pickle.loads(pickle.dumps(chunk)))
        assert decoded.dtype == array.dtype and decoded.shape == array.shape
        assert np.array_equal(decoded, array)
        assert isinstance(chunk, Chunk) and chunk.shape == array.shape


def test_plain_bytes_need_m_and_shape():
    array = waves((6, 2000))
    chunk = bytes(encode(array, m=16))
    with pytest.raises(TypeError, match="m or params"):
        decode(chunk)
    assert np.array_equal(decode(chunk, m=16, shape=array.shape), array)
    assert np.array_equal(decode(chunk, m=16, segment=2000), array.reshape(-1))
    assert np.array_equal(decode(chunk, m=16, shape=(-1, 2000)), array)
    assert np.array_equal(decode(chunk, params=Params(16, 2000)), array.reshape(-1))


def test_the_default_segment_depends_on_the_shape():
    array = waves((4, 2500))
    assert encode(array).params.segment == 2500
    assert encode(array.reshape(2, 2, 2500)).params.segment == 2500
    assert encode(array.reshape(-1)).params.segment is None
    assert encode(array, segment=-1).params.segment is None
    assert encode(array, segment=100).params.segment == 100
    assert encode(array, segment=-1) == encode(array.reshape(-1))
    assert tune(array, segment=-1).segment is None


@pytest.mark.parametrize(
    ("shape", "segment"),
    [((38_400, 1), 1024), ((4800, 2), 1024), ((4800, 3), 1026), ((100, 700), 1400), ((16, 60, 20), 1040)],
)
def test_short_rows_are_joined_into_segments(shape, segment):
    array = waves((int(np.prod(shape)),)).reshape(shape)
    chunk = encode(array)
    assert chunk.params.segment == segment and len(chunk) < 0.6 * array.nbytes
    assert np.array_equal(decode(chunk), array)
    assert np.array_equal(decode(bytes(chunk), m=chunk.params.m, shape=shape), array)


def test_one_long_row_is_divided_into_segments():
    for shape in ((100_000,), (1, 100_000)):
        array = waves(shape)
        chunk = encode(array)
        assert chunk.params == tune(array) and chunk.params.segment == 16_384
        assert len(chunk) < 1.002 * len(encode(array, segment=-1))
        assert np.array_equal(decode(bytes(chunk), m=chunk.params.m, shape=shape), array)
        assert np.array_equal(decode_segments(chunk, 1, 2)[0], array.reshape(-1)[16_384 : 2 * 16_384])


def test_chunks_with_one_segment_per_row_or_array_are_decoded():
    """Early releases used the last axis, or the whole array of one axis, as the default segment."""
    for array in (waves((40, 100)), waves((4800, 2)), waves((100_000,)), waves((3, 4, 50))):
        last_axis = array.shape[-1] if array.ndim > 1 else -1
        for segment in (last_axis, -1, None):
            chunk = bytes(encode(array, 16, segment, allow_expansion=True))
            assert np.array_equal(decode(chunk, 16, shape=array.shape), array)


def test_expansion_is_rejected_unless_allowed():
    array = waves((100, 50))
    noise = np.random.default_rng(1).integers(-(2**15), 2**15, 5000).astype("int16")
    cases = [(array, {"segment": 1}), (array, {"m": 2, "segment": -1}), (noise, {}), (noise, {"m": 2**15})]
    for samples, how in cases:
        with pytest.raises(ValueError, match="allow_expansion"):
            encode(samples, **how)
        chunk = encode(samples, **how, allow_expansion=True)
        assert len(chunk) > 1.02 * samples.nbytes and np.array_equal(decode(chunk), samples)
        with pytest.raises(ValueError, match="allow_expansion"):
            encode(samples, params=chunk.params, out=bytearray(2 * len(chunk)))
    for few in (array[:1, :1], array[0, :2], array[:0]):  # the lengths alone are larger than the samples
        assert np.array_equal(decode(encode(few)), few)


def test_m_auto_finds_the_smallest_chunk():
    for noise in (0.3, 3, 30, 300):
        array = waves(noise=noise)
        sizes = {2**k: len(encode(array, m=2**k, allow_expansion=True)) for k in range(1, 16)}
        chunk = encode(array)
        assert chunk.params == tune(array) and tune(array).size == len(chunk)
        assert len(chunk) <= min(sizes.values()) + 4 * len(array), noise
        assert sizes[chunk.params.m] == len(chunk)


def test_filter_auto_finds_a_smaller_one():
    ramp = np.arange(1000, dtype="int16") ** 2 // 50
    ramp = ramp.astype("int16")
    chunk = encode(ramp, filter="auto")
    assert chunk.params.filter != (1, -1) and len(chunk) < len(encode(ramp))
    assert np.array_equal(decode(chunk), ramp)
    assert encode(ramp, m=4, filter="auto").params.m == 4


def test_cd_values_round_trip(goldens):
    for g in goldens:
        params = Params.from_cd_values(g.cd_values)
        assert Params.from_cd_values(params.cd_values) == params
        if len(g.cd_values) >= 3:
            assert list(params.cd_values) == g.cd_values
    assert Params.from_cd_values([]) == Params() == Params(8, -1, [1, -1])
    assert pickle.loads(pickle.dumps(Params(32, 100))) == Params(32, 100)
    assert len({Params(), Params(8), Params(16)}) == 2


@pytest.mark.parametrize(
    "bad",
    [
        *[(0,), (3,), (-8,), (2**32 + 8,), (65536,)],
        *[(8, 0), (8, -2), (8, 2**31)],
        *[(8, 5, ()), (8, 5, (0, 1)), (8, 5, (1,) * 33), (8, 5, (1, 2**31))],
    ],
)
def test_invalid_parameters_are_rejected(bad):
    with pytest.raises(pylinerate.Error) as e:
        Params(*bad)
    assert e.value.kind in ("bad argument", "unsupported") and e.value.offset >= 0


def test_invalid_cd_values_are_rejected():
    for values in ([8, 5, 0], [8, 5, 2**32 - 1, 1], [8, 5, 2, 1], [12], [8, 0]):
        with pytest.raises(ValueError):
            Params.from_cd_values(values)


def test_lossy_parameters_are_rejected():
    array = waves()
    for params in (Params(1), Params(8, None, (2, -1)), Params(8, None, (3,))):
        with pytest.raises(pylinerate.Error, match=r"lose data|only be decoded"):
            encode(array, params=params)


def test_only_native_16_bit_integers_are_accepted():
    for dtype in (
        "int32",
        "uint32",
        "int8",
        "float32",
        "float16",
        "bool",
        ">i2",
        ">u2",
        "complex64",
        "S2",
        "O",
    ):
        with pytest.raises(TypeError, match="samples are"):
            encode(np.zeros(10, dtype))
        with pytest.raises(TypeError, match="samples are"):
            tune(np.zeros(10, dtype))
    with pytest.raises(TypeError):
        decode(encode(waves()), dtype="int32")
    with pytest.raises(TypeError, match="samples are int64"):
        encode([1, 2, 3])


def test_arrays_of_any_layout_are_accepted():
    array = waves((8, 60))
    unaligned = np.frombuffer(b"x" + array.tobytes(), np.uint8)[1:].view("<i2").reshape(array.shape)
    readonly = array.copy()
    readonly.flags.writeable = False
    for same in (
        np.asfortranarray(array),
        np.repeat(array, 2, 1)[:, ::2],
        array[::-1][::-1],
        unaligned,
        readonly,
    ):
        assert encode(same) == encode(array)
    assert np.array_equal(decode(encode(np.int16(5))), np.int16(5))


def test_buffers_of_any_kind_are_accepted():
    array = waves()
    chunk = encode(array)
    for buffer in (
        bytearray(chunk),
        memoryview(chunk),
        np.frombuffer(chunk, np.uint8),
        np.frombuffer(chunk, "<u4"),
    ):
        assert np.array_equal(decode(buffer, params=chunk.params, shape=array.shape), array)
    with pytest.raises(ValueError, match="contiguous"):
        decode(memoryview(bytes(100))[::2], m=8)
    with pytest.raises(TypeError):
        decode("text", m=8)


def test_results_are_written_to_out():
    array = waves()
    chunk = encode(array, m=16)
    for out in (np.empty(20_000, np.uint8), bytearray(20_000), np.empty((100, 100), "<u2")):
        n = encode(array, m=16, out=out)
        assert bytes(memoryview(out).cast("B")[:n]) == chunk
    back = np.zeros_like(array)
    assert decode(chunk, out=back) == array.size
    assert np.array_equal(back, array)
    back = np.zeros_like(array)
    assert decode(bytes(chunk), m=16, out=back) == array.size  # the shape of out gives the segment
    assert np.array_equal(back, array)
    back = bytearray(2 * array.size)
    assert decode(chunk, out=back) == array.size and back == array.tobytes()


def test_unsuitable_out_is_rejected():
    array = waves()
    chunk = encode(array, m=16)
    with pytest.raises(pylinerate.Error) as e:
        encode(array, m=16, out=bytearray(len(chunk) - 1))
    assert e.value.kind == "output too small"
    with pytest.raises(ValueError, match="auto"):
        encode(array, out=bytearray(20_000))
    with pytest.raises(ValueError):
        encode(array, m=16, out=bytes(20_000))
    with pytest.raises(ValueError, match="contiguous"):
        decode(chunk, out=np.empty((6, 2000), np.int16)[:, ::2])
    with pytest.raises(TypeError):
        decode(chunk, out=np.empty((6, 1000), np.uint16), dtype="int16")
    with pytest.raises(ValueError):
        decode(chunk, out=np.empty(10, np.int16))
    readonly = np.empty((6, 1000), np.int16)
    readonly.flags.writeable = False
    with pytest.raises(ValueError):
        decode(chunk, out=readonly)


def test_shapes_with_another_sample_count_are_rejected():
    chunk = encode(waves((4, 100)))
    for shape in ((4, 101), (400, 2), (-2, 200), (-1, -1), (-1, 7), (0, -1), 399):
        with pytest.raises(ValueError, match="400 samples"):
            decode(chunk, shape=shape)
    assert decode(chunk, shape=(2, 2, 100)).shape == (2, 2, 100)


def test_decode_segments_returns_the_selected_rows():
    array = waves((7, 300))
    chunk = encode(array, segment=300)
    for start, stop in ((0, 1), (3, 5), (6, 7), (0, 7), (4, 4)):
        assert np.array_equal(decode_segments(chunk, start, stop), array[start:stop])
    partial = encode(array, segment=1000)
    assert np.array_equal(decode_segments(partial, 1, 3), array.reshape(-1)[1000:])
    for start, stop in ((0, 8), (-1, 2), (5, 3)):
        with pytest.raises(IndexError):
            decode_segments(chunk, start, stop)


@pytest.mark.parametrize("threads", [0, -1])
def test_fewer_than_one_thread_is_rejected(threads):
    with pytest.raises(ValueError, match="threads"):
        encode(waves(), threads=threads)


def test_results_do_not_depend_on_the_thread_count():
    array = waves((50, 500))
    chunk = encode(array)
    for threads in (2, 3, 16, 10**9):
        assert encode(array, threads=threads) == chunk
        assert np.array_equal(decode(chunk, threads=threads), array)


def test_python_threads_can_encode_at_the_same_time():
    arrays = [waves((40, 700), seed=seed) for seed in range(4)]
    wrong = []

    def work(array):
        for _ in range(10):
            if not np.array_equal(decode(encode(array, threads=2), threads=2), array):
                wrong.append(array)

    workers = [threading.Thread(target=work, args=(array,)) for array in arrays * 2]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=60)
        assert not worker.is_alive()
    assert not wrong


def test_the_interpreter_lock_is_released():
    array = waves((200, 7000))
    slow = Params(8, 7000, (1, *[0] * 30, 1))  # 32 coefficients make one call slow
    chunk = encode(array, params=slow, allow_expansion=True)
    for work in (
        lambda: encode(array, params=slow, allow_expansion=True),
        lambda: decode(chunk),
        lambda: tune(array, filter="auto"),
        lambda: encode2(array),
        lambda: decode2(encode2(array)),
    ):
        assert releases_the_interpreter_lock(work)


def test_encoding_allocates_only_the_bound_or_the_result_and_its_copy():
    array = waves((200, 7000), noise=2000)
    tracemalloc.start()
    try:
        for function in (encode, encode2):
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            encoded = function(array)
            size, peak = (number - before for number in tracemalloc.get_traced_memory())
            assert len(encoded) > 0.5 * array.nbytes and size < len(encoded) + 10_000
            # encode2 returns the object that it filled, encode returns a Chunk with a copy of that.
            most = array.nbytes if function is encode2 else max(25 / 16 * array.nbytes, 2 * len(encoded))
            assert peak < most + 20_000
            del encoded
    finally:
        tracemalloc.stop()


def test_chunks_that_are_refused_are_freed():
    noise = np.random.default_rng(1).integers(-30_000, 30_000, 1_000_000).astype("int16")
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(3):
            with pytest.raises(ValueError, match="of the array"):
                encode(noise, m=2)
        assert tracemalloc.get_traced_memory()[0] - before < 100_000
    finally:
        tracemalloc.stop()


def test_a_forked_process_can_encode_and_decode():
    array = waves()
    chunk = encode(array, threads=2)
    child = os.fork()
    if child == 0:
        same = np.array_equal(decode(chunk, threads=2), array) and encode(array, threads=2) == chunk
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_doctests_pass():
    assert doctest.testmod(rice).attempted > 5
    assert doctest.testmod(rice).failed == 0
