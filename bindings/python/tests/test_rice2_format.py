"""Version 2 streams against the reference decoder in ``testdata/rice-v2``, which was written from
the format's description alone."""

import importlib.util
import sys

import numpy as np
import pytest
from support import REPOSITORY

from pylinerate import rice


@pytest.fixture(scope="module")
def reference():
    path = REPOSITORY / "testdata" / "rice-v2" / "decode.py"
    spec = importlib.util.spec_from_file_location("reference_rice_v2", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_decoder_reads_the_golden_streams(reference, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["decode.py"])  # decodes all golden streams
    assert reference.main() == 0


@pytest.mark.parametrize("dtype", ["<i2", "<u2", "<i4", "<u4"])
@pytest.mark.parametrize("seed", range(6))
def test_the_reference_decoder_reads_encoded_streams(reference, dtype, seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 1500))
    t = np.arange(n)
    wave = 4000 * np.sin(t / random.uniform(3, 60)) + random.normal(0, 2.0 ** random.integers(-3, 9), n)
    wave[random.random(n) < 0.01] += random.uniform(-30000, 30000)
    samples = (np.rint(wave).astype(np.int64) * int(random.integers(1, 14))).astype(dtype)
    stream = rice.encode2(samples, segment=int(random.integers(1, 700)))
    assert reference.decode(bytes(stream)) == samples.tobytes()


@pytest.mark.parametrize("shape", [(2, 3, 40), (3, 0, 4), ()], ids=str)
def test_the_reference_decoder_reads_shapes(reference, shape):
    samples = np.arange(np.prod(shape, dtype=int), dtype="<i4").reshape(shape)
    stream = rice.encode2(samples, segment=50)
    assert reference.decode(stream) == samples.tobytes() and reference.shape(stream) == shape
    assert reference.shape(rice.encode2(samples.reshape(-1))) is None
