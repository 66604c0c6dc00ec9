"""Golden chunks that the original filter 32025 wrote, with their samples."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from support import REPOSITORY

from pylinerate.rice import Params

GOLDENS = REPOSITORY / "testdata" / "rice"


def first_chunk(array, chunks):
    """The first chunk of ``array``, padded with zeros beyond its edge."""
    chunk = np.zeros(chunks, array.dtype)
    inside = tuple(slice(0, min(c, n)) for c, n in zip(chunks, array.shape))
    chunk[inside] = array[inside]
    return chunk


def read_golden(name, entry):
    chunk = (GOLDENS / f"{name}.chunk0.bin").read_bytes()
    array = np.load(GOLDENS / f"{name}.raw.npy")
    return SimpleNamespace(
        name=name,
        array=array,
        cd_values=entry["cd_values"],
        chunk=chunk[:-4] if name == "walk_then_fletcher32" else chunk,
        chunks=tuple(entry["chunks"]),
        params=Params.from_cd_values(entry["cd_values"]),
        words=first_chunk(array, entry["chunks"]).reshape(-1).view("<i2"),
    )


@pytest.fixture(scope="session")
def goldens():
    manifest = json.loads((GOLDENS / "manifest.json").read_text())
    return [read_golden(name, entry) for name, entry in manifest.items()]
