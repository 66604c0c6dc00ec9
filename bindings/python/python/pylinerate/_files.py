"""Files of blocks: this project's block files, and RocksDB's SST files."""

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
    from ._store import Store

    Path: TypeAlias = str | os.PathLike[str]

#: Bytes of records that a scan reads at once.
CHUNK = 256 << 10
#: The same if each step of the scan must start from the beginning.
LARGE_CHUNK = 8 << 20
#: Records that are passed to a builder at once.
RECORDS = 1000


class Counts(NamedTuple):
    """Counts of a :class:`BlockFile`."""

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
    """Statistics of a :class:`BlockFile`."""

    #: Counts of records, blocks and bytes.
    counts: Counts
    #: Bytes of the file.
    size: int
    #: Target size of a block in bytes.
    block_size: int
    #: Level of zstd.
    level: int
    #: Whether blocks have hashes of their contents.
    checksums: bool
    #: Bytes of its dictionary, 0 if it has none.
    dictionary_size: int
    #: The :func:`content_hash` of its dictionary.
    dictionary_hash: int


class Entry(NamedTuple):
    """An entry of an :class:`Sst`."""

    key: bytes
    #: Sequence number: higher is newer.
    sequence: int
    #: "value", "deletion", "single deletion", "range deletion", "merge", "blob index" or "other".
    kind: str
    #: The value, operand or blob index; empty for deletions.
    value: bytes


class RangeDeletion(NamedTuple):
    """A deletion in an :class:`Sst` of the keys from ``start`` to ``stop``, not included."""

    start: bytes
    stop: bytes
    #: Sequence number: entries with a lower one are deleted.
    sequence: int


class BlockCount(NamedTuple):
    """The data blocks of an :class:`Sst` with one compression."""

    blocks: int
    #: Bytes of them as stored.
    stored: int
    #: Bytes that they decode to.
    content: int


class SstStats(NamedTuple):
    """Statistics of an :class:`Sst`."""

    #: Bytes of the file.
    size: int
    #: Its version, 2 to 7.
    format_version: int
    #: Checksum type: "none", "crc32c", "xxhash", "xxhash64" or "xxh3".
    checksum: str
    #: "binary search", "hash", "partitioned" or "with first keys".
    index_kind: str
    #: "bytewise", "reverse", or "unknown": then keys cannot be looked up.
    key_order: str
    #: Bytes of its dictionary, if it has one.
    dictionary_size: int | None
    #: The 32-bit number in a trained dictionary.
    dictionary_number: int | None
    #: Data blocks by compression: "none", "zstd", "lz4" and others.
    blocks: dict[str, BlockCount]
    #: Properties of the file; numbers as RocksDB writes them, as varints.
    properties: dict[str, bytes]


class SstReport(NamedTuple):
    """Result of verifying an :class:`Sst`."""

    data_blocks: int
    other_blocks: int
    entries: int
    #: Among the entries.
    deletions: int
    #: Among the entries.
    merge_operands: int
    key_bytes: int
    value_bytes: int
    #: The first hundred errors.
    failures: list[Error]
    #: Number of errors.
    failed: int

    @property
    def is_sound(self) -> bool:
        """Whether there are no errors."""
        return self.failed == 0


def check_readable(path: Path) -> None:
    """Opens a file for reading, so that the system's error for a wrong path is raised."""
    with open(path, "rb"):
        pass


class File:
    """Base of the file classes. Also closed when garbage collected."""

    __slots__ = ("__weakref__", "_file", "_path")

    _file: _pylinerate.DictBlockFile | _pylinerate.DictPack | _pylinerate.DictSst
    _path: Path

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return self._file.is_closed()

    def close(self) -> None:
        """Closes the file and releases its dictionary in the store. Running reads finish; later ones raise
        ``ValueError``.
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
    """A file whose dictionary is in a store."""

    __slots__ = ("_store",)

    _store: Store

    @property
    def store(self) -> Store:
        """The store that has its dictionary."""
        return self._store


class BlockFile(ReadThroughStore):
    """A sorted file of records, in blocks that share a dictionary. Any number of threads may read it.

    Open files share a store, which holds the dictionary of each as long as it is open.

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
            The store for its dictionary. An external dictionary, as in a pack, must be in the store
            already.
        map : bool
            Whether to map the file into memory. A mapped file must not be shortened while it is
            open: that ends the program. Otherwise each block is read separately.
        dictionary : int, optional
            The number of an external dictionary. Default: found by its hash.

        Raises
        ------
        OSError
            If the file cannot be read.
        Error
            If it is damaged, or its dictionary is not in the store.
        """
        check_readable(path)
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
        """Writes a file. It replaces an existing one only when it is complete.

        Parameters
        ----------
        path : str or path
            The file.
        records : iterable of pairs of buffers
            Keys, each greater than the one before, and values.
        dictionary : buffer or int, optional
            A dictionary, or the maximum size of one that is trained with the first records. Default:
            none.
        small_tables : bool
            Whether it is trained with small tables, see :func:`shrink_tables`.
        block_size : int
            Bytes of content of a block. A larger record has a block of its own.
        level : int
            A level of zstd, -7 to 22.
        checksums : bool
            Whether to store hashes of contents. Without them damage may not be detected.
        sort : bool
            Whether to sort the records first, on disk beyond 256 MiB. Duplicate keys are an error.

        Raises
        ------
        OSError
            If the file cannot be written.
        Error
            For keys out of order or duplicate, keys of 64 KiB or more, and values above 32 MiB.
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
            Whether the first error is raised after all lookups, with the ``index`` of its key, or each
            replaces its value.
        """
        return multi_get(((self, key) for key in keys), errors)

    def scan(
        self, start: AnyBuffer | None = None, stop: AnyBuffer | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Keys and values in key order, from ``start`` to ``stop``, not included."""
        after = False
        while records := self._file.scan(start, after, stop, CHUNK):
            yield from records
            start, after = records[-1][0], True

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        return self.scan()

    def stats(self) -> BlockFileStats:
        """Counts and options of the file."""
        stats = self._file.stats()
        return BlockFileStats(Counts(*stats[0]), *stats[1:])

    def verify(self) -> Counts:
        """Reads and checks the whole file: hashes, key order and counts. Returns the counts.

        Raises
        ------
        Error
            For the first damaged part.
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
            The store for its dictionary.
        map : bool
            Whether to map the file into memory. A mapped file must not be shortened while it is
            open: that ends the program. Otherwise each block is read separately.
        checksums : bool
            Whether the checksum of each data block is verified when it is read.
        block_limit : int
            Maximum size of a block in bytes.

        Raises
        ------
        OSError
            If the file cannot be read.
        Error
            If it is damaged, is no SST file, or uses an unsupported feature.
        """
        check_readable(path)
        self = cls.__new__(cls)
        self._file = _pylinerate.DictSst.open(path, store._store, map, checksums, block_limit)
        self._path, self._store = path, store
        return self

    def entry(self, key: AnyBuffer, sequence: int | None = None) -> Entry | None:
        """The newest entry of a key, optionally not newer than ``sequence``. A key covered by a newer range
        deletion has an entry of that kind.

        Raises
        ------
        Error
            If a block on the way is damaged or cannot be read, or the key order is unknown.
        """
        found = self._file.get(key, 2**64 - 1 if sequence is None else sequence)
        return None if found is None else Entry(*found)

    def get(self, key: AnyBuffer) -> bytes | None:
        """The value of a key. ``None`` if it is missing or deleted.

        Raises
        ------
        Error
            As :meth:`entry`; of kind "unsupported" if the value is in merge operands or in a blob
            file.
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
            Whether the first error is raised after all lookups, with the ``index`` of its key, or each
            replaces its value.
        """
        return multi_get(((self, key) for key in keys), errors)

    def scan(self, start: AnyBuffer | None = None, stop: AnyBuffer | None = None) -> Iterator[Entry]:
        """All entries in key order, from ``start`` to ``stop``, not included: all versions of a key, the newest
        first, and deletions. Range deletions are separate.
        """
        # Without a known key order each step starts from the beginning.
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
        """Its range deletions, in file order."""
        return [RangeDeletion(*row) for row in self._file.range_deletions()]

    def stats(self) -> SstStats:
        """Statistics of the file. Reads data blocks without decoding them."""
        head, stored, properties = self._file.stats()
        return SstStats(*head, {name: BlockCount(*counts) for name, *counts in stored}, dict(properties))

    def verify(self) -> SstReport:
        """Reads and decodes every block. Errors are in the report and do not stop the
        verification.
        """
        counts, failures, failed = self._file.verify()
        return SstReport(*counts, failures, failed)


def _value(entry: tuple[bytes, int, str, bytes] | None) -> bytes | Error | None:
    """The value of a key by its entry."""
    if entry is None or entry[2].endswith("deletion"):
        return None
    if entry[2] == "value":
        return entry[3]
    error = Error(f"the newest entry of the key is a {entry[2]}: only the application can compute the value")
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
    """The values of keys in many files, in their order. Blocks are decoded in batches, each once, while
    the memory of the next block and of its dictionary is prefetched.

    Parameters
    ----------
    requests : iterable of pairs
        Files, all of them a :class:`BlockFile` or all an :class:`Sst`, opened with one store; and keys.
    errors : "raise" or "return"
        Whether the first error is raised after all lookups, with the ``index`` of its request, or each
        replaces its value.
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
