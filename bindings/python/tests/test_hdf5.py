"""The filters in h5py: filter objects, registration, plugins."""

import doctest
import os
import pickle

import h5py
import numpy as np
import pytest
from support import REPOSITORY, run_python, unchecked_filters, waves

import pylinerate
from pylinerate import hdf5
from pylinerate.hdf5 import (
    DELTARICE2_ID,
    DELTARICE_ID,
    PLUGIN_PATH,
    DeltaRice,
    DeltaRice2,
    get_config,
    register,
)
from pylinerate.rice import Params, encode, encode2, info2, tune

FILES = sorted((REPOSITORY / "testdata" / "rice").glob("*.h5"))


@pytest.fixture
def file():
    with h5py.File("scratch", "w", driver="core", backing_store=False) as file:
        yield file


def stored_values(dataset, number=DELTARICE_ID):
    plist = dataset.id.get_create_plist()
    return next(
        plist.get_filter(i)[2] for i in range(plist.get_nfilters()) if plist.get_filter(i)[0] == number
    )


def test_all_reference_files_are_present():
    assert len(FILES) >= 20


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_reference_files_are_read(path):
    with h5py.File(path) as file:
        (dataset,) = file.values()
        assert np.array_equal(dataset[...], np.load(path.with_suffix(".raw.npy")))
        assert np.array_equal(hdf5.read(dataset), np.load(path.with_suffix(".raw.npy")))


@pytest.mark.parametrize("dtype", ["int16", "uint16"])
def test_written_samples_are_read_back(file, dtype):
    array = waves((10, 700), dtype)
    first = file.create_dataset("first", data=array, chunks=(4, 700), compression=DeltaRice(m=16))
    second = file.create_dataset("second", data=array, chunks=(4, 300), **DeltaRice(m=16, segment=300))
    for dataset in (first, second):
        assert np.array_equal(dataset[...], array)
        assert dataset.id.get_storage_size() < 0.6 * array.nbytes


def test_stored_chunks_equal_encode(file):
    array = waves((4, 700))
    dataset = file.create_dataset("x", data=array, chunks=array.shape, compression=DeltaRice(m=16))
    assert dataset.id.read_direct_chunk((0, 0)) == (0, encode(array, m=16))


@pytest.mark.parametrize(
    ("shape", "chunks", "segment"),
    [
        ((4, 2000), (2, 1500), 1500),
        ((4, 700), (2, 350), 700),
        ((38_400, 1), (38_400, 1), 1024),
        ((4800, 2), (4800, 2), 1024),
        ((100_000,), (50_000,), 16_384),
        ((2, 50_000), (1, 50_000), 16_384),
        ((5000,), (2500,), 2500),
    ],
)
def test_the_default_segment_depends_on_the_chunk_shape(file, shape, chunks, segment):
    array = waves((int(np.prod(shape)),)).reshape(shape)
    dataset = file.create_dataset("x", data=array, chunks=chunks, compression=DeltaRice(m=16))
    assert Params.from_cd_values(stored_values(dataset)) == Params(16, segment)
    assert np.array_equal(dataset[...], array) and dataset.id.get_storage_size() < 0.7 * array.nbytes
    dataset = file.create_dataset("z", data=array, chunks=chunks, compression=DeltaRice(16, -1))
    assert Params.from_cd_values(stored_values(dataset)) == Params(16)


def test_chunks_that_would_expand_are_stored_unfiltered_unless_a_segment_is_given(file):
    noise = np.random.default_rng(1).integers(-(2**15), 2**15, (4, 2000)).astype("int16")
    unfiltered = file.create_dataset("x", data=noise, chunks=(2, 2000), compression=DeltaRice(m=8))
    assert unfiltered.id.get_storage_size() == noise.nbytes
    assert unfiltered.id.read_direct_chunk((2, 0)) == (1, noise[2:].tobytes())
    expanded = file.create_dataset("y", data=noise, chunks=(2, 2000), compression=DeltaRice(8, 2000))
    assert expanded.id.read_direct_chunk((2, 0)) == (0, encode(noise[2:], 8, 2000, allow_expansion=True))
    for dataset in (unfiltered, expanded):
        assert np.array_equal(dataset[...], noise) and np.array_equal(hdf5.read(dataset), noise)


@pytest.mark.parametrize("compression", [DeltaRice(), DeltaRice(8, 700), DeltaRice2()], ids=repr)
def test_other_filters_before_delta_rice_are_rejected(file, compression):
    array = waves((4, 700))
    with pytest.raises(ValueError, match="Delta-Rice.*shuffle comes before it.*leave shuffle out"):
        file.create_dataset("x", data=array, chunks=(4, 700), compression=compression, shuffle=True)
    assert "x" not in file
    for number, why in ((1, "compression"), (3, "fletcher32"), (6, "compression")):
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((4, 700))
        if number == 6:
            plist.set_scaleoffset(h5py.h5z.SO_INT, 0)
        else:
            plist.set_filter(number, h5py.h5z.FLAG_OPTIONAL, (4,) if number == 1 else ())
        plist.set_filter(compression.filter_id, h5py.h5z.FLAG_OPTIONAL, compression.filter_options)
        with pytest.raises(ValueError, match=f"Delta-Rice.*{why} comes before it"):
            h5py.h5d.create(file.id, b"x", h5py.h5t.STD_I16LE, h5py.h5s.create_simple((4, 700)), dcpl=plist)
    # Other filters may follow Delta-Rice.
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((4, 700))
    plist.set_filter(compression.filter_id, h5py.h5z.FLAG_OPTIONAL, compression.filter_options)
    plist.set_shuffle()
    plist.set_deflate(1)
    plist.set_fletcher32()
    made = h5py.h5d.create(file.id, b"y", h5py.h5t.STD_I16LE, h5py.h5s.create_simple((4, 700)), dcpl=plist)
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, array)
    assert np.array_equal(h5py.Dataset(made)[...], array)


def test_prediction_filters_round_trip_and_need_a_segment(file):
    array = waves((4, 700))
    for i, taps in enumerate([(1,), (1, -2, 1), (-1, 1), (1, -1, 1, -1)]):
        dataset = file.create_dataset(
            f"{i}", data=array, chunks=(4, 700), compression=DeltaRice(16, 700, taps)
        )
        assert Params.from_cd_values(stored_values(dataset)) == Params(16, 700, taps)
        assert np.array_equal(dataset[...], array)
    with pytest.raises(ValueError, match="segment"):
        DeltaRice(16, filter=(1, -2, 1))


def test_for_array_uses_the_best_parameters(file):
    array = waves((4, 700), noise=40)
    best = DeltaRice.for_array(array)
    assert best.filter_options == tune(array).cd_values
    dataset = file.create_dataset("x", data=array, chunks=(4, 700), compression=best)
    others = [DeltaRice(2**k, 1400) for k in range(1, 16)]
    for i, other in enumerate(others):
        other = file.create_dataset(f"{i}", data=array, chunks=(4, 700), compression=other)
        assert dataset.id.get_storage_size() <= other.id.get_storage_size() + 4 * 4
    assert Params.from_cd_values(DeltaRice.for_array(array[0]).filter_options).segment is None
    rows = waves((4, 2000))
    assert Params.from_cd_values(DeltaRice.for_array(rows, filter="auto").filter_options).segment == 2000


def test_invalid_parameters_are_rejected():
    for bad in (
        {"m": 12},
        {"m": 0},
        {"segment": 0},
        {"segment": -2},
        {"filter": ()},
        {"segment": 5, "filter": (0, 1)},
    ):
        with pytest.raises(pylinerate.Error):
            DeltaRice(**bad)
    for lossy in ({"m": 1}, {"segment": 5, "filter": (2, -1)}):
        with pytest.raises(ValueError, match="lost"):
            DeltaRice(**lossy)
    with pytest.raises(TypeError):
        DeltaRice(m="auto")


@pytest.mark.parametrize("dtype", ["int32", "float32", ">i2", "int8", "S2"])
def test_other_types_are_rejected_at_creation(file, dtype):
    with pytest.raises((ValueError, OSError)):
        file.create_dataset("x", shape=(4, 700), dtype=dtype, chunks=(4, 700), compression=DeltaRice())


@pytest.mark.parametrize("dtype", ["int16", "uint16", "int32", "uint32"])
def test_version_2_round_trips(file, dtype):
    array = waves((10, 700), dtype)
    first = file.create_dataset("first", data=array, chunks=(4, 700), compression=DeltaRice2())
    second = file.create_dataset("second", data=array, chunks=(4, 300), **DeltaRice2(segment=300))
    for dataset in (first, second):
        assert np.array_equal(dataset[...], array)
    assert first.id.read_direct_chunk((0, 0)) == (0, encode2(array[:4]))
    assert stored_values(second, DELTARICE2_ID)[0] == 300


def test_version_2_rejects_bad_segments_and_types(file):
    for segment in (0, -1, 65537):
        with pytest.raises(ValueError):
            DeltaRice2(segment)
    for i, dtype in enumerate(["int64", "float32", ">i2", "int8"]):
        with pytest.raises((ValueError, OSError)):
            file.create_dataset(
                f"{i}", shape=(4, 700), dtype=dtype, chunks=(4, 700), compression=DeltaRice2()
            )


def test_damaged_version_2_is_an_error(file):
    array = waves((4, 700))
    dataset = file.create_dataset(
        "x", shape=array.shape, dtype="i2", chunks=array.shape, compression=DeltaRice2()
    )
    stream = encode2(array)
    flipped = bytearray(stream)
    flipped[len(stream) // 2] ^= 16
    others = [encode2(array[:3]), encode2(array.astype("u2")), encode2(array.astype("i4"))]
    for damaged in (stream[:-4], stream[:5], stream + bytes(4), bytes(len(stream)), bytes(flipped), *others):
        dataset.id.write_direct_chunk((0, 0), damaged)
        with pytest.raises(OSError):
            dataset[...]
        with pytest.raises(OSError):
            hdf5.read(dataset)


def test_fletcher32_and_shuffled_datasets_of_other_programs_are_read(file):
    array = waves((4, 700))
    dataset = file.create_dataset(
        "x", data=array, chunks=(4, 700), compression=DeltaRice(), fletcher32=True
    )
    assert np.array_equal(dataset[...], array)
    with unchecked_filters():
        shuffled = file.create_dataset(
            "y", data=array, chunks=(4, 700), compression=DeltaRice(8, 700), shuffle=True
        )
    assert np.array_equal(shuffled[...], array) and np.array_equal(hdf5.read(shuffled), array)


def test_filters_compare_hash_and_pickle():
    assert pickle.loads(pickle.dumps(DeltaRice(16, 5))) == DeltaRice(16, 5) != DeltaRice(16, 6)
    assert hash(DeltaRice(16)) == hash(DeltaRice(16))
    assert pickle.loads(pickle.dumps(DeltaRice2(50))) == DeltaRice2(50) != DeltaRice2()
    assert dict(DeltaRice2()) == {"compression": 325, "compression_opts": ()}
    assert repr(DeltaRice2(50)) == "DeltaRice2(segment=50, channels=None)"
    assert dict(DeltaRice(16)) == {"compression": 32025, "compression_opts": (16,)}
    assert DeltaRice(16, 5).filter_options == (16, 5, 2, 1, 2**32 - 1)
    assert repr(DeltaRice(16, 5)) == f"DeltaRice(cd_values=(16, 5, 2, 1, {2**32 - 1}))"


def test_damaged_chunks_are_errors(file):
    array = waves((4, 700))
    dataset = file.create_dataset(
        "x", shape=array.shape, dtype="i2", chunks=array.shape, compression=DeltaRice(m=16)
    )
    chunk = bytes(encode(array, m=16))
    for damaged in (chunk[:-4], chunk[:5], chunk + bytes(4), b"\xff" * len(chunk), bytes(len(chunk))):
        dataset.id.write_direct_chunk((0, 0), damaged)
        with pytest.raises(OSError):
            dataset[...]
        with pytest.raises(OSError):
            hdf5.read(dataset)
    dataset.id.write_direct_chunk((0, 0), chunk)
    assert np.array_equal(dataset[...], array)


def test_register_reports_both_filters():
    assert register() == register(force=True) == get_config().registered_filters
    assert get_config().registered_filters["deltarice"] == DELTARICE_ID == 32025
    assert get_config().registered_filters["deltarice2"] == DELTARICE2_ID == 325
    assert get_config().plugin_path == PLUGIN_PATH
    assert h5py.h5z.filter_avail(DELTARICE_ID) and h5py.h5z.filter_avail(DELTARICE2_ID)


def test_forced_registration_replaces_a_removed_filter(file):
    h5py.h5z.unregister_filter(DELTARICE_ID)
    register(force=True)
    assert np.array_equal(
        file.create_dataset("x", data=waves((2, 50)), chunks=(2, 50), compression=DeltaRice()), waves((2, 50))
    )


def test_plugins_of_the_wheel_work_without_importing_it(tmp_path):
    """A process that does not import pylinerate reads and writes with HDF5_PLUGIN_PATH."""
    array = waves((4, 700))
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=array, chunks=(2, 700), compression=DeltaRice(m=16))
        file.create_dataset("x2", data=array, chunks=(2, 700), compression=DeltaRice2())
    np.save(tmp_path / "x.npy", array)
    code = f"""
import h5py, numpy, sys
array = numpy.load({str(tmp_path / "x.npy")!r})
with h5py.File({str(path)!r}, "a") as file:
    assert numpy.array_equal(file["x"][...], array) and numpy.array_equal(file["x2"][...], array)
    file.create_dataset("y", data=array, chunks=(2, 700), compression=32025, compression_opts=(4,))
    file.create_dataset("y2", data=array, chunks=(2, 700), compression=325)
assert "pylinerate" not in sys.modules
"""
    run_python(code, env={**os.environ, "HDF5_PLUGIN_PATH": PLUGIN_PATH})
    with h5py.File(path) as file:
        assert np.array_equal(file["y"], array) and stored_values(file["y"])[:2] == (4, 1400)
        assert np.array_equal(file["y2"], array)


def test_chunks_do_not_depend_on_the_thread_count(tmp_path):
    code = f"""
import sys; sys.path.insert(0, {str(REPOSITORY / "bindings/python/tests")!r})
import h5py, numpy
from support import waves
from pylinerate.hdf5 import DeltaRice
with h5py.File("x", "w", driver="core", backing_store=False) as file:
    dataset = file.create_dataset("x", data=waves((64, 700)), chunks=(64, 700), compression=DeltaRice())
    assert numpy.array_equal(dataset, waves((64, 700)))
    print(hash(dataset.id.read_direct_chunk((0, 0))[1]))
"""
    outputs = {
        run_python(code, env={**os.environ, "LINERATE_THREADS": n, "PYTHONHASHSEED": "0"})
        for n in ("1", "3", "x")
    }
    assert len(outputs) == 1


def test_doctests_pass():
    results = doctest.testmod(hdf5)
    assert results.attempted > 2 and results.failed == 0


def test_channels_are_a_second_and_a_fifth_value(file):
    array = np.cumsum(np.random.default_rng(5).integers(-40, 40, (1600, 3)), 0)
    array[:, 2] = array[:, 0] - array[:, 1]
    array = array.astype("int16")
    for number, (compression, stored, channels) in enumerate(
        [
            (DeltaRice2(), (0, 0, 3, 2400), 3),
            (DeltaRice2(channels=3), (0, 0, 3, 2400, 3), 3),
            (DeltaRice2(channels=1), (0, 0, 3, 2400, 1), 1),
            (DeltaRice2(300, channels=3), (300, 0, 3, 2400, 3), 3),
        ]
    ):
        dataset = file.create_dataset(str(number), data=array, chunks=(800, 3), compression=compression)
        assert stored_values(dataset, DELTARICE2_ID) == stored
        assert info2(dataset.id.read_direct_chunk((800, 0))[1]).channels == channels
        assert np.array_equal(dataset[...], array) and np.array_equal(hdf5.read(dataset), array)
        assert np.array_equal(hdf5.read(dataset, np.s_[795:820:2, 1:]), array[795:820:2, 1:])
    with pytest.raises(ValueError, match="last dimension"):
        file.create_dataset("x", data=array, chunks=(800, 3), compression=DeltaRice2(channels=2))
