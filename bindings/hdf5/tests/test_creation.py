"""Creation of datasets: the filter checks the type and completes the cd_values; samples are written and read."""

import shutil

import h5py
import numpy as np
import pytest

from conftest import AUTO_SEGMENT, options, run_python, run_tool, walk, words

WHOLE = 2**32 - 1


@pytest.fixture
def file(tmp_path):
    with h5py.File(tmp_path / "new.h5", "w") as file:
        yield file


def create(file, data, opts=None, **more):
    return file.create_dataset("data", data=data, compression=32025, compression_opts=opts, **more)


@pytest.mark.parametrize(
    ("shape", "chunks", "opts", "stored"),
    [
        ((10, 3000), (4, 1300), None, (8, 1300, *AUTO_SEGMENT)),
        ((10, 3000), (4, 3000), (64,), (64, 3000, *AUTO_SEGMENT)),
        ((1000,), (250,), (16,), (16, 250, *AUTO_SEGMENT)),
        ((50_000,), (50_000,), None, (8, 16384, *AUTO_SEGMENT)),
        ((3, 20_000), (1, 20_000), None, (8, 16384, *AUTO_SEGMENT)),
        ((4, 6, 50), (2, 3, 25), None, (8, 150, *AUTO_SEGMENT)),
        ((4, 60, 50), (4, 60, 25), None, (8, 1025, *AUTO_SEGMENT)),
        ((38_400, 1), (38_400, 1), None, (8, 1024, *AUTO_SEGMENT)),
        ((9600, 2), (4800, 2), None, (8, 1024, *AUTO_SEGMENT)),
        # From a property list that is reused with another chunk shape.
        ((4800, 2), (4800, 2), (8, 300, *AUTO_SEGMENT), (8, 1024, *AUTO_SEGMENT)),
        ((10, 1000), (4, 300), (8, 100), (8, 100)),
        ((10, 1000), (4, 300), (8, WHOLE), (8, WHOLE)),
        ((10, 1000), (4, 300), (8, 7, 3, 1, WHOLE - 1, 1), (8, 7, 3, 1, WHOLE - 1, 1)),
    ],
)
def test_segments_default_to_whole_rows_of_1024_samples_or_parts_of_a_long_one(tmp_path, shape, chunks, opts, stored):
    data = walk(shape)
    with h5py.File(tmp_path / "new.h5", "w") as file:
        assert options(create(file, data, opts, chunks=chunks)) == stored
    with h5py.File(tmp_path / "new.h5") as file:
        assert options(file["data"]) == stored
        np.testing.assert_array_equal(file["data"][...], data)


@pytest.mark.parametrize("shape", [(38_400, 1), (4800, 2)])
def test_chunks_of_very_short_rows_do_not_expand(file, shape):
    data = walk((shape[0] * shape[1],)).reshape(shape)
    assert create(file, data, chunks=shape).id.get_storage_size() < 0.5 * data.nbytes
    explicit = file.create_dataset(
        "rows", data=data, chunks=shape, compression=32025, compression_opts=(8, shape[1])
    )
    assert options(explicit) == (8, shape[1]) and explicit.id.get_storage_size() > 2 * data.nbytes


def test_chunks_that_would_expand_are_stored_unfiltered_unless_a_segment_is_given(file):
    noise = np.random.default_rng(1).integers(-(2**15), 2**15, (2, 2000)).astype("<i2")
    unfiltered = create(file, noise, chunks=(2, 2000))
    assert unfiltered.id.read_direct_chunk((0, 0)) == (1, noise.tobytes())
    expanded = file.create_dataset(
        "y", data=noise, chunks=(2, 2000), compression=32025, compression_opts=(8, 2000)
    )
    assert expanded.id.read_direct_chunk((0, 0))[0] == 0 and expanded.id.get_storage_size() > 1.5 * noise.nbytes
    np.testing.assert_array_equal(unfiltered[...], noise)


@pytest.mark.parametrize("number", [32025, 325])
@pytest.mark.parametrize("opts", [None, (8, 500)])
def test_the_filter_after_shuffle_is_rejected(file, number, opts):
    opts = opts[1:] if opts and number == 325 else opts
    more = {"compression": number, "compression_opts": opts, "chunks": (2, 500)}
    with pytest.raises(ValueError, match="Delta-Rice.*: shuffle comes before it .* leave shuffle out"):
        file.create_dataset("data", data=walk((4, 500)), shuffle=True, **more)
    assert "data" not in file
    file.create_dataset("data", data=walk((4, 500)), fletcher32=True, **more)


def test_variable_length_data_is_rejected_if_the_filter_is_mandatory(file):
    """HDF5 calls no check of the filter for such types, and gives an optional filter references
    instead of data."""
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((5,))
    plist.set_filter(32025, h5py.h5z.FLAG_MANDATORY, (8,))
    datatype = h5py.h5t.py_create(h5py.vlen_dtype("<i2"), logical=True)
    with pytest.raises(ValueError, match="not suitable for filters"):
        h5py.h5d.create(file.id, b"data", datatype, h5py.h5s.create_simple((5,)), dcpl=plist)


@pytest.mark.parametrize(
    ("dtype", "why"),
    [
        ("<i4", "integers of 2 bytes"),
        ("<u1", "integers of 2 bytes"),
        ("<i8", "integers of 2 bytes"),
        (">i2", "little-endian"),
        (">u2", "little-endian"),
        ("<f2", "only integers"),
        ("<f4", "only integers"),
        ("S2", "only integers"),
        ("?", "only integers"),
        ([("a", "<i2")], "only integers"),
    ],
)
def test_other_types_are_rejected(file, dtype, why):
    with pytest.raises(ValueError, match=f"Delta-Rice: .*{why}"):
        file.create_dataset("data", (10,), dtype, chunks=(5,), compression=32025)
    assert "data" not in file


@pytest.mark.parametrize("dtype", ["<i2", "<u2"])
def test_signed_and_unsigned_samples_round_trip(file, dtype):
    full = np.random.default_rng(2).integers(0, 2**16, 5000).astype("<u2").view(dtype)
    np.testing.assert_array_equal(create(file, full, chunks=(700,))[...], full)


@pytest.mark.parametrize(
    ("opts", "why"),
    [
        ((0,), "power of two"),
        ((12,), "power of two"),
        ((65536,), "power of two"),
        ((1,), "m = 1"),
        ((8, 0), "segment of 0"),
        ((8, WHOLE - 1), "negative segment"),
        ((8, 5, 0), "not positive"),
        ((8, 5, 3, 1), "fewer coefficients"),
        ((8, 5, 2, 2, 1), "lose data"),
        ((8, 5, 2, 0, 1), "first coefficient is 0"),
        ((8, 5, 33, *[1] * 33), "more than 32"),
    ],
)
def test_invalid_cd_values_are_rejected(file, opts, why):
    with pytest.raises(ValueError, match=why):
        file.create_dataset("data", (10,), "<i2", chunks=(5,), compression=32025, compression_opts=opts)


def test_partial_chunks_round_trip_and_can_be_changed(tmp_path):
    data = walk((10, 1000))
    with h5py.File(tmp_path / "new.h5", "w") as file:
        create(file, data, chunks=(3, 128), fillvalue=-7)
    with h5py.File(tmp_path / "new.h5", "r+") as file:
        np.testing.assert_array_equal(file["data"][...], data)
        file["data"][9, 990:] = 5
    data[9, 990:] = 5
    with h5py.File(tmp_path / "new.h5") as file:
        np.testing.assert_array_equal(file["data"][...], data)


def test_a_growing_dataset_round_trips(tmp_path):
    data = walk((7, 500))
    with h5py.File(tmp_path / "new.h5", "w") as file:
        file.create_dataset("data", (0, 500), "<i2", maxshape=(None, 500), chunks=(2, 500), compression=32025)
    for row in data:
        with h5py.File(tmp_path / "new.h5", "r+") as file:
            file["data"].resize(file["data"].shape[0] + 1, axis=0)
            file["data"][-1] = row
    with h5py.File(tmp_path / "new.h5") as file:
        np.testing.assert_array_equal(file["data"][...], data)


def test_fletcher32_after_the_filter_finds_damage_that_decodes(tmp_path):
    # The payload is one word, the differences 1 and six zeros. If the lowest bit of the first
    # remainder is flipped, the word is still valid, and the first difference is -2.
    valid, flipped = words(7, 1, 0xA8888880), words(7, 1, 0xB8888880)
    with h5py.File(tmp_path / "new.h5", "w") as file:
        data = np.array([1] * 7, "<i2")
        plain = create(file, data, chunks=(7,))
        sums = file.create_dataset("sums", data=data, chunks=(7,), compression=32025, fletcher32=True)
        chunk = sums.id.read_direct_chunk((0,))[1]
        assert plain.id.read_direct_chunk((0,))[1] == chunk[:-4] == valid
        plain.id.write_direct_chunk((0,), flipped)
        sums.id.write_direct_chunk((0,), flipped + chunk[-4:])
    with h5py.File(tmp_path / "new.h5") as file:
        assert file["data"][...].tolist() == [-2] * 7
        with pytest.raises(OSError):
            file["sums"][...]


THREADS = """
import sys, os, time, h5py, numpy as np

def threads():
    return len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0

path, data = sys.argv[1], np.load(sys.argv[2])
before = threads()
with h5py.File(path, "w") as file:
    chunk = file.create_dataset("data", data=data, chunks=data.shape, compression=32025)
    sys.stdout.write(chunk.id.read_direct_chunk((0, 0))[1].hex())
with h5py.File(path) as file:
    assert (file["data"][...] == data).all()
until = time.monotonic() + 30
while threads() > before and time.monotonic() < until:  # the system still lists ended threads for a moment
    time.sleep(0.01)
assert threads() <= before, "a thread remains"
"""


def test_chunks_do_not_depend_on_threads_and_no_thread_remains(tmp_path):
    np.save(tmp_path / "data.npy", walk((128, 3000)))
    chunks = {
        run_python(THREADS, tmp_path / "new.h5", tmp_path / "data.npy", env={"LINERATE_THREADS": n})
        for n in ["1", "2", "7", "nonsense", "0", ""]
    }
    assert len(chunks) == 1 and len(chunks.pop()) > 1000


OTHER = """
import ctypes, sys, h5py, numpy as np
# Symbol lookups in the global scope find this HDF5 of the system, but h5py is bound to its own.
ctypes.CDLL(sys.argv[2], mode=ctypes.RTLD_GLOBAL)
with h5py.File(sys.argv[1], "w") as file:
    dataset = file.create_dataset("data", data=np.arange(100, dtype="<i2"), chunks=(50,), compression=32025)
    assert dataset.id.get_create_plist().get_filter(0)[2][:2] == (8, 50)
    try:
        file.create_dataset("bad", (10,), ">i2", chunks=(5,), compression=32025)
    except ValueError as e:
        print(e)
"""


def test_the_filter_uses_the_calling_hdf5_library(tmp_path):
    linked = run_tool("ldd", shutil.which("h5dump"))
    library = next(part for part in linked.split() if part.startswith("/") and "libhdf5" in part)
    output = run_python(OTHER, tmp_path / "new.h5", library, env={"LD_BIND_NOW": "1"})
    assert "Delta-Rice: only little-endian" in output


def test_the_filter_works_after_a_fork(file):
    data = walk((10, 1000))
    np.testing.assert_array_equal(create(file, data)[...], data)
    code = """
import os, sys, tempfile, h5py, numpy as np
data = np.arange(10000, dtype="<i2").reshape(10, 1000)
def use():
    with tempfile.TemporaryDirectory() as folder, h5py.File(folder + "/x.h5", "w") as file:
        assert (file.create_dataset("x", data=data, compression=32025)[...] == data).all()
use()
child = os.fork()
use()
if child:
    assert os.waitpid(child, 0)[1] == 0
else:
    os._exit(0)
"""
    run_python(code, env={"LINERATE_THREADS": "3"})
