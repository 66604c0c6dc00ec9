"""Reference files of the original filter 32025: read by h5py and h5dump, and written again."""

import h5py
import numpy as np
import pytest

from conftest import DATA, MANIFEST, run_tool

FILES = sorted(path.stem for path in DATA.glob("*.h5"))

# Types that the filter treats as 16-bit words on reading, and rejects on writing.
READ_ONLY = {"int32_as_pairs", "bigendian_i2"}


def raw(name: str) -> np.ndarray:
    return np.load(DATA / f"{name}.raw.npy")


def test_all_reference_files_are_present():
    assert len(FILES) == 25 and READ_ONLY < set(FILES) < set(MANIFEST)


@pytest.mark.parametrize("name", FILES)
def test_h5py_reads_reference_files(name):
    with h5py.File(DATA / f"{name}.h5") as file:
        data = file["data"][...]
    assert data.dtype == raw(name).dtype
    np.testing.assert_array_equal(data, raw(name))


@pytest.mark.parametrize("name", FILES)
def test_h5dump_reads_reference_files(name, tmp_path):
    # -b FILE: values in their file type.
    run_tool("h5dump", "-d", "/data", "-b", "FILE", "-o", tmp_path / "values", DATA / f"{name}.h5")
    assert (tmp_path / "values").read_bytes() == raw(name).tobytes()


def test_h5dump_prints_the_samples():
    text = run_tool("h5dump", "-d", "/data", "-y", "-w", "1", DATA / "walk_m16_only.h5")
    printed = text.split("DATA {")[1].split("}")[0].replace(",", " ").split()
    assert [int(value) for value in printed] == raw("walk_m16_only").tolist()


@pytest.mark.parametrize("name", sorted(set(MANIFEST) - READ_ONLY))
def test_h5py_writes_the_reference_chunk(name, tmp_path):
    entry = MANIFEST[name]
    # With fewer than two values the filter would choose a segment; the originals have one for the whole chunk.
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
