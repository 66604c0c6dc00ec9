"""Version 2 streams against the slow decoder of ``testdata/rice-v2``, which was written from the
description of the format alone."""

import importlib.util
import sys

import numpy as np
import pytest
from support import REPOSITORY

from pylinerate import rice


@pytest.fixture(scope="module")
def slow():
    path = REPOSITORY / "testdata" / "rice-v2" / "decode.py"
    spec = importlib.util.spec_from_file_location("slow_rice_v2", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_goldens(slow, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["decode.py"])  # all of them
    assert slow.main() == 0


@pytest.mark.parametrize("dtype", ["<i2", "<u2", "<i4", "<u4"])
@pytest.mark.parametrize("seed", range(6))
def test_streams(slow, dtype, seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 1500))
    t = np.arange(n)
    wave = 4000 * np.sin(t / random.uniform(3, 60)) + random.normal(0, 2.0 ** random.integers(-3, 9), n)
    wave[random.random(n) < 0.01] += random.uniform(-30000, 30000)
    samples = (np.rint(wave).astype(np.int64) * int(random.integers(1, 14))).astype(dtype)
    stream = rice.encode2(samples, segment=int(random.integers(1, 700)))
    assert slow.decode(bytes(stream)) == samples.tobytes()


@pytest.mark.parametrize("shape", [(2, 3, 40), (3, 0, 4), ()], ids=str)
def test_shapes(slow, shape):
    samples = np.arange(np.prod(shape, dtype=int), dtype="<i4").reshape(shape)
    stream = rice.encode2(samples, segment=50)
    assert slow.decode(stream) == samples.tobytes() and slow.shape(stream) == shape
    assert slow.shape(rice.encode2(samples.reshape(-1))) is None
