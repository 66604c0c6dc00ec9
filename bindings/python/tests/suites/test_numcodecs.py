"""Runs numcodecs' suite for codecs on ours. `scripts/test.sh zarr` runs this file."""

import numpy as np
import pytest
from numcodecs.registry import get_codec
from numcodecs.tests import common
from support import waves

from pylinerate import numcodecs

CONFIGS = [
    {"id": "linerate.deltarice", "m": 16, "allow_expansion": True},
    {"id": "linerate.deltarice", "m": 64, "segment": 100, "filter": [1, -2, 1], "allow_expansion": True},
    {"id": "linerate.deltarice2"},
    {"id": "linerate.deltarice2", "segment": 512},
]
CODECS = [get_codec(config) for config in CONFIGS]
SHAPES = [(1000,), (100, 10), (2, 50, 10)]


def arrays(dtype="int16"):
    """Makes arrays of several shapes and both orders, as the suite's own modules do."""
    made = [waves(shape, dtype) for shape in SHAPES]
    return [*made, *(np.asfortranarray(array) for array in made), np.arange(1000, dtype=dtype)]


@pytest.mark.parametrize("codec", CODECS, ids=str)
def test_encode_decode(codec):
    for array in arrays():
        common.check_encode_decode_array(array, codec)


@pytest.mark.parametrize("dtype", ["uint16", "int32", "uint32"])
def test_encode_decode_of_other_types(dtype):
    own = [{**CONFIGS[0], "dtype": dtype}] if dtype == "uint16" else []
    for config in [*own, *CONFIGS[2:]]:
        for array in arrays(dtype):
            common.check_encode_decode_array(array, get_codec(config))


@pytest.mark.parametrize("codec", CODECS, ids=str)
def test_config(codec):
    common.check_config(codec)


@pytest.mark.parametrize("codec", CODECS, ids=str)
def test_repr(codec, monkeypatch):
    for name in numcodecs.__all__:
        monkeypatch.setattr(common, name, getattr(numcodecs, name), raising=False)
    common.check_repr(repr(codec))


def test_backwards_compatibility(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for codec in CODECS:
        for _ in range(2):  # the second time decodes what the first wrote
            common.check_backwards_compatibility(codec.codec_id, arrays(), [codec], prefix=str(CODECS.index(codec)))


@pytest.mark.parametrize("codec", CODECS, ids=str)
def test_object_arrays_are_refused(codec):
    common.check_err_encode_object_buffer(codec)
    with pytest.raises(TypeError):
        codec.decode(codec.encode(waves((10,))), out=np.empty(10, object))
