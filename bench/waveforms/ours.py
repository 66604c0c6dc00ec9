"""Imports the Python package pylinerate, if it is installed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from numpy.typing import NDArray

from measure import Unavailable


@cache
def hdf5() -> ModuleType:
    try:
        from pylinerate import hdf5
    except ImportError as e:
        raise Unavailable(f"pylinerate.hdf5 cannot be imported: {e}") from e
    return hdf5


@cache
def rice() -> ModuleType:
    try:
        from pylinerate import rice
    except ImportError as e:
        raise Unavailable(f"pylinerate.rice cannot be imported: {e}") from e
    return rice


def best_filter(array: NDArray) -> Mapping[str, Any]:
    """Returns HDF5's options for version 1 with the `m` that makes the array smallest. The search
    is not timed."""
    best = rice().tune(array)
    return hdf5().DeltaRice(m=best.m, segment=array.shape[-1], filter=best.filter)


def plugin() -> str:
    """Returns the path of the package's plugin for filter 32025."""
    folder = Path(hdf5().PLUGIN_PATH)
    found = sorted(file for file in folder.iterdir() if file.stem.endswith("deltarice"))
    if not found:
        raise Unavailable(f"no plugin for filter 32025 in {folder.name}")
    return str(found[0])
