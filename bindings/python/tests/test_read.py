"""read() returns the same as h5py for any dataset and selection."""

import ctypes
import os
import threading
from pathlib import Path

import h5py
import numpy as np
import pytest
from support import unchecked_filters, waves

import pylinerate
from pylinerate import _pylinerate, _read, hdf5
from pylinerate.hdf5 import DeltaRice, DeltaRice2, read
from pylinerate.rice import encode, encode2

SELECTIONS = [
    ...,
    (),
    np.s_[3],
    np.s_[-1],
    np.s_[np.int64(3)],
    np.s_[1:5:2, 3],
    np.s_[-1, ::7],
    np.s_[5:2],
    np.s_[..., 4:8],
    np.s_[:, 10:90:3],
    np.s_[0, 0],
    np.s_[9:, -1],
    np.s_[2:9, 20:80],
    np.s_[::6, ::50],
    np.s_[3:4, ...],
    np.s_[:200],
    np.s_[:, -5:],
]
LEFT_TO_H5PY = [[1, 2, 5], np.s_[:, np.array([1, 2])], np.arange(10) > 4]
CHUNKS = [(10, 100), (4, 64), (1, 100), (2, 100), (10, 32), (3, 7), (1, 1)]


@pytest.fixture
def file():
    with h5py.File("scratch", "w", driver="core", backing_store=False) as file:
        yield file


@pytest.fixture
def without_h5py(monkeypatch):
    """Fails the test if a selection is left to h5py."""
    plan = _read._Plan.of

    def of(dataset, selection):
        made = plan(dataset, selection)
        assert made is not None, f"{selection} of {dataset} is left to h5py"
        return made

    monkeypatch.setattr(_read._Plan, "of", of)


def create(file, name, shape, dtype, chunks, compression, shuffle=False, **options):
    """Creates a dataset. With ``shuffle`` that filter comes before ours, as only other programs
    write it."""
    if not shuffle:
        return file.create_dataset(name, shape, dtype, chunks=chunks, compression=compression, **options)
    values = compression.filter_options
    if compression.filter_id == hdf5.DELTARICE2_ID:
        code = ["int16", "uint16", "int32", "uint32"].index(np.dtype(dtype).name)
        values = (values[0] if values else 0, code, chunks[-1], int(np.prod(chunks)))
    options = {"compression": compression.filter_id, "compression_opts": values, **options}
    with unchecked_filters():
        return file.create_dataset(name, shape, dtype, chunks=chunks, shuffle=True, **options)


def assert_same(dataset, selection, threads=3):
    ours, theirs = read(dataset, selection, threads), dataset[selection]
    assert type(ours) is type(theirs) and ours.dtype == theirs.dtype and ours.shape == theirs.shape
    assert np.array_equal(ours, theirs), (dataset, selection)


@pytest.mark.parametrize(
    "options", [{}, {"shuffle": True}, {"fletcher32": True}, {"shuffle": True, "fletcher32": True}]
)
@pytest.mark.parametrize("chunks", CHUNKS, ids=str)
def test_selections_equal_h5py(file, without_h5py, chunks, options):
    filters = [
        (DeltaRice(), "int16"),
        (DeltaRice(), "uint16"),
        *((DeltaRice2(), f"{u}int{n}") for u in ("", "u") for n in (16, 32)),
    ]
    for compression, dtype in filters:
        name = f"{compression} {dtype}"
        dataset = create(file, name, (10, 100), dtype, chunks, compression, fillvalue=7, **options)
        dataset[:7, :80] = waves((7, 80), dtype)  # some chunks are unwritten, some are partial
        for selection in SELECTIONS:
            assert_same(dataset, selection)


def test_datasets_of_one_and_four_axes_equal_h5py(file, without_h5py):
    one = file.create_dataset("one", data=waves((999,)), chunks=(100,), compression=DeltaRice())
    for selection in (..., np.s_[5], np.s_[150:160], np.s_[::250], np.s_[990:], np.s_[7:8]):
        assert_same(one, selection)
    four = file.create_dataset(
        "four", data=waves((3, 4, 5, 60)), chunks=(2, 1, 3, 60), compression=DeltaRice()
    )
    for selection in (
        ...,
        np.s_[1],
        np.s_[:, 2, ::2],
        np.s_[..., 7],
        np.s_[2, 3, 4, 59],
        np.s_[1:, 1:3, 2:, 10:20],
    ):
        assert_same(four, selection)


def test_unwritten_chunks_have_the_fill_value(file, without_h5py):
    for i, compression in enumerate([DeltaRice(), DeltaRice2()]):
        dataset = file.create_dataset(
            f"{i}", (10, 100), "i2", chunks=(4, 64), compression=compression, fillvalue=-5
        )
        for selection in SELECTIONS:
            assert_same(dataset, selection)


def test_only_selected_rows_are_decoded(file, without_h5py):
    array = waves((50, 100))
    for i, (compression, options) in enumerate(
        [(DeltaRice(m=16), {"fletcher32": True}), (DeltaRice2(segment=100), {})]
    ):
        dataset = file.create_dataset(
            f"{i}", data=array, chunks=(50, 100), compression=compression, **options
        )
        for selection in (np.s_[7], np.s_[49], np.s_[10:13, 50:], np.s_[3, 3], np.s_[5:40:10]):
            assert_same(dataset, selection)
    # Damage in rows that are not selected is not found.
    mask, stored = dataset.id.read_direct_chunk((0, 0))
    dataset.id.write_direct_chunk((0, 0), stored[:-8] + bytes(8), filter_mask=mask)
    assert np.array_equal(read(dataset, np.s_[7]), array[7])
    with pytest.raises(OSError):
        read(dataset, np.s_[49])


def test_other_selections_are_left_to_h5py(file):
    dataset = file.create_dataset("x", data=waves((10, 100)), chunks=(4, 64), compression=DeltaRice())
    for selection in LEFT_TO_H5PY:
        assert_same(dataset, selection)
    for wrong in (10, -11, np.s_[0, 100], np.s_[0, 0, 0], np.s_[::-1], None, "name", np.s_[..., ...], 1.5):
        with pytest.raises((IndexError, ValueError, TypeError)) as theirs:
            dataset[wrong]
        with pytest.raises(theirs.type):
            read(dataset, wrong)


def test_other_datasets_are_left_to_h5py(file):
    array = waves((10, 100))
    make = file.create_dataset
    for dataset in (
        make("contiguous", data=array),
        make("plain", data=array, chunks=(4, 64)),
        make("gzip", data=array, chunks=(4, 64), compression="gzip"),
        make("int32", data=array.astype("i4"), chunks=(4, 64), compression="lzf"),
        make("scalar", data=np.int16(5)),
        make("empty", shape=(0, 7), maxshape=(None, 7), dtype="i2", chunks=(1, 7), compression=DeltaRice()),
        make("strings", data=["a", "b"]),
    ):
        assert np.array_equal(read(dataset), dataset[...])
    space = make("null", dtype=h5py.Empty("i2").dtype, shape=None)
    assert read(space) == space[...]


def test_gzip_after_the_filter_is_left_to_h5py(file):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((4, 64))
    plist.set_filter(32025, 0, (8, 64))
    plist.set_deflate(4)
    h5py.h5d.create(file.id, b"x", h5py.h5t.NATIVE_INT16, h5py.h5s.create_simple((10, 100)), plist)
    file["x"][...] = waves((10, 100))
    assert _read._Plan.of(file["x"], ...) is None
    assert_same(file["x"], ...)


def test_masked_filters_are_skipped(file, without_h5py):
    array = waves((10, 100))
    options = {"shuffle": True, "fletcher32": True}
    dataset = create(file, "x", array.shape, "i2", (5, 100), DeltaRice(m=16), **options)
    dataset[...] = array
    shuffled = np.frombuffer(array[5:].tobytes(), np.uint8).reshape(-1, 2).T.tobytes()
    dataset.id.write_direct_chunk((5, 0), array[5:].tobytes(), filter_mask=0b111)
    assert_same(dataset, ...)
    dataset.id.write_direct_chunk((5, 0), shuffled, filter_mask=0b110)
    assert_same(dataset, ...)
    assert_same(dataset, np.s_[7, 3:5])


def test_chunks_still_in_the_hdf5_cache_are_read(tmp_path, without_h5py):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        dataset = file.create_dataset("x", (40, 100), "i2", chunks=(4, 100), compression=DeltaRice())
        for row, wave in enumerate(waves((40, 100))):
            dataset[row] = wave
            assert_same(dataset, np.s_[: row + 2])


def test_a_broken_checksum_is_an_error(file):
    dataset = file.create_dataset(
        "x", data=waves((4, 100)), chunks=(2, 100), compression=DeltaRice(), fletcher32=True
    )
    mask, stored = dataset.id.read_direct_chunk((2, 0))
    for i in (0, len(stored) // 2, len(stored) - 1):
        damaged = bytearray(stored)
        damaged[i] ^= 1
        dataset.id.write_direct_chunk((2, 0), bytes(damaged), filter_mask=mask)
        with pytest.raises(OSError):
            dataset[...]
        with pytest.raises(OSError, match=r"/x, chunk at \(2, 0\): the checksum"):
            read(dataset)
        assert_same(dataset, np.s_[:2])


def test_a_chunk_with_another_sample_count_is_an_error(file):
    dataset = file.create_dataset(
        "x", shape=(4, 100), dtype="i2", chunks=(4, 100), compression=DeltaRice(m=8)
    )
    for shape in ((3, 100), (5, 100), (0, 100)):
        dataset.id.write_direct_chunk((0, 0), bytes(encode(waves(shape), m=8, segment=100)))
        with pytest.raises(OSError, match="another number of bytes"):
            read(dataset)
        with pytest.raises(OSError, match="another number of bytes"):
            read(dataset, 1)


def test_unfiltered_partial_chunks_are_left_to_h5py(tmp_path):
    """HDF5 can store partial chunks unfiltered, and the chunk does not say so."""
    libraries = sorted((Path(h5py.__file__).parents[1] / "h5py.libs").glob("libhdf5-*"))
    if not libraries:
        pytest.skip("SKIP: this h5py does not bundle an HDF5 library")
    set_chunk_opts = ctypes.CDLL(str(libraries[0])).H5Pset_chunk_opts
    set_chunk_opts.argtypes = [ctypes.c_int64, ctypes.c_uint]
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((4, 64))
    plist.set_filter(32025, 0, (8, 64))
    assert set_chunk_opts(plist.id, 2) >= 0  # H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS
    with h5py.File(tmp_path / "x.h5", "w", libver="latest") as file:
        h5py.h5d.create(file.id, b"x", h5py.h5t.NATIVE_INT16, h5py.h5s.create_simple((10, 100)), plist)
        file["x"][...] = waves((10, 100))
        for selection in SELECTIONS:
            assert_same(file["x"], selection)
        with pytest.raises(_read._UseH5py):
            _read._Plan.of(file["x"], ...).read(1)
        assert _read._Plan.of(file["x"], np.s_[:8, :64]).read(1) is not None


def test_byte_swapped_checksums_of_early_hdf5_are_accepted(file, without_h5py):
    dataset = file.create_dataset(
        "x", data=waves((4, 100)), chunks=(4, 100), compression=DeltaRice(), fletcher32=True
    )
    mask, stored = dataset.id.read_direct_chunk((0, 0))
    a, b, c, d = stored[-4:]
    dataset.id.write_direct_chunk((0, 0), stored[:-4] + bytes([b, a, d, c]), filter_mask=mask)
    assert_same(dataset, ...)


@pytest.mark.parametrize("limit", [1, 1000])
def test_results_do_not_depend_on_batch_size_or_threads(file, without_h5py, monkeypatch, limit):
    monkeypatch.setattr(_read, "BATCH_BYTES", limit)
    dataset = file.create_dataset("x", data=waves((64, 100)), chunks=(1, 100), compression=DeltaRice())
    for threads in (1, 2, 7, None):
        assert_same(dataset, ..., threads)


def test_python_threads_can_read_at_the_same_time(tmp_path):
    array = waves((64, 500))
    with h5py.File(tmp_path / "x.h5", "w") as file:
        dataset = file.create_dataset("x", data=array, chunks=(4, 500), compression=DeltaRice())
        wrong = []

        def work(part):
            for _ in range(5):
                if not np.array_equal(read(dataset, part, threads=2), array[part]):
                    wrong.append(part)

        workers = [threading.Thread(target=work, args=(np.s_[i : i + 30],)) for i in range(6)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(timeout=60)
            assert not worker.is_alive()
        assert not wrong


def test_reading_after_a_fork_works(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=waves((64, 500)), chunks=(4, 500), compression=DeltaRice())
        read(file["x"], threads=2)
    child = os.fork()
    if child == 0:
        with h5py.File(tmp_path / "x.h5") as file:
            os._exit(0 if np.array_equal(read(file["x"], threads=2), waves((64, 500))) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_huge_declared_chunk_is_an_error_without_allocation(file):
    """The chunk shape in the file is untrusted too."""
    for i, compression in enumerate([DeltaRice(), DeltaRice2()]):
        dataset = file.create_dataset(f"{i}", (2**30,), "i2", chunks=(2**30,), compression=compression)
        for stored in (b"\xff" * 100, bytes(100), bytes(encode(waves((100,)), m=8)), encode2(waves((100,)))):
            dataset.id.write_direct_chunk((0,), stored)
            for selection in (5, np.s_[::1000_000], np.s_[1000:2000]):
                with pytest.raises(OSError):
                    read(dataset, selection)


def test_the_extension_rejects_inconsistent_arguments():
    """read() never passes these arguments, but they must be memory-safe."""
    chunk = bytes(encode(waves((2, 50)), 8, 50))
    filters = [(32025, [8, 50])]
    right = {
        "filters": filters,
        "itemsize": 2,
        "axes": [(2, 0, 1, 2), (50, 0, 1, 50)],
        "chunks": [((0, 0), 0, chunk)],
        "out": np.zeros(200, np.uint8),
        "threads": 2,
    }
    _pylinerate.hdf5_decode(**right)
    assert np.array_equal(right["out"].view("i2"), waves((2, 50)).reshape(-1))
    for wrong in (
        {"out": np.zeros(199, np.uint8)},
        {"out": np.zeros(400, np.uint8)},
        {"itemsize": 4},
        {"itemsize": 0},
        {"itemsize": 2**63},
        {"axes": []},
        {"axes": [(2, 0, 1, 2)]},
        {"axes": [(0, 0, 1, 2), (50, 0, 1, 50)]},
        {"axes": [(2, 0, 0, 2), (50, 0, 1, 50)]},
        {"axes": [(2, 0, 2**63, 2), (50, 0, 1, 50)]},
        {"axes": [(2**40, 0, 1, 2), (2**40, 0, 1, 50)]},
        {"axes": [(2**20, 0, 1, 2), (2**20, 0, 1, 50)]},
        {"chunks": [((0, 0), 0, chunk)] * 2},
        {"chunks": [((0,), 0, chunk)]},
        {"chunks": [((1, 0), 0, chunk)]},
        {"chunks": [((0, 0), 1, chunk)]},
        {"filters": [(1, [4])]},
        {"filters": [(2, [])]},
        {"filters": [(325, [0, 4])]},
        {"filters": [(32025, [12])]},
        {"filters": [(2, [2])]},
        {"filters": []},
    ):
        with pytest.raises(pylinerate.Error):
            _pylinerate.hdf5_decode(**{**right, **wrong})
    elsewhere = {**right, "chunks": [((2, 0), 0, chunk), ((0, 50), 0, chunk)]}
    _pylinerate.hdf5_decode(**elsewhere)  # chunks without selected elements


def test_zero_threads_are_rejected(file):
    dataset = file.create_dataset("x", data=waves((4, 100)), chunks=(2, 100), compression=DeltaRice())
    with pytest.raises(ValueError, match="threads"):
        read(dataset, threads=0)


def test_objects_that_are_no_dataset_are_refused_with_a_sentence(file):
    dataset = file.create_dataset("x", data=waves((4, 100)), chunks=(2, 100), compression=DeltaRice())
    compound = file.create_dataset("y", (3,), [("a", "i2"), ("b", "i2")])
    for other in (dataset.astype("f4"), compound.fields("a"), file, dataset[...], dataset.id, None):
        with pytest.raises(TypeError, match="takes a dataset"):
            read(other)


def test_hdf5_read_is_exported():
    assert hdf5.read is _read.read


def test_random_shapes_chunks_and_selections_equal_h5py(file, without_h5py):
    rng = np.random.default_rng(7)

    def some(size):
        """An index or a slice of an axis."""
        start, stop = sorted(rng.integers(-size, size + 3, 2).tolist())
        if rng.random() < 0.3:
            return int(rng.integers(-size, size))
        return slice(start, stop, int(rng.integers(1, 6)))

    for i in range(150):
        shape = tuple(rng.integers(1, 40, rng.integers(1, 4)).tolist())
        chunks = tuple(int(rng.integers(1, size + 1)) for size in shape)
        compression = (DeltaRice(), DeltaRice2(), DeltaRice2(segment=7))[i % 3]
        options = {"shuffle": bool(rng.random() < 0.2), "fletcher32": bool(rng.random() < 0.2)}
        dataset = create(file, f"{i}", shape, "i2", chunks, compression, **options)
        written = tuple(slice(0, int(rng.integers(0, size + 1))) for size in shape)
        dataset[written] = waves(shape)[written]
        for _ in range(8):
            selection = tuple(some(size) for size in shape[: rng.integers(0, len(shape) + 1)])
            assert_same(dataset, selection, threads=int(rng.integers(1, 4)))
