"""Methods and their shapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from measure import Trial

#: Through h5py into a file, the whole array as one chunk.
HDF5 = "hdf5"
#: From an array to bytes and back.
MEMORY = "memory"


class Unavailable(Exception):
    """Raised with the reason why a method cannot be measured here."""


@dataclass(frozen=True)
class Method:
    """A row of the tables. `make(array, back)` gives the trial, which decodes into `back`."""

    shape: str
    name: str
    version: str
    make: Callable[[NDArray, NDArray], Trial]
    threads: int = 1

    @property
    def label(self) -> str:
        return self.name if self.threads == 1 else f"{self.name} x{self.threads}"


def signed(array: NDArray) -> NDArray[np.int16]:
    """The same bits as int16."""
    return array.view(np.int16)
