"""Files of blocks: our own, and RocksDB's SST files."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

from . import _pylinerate
from ._pylinerate import Error

if TYPE_CHECKING:
    import os
    from typing import Self, TypeAlias

    from ._slices import AnyBuffer
    from .dict import Store

    Path: TypeAlias = str | os.PathLike[str]

#: Bytes of records that a scan takes out of a file at once.
CHUNK = 256 << 10
#: The same where the way back to where it was is long.
LARGE_CHUNK = 8 << 20
#: Records that are handed to a builder at once.
RECORDS = 1000


class Counts(NamedTuple):
    """How many there are of what in a :class:`BlockFile`."""

    #: Records.
    records: int
    #: Bytes of their keys.
    key_bytes: int
    #: Bytes of their values.
    value_bytes: int
    #: Blocks of records.
    blocks: int
    #: Bytes of their contents.
    content_bytes: int
    #: Bytes of them as stored.
    stored_bytes: int
    #: Blocks of the index.
    index_blocks: int
    #: Bytes of the index.
    index_bytes: int


class BlockFileStats(NamedTuple):
    """What is in a :class:`BlockFile`."""

    #: How many there are of what.
    counts: Counts
    #: Bytes of the file.
    size: int
    #: Bytes that blocks were filled to.
    block_size: int
    #: Level of zstd.
    level: int
    #: Whether there are hashes of contents.
    checksums: bool
    #: Bytes of its dictionary, 0 if it has none.
    dictionary_size: int
    #: The :func:`content_hash` of its dictionary.
    dictionary_hash: int


class Entry(NamedTuple):
    """An entry of an :class:`Sst`."""

    key: bytes
    #: When it was written: higher is later.
    sequence: int
    #: "value", "deletion", "single deletion", "range deletion", "merge", "blob index" or "other".
    kind: str
    #: The value, operand or blob index; empty for deletions.
    value: bytes


class RangeDeletion(NamedTuple):
    """The keys from ``start`` on and before ``stop`` of an :class:`Sst` were deleted."""

    start: bytes
    stop: bytes
    #: When: entries with a lower number are gone.
    sequence: int


class BlockCount(NamedTuple):
    """The data blocks of an :class:`Sst` that are stored in one way."""

    blocks: int
    #: Bytes of them as stored.
    stored: int
    #: Bytes that they decode to.
    content: int


class SstStats(NamedTuple):
    """What is in an :class:`Sst`."""

    #: Bytes of the file.
    size: int
    #: Its version, 2 to 7.
    format_version: int
    #: What guards its blocks: "none", "crc32c", "xxhash", "xxhash64" or "xxh3".
    checksum: str
    #: "binary search", "hash", "partitioned" or "with first keys".
    index_kind: str
    #: "bytewise", "reverse", or "unknown": then keys cannot be looked up.
    key_order: str
    #: Bytes of its dictionary, if it has one.
    dictionary_size: int | None
    #: The 32-bit number in a trained dictionary.
    dictionary_number: int | None
    #: Data blocks by how they are stored: "none", "zstd", "lz4" and others.
    blocks: dict[str, BlockCount]
    #: What the file says of itself; numbers as RocksDB writes them, seven bits to a byte.
    properties: dict[str, bytes]


class SstReport(NamedTuple):
    """What was verified of an :class:`Sst`."""

    data_blocks: int
    other_blocks: int
    entries: int
    #: Among the entries.
    deletions: int
    #: Among the entries.
    merge_operands: int
    key_bytes: int
    value_bytes: int
    #: What is wrong, at most the first hundred.
    failures: list[Error]
    #: How much is wrong.
    failed: int

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return self.failed == 0


def look(path: Path) -> None:
    """Lets the system say what is wrong with a path, as of any other file."""
    with open(path, "rb"):
        pass


class File:
    """What files have in common. They are closed when they are no longer used, too."""

    __slots__ = ("__weakref__", "_file", "_path")

    _file: _pylinerate.DictBlockFile | _pylinerate.DictPack | _pylinerate.DictSst
    _path: Path

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._file.is_closed()

    def close(self) -> None:
        """Closes the file, whose dictionary is given back to its store. What is read from it at this
        moment ends undisturbed; anything else is a ``ValueError`` from then on.
        """
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be pickled or copied: open it again")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {str(self._path)!r}{', closed' if self.closed else ''}>"


class ReadThroughStore(File):
    """Files with a dictionary that is in a store."""

    __slots__ = ("_store",)

    _store: Store

    @property
    def store(self) -> Store:
        """The store that has its dictionary."""
        return self._store


class BlockFile(ReadThroughStore):
    """A sorted file of records, in blocks that share a dictionary. Any number of threads may read it.

    Open files share a store, in which each has its dictionary as long as it is open.

    >>> import os, tempfile
    >>> from pylinerate.dict import BlockFile, Store
    >>> path = os.path.join(tempfile.mkdtemp(), "users.blocks")
    >>> rows = ((b"user/%06d" % i, b'{"active": true, "score": %d}' % (i * 7)) for i in range(10_000))
    >>> BlockFile.build(path, rows, dictionary=4096)
    >>> with BlockFile.open(path, Store()) as users:
    ...     users.get(b"user/000123"), users.get(b"nobody")
    ...     [key for key, _ in users.scan(b"user/005", b"user/005003")]
    (b'{"active": true, "score": 861}', None)
    [b'user/005000', b'user/005001', b'user/005002']
    """

    __slots__ = ()
    _file: _pylinerate.DictBlockFile

    def __init__(self) -> None:
        raise TypeError("use BlockFile.open")

    @classmethod
    def open(cls, path: Path, store: Store, *, map: bool = True, dictionary: int | None = None) -> Self:
        """Opens a file.

        Parameters
        ----------
        path : str or path
            The file.
        store : Store
            Where its dictionary goes, unless it is there. A dictionary that stands elsewhere, as in a
            pack, must be there.
        map : bool
            Whether to map the file into memory. Then it must not become shorter while it is open,
            which would end the program; otherwise each block is read by itself.
        dictionary : int, optional
            The number of a dictionary that stands elsewhere. By default it is found by its hash.

        Raises
        ------
        OSError
            If the file cannot be read.
        Error
            If it is damaged, or its dictionary is not there.
        """
        look(path)
        self = cls.__new__(cls)
        self._file = _pylinerate.DictBlockFile.open(path, store._store, map, dictionary)
        self._path, self._store = path, store
        return self

    @staticmethod
    def build(
        path: Path,
        records: Iterable[tuple[AnyBuffer, AnyBuffer]],
        *,
        dictionary: AnyBuffer | int | None = None,
        small_tables: bool = False,
        block_size: int = 4096,
        level: int = 3,
        checksums: bool = True,
        sort: bool = False,
    ) -> None:
        """Writes a file. It is there, in place of what has the name, when all went well.

        Parameters
        ----------
        path : str or path
            The file.
        records : iterable of pairs of buffers
            Keys, each greater than the one before, and values.
        dictionary : buffer or int, optional
            A dictionary, or the most bytes of one that is trained with the first records. By default
            there is none.
        small_tables : bool
            Whether it is trained with small tables, see :func:`shrink_tables`.
        block_size : int
            Bytes of content of a block. A larger record has a block of its own.
        level : int
            A level of zstd, -7 to 22.
        checksums : bool
            Whether there are hashes of contents. Without, damage may pass unnoticed.
        sort : bool
            Whether to sort the records first, on the disk beyond 256 MiB. No key may come twice.

        Raises
        ------
        OSError
            If the file cannot be written.
        Error
            For keys out of order or twice, and what is too long: keys of 64 KiB, values above 32 MiB.
        """
        given, train = (None, dictionary) if isinstance(dictionary, int) else (dictionary, None)
        builder = _pylinerate.DictBuilder(path, block_size, level, checksums, given, train, small_tables, sort)
        try:
            records = iter(records)
            while some := list(itertools.islice(records, RECORDS)):
                builder.add(some)
            builder.finish()
        finally:
            builder.discard()

    @property
    def dictionary(self) -> int:
        """The number of its dictionary in the store, or :data:`NONE`."""
        return self._file.dictionary()

    def get(self, key: AnyBuffer) -> bytes | None:
        """The value of a key, if there is one.

        Raises
        ------
        Error
            If a block on the way is damaged.
        """
        return self._file.get(key)

    def __getitem__(self, key: AnyBuffer) -> bytes:
        value = self._file.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def __contains__(self, key: AnyBuffer) -> bool:
        return self._file.get(key) is not None

    def __len__(self) -> int:
        return self.stats().counts.records

    @overload
    def multi_get(self, keys: Iterable[AnyBuffer], errors: Literal["raise"] = ...) -> list[bytes | None]: ...
    @overload
    def multi_get(
        self, keys: Iterable[AnyBuffer], errors: Literal["return"]
    ) -> list[bytes | Error | None]: ...
    def multi_get(self, keys: Iterable[AnyBuffer], errors: Literal["raise", "return"] = "raise") -> list[Any]:
        """The values of many keys, in their order, whose blocks are decoded in batches, each once.

        Parameters
        ----------
        keys : iterable of buffers
            In any order.
        errors : "raise" or "return"
            Whether the first error is raised once all keys were looked up, with the ``index`` of its
            key, or each stands in the place of its value.
        """
        return multi_get(((self, key) for key in keys), errors)

    def scan(
        self, start: AnyBuffer | None = None, stop: AnyBuffer | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Keys and values in the order of the keys, from ``start`` on and before ``stop``."""
        behind = False
        while records := self._file.scan(start, behind, stop, CHUNK):
            yield from records
            start, behind = records[-1][0], True

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        return self.scan()

    def stats(self) -> BlockFileStats:
        """What is in the file."""
        stats = self._file.stats()
        return BlockFileStats(Counts(*stats[0]), *stats[1:])

    def verify(self) -> Counts:
        """Reads everything: each hash, each key, and all that is counted. Returns what was counted.

        Raises
        ------
        Error
            For the first damage.
        """
        return Counts(*self._file.verify())


class Sst(ReadThroughStore):
    """One of RocksDB's SST files: a block-based table of format version 2 to 7. Any number of threads
    may read it.

    Its index is in memory, and its dictionary in the store as long as it is open.
    """

    __slots__ = ()
    _file: _pylinerate.DictSst

    def __init__(self) -> None:
        raise TypeError("use Sst.open")

    @classmethod
    def open(
        cls,
        path: Path,
        store: Store,
        *,
        map: bool = True,
        checksums: bool = True,
        block_limit: int = 256 << 20,
    ) -> Self:
        """Opens a file.

        Parameters
        ----------
        path : str or path
            The file.
        store : Store
            Where its dictionary goes.
        map : bool
            Whether to map the file into memory. Then it must not become shorter while it is open,
            which would end the program; otherwise each block is read by itself.
        checksums : bool
            Whether the checksum of each data block is compared when it is read.
        block_limit : int
            The most bytes that a block may have.

        Raises
        ------
        OSError
            If the file cannot be read.
        Error
            If it is damaged or no such file, or uses something that is not read.
        """
        look(path)
        self = cls.__new__(cls)
        self._file = _pylinerate.DictSst.open(path, store._store, map, checksums, block_limit)
        self._path, self._store = path, store
        return self

    def entry(self, key: AnyBuffer, sequence: int | None = None) -> Entry | None:
        """The newest entry of a key, of those not newer than ``sequence``, if the file has one. A key
        that a newer range deletion covers has an entry of that kind.

        Raises
        ------
        Error
            If a block on the way is damaged or cannot be read, or the order of the keys is not known.
        """
        found = self._file.get(key, 2**64 - 1 if sequence is None else sequence)
        return None if found is None else Entry(*found)

    def get(self, key: AnyBuffer) -> bytes | None:
        """The value of a key. ``None`` if the file says nothing of it, or that it was deleted.

        Raises
        ------
        Error
            As :meth:`entry`; of kind "unsupported" if only the program can tell the value: it has merge
            operands, or is in a blob file.
        """
        found = self._file.get(key, 2**64 - 1)
        value = _value(found)
        if isinstance(value, Error):
            raise value
        return value

    def __contains__(self, key: AnyBuffer) -> bool:
        found = self._file.get(key, 2**64 - 1)
        return found is not None and not found[2].endswith("deletion")

    @overload
    def multi_get(self, keys: Iterable[AnyBuffer], errors: Literal["raise"] = ...) -> list[bytes | None]: ...
    @overload
    def multi_get(
        self, keys: Iterable[AnyBuffer], errors: Literal["return"]
    ) -> list[bytes | Error | None]: ...
    def multi_get(self, keys: Iterable[AnyBuffer], errors: Literal["raise", "return"] = "raise") -> list[Any]:
        """The values of many keys, in their order, as of :meth:`get`, each block decoded once.

        Parameters
        ----------
        keys : iterable of buffers
            In any order.
        errors : "raise" or "return"
            Whether the first error is raised once all keys were looked up, with the ``index`` of its
            key, or each stands in the place of its value.
        """
        return multi_get(((self, key) for key in keys), errors)

    def scan(self, start: AnyBuffer | None = None, stop: AnyBuffer | None = None) -> Iterator[Entry]:
        """All entries in the order of the keys, from ``start`` on and before ``stop``: all versions of a
        key, the newest first, and deletions as such. Range deletions stand apart.
        """
        # Where keys cannot be looked up, the way is from the start each time.
        unknown = start is None and self._file.key_order() == "unknown"
        chunk, skip = LARGE_CHUNK if unknown else CHUNK, 0
        while rows := self._file.scan(start, skip, stop, chunk):
            for row in rows:
                yield Entry(*row)
            last = rows[-1][0]
            same = len(rows) if unknown else sum(1 for row in rows if row[0] == last)
            skip = same + (skip if unknown or start == last else 0)
            start = None if unknown else last

    def __iter__(self) -> Iterator[Entry]:
        return self.scan()

    def range_deletions(self) -> list[RangeDeletion]:
        """Its range deletions, as they stand in it."""
        return [RangeDeletion(*row) for row in self._file.range_deletions()]

    def stats(self) -> SstStats:
        """What is in the file. Data blocks are read for it, but not decoded."""
        head, stored, properties = self._file.stats()
        return SstStats(*head, {name: BlockCount(*counts) for name, *counts in stored}, dict(properties))

    def verify(self) -> SstReport:
        """Reads and decodes every block. What is damaged is in the report, and the rest is verified all
        the same.
        """
        counts, failures, failed = self._file.verify()
        return SstReport(*counts, failures, failed)


def _value(entry: tuple[bytes, int, str, bytes] | None) -> bytes | Error | None:
    """What an entry says of the value of its key."""
    if entry is None or entry[2].endswith("deletion"):
        return None
    if entry[2] == "value":
        return entry[3]
    error = Error(f"the newest entry of the key is a {entry[2]}: only the program can tell the value")
    error.kind, error.offset = "unsupported", 0
    return error


@overload
def multi_get(
    requests: Iterable[tuple[BlockFile | Sst, AnyBuffer]], errors: Literal["raise"] = ...
) -> list[bytes | None]: ...
@overload
def multi_get(
    requests: Iterable[tuple[BlockFile | Sst, AnyBuffer]], errors: Literal["return"]
) -> list[bytes | Error | None]: ...
def multi_get(
    requests: Iterable[tuple[BlockFile | Sst, AnyBuffer]], errors: Literal["raise", "return"] = "raise"
) -> list[Any]:
    """The values of keys in many files, in their order. Blocks are decoded in batches, each once, and
    the memory of the next is fetched meanwhile, with that of its file's dictionary.

    Parameters
    ----------
    requests : iterable of pairs
        Files, all of them a :class:`BlockFile` or all an :class:`Sst`, opened with one store; and keys.
    errors : "raise" or "return"
        Whether the first error is raised once all keys were looked up, with the ``index`` of its
        request, or each stands in the place of its value.
    """
    if errors not in ("return", "raise"):
        raise ValueError(f'errors is {errors!r}, but must be "return" or "raise"')
    pairs = list(requests)
    block_files = [(file._file, key) for file, key in pairs if isinstance(file, BlockFile)]
    tables = [(file._file, key) for file, key in pairs if isinstance(file, Sst)]
    values: list[Any] = []
    if len(block_files) == len(pairs):
        found, failed = _pylinerate.dict_block_multi_get(block_files)
        values.extend(found)
    elif len(tables) == len(pairs):
        entries, failed = _pylinerate.dict_sst_multi_get(tables)
        values.extend(map(_value, entries))
        failed.update((i, value) for i, value in enumerate(values) if isinstance(value, Error))
    else:
        raise TypeError("the files must all be of one kind, BlockFile or Sst")
    for index, error in failed.items():
        error.index = index
        values[index] = error
    if failed and errors == "raise":
        raise failed[min(failed)]
    return values
