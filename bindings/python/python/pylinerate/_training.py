"""Trains dictionaries from samples, and measures their savings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple

from . import _pylinerate
from ._threads import thread_count

if TYPE_CHECKING:
    from ._slices import AnyBuffer

#: Default dictionary sizes of :func:`search`, in bytes.
SIZES = (1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 110 << 10)


class Savings(NamedTuple):
    """Sizes of some blocks with and without a dictionary, as :func:`savings` measures them."""

    #: Bytes of the blocks, uncompressed.
    content: int
    #: Size of all blocks if they are compressed without a dictionary, in bytes.
    without_dictionary: int
    #: Size of all blocks if they are compressed with the dictionary, in bytes.
    with_dictionary: int
    #: Bytes of the dictionary.
    dictionary: int
    #: Bytes of the dictionary's decoding tables.
    tables: int

    @property
    def ratio(self) -> float:
        """Compression ratio with the dictionary, whose own bytes count as compressed bytes."""
        return self.content / max(1, self.with_dictionary + self.dictionary)

    @property
    def ratio_without(self) -> float:
        """Compression ratio without a dictionary."""
        return self.content / max(1, self.without_dictionary)


class Candidate(NamedTuple):
    """A dictionary size that :func:`search` tried."""

    #: The requested size in bytes.
    size: int
    #: Savings on samples that the dictionary was not trained with.
    savings: Savings
    #: Estimated size of all expected data if it is compressed with the dictionary, plus that of the
    #: dictionary, in bytes.
    total: int


class SearchResult(NamedTuple):
    """Result of :func:`search`."""

    #: The best dictionary, trained with all samples; ``None`` if no dictionary saves bytes.
    dictionary: bytes | None
    #: Index in ``candidates`` of the size of that dictionary; ``None`` if there is none.
    best: int | None
    #: The sizes in ascending order, except those that could not be trained.
    candidates: list[Candidate]
    #: Bytes of the expected data, uncompressed.
    expected: int
    #: Estimated size of the expected data if it is compressed without a dictionary, in bytes.
    without_dictionary: int


class SetReport(NamedTuple):
    """The result of :func:`cluster` for one set of samples. Compressed sizes are estimated from the
    samples that were held out."""

    #: Index of the dictionary that the set should use, or ``None``.
    dictionary: int | None
    #: Reason why ``dictionary`` is ``None``: the set has no bytes or too few samples, or no
    #: dictionary saves bytes. ``None`` if the set has a dictionary.
    reason: Literal["empty", "too few samples", "no savings"] | None
    #: Bytes of the set, uncompressed.
    content: int
    #: Size of the set if it is compressed without a dictionary, in bytes.
    without_dictionary: int
    #: Size of the set if it is compressed with a dictionary of its own, in bytes; ``None`` if none
    #: can be trained.
    with_own: int | None
    #: Size of the set if it is compressed with the dictionary that it should use, or without one if
    #: it should use none, in bytes.
    chosen: int


class Costs(NamedTuple):
    """Total sizes of all sets with one way to assign dictionaries to them."""

    #: Bytes of compressed blocks.
    block_bytes: int
    #: Bytes of dictionaries.
    dictionary_bytes: int
    #: Number of dictionaries.
    dictionaries: int

    @property
    def total(self) -> int:
        """Bytes of blocks and dictionaries together."""
        return self.block_bytes + self.dictionary_bytes


class ClusteringResult(NamedTuple):
    """Result of :func:`cluster`."""

    #: The dictionaries, each used by at least one set.
    dictionaries: list[bytes]
    #: The result for each set, in the order of the sets.
    sets: list[SetReport]
    #: Costs without dictionaries.
    without: Costs
    #: Costs with a dictionary of its own for each set that can have one, whether it saves bytes or
    #: not.
    own: Costs
    #: Costs with a single dictionary for all sets that it makes smaller.
    one: Costs
    #: Costs with the dictionaries of this result, as they are assigned.
    shared: Costs
    #: Number of rounds in which a dictionary was replaced.
    rounds: int


def train(samples: Iterable[AnyBuffer], size: int, small_tables: bool = False, level: int = 3) -> bytes:
    """Trains a dictionary. It gets entropy tables if these make held-out samples smaller.

    Parameters
    ----------
    samples : iterable of buffers
        Samples that resemble future blocks. At least 5 are needed. In total they should have at
        least 10 times ``size`` bytes.
    size : int
        Maximum size of the dictionary in bytes, at least 256.
    small_tables : bool
        Whether the tables have at most half the full size, see :func:`shrink_tables`.
    level : int
        The zstd level at which blocks will be compressed, -7 to 22.

    Raises
    ------
    Error
        If the samples are too few or too short, ``size`` is less than 256, or memory runs out.
    """
    return _pylinerate.dict_train(list(samples), size, small_tables, level)


def shrink_tables(dictionary: AnyBuffer) -> bytes:
    """Returns a copy of the dictionary whose decoding tables have at most half the full size. So
    there is less memory to prefetch for each block, and blocks become slightly larger. Compress
    blocks with the new dictionary. Every zstd decoder accepts it. Raw content, which has no tables,
    is returned unchanged.

    Raises
    ------
    Error
        If the dictionary is damaged.
    """
    return _pylinerate.dict_shrink_tables(dictionary)


def savings(dictionary: AnyBuffer, blocks: Iterable[AnyBuffer], level: int = 3) -> Savings:
    """Compresses ``blocks`` with and without a dictionary, and returns their sizes. Take other
    blocks than the training samples, which overstate the savings. ``level`` is a zstd level, -7 to
    22.

    >>> from pylinerate.dict import savings, train
    >>> rows = [b'{"time": %d, "user": "ann", "level": "info"}' % (i * i * 977) for i in range(4000)]
    >>> measured = savings(train(rows[:2000], 1024), rows[2000:])
    >>> measured.ratio > 1.5 * measured.ratio_without
    True
    """
    return Savings(*_pylinerate.dict_savings(dictionary, list(blocks), level))


def search(
    samples: Iterable[AnyBuffer],
    sizes: Iterable[int] = SIZES,
    *,
    expected: int | None = None,
    small_tables: bool = False,
    level: int = 3,
    threads: int = 1,
) -> SearchResult:
    """Finds the dictionary size with the smallest total of compressed blocks and dictionary.

    A dictionary of each size is trained with three quarters of the samples and measured on the
    rest. If the best size saves bytes, its dictionary is trained again with all samples.

    Parameters
    ----------
    samples : iterable of buffers
        Samples of future blocks.
    sizes : iterable of int
        The sizes to try, in bytes. Sizes above 1 MiB are lowered to the bytes of the samples, but
        not below 1 MiB.
    expected : int, optional
        Bytes of data that the dictionary will be used for. Default: the bytes of the samples.
    small_tables : bool
        Whether the tables have at most half the full size, see :func:`shrink_tables`.
    level : int
        A level of zstd, -7 to 22.
    threads : int
        Maximum number of threads. The result does not depend on it.

    Raises
    ------
    Error
        If no size can be trained, because the samples are too few or too short or the sizes too
        small, or if memory runs out.
    """
    found = _pylinerate.dict_search(
        list(samples), list(sizes), small_tables, level, expected, thread_count(threads)
    )
    candidates = [Candidate(size, Savings(*row), total) for size, row, total in found[2]]
    return SearchResult(found[0], found[1], candidates, found[3], found[4])


def cluster(
    sets: Iterable[Iterable[AnyBuffer]],
    max_count: int,
    size: int,
    *,
    set_bytes: Iterable[int] | None = None,
    small_tables: bool = False,
    level: int = 3,
    rounds: int = 8,
    sample_limit: int = 256 << 10,
    threads: int = 1,
) -> ClusteringResult:
    """Trains few dictionaries for many files, tenants or tables, and assigns one to each.

    A quarter of each set's samples, at least one, is held out and decides which dictionary makes
    the set smallest; the other samples are for training. Dictionaries that save no more than their
    own bytes are pruned.

    Parameters
    ----------
    sets : iterable of iterables of buffers
        Sample blocks of each file, tenant or table.
    max_count : int
        Maximum number of dictionaries.
    size : int
        Maximum size of each dictionary in bytes.
    set_bytes : iterable of int, optional
        Bytes of data that each set represents. Default: the bytes of its samples.
    small_tables : bool
        Whether the tables have at most half the full size, see :func:`shrink_tables`.
    level : int
        A level of zstd, -7 to 22.
    rounds : int
        Maximum number of rounds of assigning sets and training dictionaries, before pruning and
        again after it.
    sample_limit : int
        Maximum bytes of samples that are used of each set. At least one sample is used.
    threads : int
        Maximum number of threads. The result does not depend on it.

    Raises
    ------
    Error
        If memory runs out.
    ValueError
        If ``set_bytes`` does not have a number for each set.
    """
    samples = [list(blocks) for blocks in sets]
    totals = [None] * len(samples) if set_bytes is None else list(set_bytes)
    if len(totals) != len(samples):
        raise ValueError(f"sets has {len(samples)} items, but set_bytes has {len(totals)}")
    dictionaries, reports, costs, rounds_run = _pylinerate.dict_cluster(
        list(zip(samples, totals)),
        max_count,
        size,
        small_tables,
        level,
        rounds,
        sample_limit,
        thread_count(threads),
    )
    without, own, one, shared = (Costs(*row) for row in costs)
    set_reports = [SetReport(*row) for row in reports]
    return ClusteringResult(dictionaries, set_reports, without, own, one, shared, rounds_run)
