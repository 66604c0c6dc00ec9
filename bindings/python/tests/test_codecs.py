"""The codecs for numcodecs and zarr, found by name."""

import asyncio
import doctest
import json
import pickle
import sys
import warnings

import numcodecs
import numpy as np
import pytest
import zarr
from support import run_python, waves

import pylinerate
from pylinerate import rice
from pylinerate.rice import encode, encode2, tune

NAME = "linerate.deltarice"


def codec(**config):
    return numcodecs.get_codec({"id": NAME, **config})


def serializer(**config):
    return {"name": NAME, "configuration": config}


def make(array, chunks=(4, 700), **options):
    made = zarr.create_array({}, shape=array.shape, dtype=array.dtype, chunks=chunks, **options)
    made[...] = array
    return made


# numcodecs


@pytest.mark.parametrize(
    "config", [{}, {"m": 32}, {"m": 32, "segment": 700}, {"segment": 99, "filter": [1, -2, 1]}]
)
@pytest.mark.parametrize("dtype", ["int16", "uint16"])
def test_numcodecs_round_trips_arrays(config, dtype):
    array = waves((6, 700), dtype)
    made = codec(dtype=dtype, **config)
    chunk = made.encode(array)
    decoded = made.decode(chunk)
    assert decoded.dtype == array.dtype and np.array_equal(decoded, array.reshape(-1))
    out = np.empty_like(array)
    assert made.decode(chunk, out=out) is out and np.array_equal(out, array)
    out = bytearray(array.nbytes)
    made.decode(chunk, out)
    assert out == array.tobytes()


def test_numcodecs_writes_the_chunks_of_filter_32025():
    array = waves((6, 700))
    assert codec(m=16, segment=700).encode(array) == encode(array, 16, 700)
    assert (
        codec(m=16).encode(array) == codec(m=16, segment=-1).encode(array) == encode(array.reshape(-1), m=16)
    )


def test_numcodecs_divides_long_arrays_into_segments_of_16384():
    array = waves((100_000,))
    made = codec(m=16)
    assert made.encode(array) == encode(array, 16, 16_384) != codec(m=16, segment=-1).encode(array)
    for segment in (None, -1):  # the default of early releases
        assert np.array_equal(made.decode(codec(m=16, segment=segment).encode(array)), array)
    assert codec(**{"m": 16, "segment": -1}).get_config()["segment"] == -1


def test_codecs_refuse_expansion_unless_allowed():
    array = waves((50, 700))
    with pytest.raises(ValueError, match="allow_expansion"):
        codec(segment=1).encode(array)
    with pytest.raises(ValueError, match="allow_expansion"):
        make(array, serializer=serializer(segment=1), compressors=None)
    larger = {"segment": 1, "allow_expansion": True}
    assert np.array_equal(codec(**larger).decode(codec(**larger).encode(array)), array.reshape(-1))
    made = make(array, serializer=serializer(**larger), compressors=None)
    assert np.array_equal(zarr.open_array(made.store, mode="r")[...], array)


def test_numcodecs_configuration_round_trips_through_json_pickle_and_repr():
    made = codec(m=16, segment=700, filter=(1, -2, 1), dtype="uint16", threads=3)
    config = made.get_config()
    assert json.loads(json.dumps(config)) == config
    assert config == {"id": NAME, "m": 16, "segment": 700, "filter": [1, -2, 1], "dtype": "<u2"}
    again = numcodecs.get_codec(config)
    assert again == made and again.threads is None
    larger = codec(m=16, allow_expansion=True)
    assert larger != codec(m=16) and numcodecs.get_codec(larger.get_config()).allow_expansion
    assert eval(repr(larger), {"DeltaRice": type(made)}) == larger
    pickled = pickle.loads(pickle.dumps(made))
    assert pickled == made and pickled.threads == 3
    assert eval(repr(made), {"DeltaRice": type(made)}) == made


def test_numcodecs_for_array_uses_tuned_parameters():
    array = waves((6, 700), "uint16", noise=50)
    made = type(codec()).for_array(array)
    assert (made.params, made.dtype) == (tune(array), array.dtype)
    assert np.array_equal(made.decode(made.encode(array)), array.reshape(-1))


def test_numcodecs_rejects_bad_parameters_types_and_chunks():
    with pytest.raises(ValueError, match="for_array"):
        codec(m="auto")
    for bad in ({"m": 12}, {"m": 1}, {"segment": 0}, {"filter": [2, -1]}, {"threads": 0}):
        with pytest.raises(ValueError):
            codec(**bad)
    for bad in ("int32", "float32", ">i2"):
        with pytest.raises(TypeError):
            codec(dtype=bad)
    with pytest.raises(TypeError, match="give it the dtype"):
        codec().encode(waves((2, 10), "uint16"))
    chunk = codec().encode(waves((2, 10)))
    for damaged in (b"", chunk[:-1], chunk + b"x", bytes(len(chunk))):
        with pytest.raises((pylinerate.Error, ValueError)):
            codec().decode(damaged, out=np.empty(20, "i2"))
    for n in (19, 21):
        with pytest.raises(ValueError):
            codec().decode(chunk, out=np.empty(n, "i2"))


@pytest.mark.parametrize("name", [NAME, "linerate.deltarice2"])
def test_numcodecs_output_that_cannot_be_filled_in_place_is_refused(name):
    array = waves((6, 700))
    made = numcodecs.get_codec({"id": name})
    chunk = made.encode(array)
    transposed = np.empty((700, 6), "i2").T
    assert made.decode(chunk, out=transposed) is transposed
    assert np.array_equal(transposed.reshape(-1, order="F"), array.reshape(-1))  # in the order of its memory
    for out in (np.empty((6, 1400), "i2")[:, ::2], np.empty((12, 700), "i2")[::2], np.empty((6, 700), "i2")[:, ::-1]):
        with pytest.raises(ValueError, match="not contiguous"):
            made.decode(chunk, out=out)
    read_only = np.empty((6, 700), "i2")
    read_only.flags.writeable = False
    with pytest.raises(ValueError):
        made.decode(chunk, out=read_only)
    with pytest.raises(TypeError, match="byte order"):
        made.decode(chunk, out=np.empty((6, 700), ">i2"))


@pytest.mark.parametrize("dtype", ["int16", "uint16"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_zarr_format_2_round_trips(dtype, order):
    array = waves((10, 1000), dtype)
    made = make(
        array,
        zarr_format=2,
        compressors=codec(m=16, segment=700, dtype=dtype, allow_expansion=order == "F"),
        filters=None,
        order=order,
    )
    assert np.array_equal(made[...], array) and np.array_equal(made[3, ::7], array[3, ::7])
    assert order == "F" or made.nbytes_stored() < 0.75 * array.nbytes
    again = zarr.open_array(made.store, mode="r")
    assert np.array_equal(again[...], array)


# zarr format 3


@pytest.mark.parametrize(
    "config", [{}, {"m": 32}, {"m": 32, "segment": -1}, {"segment": 99, "filter": [1, -2, 1]}]
)
@pytest.mark.parametrize("dtype", ["int16", "uint16", ">i2"])
def test_zarr_format_3_round_trips(config, dtype):
    array = waves((10, 1000), np.dtype(dtype).newbyteorder("=")).astype(dtype)
    made = make(array, serializer=serializer(**config), compressors=None)
    assert np.array_equal(made[...], array) and np.array_equal(made[3, ::7], array[3, ::7])
    again = zarr.open_array(made.store, mode="r")
    assert np.array_equal(again[...], array) and again.metadata.codecs == made.metadata.codecs


def test_zarr_writes_the_chunks_of_filter_32025(tmp_path):
    array = waves((4, 700))
    make_at = {"store": tmp_path / "x.zarr", "shape": array.shape, "chunks": array.shape, "dtype": "int16"}
    made = zarr.create_array(**make_at, serializer=serializer(m=16), compressors=None)
    made[...] = array
    assert (tmp_path / "x.zarr" / "c" / "0" / "0").read_bytes() == encode(array, m=16)
    stored = json.loads((tmp_path / "x.zarr" / "zarr.json").read_text())["codecs"]
    assert stored == [{"name": NAME, "configuration": {"m": 16, "segment": None, "filter": [1, -1]}}]


@pytest.mark.parametrize(("shape", "chunks"), [((38_400, 1), (38_400, 1)), ((9600, 2), (4800, 2))])
def test_zarr_chunks_of_short_rows_do_not_expand(shape, chunks):
    array = waves((shape[0] * shape[1],)).reshape(shape)
    made = make(array, chunks=chunks, serializer=serializer(m=16), compressors=None)
    assert made.nbytes_stored() < 0.6 * array.nbytes
    assert np.array_equal(made[...], array) and np.array_equal(made[1500:1600], array[1500:1600])


def test_zarr_chunks_of_one_axis_have_segments_of_16384(tmp_path):
    array = waves((100_000,))
    options = {"shape": array.shape, "chunks": array.shape, "dtype": "int16", "compressors": None}
    made = zarr.create_array(tmp_path / "x.zarr", serializer=serializer(m=16), **options)
    made[...] = array
    chunk = tmp_path / "x.zarr" / "c" / "0"
    assert chunk.read_bytes() == encode(array, 16, 16_384)
    assert np.array_equal(made[50_000:50_010], array[50_000:50_010])
    chunk.write_bytes(encode(array, 16, -1))  # the default of early releases
    assert np.array_equal(made[...], array) and np.array_equal(made[50_000:50_010], array[50_000:50_010])


def test_zarr_reads_chunks_with_one_segment_per_row(tmp_path):
    array = waves((40, 100))
    options = {"shape": array.shape, "chunks": array.shape, "dtype": "int16", "compressors": None}
    made = zarr.create_array(tmp_path / "x.zarr", serializer=serializer(m=16), **options)
    (tmp_path / "x.zarr" / "c" / "0").mkdir(parents=True)
    (tmp_path / "x.zarr" / "c" / "0" / "0").write_bytes(encode(array, 16, 100))
    assert np.array_equal(made[...], array) and np.array_equal(made[7:9], array[7:9])


def test_zarr_round_trips_shards_and_combined_codecs():
    array = waves((16, 1000))
    sharded = make(array, chunks=(2, 500), shards=(8, 1000), serializer=serializer(m=16), compressors=None)
    assert np.array_equal(sharded[...], array) and np.array_equal(sharded[5, 600:], array[5, 600:])
    for more in (zarr.codecs.ZstdCodec(), zarr.codecs.Crc32cCodec()):
        assert np.array_equal(make(array, serializer=serializer(), compressors=more)[...], array)
    turned = make(
        array,
        filters=zarr.codecs.TransposeCodec(order=(1, 0)),
        serializer=serializer(allow_expansion=True),
        compressors=None,
    )
    assert np.array_equal(turned[...], array)


def test_zarr_round_trips_shapes_of_one_to_three_axes():
    for shape, chunks in (((50,), (7,)), ((3, 4, 5), (2, 2, 2)), ((5, 1), (2, 1)), ((1, 1), (1, 1))):
        array = waves(shape)
        made = make(array, chunks, serializer=serializer(m=16), compressors=None)
        assert np.array_equal(made[...], array), shape


@pytest.mark.parametrize("name", [NAME, "linerate.deltarice2"])
def test_zarr_arrays_without_axes_are_read_again(name):
    made = zarr.create_array({}, shape=(), dtype="int16", serializer={"name": name}, compressors=None)
    made[...] = -7
    again = zarr.open_array(made.store, mode="r")
    assert again[()] == -7 and np.asarray(again[...]).shape == ()


#: FusedCodecPipeline is in zarr 3.3 and newer, which needs Python 3.12. Only `make assure` tests
#: with that.
PIPELINES = [
    name for name in ("BatchedCodecPipeline", "FusedCodecPipeline") if hasattr(zarr.core.codec_pipeline, name)
]


def test_every_pipeline_of_this_zarr_is_tested():
    version = tuple(int(part) for part in zarr.__version__.split(".")[:2])
    assert len(PIPELINES) == (2 if version >= (3, 3) else 1)


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("name", [NAME, "linerate.deltarice2"])
@pytest.mark.parametrize("shards", [None, (32, 1000)])
@pytest.mark.parametrize("in_memory", [True, False])
def test_zarr_reads_and_writes_by_every_pipeline(tmp_path, pipeline, name, shards, in_memory):
    array = waves((64, 1000))
    with zarr.config.set({"codec_pipeline.path": f"zarr.core.codec_pipeline.{pipeline}"}):
        made = zarr.create_array(
            {} if in_memory else tmp_path / "x.zarr",
            shape=array.shape,
            chunks=(16, 1000),
            shards=shards,
            dtype="int16",
            serializer={"name": name},
            compressors=None,
        )
        made[:32] = array[:32]
        assert np.array_equal(made[:], np.concatenate([array[:32], np.zeros_like(array[:32])]))  # missing chunks
        made[:] = array
        made[5, 7:9] = array[5, 7:9]
        for picked in (np.s_[:], np.s_[3], np.s_[3:40, 5:700:3], np.s_[63, 999], np.s_[17:18]):
            assert np.array_equal(made[picked], array[picked])
        assert np.array_equal(made.oindex[[1, 5, 60], :], array[[1, 5, 60]])
        assert np.array_equal(made.vindex[[1, 5], [3, 4]], array[[1, 5], [3, 4]])


def test_zarr_consolidation_resharding_and_resizing_keep_the_samples(tmp_path):
    array = waves((64, 1000))
    group = zarr.create_group(tmp_path / "x.zarr")
    for name in (NAME, "linerate.deltarice2"):
        options = {"chunks": (16, 1000), "serializer": {"name": name}, "compressors": None}
        group.create_array(name, data=array, **options)
    zarr.consolidate_metadata(group.store)
    read = zarr.open_consolidated(tmp_path / "x.zarr", mode="r")
    for name in (NAME, "linerate.deltarice2"):
        source = read[name]
        assert np.array_equal(source[...], array)
        sharded = zarr.from_array(
            tmp_path / f"{name}.zarr", data=source, chunks=(4, 1000), shards=(32, 1000), serializer="keep"
        )
        assert sharded.serializer == source.serializer and np.array_equal(sharded[...], array)
        assert np.array_equal(sharded[5:7, 3:900], array[5:7, 3:900])
        plain = zarr.from_array(tmp_path / f"{name}-plain.zarr", data=sharded, serializer="auto")
        assert np.array_equal(plain[...], array)
        stored = zarr.open_array(tmp_path / "x.zarr" / name)
        stored.append(array[:20])
        assert np.array_equal(stored[...], np.concatenate([array, array[:20]]))
        stored.resize((50, 1000))
        assert np.array_equal(stored[...], array[:50])


def test_zarr_codec_objects_round_trip_and_compare():
    from pylinerate.zarr import DeltaRice

    array = waves((10, 1000), noise=60)
    best = DeltaRice.for_array(array, threads=2)
    assert best.m == tune(array).m and best == DeltaRice(m=best.m)
    assert np.array_equal(make(array, serializer=best, compressors=None)[...], array)
    assert pickle.loads(pickle.dumps(best)) == best
    assert DeltaRice.from_dict(best.to_dict()) == best
    assert hash(best) == hash(DeltaRice(m=best.m))


def test_zarr_rejects_bad_types_and_parameters():
    for dtype in ("int32", "float32", "int8", "bool"):
        with pytest.raises(TypeError, match="samples are"):
            zarr.create_array({}, shape=(4, 5), dtype=dtype, serializer=serializer(), compressors=None)
    for name in (NAME, NAME2):  # zarr does not have codecs in shards validate themselves
        with pytest.raises(TypeError, match="samples are"):
            options = {"serializer": {"name": name}, "compressors": None, "chunks": (2, 5), "shards": (4, 5)}
            zarr.create_array({}, shape=(4, 5), dtype="float32", **options)
    for bad in ({"m": 12}, {"m": 1}, {"m": "auto"}, {"segment": 0}, {"filter": [2, -1]}):
        with pytest.raises(ValueError):
            zarr.create_array({}, shape=(4, 5), dtype="int16", serializer=serializer(**bad), compressors=None)


def test_zarr_damaged_chunks_are_errors(tmp_path):
    array = waves((4, 700))
    made = zarr.create_array(
        tmp_path / "x.zarr",
        shape=array.shape,
        chunks=array.shape,
        dtype="int16",
        serializer=serializer(m=16),
        compressors=None,
    )
    made[...] = array
    chunk = tmp_path / "x.zarr" / "c" / "0" / "0"
    good = chunk.read_bytes()
    for damaged in (b"", good[:-4], good + bytes(4), bytes(len(good)), encode(array[:3], m=16)):
        chunk.write_bytes(damaged)
        with pytest.raises(ValueError):
            made[...]
    chunk.write_bytes(good)
    assert np.array_equal(made[...], array)


def test_zarr_compute_encoded_size_is_not_implemented():
    from pylinerate.zarr import DeltaRice

    with pytest.raises(NotImplementedError):
        DeltaRice().compute_encoded_size(100, None)
    assert asyncio.iscoroutinefunction(DeltaRice._encode_single)


def test_numcodecs_codecs_need_no_zarr():
    run_python(
        f"""
import sys
sys.modules["zarr"] = None
import numcodecs, numpy
for name in ({NAME!r}, {NAME!r} + "2"):
    codec = numcodecs.get_codec(dict(id=name))
    assert (codec.decode(codec.encode(numpy.arange(50, dtype="int16"))) == numpy.arange(50)).all()
"""
    )


def by_numcodecs(array, m):
    codec(m=m).encode(array)


def by_zarr(array, m):
    make(array, array.shape, serializer=serializer(m=m), compressors=None)


#: Samples of 8 channels with different baselines. Each row holds the samples of one moment.
TIME_MAJOR = (waves((8, 3001), noise=3) + 1000 * np.arange(8)[:, None]).astype("int16").T.copy()


@pytest.mark.parametrize("write", [by_numcodecs, by_zarr])
def test_chunks_that_other_parameters_would_make_much_smaller_are_a_warning_once(write):
    rice._checked.clear()
    for array, m, remedy in ((TIME_MAJOR, 2048, "DeltaRice2"), (waves((6, 2000), noise=100), 32, "m=128")):
        with pytest.warns(UserWarning, match=remedy) as warned:
            write(array, m)
        assert len(warned) == 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            write(array, m)


@pytest.mark.parametrize("write", [by_numcodecs, by_zarr])
def test_chunks_that_nothing_would_make_smaller_are_no_warning(write):
    rice._checked.clear()
    noise = np.random.default_rng(1).integers(-8192, 8192, (8, 3000), "int16")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write(noise, 4096)
        write(waves((6, 2000)), 16)
        write(TIME_MAJOR[:100], 2048)  # too few samples to judge
        codec(m=16).encode(np.asfortranarray(TIME_MAJOR))


# Version 2

NAME2 = "linerate.deltarice2"
TYPES = ["int16", "uint16", "int32", "uint32"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("segment", [None, 100])
def test_numcodecs_version_2_round_trips(dtype, segment):
    array = waves((6, 700), dtype)
    made = numcodecs.get_codec({"id": NAME2, "segment": segment})
    stream = made.encode(array)
    assert stream == encode2(array, segment)
    decoded = made.decode(stream)
    assert decoded.dtype == array.dtype and np.array_equal(decoded, array.reshape(-1))
    out = np.empty_like(array)
    assert made.decode(stream, out=out) is out and np.array_equal(out, array)
    with pytest.raises(ValueError):
        made.decode(stream, out=np.empty(10, dtype))
    for again in (
        numcodecs.get_codec(json.loads(json.dumps(made.get_config()))),
        pickle.loads(pickle.dumps(made)),
    ):
        assert again == made
    assert repr(made) == f"DeltaRice2(segment={segment}, channels=None)"


def test_version_2_codecs_do_not_store_the_shape():
    """numcodecs and zarr store the shape themselves."""
    array = waves((3, 4, 50))
    stream = numcodecs.get_codec({"id": NAME2}).encode(array)
    assert stream == encode2(array.reshape(12, 50)) and len(stream) < len(encode2(array))
    with_shape = encode2(array)
    assert np.array_equal(numcodecs.get_codec({"id": NAME2}).decode(with_shape), array.reshape(-1))


def test_numcodecs_version_2_rejects_bad_segments_types_and_streams():
    for segment in (0, 65537, -1):
        with pytest.raises(ValueError):
            numcodecs.get_codec({"id": NAME2, "segment": segment})
    with pytest.raises(TypeError):
        numcodecs.get_codec({"id": NAME2}).encode(np.zeros(10))
    with pytest.raises(pylinerate.Error):
        numcodecs.get_codec({"id": NAME2}).decode(b"nonsense")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", TYPES)
def test_zarr_format_2_round_trips_version_2(dtype, order):
    array = waves((10, 1000), dtype)
    made = make(
        array, zarr_format=2, compressors=numcodecs.get_codec({"id": NAME2}), filters=None, order=order
    )
    again = zarr.open_array(made.store, mode="r")
    assert np.array_equal(again[...], array) and np.array_equal(again[3, ::7], array[3, ::7])


@pytest.mark.parametrize("dtype", [*TYPES, ">u4"])
def test_zarr_format_3_round_trips_version_2(dtype):
    array = waves((10, 1000), np.dtype(dtype).newbyteorder("=")).astype(dtype)
    made = make(array, serializer={"name": NAME2}, compressors=None)
    again = zarr.open_array(made.store, mode="r")
    assert np.array_equal(again[...], array) and np.array_equal(again[3, ::7], array[3, ::7])
    sharded = make(array, chunks=(2, 500), shards=(8, 1000), serializer={"name": NAME2}, compressors=None)
    assert np.array_equal(sharded[...], array)


def test_zarr_version_2_rejects_bad_types_and_damaged_chunks(tmp_path):
    for dtype in ("int64", "float32", "int8", "bool"):
        with pytest.raises(TypeError, match="samples are"):
            zarr.create_array({}, shape=(4, 5), dtype=dtype, serializer={"name": NAME2}, compressors=None)
    array = waves((4, 700))
    options = {"shape": array.shape, "chunks": array.shape, "dtype": "int16", "compressors": None}
    made = zarr.create_array(tmp_path / "x.zarr", serializer={"name": NAME2}, **options)
    made[...] = array
    chunk = tmp_path / "x.zarr" / "c" / "0" / "0"
    good = chunk.read_bytes()
    assert good == encode2(array)
    for damaged in (b"", good[:-4], good + bytes(4), encode2(array[:3]), encode2(array.astype("uint16"))):
        chunk.write_bytes(damaged)
        with pytest.raises(ValueError):
            made[...]


# Both


@pytest.mark.parametrize(
    "codec",
    [
        serializer(),
        serializer(segment=-1),
        serializer(segment=70),
        {"name": NAME2},
        {"name": NAME2, "configuration": {"segment": 64}},
    ],
    ids=str,
)
def test_zarr_partial_selections_equal_numpy(codec):
    for shape, chunks, shards in [
        ((23, 100), (7, 100), None),
        ((23, 100), (10, 33), None),
        ((20, 100), (5, 50), (10, 100)),
        ((9, 5, 40), (4, 5, 40), None),
        ((500,), (200,), None),
    ]:
        array = waves(shape)
        made = make(array, chunks, shards=shards, serializer=codec, compressors=None)
        n = shape[0]
        of_rows = [0, n - 1, -1, slice(2, 5), slice(1, n, 3), slice(4, 4), slice(None), ...]
        of_more = [(slice(3, 8), ..., 5), (..., slice(10, 20, 4)), (n // 2, ..., 0)]
        for selection in of_rows + (of_more if array.ndim > 1 else []):
            assert np.array_equal(made[selection], array[selection]), (shape, selection)
        rows = np.array([1, 3, n - 2])
        assert np.array_equal(made.oindex[rows], array[rows])
        assert np.array_equal(made.oindex[np.arange(n) % 4 == 1], array[np.arange(n) % 4 == 1])
        points = (rows, *(rows % size for size in shape[1:]))
        assert np.array_equal(made.get_coordinate_selection(points), array[points])
        if array.ndim > 1:
            between = (slice(None),) * (array.ndim - 2)
            assert np.array_equal(made.oindex[(rows, *between, [0, 7])], array[rows][..., [0, 7]])


@pytest.mark.parametrize(
    "codec", [serializer(m=8, segment=700), {"name": NAME2, "configuration": {"segment": 700}}], ids=str
)
def test_unselected_rows_are_not_decoded(tmp_path, codec):
    array = waves((6, 700))
    options = {"shape": array.shape, "chunks": array.shape, "dtype": "int16", "compressors": None}
    made = zarr.create_array(tmp_path / "x.zarr", serializer=codec, **options)
    made[...] = array
    chunk = tmp_path / "x.zarr" / "c" / "0" / "0"
    good = chunk.read_bytes()
    chunk.write_bytes(good[:-8] + b"\xff" * 8)
    assert np.array_equal(made[2], array[2]) and np.array_equal(made[1:4, ::9], array[1:4, ::9])
    with pytest.raises(pylinerate.Error):
        made[5]
    for other in (array[:5], array.astype("uint16" if "2" in codec["name"] else "int16")[:, :699]):
        chunk.write_bytes(encode2(other) if "2" in codec["name"] else encode(other, 8, other.shape[1]))
        with pytest.raises(ValueError):
            made[2]


def test_codecs_are_found_by_name_without_an_import():
    run_python(
        f"""
import sys, numpy, numcodecs, zarr
assert not any(name.startswith("pylinerate") for name in sys.modules)
codec = numcodecs.get_codec(dict(id={NAME!r}, m=16))
assert (codec.decode(codec.encode(numpy.arange(50, dtype="int16"))) == numpy.arange(50)).all()
array = zarr.create_array(
    dict(), shape=(50,), dtype="int16", serializer=dict(name={NAME!r}, configuration=dict(m=16)), compressors=None
)
array[:] = numpy.arange(50)
assert (array[:] == numpy.arange(50)).all()
assert "pylinerate.zarr" in sys.modules and "pylinerate.hdf5" not in sys.modules
"""
    )


def test_linerate_threads_sets_the_default_thread_count(monkeypatch):
    from pylinerate._threads import thread_count

    for text, threads in (("3", 3), ("x", 1), ("", 1), ("0", 1), ("-2", 1), ("99999999", 256)):
        monkeypatch.setenv("LINERATE_THREADS", text)
        assert thread_count(None) == threads
        assert np.array_equal(codec().decode(codec().encode(waves())), waves().reshape(-1))


def test_doctests_pass():
    for name in ("pylinerate.numcodecs", "pylinerate.zarr"):
        results = doctest.testmod(sys.modules[name])
        assert results.attempted > 3 and results.failed == 0


def channels(dtype="int16"):
    """Makes samples of the shape (N, 3). The last channel is the difference of the first two."""
    array = np.cumsum(np.random.default_rng(5).integers(-40, 40, (1600, 3)), 0)
    array[:, 2] = array[:, 0] - array[:, 1]
    return array.astype(dtype)


def test_channels_are_part_of_the_configuration_if_given():
    array = channels()
    for config in ({}, {"channels": 3}, {"channels": 1}):
        made = numcodecs.get_codec({"id": f"{NAME}2", **config})
        assert made.get_config() == {"id": f"{NAME}2", "segment": None, **config}
        stream = made.encode(array)
        assert rice.info2(stream).channels == config.get("channels", 3)
        assert np.array_equal(made.decode(stream), array.reshape(-1))
        named = {"name": f"{NAME}2", "configuration": config}
        stored = make(array, (800, 3), serializer=named, compressors=None)
        assert stored.metadata.codecs[0].to_dict()["configuration"] == {"segment": None, **config}
        assert np.array_equal(stored[...], array) and np.array_equal(stored[790:810:3, 1], array[790:810:3, 1])


def test_channels_that_no_axis_of_the_chunks_has_are_refused_when_the_array_is_created():
    named = {"name": f"{NAME}2", "configuration": {"channels": 5}}
    with pytest.raises(ValueError, match="5 channels"):
        zarr.create_array({}, shape=(1600, 3), chunks=(800, 3), dtype="int16", serializer=named, compressors=None)
    turned = {"filters": zarr.codecs.TransposeCodec(order=(1, 0)), "compressors": None}
    named["configuration"]["channels"] = 3
    made = make(channels().T, (3, 800), serializer=named, **turned)
    assert np.array_equal(made[...], channels().T)


def test_format_2_arrays_with_channels_in_another_order_are_refused_when_written():
    """zarr tells codecs of format 2 the order and the type of an array only with its first
    chunk."""
    made = numcodecs.get_codec({"id": f"{NAME}2", "channels": 3})
    options = {"chunks": (800, 3), "zarr_format": 2, "filters": None}
    with pytest.raises(ValueError, match="C order"):
        make(channels(), compressors=made, order="F", **options)
    with pytest.raises(TypeError, match="byte order"):
        make(channels(">i2"), compressors=made, **options)
