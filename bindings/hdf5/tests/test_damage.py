"""Crafted and damaged files: h5py reads them or raises an OSError; it never crashes or hangs.

The files are written without the plugins, so that nothing is checked, and read by a child process.
"""

import json

import h5py
import numpy as np
import pytest

from conftest import run_python, walk, words

WRITE = """
import json, sys, h5py
assert not h5py.h5z.filter_avail(32025), "the writer must not have the plugin"
for path, shape, values, chunk in json.load(open(sys.argv[1])):
    with h5py.File(path, "w") as file:
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk(tuple(shape))
        dcpl.set_filter(32025, h5py.h5z.FLAG_OPTIONAL, tuple(values))
        space = h5py.h5s.create_simple(tuple(shape))
        dataset = h5py.h5d.create(file.id, b"data", h5py.h5t.STD_I16LE, space, dcpl=dcpl)
        dataset.write_direct_chunk((0,) * len(shape), bytes.fromhex(chunk))
"""

READ = """
import json, sys, h5py
for path in json.load(open(sys.argv[1])):
    with h5py.File(path) as file:
        try:
            file["data"][...]
            print("read")
        except OSError as e:
            print(e)
"""


def read_each(folder, cases) -> list[str]:
    """Reads a file for each (shape, cd_values, chunk). Returns "read", or the text of h5py's OSError, for each."""
    files = [str(folder / f"{i}.h5") for i in range(len(cases))]
    written = [(path, shape, values, chunk.hex()) for path, (shape, values, chunk) in zip(files, cases)]
    (folder / "write.json").write_text(json.dumps(written))
    (folder / "read.json").write_text(json.dumps(files))
    run_python(WRITE, folder / "write.json", env={"HDF5_PLUGIN_PATH": str(folder)})
    results = run_python(READ, folder / "read.json").splitlines()
    assert len(results) == len(cases)
    return results


ZEROS = words(7, 1, 0x88888880)

BAD_CHUNKS = {
    "a count of all ones": ([8], words(2**32 - 1, 1, 0x88888880)),
    "a count without payload": ([8], words(7)),
    "one sample more": ([8], words(8, 1, 0x88888880)),
    "one sample less": ([8], words(6, 1, 0x88888880)),
    "no samples, one segment": ([8], words(0)),
    "no samples, segments": ([8, 7], words(0)),
    "a length beyond the end": ([8], words(7, 2, 0x88888880)),
    "a length that wraps around": ([8], words(7, 0x40000001, 0x88888880)),
    "a length of all ones": ([8], words(7, 2**32 - 1, 0x88888880)),
    "a length of zero": ([8], words(7, 0, 0x88888880)),
    "words after the end": ([8], words(7, 1, 0x88888880, 0)),
    "an unterminated unary code": ([8], words(7, 4, 0, 0, 0, 0)),
    "a unary code of nine zeros": ([8], words(1, 1, 0x00400000)),
    "bits after the last code": ([8], words(7, 1, 0x88888881)),
    "a code beyond its segment": ([8, 1], words(7, 1, 0, 1, 0x80000000)),
    "two bytes": ([8], b"\7\0"),
    "three bytes": ([8], b"\7\0\0"),
    "half a word": ([8], ZEROS[:10]),
}

BAD_VALUES = {
    "m of 0": [0],
    "m of 3": [3],
    "m of 65536": [65536],
    "a segment of 0": [8, 0],
    "a segment of -2": [8, 2**32 - 2],
    "no coefficients": [8, 7, 0],
    "coefficients of negative number": [8, 7, 2**32 - 1],
    "absent coefficients": [8, 7, 2, 1],
    "many absent coefficients": [8, 7, 2**31 - 1],
    "a first coefficient of 0": [8, 7, 2, 0, 1],
}


def test_crafted_chunks_are_errors(tmp_path):
    results = read_each(tmp_path, [([7], *case) for case in BAD_CHUNKS.values()])
    assert [(name, text) for name, text in zip(BAD_CHUNKS, results) if "Delta-Rice: " not in text] == []


def test_invalid_stored_cd_values_are_errors(tmp_path):
    results = read_each(tmp_path, [([7], values, ZEROS) for values in BAD_VALUES.values()])
    assert [(name, text) for name, text in zip(BAD_VALUES, results) if "Delta-Rice: " not in text] == []


def test_valid_counterparts_are_read(tmp_path):
    valid = [[], [8], [8, 7], [8, 2**32 - 1], [8, 100], [8, 7, 1, 1], [8, 7, 1, 2]]
    assert read_each(tmp_path, [([7], values, ZEROS) for values in valid]) == ["read"] * len(valid)


@pytest.fixture
def small(tmp_path):
    """Returns the shape, the cd_values and the bytes of a chunk of three segments."""
    with h5py.File(tmp_path / "small.h5", "w") as file:
        dataset = file.create_dataset("data", data=walk((3, 20)), chunks=(3, 20), compression=32025, compression_opts=(8, 20))
        return [3, 20], [8, 20], dataset.id.read_direct_chunk((0, 0))[1]


def test_every_truncation_is_an_error(tmp_path, small):
    shape, values, chunk = small
    results = read_each(tmp_path, [(shape, values, chunk[:n]) for n in range(1, len(chunk))])
    assert [n for n, text in enumerate(results, 1) if "Delta-Rice: " not in text] == []


def test_flipped_bits_are_read_or_errors(tmp_path, small):
    shape, values, chunk = small
    cases = []
    for bit in range(8 * len(chunk)):
        damaged = bytearray(chunk)
        damaged[bit // 8] ^= 1 << bit % 8
        cases.append((shape, values, bytes(damaged)))
    results = read_each(tmp_path, cases)
    assert all(text == "read" or "Delta-Rice: " in text for text in results)
    # Flips in counts and lengths are always found; in a payload, one code can become another.
    lengths = np.frombuffer(chunk, "<u4")
    headers, at = [0], 1
    while at < len(lengths):
        headers.append(at)
        at += 1 + int(lengths[at])
    flips = [32 * word + bit for word in headers for bit in range(32)]
    assert len(headers) == 4
    assert [bit for bit in flips if results[bit] == "read"] == []


def test_chunks_with_the_filter_masked_are_read(tmp_path):
    """A set bit in the mask: the chunk is stored unfiltered."""
    data = walk((2, 100))
    with h5py.File(tmp_path / "new.h5", "w") as file:
        dataset = file.create_dataset("data", data.shape, "<i2", chunks=(1, 100), compression=32025)
        dataset[0] = data[0]
        dataset.id.write_direct_chunk((1, 0), data[1].tobytes(), filter_mask=1)
    with h5py.File(tmp_path / "new.h5") as file:
        np.testing.assert_array_equal(file["data"][...], data)
