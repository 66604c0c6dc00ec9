"""Small zstd blocks, each with one of very many dictionaries.

This module is for programs with a dictionary per file, tenant or table that read blocks of a few
KiB in random order. Decoding tables are small. A batch prefetches the tables of the next block
while it decodes the current one.

>>> from pylinerate.dict import Decoder, Encoder, Store
>>> store = Store()
>>> id = store.insert(b'{"user": "", "active": true, "score": 0}')
>>> block = Encoder(store).encode(id, b'{"user": "ann", "active": true, "score": 7}')
>>> Decoder(store).decode(id, block)
b'{"user": "ann", "active": true, "score": 7}'

A block is one zstd frame, from any encoder. Data, blocks and dictionaries may be any C-contiguous
buffers: ``bytes``, slices of a ``memoryview``, a mapped file, arrays. They are read in place, and
cannot be resized while a call uses them; a store copies the dictionaries that it takes. Long work
is done without the interpreter's lock. Decoding a single block of less than 64 KiB of content keeps
the lock, unless another thread is using the decoder, because releasing the lock would take longer
than decoding. Do not change buffers during a call: the result would be other bytes or an error.
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

    #: Order in which the blocks of a batch are decoded, see :meth:`Decoder.decode_batch`.
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

#: The ID that stands for no dictionary.
NONE = 0
#: Default limit of the decoded size of a block, in bytes.
MAX_SIZE = 1 << 20


class Counters(NamedTuple):
    """Counters of a :class:`Decoder` since it was created."""

    #: Number of blocks, including those with errors.
    blocks: int
    #: Number of blocks that were decoded with tables that the store keeps, or with a dictionary
    #: that needs none. Blocks without a dictionary do not count.
    with_tables: int
    #: Number of blocks that were decoded with temporary tables, because the table budget was used
    #: up, the store was locked, or another thread was building the tables.
    without_tables: int
    #: Number of blocks that could not be decoded.
    errors: int
    #: Number of cache lines that were prefetched for the next block while a block was decoded.
    prefetched_lines: int


class Decoder(NotPicklable, _pylinerate.DictDecoder):
    """Decodes blocks with the dictionaries of a store.

    Use one decoder per thread; it takes about 290 KiB, and 4 bytes for each block of the largest
    batch. Threads that share a decoder wait for each other.

    A block that names another dictionary by its Dictionary_ID is an error. If the wrong dictionary
    has the same Dictionary_ID, or the block names none, only a checksum in the block is certain to
    detect the mistake.
    """

    __slots__ = ("_store",)

    _store: Store

    def __new__(cls, store: Store) -> Self:
        self = super().__new__(cls, store._store)
        self._store = store
        return self

    @property
    def store(self) -> Store:
        """The store whose dictionaries this decoder uses."""
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
        """Decodes many blocks. While one block is decoded, the memory of the next is prefetched.

        An error in one block does not stop the others. This method needs NumPy: ``pip install
        "pylinerate[numpy]"``.

        Parameters
        ----------
        ids : array of integers, or int
            The ID of each block's dictionary, or one ID for all blocks.
        blocks : iterable of buffers, or Slices
            The blocks, each in a buffer of its own, or as slices of one buffer.
        sizes : array of integers, optional
            Space in the output for the content of each block, in bytes. Default: the size in its
            frame header, or an upper bound if the header has none.
        out : writeable buffer, or Slices, optional
            One buffer, in which the spaces for the blocks follow each other; or slices of one
            buffer, which must not overlap, in place of ``sizes``. Default: a new array.
        order : "as_given", "by_dictionary" or "any"
            Order of decoding. "any" groups the blocks by dictionary if there are on average two or
            more blocks per dictionary, and else keeps the given order. Results are always in the
            given order.
        errors : "return" or "raise"
            "return": errors are in the result. "raise": after all blocks were decoded, the first
            error is raised. In both cases it has the ``index`` of its block.
        max_size : int
            If neither ``sizes`` nor slices are given: largest content of a block in bytes. A block
            with more is an error.

        Returns
        -------
        Batch
            ``batch[i]`` returns the content of block i, a ``memoryview``, or raises its error.

        Raises
        ------
        TypeError
            If the IDs or sizes are not integers.
        ValueError
            If an ID or size is negative or too large, or ``order`` or ``errors`` is none of these.

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
        if isinstance(ids, (int, np.integer)):
            numbers = integers([ids], np.uint64, "ids").repeat(len(jobs))
        else:
            numbers = integers(_array(ids), np.uint64, "ids")
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
        """Counters of this decoder since it was created."""
        return Counters(*self._counters())

    def __repr__(self) -> str:
        return f"<Decoder of {self._store!r}>"


def _array(values: Any) -> Any:
    """Returns ``values``, or a list of its items if it is an iterable without a length."""
    return values if hasattr(values, "__len__") else list(values)


def _blocks(blocks: Iterable[AnyBuffer] | Slices) -> _pylinerate.DictBlocks:
    if isinstance(blocks, Slices):
        return _pylinerate.DictBlocks.slices(blocks.data, blocks.starts, blocks.lengths)
    return _pylinerate.DictBlocks(list(blocks))


def _outputs(jobs: _pylinerate.DictBlocks, sizes: Any, out: AnyBuffer | Slices | None, max_size: int) -> Slices:
    """The output of a batch: for each block the slice of one buffer that it is decoded to. The
    parameters are those of :meth:`Decoder.decode_batch`."""
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

    Use one encoder per thread. It keeps the four dictionaries that it used last in a form prepared
    for compression, which takes 100 KiB to 1 MiB each.

    Parameters
    ----------
    store : Store
        The store with the dictionaries.
    level : int
        A level of zstd, -7 to 22.
    checksum : bool
        Whether each block ends with a checksum of its content, which takes 4 bytes. When the block
        is decoded, the checksum also detects a wrong dictionary.

    Raises
    ------
    Error
        If ``level`` is not -7 to 22.
    """

    __slots__ = ("_encoder", "_settings", "_store")

    def __init__(self, store: Store, level: int = 3, checksum: bool = False) -> None:
        self._store = store
        self._settings = level, checksum
        self._encoder = _pylinerate.DictEncoder(store._store, level, checksum)

    @property
    def store(self) -> Store:
        """The store whose dictionaries this encoder uses."""
        return self._store

    def encode(self, id: int, data: AnyBuffer) -> bytes:
        """Compresses ``data`` as one block, with the dictionary that has the ID ``id`` in the
        store, or without one if that is :data:`NONE`.

        Raises
        ------
        UnknownId
            If the store has no dictionary with this ID.
        Error
            If memory runs out.
        """
        return self._encoder.encode(id, data)

    def __repr__(self) -> str:
        level, checksum = self._settings
        return f"<Encoder at level {level}{', with checksums,' if checksum else ''} of {self._store!r}>"


def content_hash(dictionary: AnyBuffer) -> int:
    """The hash that identifies a dictionary: the 64-bit XXH3 of its bytes."""
    return _pylinerate.dict_content_hash(dictionary)
