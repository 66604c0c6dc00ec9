"""Numbers of threads."""

from __future__ import annotations

import operator
import os

#: Upper bound of every thread count.
MAX_THREADS = 256


def thread_count(threads: int | None) -> int:
    """``threads``, at most :data:`MAX_THREADS`. Default: the environment's ``LINERATE_THREADS``, else 1."""
    if threads is None:
        given = os.environ.get("LINERATE_THREADS", "")
        return min(int(given), MAX_THREADS) if given.isdecimal() and int(given) > 0 else 1
    threads = operator.index(threads)
    if threads < 1:
        raise ValueError(f"threads is {threads}, but must be at least 1")
    return min(threads, MAX_THREADS)
