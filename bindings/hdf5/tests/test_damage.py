"""Files that lie: h5py raises an OSError, and never crashes or hangs.

They are written where no plugin is found, so that nothing checks them, and read by a process of
its own.
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


def verdicts(folder, cases) -> list[str]:
    """What h5py says of each (shape, cd_values, chunk): "read", or the text of its OSError."""
    files = [str(folder / f"{i}.h5") for i in range(len(cases))]
    written = [(path, shape, values, chunk.hex()) for path, (shape, values, chunk) in zip(files, cases)]
    (folder / "write.json").write_text(json.dumps(written))
    (folder / "read.json").write_text(json.dumps(files))
    run_python(WRITE, folder / "write.json", env={"HDF5_PLUGIN_PATH": str(folder)})
    said = run_python(READ, folder / "read.json").splitlines()
    assert len(said) == len(cases)
    return said


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
    "a length of none": ([8], words(7, 0, 0x88888880)),
    "words after the end": ([8], words(7, 1, 0x88888880, 0)),
    "endless zeros": ([8], words(7, 4, 0, 0, 0, 0)),
    "nine zeros": ([8], words(1, 1, 0x00400000)),
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


def test_chunks_that_lie(tmp_path):
    said = verdicts(tmp_path, [([7], *case) for case in BAD_CHUNKS.values()])
    assert [(name, text) for name, text in zip(BAD_CHUNKS, said) if "Delta-Rice: " not in text] == []


def test_values_that_lie(tmp_path):
    said = verdicts(tmp_path, [([7], values, ZEROS) for values in BAD_VALUES.values()])
    assert [(name, text) for name, text in zip(BAD_VALUES, said) if "Delta-Rice: " not in text] == []


def test_what_is_sound_is_read(tmp_path):
    sound = [[], [8], [8, 7], [8, 2**32 - 1], [8, 100], [8, 7, 1, 1], [8, 7, 1, 2]]
    assert verdicts(tmp_path, [([7], values, ZEROS) for values in sound]) == ["read"] * len(sound)


@pytest.fixture
def small(tmp_path):
    """A chunk of three segments, and its parameters."""
    with h5py.File(tmp_path / "small.h5", "w") as file:
        dataset = file.create_dataset("data", data=walk((3, 20)), chunks=(3, 20), compression=32025, compression_opts=(8, 20))
        return [3, 20], [8, 20], dataset.id.read_direct_chunk((0, 0))[1]


def test_every_truncation(tmp_path, small):
    shape, values, chunk = small
    said = verdicts(tmp_path, [(shape, values, chunk[:n]) for n in range(1, len(chunk))])
    assert [n for n, text in enumerate(said, 1) if "Delta-Rice: " not in text] == []


def test_every_flipped_bit(tmp_path, small):
    shape, values, chunk = small
    cases = []
    for bit in range(8 * len(chunk)):
        damaged = bytearray(chunk)
        damaged[bit // 8] ^= 1 << bit % 8
        cases.append((shape, values, bytes(damaged)))
    said = verdicts(tmp_path, cases)
    assert all(text == "read" or "Delta-Rice: " in text for text in said)
    # Counts and lengths cannot change unseen; in a payload one code can become another.
    lengths = np.frombuffer(chunk, "<u4")
    headers, at = [0], 1
    while at < len(lengths):
        headers.append(at)
        at += 1 + int(lengths[at])
    flips = [32 * word + bit for word in headers for bit in range(32)]
    assert len(headers) == 4
    assert [bit for bit in flips if said[bit] == "read"] == []


def test_the_filter_can_be_skipped_per_chunk(tmp_path):
    """A set bit of the mask: the chunk is stored as it is."""
    data = walk((2, 100))
    with h5py.File(tmp_path / "new.h5", "w") as file:
        dataset = file.create_dataset("data", data.shape, "<i2", chunks=(1, 100), compression=32025)
        dataset[0] = data[0]
        dataset.id.write_direct_chunk((1, 0), data[1].tobytes(), filter_mask=1)
    with h5py.File(tmp_path / "new.h5") as file:
        np.testing.assert_array_equal(file["data"][...], data)
