"""How many threads libraries use that are not told with each call."""

from __future__ import annotations

import os
from functools import cache


@cache
def openmp() -> list:
    """The OpenMP libraries in use, once all filters are loaded. None without threadpoolctl."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return []
    return ThreadpoolController().select(user_api="openmp").lib_controllers


def set_threads(n: int) -> None:
    """How many threads filters use that have no argument for it: Blosc2, ours, bitshuffle."""
    os.environ["BLOSC_NTHREADS"] = os.environ["LINERATE_THREADS"] = str(n)
    for library in openmp():
        library.set_num_threads(n)
