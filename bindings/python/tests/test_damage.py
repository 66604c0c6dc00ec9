"""Damaged chunks raise an error with an offset; they never crash or hang."""

import pickle

import h5py
import numpy as np
import pytest
from support import CRAFTED, waves, words

import pylinerate
from pylinerate.hdf5 import DeltaRice, DeltaRice2, read
from pylinerate.rice import Params, decode, decode_segments, encode


@pytest.mark.parametrize("chunk", CRAFTED.values(), ids=CRAFTED)
def test_crafted_chunks_are_errors_with_offsets(chunk):
    with pytest.raises(pylinerate.Error) as e:
        decode(chunk, m=8)
    assert e.value.kind in ("truncated", "corrupt")
    assert 0 <= e.value.offset <= len(chunk)
    assert f"(at byte {e.value.offset})" in str(e.value)


def test_errors_survive_pickling():
    with pytest.raises(pylinerate.Error) as e:
        decode(b"", m=8)
    again = pickle.loads(pickle.dumps(e.value))
    assert type(again) is pylinerate.Error and str(again) == str(e.value)
    assert (again.kind, again.offset) == ("truncated", 0)


def test_valid_counterparts_of_crafted_chunks_decode():
    assert np.array_equal(decode(words(7, 1, 0x88888880), m=8), np.zeros(7))
    assert decode(words(0), m=8).size == 0


def test_chunks_with_m_1_decode():
    assert decode(words(3, 1, 0b1_01_001 << 26), m=1, segment=-1).tolist() == [0, -1, 0]


def test_every_truncation_is_an_error(goldens):
    for g in goldens:
        if len(g.chunk) < 1000:
            for n in range(len(g.chunk)):
                with pytest.raises(pylinerate.Error):
                    decode(g.chunk[:n], params=g.params)


def test_flipped_bits_decode_or_are_errors(goldens):
    caught = 0
    for g in goldens:
        for bit in range(8 * len(g.chunk) if len(g.chunk) < 200 else 0):
            damaged = bytearray(g.chunk)
            damaged[bit // 8] ^= 1 << bit % 8
            try:
                decode(damaged, params=g.params)
            except pylinerate.Error:
                caught += 1
    assert caught > 100


def test_a_huge_declared_count_is_an_error_without_allocation():
    chunk = words(0x7FFFFFFF, 0x03000000) + bytes(1000)
    with pytest.raises(pylinerate.Error):
        decode(chunk, m=2)
    with pytest.raises(pylinerate.Error):
        decode_segments(chunk, 0, 1, m=2)


def test_other_parameters_are_errors():
    array = waves()
    chunk = bytes(encode(array, m=16))
    for params in (Params(2, 1000), Params(16, 999), Params(16), Params(4096, 1000)):
        with pytest.raises(pylinerate.Error):
            decode(chunk, params=params)


def outcome(work, *arguments):
    """Calls ``work``. Returns the bytes of its result, or "error" for a documented exception."""
    try:
        return work(*arguments).tobytes()
    except (OSError, pylinerate.Error):
        return "error"


@pytest.mark.parametrize("chunk", CRAFTED.values(), ids=CRAFTED)
def test_crafted_chunks_in_a_file_are_errors_in_h5py_and_read(chunk):
    with h5py.File("scratch", "w", driver="core", backing_store=False) as file:
        dataset = file.create_dataset("x", (7,), "i2", chunks=(7,), compression=DeltaRice())
        if not chunk:
            return  # HDF5 refuses to write this chunk
        dataset.id.write_direct_chunk((0,), chunk)
        assert outcome(dataset.__getitem__, ...) == outcome(read, dataset) == "error"


@pytest.mark.parametrize("compression", [DeltaRice(), DeltaRice2()], ids=repr)
def test_flipped_bits_in_a_file_give_the_same_in_h5py_and_read(compression):
    """h5py and read() give the same samples, or both an error."""
    array = waves((3, 40))
    with h5py.File("scratch", "w", driver="core", backing_store=False) as file:
        dataset = file.create_dataset("x", data=array, chunks=(3, 40), compression=compression)
        _, stored = dataset.id.read_direct_chunk((0, 0))
        for bit in range(8 * len(stored)):
            damaged = bytearray(stored)
            damaged[bit // 8] ^= 1 << bit % 8
            dataset.id.write_direct_chunk((0, 0), bytes(damaged))
            ours = outcome(read, dataset)
            # Only read() checks the sample count, the first 32 bits.
            assert bit < 32 or ours == outcome(dataset.__getitem__, ...)
            assert bit >= 32 or ours == "error"
