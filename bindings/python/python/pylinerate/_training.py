"""Dictionaries from samples, and what they are worth."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple

from . import _pylinerate
from ._threads import thread_count

if TYPE_CHECKING:
    from ._slices import AnyBuffer

#: Sizes of dictionaries that :func:`search` tries unless told, in bytes.
SIZES = (1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 110 << 10)


class Gain(NamedTuple):
    """What a dictionary gains on some blocks: see :func:`gain`."""

    #: Bytes of the blocks.
    content: int
    #: Bytes of them compressed without a dictionary.
    without_dictionary: int
    #: Bytes of them compressed with it.
    with_dictionary: int
    #: Bytes of the dictionary.
    dictionary: int
    #: Bytes of its tables when it is digested.
    tables: int

    @property
    def ratio(self) -> float:
        """Content by compressed bytes and those of the dictionary, which must be kept, too."""
        return self.content / max(1, self.with_dictionary + self.dictionary)

    @property
    def ratio_without(self) -> float:
        """Content by bytes compressed without."""
        return self.content / max(1, self.without_dictionary)


class Candidate(NamedTuple):
    """A size that :func:`search` tried."""

    #: The size that was asked for.
    size: int
    #: What the dictionary gained on samples that it was not trained with.
    gain: Gain
    #: Bytes of all expected data compressed with it, and its own.
    total: int


class Found(NamedTuple):
    """What :func:`search` found."""

    #: The best dictionary, trained with all samples; ``None`` if no size pays.
    dictionary: bytes | None
    #: Which of the candidates it is.
    best: int | None
    #: The sizes in rising order, without those that could not be trained.
    candidates: list[Candidate]
    #: Bytes of expected data.
    expected: int
    #: Bytes of it compressed without a dictionary.
    without_dictionary: int


class Choice(NamedTuple):
    """What :func:`cluster` chose for a set of samples."""

    #: Which of the dictionaries; ``None`` for none.
    dictionary: int | None
    #: Why none: there are no bytes, too few samples, or no dictionary makes them smaller.
    why_none: Literal["empty", "too few", "does not pay"] | None
    #: Bytes of the set.
    content: int
    #: Bytes of it compressed without a dictionary.
    without_dictionary: int
    #: Bytes of it compressed with one of its own, if one can be trained.
    with_own: int | None
    #: Bytes of it as chosen.
    chosen: int


class Costs(NamedTuple):
    """Bytes that everything comes to."""

    #: Bytes of compressed blocks.
    block_bytes: int
    #: Bytes of dictionaries.
    dictionary_bytes: int
    #: How many dictionaries.
    dictionaries: int

    @property
    def total(self) -> int:
        """All bytes."""
        return self.block_bytes + self.dictionary_bytes


class Clustered(NamedTuple):
    """What :func:`cluster` found."""

    #: The dictionaries, each of which some set uses.
    dictionaries: list[bytes]
    #: What was chosen for each set.
    choices: list[Choice]
    #: The costs of no dictionary at all.
    none: Costs
    #: Those of one for each set that can have one.
    own: Costs
    #: Those of one for all.
    one: Costs
    #: Those of the shared ones.
    shared: Costs
    #: Rounds that were needed.
    rounds: int


def train(samples: Iterable[AnyBuffer], size: int, small_tables: bool = False) -> bytes:
    """Trains a dictionary, through libzstd.

    Parameters
    ----------
    samples : iterable of buffers
        As blocks will be, of at least 10 times ``size`` together.
    size : int
        The most bytes that it may have.
    small_tables : bool
        Whether its tables are of half the size, see :func:`shrink_tables`.

    Raises
    ------
    Error
        If the samples are too few or too short to learn from, or ``size`` is too small.
    """
    return _pylinerate.dict_train(list(samples), size, small_tables)


def shrink_tables(dictionary: AnyBuffer) -> bytes:
    """The same dictionary with tables of half the size, so that less has to be fetched for a block, and
    blocks are slightly larger. Blocks must be compressed with the new one. Every decoder of zstd takes it.
    """
    return _pylinerate.dict_shrink_tables(dictionary)


def gain(dictionary: AnyBuffer, blocks: Iterable[AnyBuffer], level: int = 3) -> Gain:
    """Compresses ``blocks`` with a dictionary and without. Those that it was trained with flatter it.

    >>> from pylinerate.dict import gain, train
    >>> rows = [b'{"time": %d, "user": "ann", "level": "info"}' % (i * i * 977) for i in range(4000)]
    >>> found = gain(train(rows[:2000], 1024), rows[2000:])
    >>> found.ratio > 1.5 * found.ratio_without
    True
    """
    return Gain(*_pylinerate.dict_gain(dictionary, list(blocks), level))


def search(
    samples: Iterable[AnyBuffer],
    sizes: Iterable[int] = SIZES,
    *,
    expected: int | None = None,
    small_tables: bool = False,
    level: int = 3,
    threads: int = 1,
) -> Found:
    """Finds the size of a dictionary that pays best: its own bytes count, too.

    A dictionary of each size is trained with three quarters of the samples and measured with the rest.
    The best one is trained again with all samples.

    Parameters
    ----------
    samples : iterable of buffers
        As blocks will be.
    sizes : iterable of int
        The sizes to try.
    expected : int, optional
        Bytes of data that the dictionary will serve; those of the samples unless given.
    small_tables : bool
        Whether the tables are of half the size, see :func:`shrink_tables`.
    level : int
        A level of libzstd.
    threads : int
        At most so many threads share the work. The result is the same.

    Raises
    ------
    Error
        If the samples are too few or too short for any size.
    """
    found = _pylinerate.dict_search(
        list(samples), list(sizes), small_tables, level, expected, thread_count(threads)
    )
    candidates = [Candidate(size, Gain(*gain), total) for size, gain, total in found[2]]
    return Found(found[0], found[1], candidates, found[3], found[4])


def cluster(
    sets: Iterable[Iterable[AnyBuffer]],
    most: int,
    size: int,
    *,
    set_bytes: Iterable[int] | None = None,
    small_tables: bool = False,
    level: int = 3,
    rounds: int = 8,
    sample_limit: int = 256 << 10,
    threads: int = 1,
) -> Clustered:
    """Finds few dictionaries for many files, tenants or tables.

    A quarter of each set's samples decides which dictionary makes the set smallest; the others train. A
    dictionary that saves less than its own bytes goes.

    Parameters
    ----------
    sets : iterable of iterables of buffers
        For each file, tenant or table, blocks of it.
    most : int
        The most dictionaries.
    size : int
        The most bytes of each.
    set_bytes : iterable of int, optional
        Bytes that each set stands for; those of its samples unless given.
    small_tables : bool
        Whether the tables are of half the size, see :func:`shrink_tables`.
    level : int
        A level of libzstd.
    rounds : int
        The most rounds.
    sample_limit : int
        The most bytes of samples of each set that are used.
    threads : int
        At most so many threads share the work. The result is the same.
    """
    blocks = [list(samples) for samples in sets]
    stands_for = itertools.repeat(None) if set_bytes is None else list(set_bytes)
    if isinstance(stands_for, list) and len(stands_for) != len(blocks):
        raise ValueError(f"there are {len(blocks)} sets and {len(stands_for)} numbers of bytes")
    dictionaries, choices, costs, needed = _pylinerate.dict_cluster(
        list(zip(blocks, stands_for)),
        most,
        size,
        small_tables,
        level,
        rounds,
        sample_limit,
        thread_count(threads),
    )
    none, own, one, shared = (Costs(*cost) for cost in costs)
    return Clustered(dictionaries, [Choice(*choice) for choice in choices], none, own, one, shared, needed)
