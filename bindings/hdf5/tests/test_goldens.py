"""Files of the original filter, through h5py and h5dump, and the same files written anew."""

import h5py
import numpy as np
import pytest

from conftest import DATA, MANIFEST, run_tool

FILES = sorted(path.stem for path in DATA.glob("*.h5"))

# Types that the filter takes for 16-bit words when it reads, and refuses when it writes.
READ_ONLY = {"int32_as_pairs", "bigendian_i2"}


def raw(name: str) -> np.ndarray:
    return np.load(DATA / f"{name}.raw.npy")


def test_the_files_are_there():
    assert len(FILES) == 25 and READ_ONLY < set(FILES) < set(MANIFEST)


@pytest.mark.parametrize("name", FILES)
def test_h5py_reads_them(name):
    with h5py.File(DATA / f"{name}.h5") as file:
        data = file["data"][...]
    assert data.dtype == raw(name).dtype
    np.testing.assert_array_equal(data, raw(name))


@pytest.mark.parametrize("name", FILES)
def test_h5dump_reads_them(name, tmp_path):
    # -b FILE: the values as they are in the file.
    run_tool("h5dump", "-d", "/data", "-b", "FILE", "-o", tmp_path / "values", DATA / f"{name}.h5")
    assert (tmp_path / "values").read_bytes() == raw(name).tobytes()


def test_h5dump_prints_them():
    text = run_tool("h5dump", "-d", "/data", "-y", "-w", "1", DATA / "walk_m16_only.h5")
    printed = text.split("DATA {")[1].split("}")[0].replace(",", " ").split()
    assert [int(value) for value in printed] == raw("walk_m16_only").tolist()


@pytest.mark.parametrize("name", sorted(set(MANIFEST) - READ_ONLY))
def test_h5py_writes_the_same_chunk(name, tmp_path):
    entry = MANIFEST[name]
    # With fewer than two values segments would become rows; the originals are one segment.
    values = list(entry["cd_values"] or [8])
    values += [2**32 - 1] * (2 - len(values))
    with h5py.File(tmp_path / "new.h5", "w") as file:
        dataset = file.create_dataset(
            "data",
            data=raw(name),
            chunks=tuple(entry["chunks"]),
            compression=32025,
            compression_opts=tuple(values),
            fletcher32=name == "walk_then_fletcher32",
        )
        mask, chunk = dataset.id.read_direct_chunk((0,) * raw(name).ndim)
    assert mask == 0
    assert chunk == (DATA / f"{name}.chunk0.bin").read_bytes()
