"""Small zstd blocks, each with one of very many dictionaries.

For programs that give each file, tenant or table a dictionary of its own and read blocks of a few KiB in
random order. Tables of dictionaries are small here, and those of the next block of a batch are fetched
into the cache while the one before is decoded.

>>> from pylinerate.dict import Decoder, Encoder, Store
>>> store = Store()
>>> id = store.insert(b'{"user": "", "active": true, "score": 0}')
>>> block = Encoder(store).encode(id, b'{"user": "ann", "active": true, "score": 7}')
>>> Decoder(store).decode(id, block)
b'{"user": "ann", "active": true, "score": 7}'

A block is one zstd frame, as any encoder of zstd makes them. Data, blocks and dictionaries may be any
C-contiguous buffers: ``bytes``, slices of a ``memoryview``, a mapped file, arrays. None is copied, and
none can be resized while it is in use. Other Python threads run while these functions work. Buffers must
not be changed meanwhile: a block is then decoded to other bytes or to an error.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

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
from ._process import OfThisProcess
from ._slices import Batch, Slices
from ._training import (
    SIZES,
    Candidate,
    Choice,
    Clustered,
    Costs,
    Found,
    Gain,
    cluster,
    gain,
    search,
    shrink_tables,
    train,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._slices import AnyBuffer

    #: In which order the blocks of a batch are decoded.
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
    "Choice",
    "Clustered",
    "Compacted",
    "Costs",
    "Counts",
    "Decoder",
    "Encoder",
    "Entry",
    "FileError",
    "Found",
    "Gain",
    "Loaded",
    "Pack",
    "PackEditor",
    "PackEntry",
    "PackStats",
    "RangeDeletion",
    "Slices",
    "Sst",
    "SstReport",
    "SstStats",
    "Stats",
    "Store",
    "Tally",
    "UnknownId",
    "cluster",
    "content_hash",
    "gain",
    "multi_get",
    "search",
    "shrink_tables",
    "train",
]

#: The number of no dictionary: for blocks that were compressed without.
NONE = 0
#: Bytes that a block may decode to unless told otherwise.
MAX_SIZE = 1 << 20


class Stats(NamedTuple):
    """The state of a :class:`Store`."""

    #: Dictionaries.
    dictionaries: int
    #: Bytes of the dictionaries themselves, but for those that are used from where a pack is mapped.
    raw_bytes: int
    #: Dictionaries whose tables are made.
    digested: int
    #: Bytes of their tables.
    table_bytes: int
    #: Bytes of the slots and lists of dictionaries.
    slot_bytes: int
    #: Bytes of address space; what was never used of it takes no memory.
    mapped_bytes: int
    #: "off" if they were not wanted, "advised" if the system took the advice, else "refused".
    huge_pages: Literal["off", "advised", "refused"]
    #: Times that tables were made to be kept.
    digests: int
    #: Times that tables were given up for others.
    evictions: int


class Tally(NamedTuple):
    """What a :class:`Decoder` has done."""

    #: Blocks, whatever became of them.
    blocks: int
    #: Of these, with tables that were kept, or a dictionary that needs none.
    with_tables: int
    #: Of these, with tables made for the block alone, since there was no room to keep them.
    without_tables: int
    #: Blocks that ended with an error.
    errors: int
    #: Cache lines named to be fetched ahead.
    lines: int


class Store(OfThisProcess):
    """Dictionaries under numbers of its own, shared by threads.

    A dictionary never changes. It is checked when it is inserted; its tables are made with the first
    block that needs them. Numbers are never given twice; they are not those inside of trained
    dictionaries, of which many may be the same. ``id in store``, ``len(store)`` and ``store[id]``, a
    copy of a dictionary, work as one expects.

    Parameters
    ----------
    table_budget : int, optional
        Bytes for tables, at most 5.3 KiB for a dictionary. With less than all need, the most used have
        theirs, and for others they are made with each block.
    raw_limit : int, optional
        Bytes for the dictionaries, each rounded up to 64. What exceeds it is not inserted.
    huge_pages : bool
        Whether to ask the system for huge pages.
    """

    __slots__ = ("__weakref__", "_store")

    def __init__(
        self, table_budget: int | None = None, raw_limit: int | None = None, huge_pages: bool = True
    ) -> None:
        self._store = _pylinerate.DictStore(table_budget, raw_limit, huge_pages)

    def insert(self, dictionary: AnyBuffer, hash: int | None = None) -> int:
        """Copies a dictionary into the store and returns its number. It has one user then, or one user more
        if the same bytes were inserted before.

        Parameters
        ----------
        dictionary : buffer
            A trained one if it begins with their magic number, else raw content of at least 8 bytes.
        hash : int, optional
            The :func:`content_hash` that it must have.

        Raises
        ------
        Error
            For a trained one that is damaged, for one of another hash, or if there is no room for it.
        """
        return self._store.insert(dictionary, hash)

    def hash(self, id: int) -> int:
        """The :func:`content_hash` of a dictionary. Kept beside blocks, it tells another dictionary before
        they are decoded with it. :class:`UnknownId` if there is none of this number.
        """
        return self._store.hash(id)

    def find(self, hash: int) -> int | None:
        """The number of a dictionary with this :func:`content_hash`, if there is one. It gets no user by
        that: :meth:`retain` it to keep it.
        """
        return self._store.find(hash)

    def retain(self, id: int) -> None:
        """One more user of a dictionary. :class:`UnknownId` if there is none of this number."""
        self._store.retain(id)

    def release(self, id: int) -> bool:
        """One user of a dictionary less. Without any it is dropped: what is decoded with it at this
        moment ends undisturbed. Returns whether it was dropped.

        Raises
        ------
        UnknownId
            If there is no dictionary of this number.
        """
        return self._store.release(id)

    def trim(self) -> int:
        """Gives memory that nothing in the store uses back to the system, of which some is kept for what
        comes next. Returns how many bytes of ``stats().mapped_bytes`` that were.
        """
        return self._store.trim()

    def __getitem__(self, id: int) -> bytes:
        return self._store.bytes(id)

    def __contains__(self, id: object) -> bool:
        try:
            number = operator.index(id)  # type: ignore[arg-type]
        except TypeError:
            return False
        return 0 <= number < 2**64 and self._store.contains(number)

    def __len__(self) -> int:
        return self._store.stats()[0]

    # Numbers do not follow each other.
    __iter__ = None

    def stats(self) -> Stats:
        """What the store holds."""
        return Stats(*self._store.stats())

    def __repr__(self) -> str:
        stats = self.stats()
        return f"<Store: {stats.dictionaries} dictionaries, {stats.raw_bytes} bytes>"


class Decoder(OfThisProcess):
    """Decodes blocks with the dictionaries of a store.

    Each thread should have one of its own, of about 330 KiB: threads that share one wait for each other.

    A block that names another dictionary, by the 32-bit number of the format, is refused. Only a checksum
    in the block tells a wrong dictionary of the same number, or of none.
    """

    __slots__ = ("_decoder", "_store")

    def __init__(self, store: Store) -> None:
        self._store = store
        self._decoder = _pylinerate.DictDecoder(store._store)

    @property
    def store(self) -> Store:
        """The store."""
        return self._store

    def decode(self, id: int, block: AnyBuffer, max_size: int = MAX_SIZE) -> bytes:
        """Decodes one block. Several are faster in a batch.

        Parameters
        ----------
        id : int
            The dictionary, or :data:`NONE`.
        block : buffer
            One zstd frame.
        max_size : int
            A block that says that it holds more is not decoded: the error has the kind "output too small".

        Raises
        ------
        UnknownId
            If the store has no such dictionary.
        Error
            If the block is damaged or cut off, names another dictionary, or holds too much.
        """
        return self._decoder.decode(id, block, max_size)

    def decode_into(self, id: int, block: AnyBuffer, out: AnyBuffer) -> int:
        """Decodes one block into the start of ``out``, a writeable buffer of bytes, and returns how many
        bytes that is. What ``out`` holds after an error is unspecified.

        Raises
        ------
        UnknownId, Error
            As :meth:`decode`; also if ``out`` is too small.
        """
        return self._decoder.decode_into(id, block, out)

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
        """Decodes many blocks, fetching the memory of each while the one before it is decoded.

        All are decoded, whatever becomes of one of them. Needs NumPy: ``pip install "pylinerate[numpy]"``.

        Parameters
        ----------
        ids : array of integers, or int
            The dictionary of each block, or one for all.
        blocks : iterable of buffers, or Slices
            The blocks, or where they lie in one buffer.
        sizes : array of integers, optional
            Bytes of room for each block. By default what its frame says.
        out : writeable buffer, or Slices, optional
            Where to put the contents: one behind the other, or into rooms of one buffer, which must not
            overlap. By default a new array that has all of them.
        order : "as_given", "by_dictionary" or "any"
            In which order to decode. "any" puts blocks of one dictionary together where there are two or
            more for each.
        errors : "return" or "raise"
            Whether errors are kept in the result, or the first one is raised once all blocks were
            decoded, with the ``index`` of its block.
        max_size : int
            Without ``sizes``, a block that says that it holds more is an error.

        Returns
        -------
        Batch
            ``batch[i]`` is the content of block i, a ``memoryview``, or raises what went wrong with it.

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
        rooms = _rooms(jobs, sizes, out, max_size)
        lengths, failed = self._decoder.decode_batch(
            numbers, jobs, rooms.data, rooms.starts, rooms.lengths, order
        )
        for index, error in failed.items():
            error.index = index
        if failed and errors == "raise":
            raise failed[min(failed)]
        return Batch(rooms.data, rooms.starts, lengths, failed)

    def tally(self) -> Tally:
        """What the decoder has done."""
        return Tally(*self._decoder.tally())

    def __repr__(self) -> str:
        return f"<Decoder of {self._store!r}>"


def _array(values: Any) -> Any:
    """``values`` as NumPy takes them: of iterators, a list."""
    return values if hasattr(values, "__len__") else list(values)


def _blocks(blocks: Iterable[AnyBuffer] | Slices) -> _pylinerate.DictBlocks:
    if isinstance(blocks, Slices):
        return _pylinerate.DictBlocks.slices(blocks.data, blocks.starts, blocks.lengths)
    return _pylinerate.DictBlocks(list(blocks))


def _rooms(jobs: _pylinerate.DictBlocks, sizes: Any, out: AnyBuffer | Slices | None, max_size: int) -> Slices:
    """Where the contents of blocks go."""
    import numpy as np

    from ._arrays import integers

    if isinstance(out, Slices):
        if sizes is not None:
            raise TypeError("sizes are those of the slices of out, and cannot be given, too")
        return out
    given = jobs.sizes(max_size) if sizes is None else integers(_array(sizes), np.int64, "sizes")
    if (given < 0).any():
        raise ValueError("a size is negative")
    starts = np.cumsum(given) - given
    total = int(given.sum())
    return Slices(np.empty(total, np.uint8) if out is None else out, starts, given)


class Encoder(OfThisProcess):
    """Compresses blocks with the dictionaries of a store, through libzstd.

    Each thread should have one of its own. The four prepared dictionaries that it used last are kept, of
    100 KiB to 1 MiB each.

    Parameters
    ----------
    store : Store
        The dictionaries.
    level : int
        A level of libzstd, -7 to 22.
    checksum : bool
        Whether each block ends with a checksum of its content, of 4 bytes. It also tells when a block is
        decoded with a wrong dictionary.
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
    """The hash by which dictionaries are told apart: XXH3 of 64 bits of all bytes."""
    return _pylinerate.dict_content_hash(dictionary)
