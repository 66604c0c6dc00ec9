"""Filter 325, version 2 streams: creation, round trips, tools and damage."""

import json

import h5py
import numpy as np
import pytest

from conftest import options, run, run_python, run_tool, walk

DTYPES = ["<i2", "<u2", "<i4", "<u4"]


def create(file, data, opts=None, **more):
    return file.create_dataset("data", data=data, compression=325, compression_opts=opts, **more)


@pytest.mark.parametrize("code", range(4))
@pytest.mark.parametrize(
    ("shape", "chunks", "opts", "rest"),
    [
        ((10, 1000), (4, 300), None, (300, 1200)),
        ((1000,), (250,), (100,), (250, 250)),
        ((4, 6, 50), (2, 3, 25), (0,), (25, 150)),
        ((10, 1000), (10, 1000), (65536,), (1000, 10000)),
        # Values of another dataset are replaced.
        ((10, 1000), (4, 300), (7, 3, 2, 1), (300, 1200)),
    ],
)
def test_cd_values_are_completed_from_the_dataset(tmp_path, code, shape, chunks, opts, rest):
    data = walk(shape, DTYPES[code])
    with h5py.File(tmp_path / "new.h5", "w") as file:
        create(file, data, opts, chunks=chunks, fillvalue=3)
    with h5py.File(tmp_path / "new.h5") as file:
        assert options(file["data"]) == ((opts or (0,))[0], code, *rest)
        assert file["data"].id.get_create_plist().get_filter(0)[3] == b"Delta-Rice 2"
        np.testing.assert_array_equal(file["data"][...], data)


@pytest.mark.parametrize("dtype", DTYPES)
def test_random_samples_round_trip(tmp_path, dtype):
    noise = np.random.default_rng(3).integers(0, 256, 40_000, "u1").view(dtype)
    with h5py.File(tmp_path / "new.h5", "w") as file:
        np.testing.assert_array_equal(create(file, noise, chunks=(1000,))[...], noise)
    with h5py.File(tmp_path / "new.h5") as file:
        np.testing.assert_array_equal(file["data"][...], noise)
        assert file["data"].id.get_storage_size() < 1.05 * noise.nbytes


@pytest.mark.parametrize(
    ("dtype", "why"),
    [
        ("<i1", "integers of 2 or 4 bytes"),
        ("<u8", "integers of 2 or 4 bytes"),
        (">i2", "little-endian"),
        (">u4", "little-endian"),
        ("<f4", "only integers"),
        ("S4", "only integers"),
    ],
)
def test_other_types_are_rejected(tmp_path, dtype, why):
    with h5py.File(tmp_path / "new.h5", "w") as file:
        with pytest.raises(ValueError, match=f"Delta-Rice 2: .*{why}"):
            file.create_dataset("data", (10,), dtype, chunks=(5,), compression=325)


def test_segments_above_65536_are_rejected(tmp_path):
    with h5py.File(tmp_path / "new.h5", "w") as file:
        with pytest.raises(ValueError, match="more than 65536"):
            file.create_dataset("data", (10,), "<i2", chunks=(5,), compression=325, compression_opts=(65537,))


def test_h5repack_applies_and_h5dump_reads_the_filter(tmp_path):
    data = walk((20, 1000), "<i4")
    with h5py.File(tmp_path / "plain.h5", "w") as file:
        file.create_dataset("data", data=data, chunks=(5, 1000))
    run_tool("h5repack", "-f", "UD=325,0,0", tmp_path / "plain.h5", tmp_path / "small.h5")
    # The cd_values follow the new chunk shape.
    run_tool("h5repack", "-l", "data:CHUNK=2x500", tmp_path / "small.h5", tmp_path / "other.h5")
    for name, rest in [("small", (1000, 5000)), ("other", (500, 1000))]:
        with h5py.File(tmp_path / f"{name}.h5") as file:
            assert options(file["data"]) == (0, 2, *rest)
            assert file["data"].id.get_storage_size() < data.nbytes / 4
            np.testing.assert_array_equal(file["data"][...], data)
        run_tool("h5dump", "-d", "/data", "-b", "FILE", "-o", tmp_path / "out", tmp_path / f"{name}.h5")
        assert (tmp_path / "out").read_bytes() == data.tobytes()


READ_EACH = """
import json, sys, h5py
path, chunks = sys.argv[1], json.load(open(sys.argv[2]))
for chunk in chunks:
    with h5py.File(path, "r+") as file:
        file["data"].id.write_direct_chunk((0, 0), bytes.fromhex(chunk))
    with h5py.File(path) as file:
        try:
            print("read", file["data"][...].tobytes().hex())
        except OSError as e:
            print(e)
"""


def read_each(folder, path, chunks) -> list[str]:
    """Reads the file with each of `chunks` as its only chunk. Returns "read" and the samples, or the OSError, for each."""
    (folder / "chunks.json").write_text(json.dumps([chunk.hex() for chunk in chunks]))
    return run_python(READ_EACH, path, folder / "chunks.json").splitlines()


def test_truncations_and_flipped_bits_are_errors(tmp_path):
    data = walk((2, 40))
    with h5py.File(tmp_path / "new.h5", "w") as file:
        chunk = create(file, data, chunks=(2, 40)).id.read_direct_chunk((0, 0))[1]
    cut = [chunk[:n] for n in range(1, len(chunk))]
    flipped = []
    for bit in range(8 * len(chunk)):
        damaged = bytearray(chunk)
        damaged[bit // 8] ^= 1 << bit % 8
        flipped.append(bytes(damaged))
    results = read_each(tmp_path, tmp_path / "new.h5", [chunk, *cut, *flipped, chunk + bytes(4)])
    valid = f"read {data.tobytes().hex()}"
    assert results[0] == valid and len(results) == 2 + len(cut) + len(flipped)
    assert all("Delta-Rice 2: " in text for text in results[1 : 1 + len(cut)])
    assert all("Delta-Rice 2: " in text or text == valid for text in results[1 + len(cut) : -1])
    assert "Delta-Rice 2: " in results[-1]


def test_a_chunk_with_another_sample_count_or_type_is_an_error(tmp_path):
    """HDF5 itself would read beyond the end of a short buffer."""
    with h5py.File(tmp_path / "new.h5", "w") as file:
        small = create(file, walk(10), chunks=(10,))
        large = file.create_dataset("large", (10**7,), "<i2", chunks=(10**7,), compression=325)
        other = file.create_dataset("other", (10,), "<u2", chunks=(10,), compression=325)
        chunk = small.id.read_direct_chunk((0,))[1]
        large.id.write_direct_chunk((0,), chunk)
        other.id.write_direct_chunk((0,), chunk)
    with h5py.File(tmp_path / "new.h5") as file:
        with pytest.raises(OSError, match="more or fewer samples"):
            file["large"][...]
        with pytest.raises(OSError, match="another type"):
            file["other"][...]
    assert run("h5dump", "-d", "/large", tmp_path / "new.h5").returncode == 1
