"""Small zstd blocks, each with one of very many dictionaries.

For programs with a dictionary per file, tenant or table that read blocks of a few KiB in random order.
Decoding tables are small, and those of the next block of a batch are prefetched while the current one is
decoded.

>>> from pylinerate.dict import Decoder, Encoder, Store
>>> store = Store()
>>> id = store.insert(b'{"user": "", "active": true, "score": 0}')
>>> block = Encoder(store).encode(id, b'{"user": "ann", "active": true, "score": 7}')
>>> Decoder(store).decode(id, block)
b'{"user": "ann", "active": true, "score": 7}'

A block is one zstd frame, of any encoder. Data, blocks and dictionaries may be any C-contiguous buffers:
``bytes``, slices of a ``memoryview``, a mapped file, arrays. They are not copied, and cannot be resized while
in use. The functions release the interpreter's lock, except for a single block of less than 64 KiB, where
that costs more than decoding. Buffers must not be changed meanwhile: a block then decodes to other bytes or
to an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from . import _pylinerate
from ._files import (
    BlockCount,
    BlockFile,
    BlockFileStats,
    Counts,
    Entry,
    RangeDeletion,
    Sst,
    SstReport,
    SstStats,
    multi_get,
)
from ._pylinerate import FileError, UnknownId
from ._pack import Compacted, Loaded, Pack, PackEditor, PackEntry, PackStats
from ._process import NotPicklable
from ._slices import Batch, Slices
from ._store import Stats, Store
from ._training import (
    SIZES,
    Candidate,
    ClusteringResult,
    Costs,
    Savings,
    SearchResult,
    SetReport,
    cluster,
    savings,
    search,
    shrink_tables,
    train,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._slices import AnyBuffer

    #: Order in which the blocks of a batch are decoded.
    Order = Literal["as_given", "by_dictionary", "any"]

__all__ = [
    "MAX_SIZE",
    "NONE",
    "SIZES",
    "Batch",
    "BlockCount",
    "BlockFile",
    "BlockFileStats",
    "Candidate",
    "ClusteringResult",
    "Compacted",
    "Costs",
    "Counters",
    "Counts",
    "Decoder",
    "Encoder",
    "Entry",
    "FileError",
    "Loaded",
    "Pack",
    "PackEditor",
    "PackEntry",
    "PackStats",
    "RangeDeletion",
    "Savings",
    "SearchResult",
    "SetReport",
    "Slices",
    "Sst",
    "SstReport",
    "SstStats",
    "Stats",
    "Store",
    "UnknownId",
    "cluster",
    "content_hash",
    "multi_get",
    "savings",
    "search",
    "shrink_tables",
    "train",
]

#: The number that stands for no dictionary.
NONE = 0
#: Default limit of the decoded size of a block, in bytes.
MAX_SIZE = 1 << 20


class Counters(NamedTuple):
    """Counters of a :class:`Decoder`."""

    #: Blocks, including those with errors.
    blocks: int
    #: Of these, with kept tables, or a dictionary that needs none.
    with_tables: int
    #: Of these, with temporary tables, for lack of table budget.
    without_tables: int
    #: Blocks that ended with an error.
    errors: int
    #: Prefetched cache lines.
    prefetched_lines: int


class Decoder(NotPicklable, _pylinerate.DictDecoder):
    """Decodes blocks with the dictionaries of a store.

    Use one per thread, of about 330 KiB: threads that share one wait for each other.

    A block that names another dictionary by the 32-bit number of the format is an error. A wrong dictionary
    with the same number, or none, is detected only by a checksum in the block.
    """

    __slots__ = ("_store",)

    _store: Store

    def __new__(cls, store: Store) -> Self:
        self = super().__new__(cls, store._store)
        self._store = store
        return self

    @property
    def store(self) -> Store:
        """The store."""
        return self._store

    def decode_batch(
        self,
        ids: int | Iterable[int] | NDArray[np.integer],
        blocks: Iterable[AnyBuffer] | Slices,
        sizes: Iterable[int] | NDArray[np.integer] | None = None,
        *,
        out: AnyBuffer | Slices | None = None,
        order: Order = "any",
        errors: Literal["return", "raise"] = "return",
        max_size: int = MAX_SIZE,
    ) -> Batch:
        """Decodes many blocks, prefetching the memory of each while the one before it is decoded.

        An error in one block does not stop the others. Needs NumPy: ``pip install "pylinerate[numpy]"``.

        Parameters
        ----------
        ids : array of integers, or int
            The dictionary of each block, or one for all.
        blocks : iterable of buffers, or Slices
            The blocks, or slices of one buffer.
        sizes : array of integers, optional
            Output size of each block in bytes. Default: the size in its frame header.
        out : writeable buffer, or Slices, optional
            Output: consecutive contents in one buffer, or slices of one buffer, which must not overlap.
            Default: a new array.
        order : "as_given", "by_dictionary" or "any"
            Order of decoding. "any" groups blocks by dictionary if there are two or more per
            dictionary.
        errors : "return" or "raise"
            Whether errors are kept in the result, or the first one is raised after all blocks, with the
            ``index`` of its block.
        max_size : int
            Without ``sizes``, a larger block, by its header, is an error.

        Returns
        -------
        Batch
            ``batch[i]`` is the content of block i, a ``memoryview``, or raises its error.

        >>> store = Store()
        >>> ids = [store.insert(b"a dictionary"), store.insert(b"another dictionary")]
        >>> blocks = [Encoder(store).encode(id, b"a row") for id in ids]
        >>> batch = Decoder(store).decode_batch([*ids, 99], [*blocks, b"?"])
        >>> bytes(batch[0]), bytes(batch[1])
        (b'a row', b'a row')
        >>> batch.errors
        {2: UnknownId('the store has no dictionary 99')}
        """
        from ._arrays import integers  # needs NumPy, and says how to install it

        import numpy as np

        if errors not in ("return", "raise"):
            raise ValueError(f'errors is {errors!r}, but must be "return" or "raise"')
        jobs = _blocks(blocks)
        one = isinstance(ids, (int, np.integer))
        numbers = np.full(len(jobs), ids, np.uint64) if one else integers(_array(ids), np.uint64, "ids")
        outputs = _outputs(jobs, sizes, out, max_size)
        lengths, failed = self._decode_batch(
            numbers, jobs, outputs.data, outputs.starts, outputs.lengths, order
        )
        for index, error in failed.items():
            error.index = index
        if failed and errors == "raise":
            raise failed[min(failed)]
        return Batch(outputs.data, outputs.starts, lengths, failed)

    def counters(self) -> Counters:
        """Counters of the decoder."""
        return Counters(*self._counters())

    def __repr__(self) -> str:
        return f"<Decoder of {self._store!r}>"


def _array(values: Any) -> Any:
    """``values``, or a list of an iterator's values."""
    return values if hasattr(values, "__len__") else list(values)


def _blocks(blocks: Iterable[AnyBuffer] | Slices) -> _pylinerate.DictBlocks:
    if isinstance(blocks, Slices):
        return _pylinerate.DictBlocks.slices(blocks.data, blocks.starts, blocks.lengths)
    return _pylinerate.DictBlocks(list(blocks))


def _outputs(jobs: _pylinerate.DictBlocks, sizes: Any, out: AnyBuffer | Slices | None, max_size: int) -> Slices:
    """The slice of the output for each block."""
    import numpy as np

    from ._arrays import integers

    if isinstance(out, Slices):
        if sizes is not None:
            raise TypeError("sizes cannot be combined with slices as out, which have sizes")
        return out
    given = jobs.sizes(max_size) if sizes is None else integers(_array(sizes), np.int64, "sizes")
    if (given < 0).any():
        raise ValueError("a size is negative")
    starts = np.cumsum(given) - given
    total = int(given.sum())
    return Slices(np.empty(total, np.uint8) if out is None else out, starts, given)


class Encoder(NotPicklable):
    """Compresses blocks with the dictionaries of a store, through libzstd.

    Use one per thread. It keeps the four last used prepared dictionaries, of 100 KiB to 1 MiB each.

    Parameters
    ----------
    store : Store
        The dictionaries.
    level : int
        A level of libzstd, -7 to 22.
    checksum : bool
        Whether each block ends with a checksum of its content, 4 bytes. It also detects a wrong
        dictionary.
    """

    __slots__ = ("_encoder", "_settings", "_store")

    def __init__(self, store: Store, level: int = 3, checksum: bool = False) -> None:
        self._store = store
        self._settings = level, checksum
        self._encoder = _pylinerate.DictEncoder(store._store, level, checksum)

    @property
    def store(self) -> Store:
        """The store."""
        return self._store

    def encode(self, id: int, data: AnyBuffer) -> bytes:
        """Compresses ``data`` as one block.

        Raises
        ------
        UnknownId
            If the store has no such dictionary.
        """
        return self._encoder.encode(id, data)

    def __repr__(self) -> str:
        level, checksum = self._settings
        return f"<Encoder at level {level}{', with checksums,' if checksum else ''} of {self._store!r}>"


def content_hash(dictionary: AnyBuffer) -> int:
    """The hash that identifies a dictionary: 64-bit XXH3 of its bytes."""
    return _pylinerate.dict_content_hash(dictionary)
