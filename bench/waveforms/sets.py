"""The arrays that are measured: generated ones, and recordings in .npy files."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

#: Names of the sets that `linerate-bench waveforms` generates, the same on every machine.
GENERATED = ("nab", "nedm", "noptrex")

#: Longest row that counts as a frame, which has one sample of each channel.
FRAME = 384


@dataclass(frozen=True)
class Set:
    """Waveforms of one kind, one per row, C-contiguous, in the machine's byte order. A row of at most `FRAME` samples
    is a frame instead, with one sample of each channel of a recording."""

    name: str
    array: NDArray[np.int16] | NDArray[np.uint16] | NDArray[np.int32]


def first_rows(array: NDArray, fraction: float) -> NDArray:
    """Returns the first `fraction` of the rows, at least one row."""
    return np.ascontiguousarray(array[: max(1, round(fraction * len(array)))])


def generated(name: str, generator: Path, folder: Path, fraction: float) -> Set:
    """Runs the generator, which writes the set to a file in `folder`, and loads the set."""
    file = folder / f"{name}.npy"
    subprocess.run([generator, "waveforms", "--set", name, "--out", file], check=True)
    array = np.load(file)
    file.unlink()
    return Set(name, first_rows(array, fraction))


def recorded(folder: Path, fraction: float) -> Iterator[Set]:
    """Loads the two-dimensional arrays of int16, uint16 and int32 below `folder`, in the order of their paths. Sets
    have the names of the files without the prefix `real_`."""
    for file in sorted(folder.rglob("*.npy")):
        array = np.load(file, mmap_mode="r")
        if array.ndim == 2 and array.dtype in (np.int16, np.uint16, np.int32) and array.size:
            yield Set(file.stem.removeprefix("real_"), first_rows(array, fraction))
