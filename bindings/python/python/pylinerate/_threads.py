"""Checks thread counts, and applies ``LINERATE_THREADS``."""

from __future__ import annotations

import operator
import os

#: Largest number of threads. Larger numbers are lowered to this one.
MAX_THREADS = 256


def thread_count(threads: int | None) -> int:
    """Returns ``threads``, but at most :data:`MAX_THREADS`. Raises ``ValueError`` if it is below 1.

    ``None`` means the environment variable ``LINERATE_THREADS`` if that is a positive number, else
    1.
    """
    if threads is None:
        given = os.environ.get("LINERATE_THREADS", "")
        return min(int(given), MAX_THREADS) if given.isdecimal() and int(given) > 0 else 1
    threads = operator.index(threads)
    if threads < 1:
        raise ValueError(f"threads is {threads}, but must be at least 1")
    return min(threads, MAX_THREADS)
