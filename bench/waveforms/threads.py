"""Thread counts of libraries that take none as an argument."""

from __future__ import annotations

import os
from functools import cache


@cache
def openmp() -> list:
    """The OpenMP libraries loaded by filters; empty without threadpoolctl."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return []
    return ThreadpoolController().select(user_api="openmp").lib_controllers


def set_threads(n: int) -> None:
    """Sets the thread count of filters without an argument for it: Blosc2, Delta-Rice, bitshuffle."""
    os.environ["BLOSC_NTHREADS"] = os.environ["LINERATE_THREADS"] = str(n)
    for library in openmp():
        library.set_num_threads(n)
