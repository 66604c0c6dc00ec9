"""Reads block files, a format of this project, and RocksDB's SST files."""

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

#: Bytes of records that a scan reads at a time.
CHUNK = 256 << 10
#: Bytes of entries that a scan reads at a time from an SST file of unknown key order. Each of these
#: reads goes through the file from its beginning, so there should be few of them.
LARGE_CHUNK = 8 << 20
#: Number of records that :meth:`BlockFile.build` passes to the native builder at a time.
RECORDS = 1000


class Counts(NamedTuple):
    """Counts of a :class:`BlockFile`."""

    #: Number of records.
    records: int
    #: Bytes of all keys.
    key_bytes: int
    #: Bytes of all values.
    value_bytes: int
    #: Number of blocks of records.
    blocks: int
    #: Bytes of the blocks when decoded.
    content_bytes: int
    #: Bytes of the blocks as stored.
    stored_bytes: int
    #: Number of blocks of the index, without its root.
    index_blocks: int
    #: Stored bytes of the block file's index, with its root.
    index_bytes: int


class BlockFileStats(NamedTuple):
    """Statistics of a :class:`BlockFile`."""

    #: Counts of records, blocks and bytes.
    counts: Counts
    #: Bytes of the file.
    size: int
    #: Target size of a block, in bytes of content.
    block_size: int
    #: The zstd level at which the blocks were compressed.
    level: int
    #: Whether the file has a hash of each block's content.
    checksums: bool
    #: Bytes of the dictionary that the file's blocks need, 0 if they need none.
    dictionary_size: int
    #: The :func:`content_hash` of that dictionary.
    dictionary_hash: int


class Entry(NamedTuple):
    """An entry of an :class:`Sst`: one version of a key."""

    key: bytes
    #: Sequence number; a higher one is newer. 0 in files made for ingestion.
    sequence: int
    #: Type of the entry: "value", "deletion", "single deletion" (of a key that was written once),
    #: "range deletion", "merge" (an operand of the application's merge operator), "blob index" (the
    #: value is in a blob file) or "other".
    kind: str
    #: The value, operand or blob index; empty for deletions.
    value: bytes


class RangeDeletion(NamedTuple):
    """An entry of an :class:`Sst` that deletes the keys from ``start`` to ``stop`` (not
    included)."""

    start: bytes
    stop: bytes
    #: Sequence number; entries with a lower one are deleted.
    sequence: int


class BlockCount(NamedTuple):
    """The data blocks of an :class:`Sst` that have the same compression."""

    #: Number of blocks.
    blocks: int
    #: Bytes of the blocks as stored.
    stored: int
    #: Bytes of the blocks when decoded. For a compression that is not supported, bytes as stored.
    content: int


class SstStats(NamedTuple):
    """Statistics of an :class:`Sst`."""

    #: Bytes of the file.
    size: int
    #: Version of the file format, 2 to 7.
    format_version: int
    #: Kind of the checksums: "none", "crc32c", "xxhash", "xxhash64" or "xxh3".
    checksum: str
    #: Kind of the index: "binary search", "hash", "partitioned" or "with first keys".
    index_kind: str
    #: Order of the keys: "bytewise" (ascending) or "reverse" (descending). "unknown" for a custom
    #: comparator: keys can then not be looked up.
    key_order: str
    #: Bytes of the file's dictionary; ``None`` if it has none.
    dictionary_size: int | None
    #: The Dictionary_ID of zstd, if the file has a trained dictionary; else ``None``.
    dictionary_number: int | None
    #: Data blocks by compression: "none", "zstd", "lz4" and others.
    blocks: dict[str, BlockCount]
    #: Properties that RocksDB has stored in the file, by name. It writes most numbers as varints.
    properties: dict[str, bytes]


class SstReport(NamedTuple):
    """Result of verifying an :class:`Sst`."""

    #: Number of data blocks, including damaged ones.
    data_blocks: int
    #: Number of other blocks, such as those of the index, filters and properties.
    other_blocks: int
    #: Number of entries in the data blocks, in each up to its first error.
    entries: int
    #: Number of deletions among the entries.
    deletions: int
    #: Number of merge operands among the entries.
    merge_operands: int
    #: Bytes of the keys of the entries, each with 8 bytes for sequence number and type.
    key_bytes: int
    #: Bytes of the values of the entries.
    value_bytes: int
    #: The first hundred errors.
    failures: list[Error]
    #: Number of all errors.
    failed: int

    @property
    def is_sound(self) -> bool:
        """Whether there are no errors."""
        return self.failed == 0


def check_readable(path: Path) -> None:
    """Raises the same ``OSError`` as Python's ``open`` if the file cannot be opened for reading."""
    with open(path, "rb"):
        pass


class File:
    """Base of the classes of files. A file is also closed when its object is garbage collected."""

    __slots__ = ("__weakref__", "_file", "_path")

    _file: _pylinerate.DictBlockFile | _pylinerate.DictPack | _pylinerate.DictSst
    _path: Path

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return self._file.is_closed()

    def close(self) -> None:
        """Closes the file. A block file or SST file also releases its dictionary in the store.
        Reads in progress finish; later ones raise ``ValueError``.
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
    """Base of the classes of files whose dictionary is in a store while they are open."""

    __slots__ = ("_store",)

    _store: Store

    @property
    def store(self) -> Store:
        """The store that has the file's dictionary."""
        return self._store


class BlockFile(ReadThroughStore):
    """A sorted file of records, each a key and a value, in blocks that share a dictionary. Any
    number of threads may read it.

    Files may share a store, which holds the dictionary of each file while that file is open.

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
            The store for the file's dictionary. If the dictionary is not in the file but, for
            example, in a pack, it must be in the store already.
        map : bool
            Whether to map the file into memory; otherwise each block is read separately. If
            somebody shortens a mapped file, reading it may crash the program.
        dictionary : int, optional
            The store's ID of the dictionary, if the file does not contain it. Default: the store is
            searched for the hash that the file states.

        Raises
        ------
        OSError
            If the file cannot be read.
        Error
            If the file is damaged, or its dictionary is not in the store.
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
        """Writes a file. An existing file is replaced only when the new one is complete; after an
        error it is unchanged.

        Parameters
        ----------
        path : str or path
            The file.
        records : iterable of pairs of buffers
            Keys and values. Each key must be greater than the one before, unless ``sort`` is true.
        dictionary : buffer or int, optional
            A dictionary, or the maximum size in bytes of one to train on the first records. The
            trained one is left out if the records are too few, or if it saves no more than its own
            bytes. Default: no dictionary.
        small_tables : bool
            Whether the trained dictionary gets small tables, see :func:`shrink_tables`.
        block_size : int
            Target size of a block in bytes of content, 16 bytes to 32 MiB. A larger record has a
            block of its own.
        level : int
            A level of zstd, -7 to 22.
        checksums : bool
            Whether to store a hash of each block's content. Without the hashes, damage may go
            undetected.
        sort : bool
            Whether to sort the records first. If they need more than 256 MiB, temporary files are
            used. Duplicate keys are an error.

        Raises
        ------
        OSError
            If the file, or a temporary file, cannot be written.
        Error
            If keys are out of order or duplicate, a key has 64 KiB or more, a value has more than
            32 MiB, or an option is invalid.
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
        """The ID of the file's dictionary in the store, or :data:`NONE` if it has none."""
        return self._file.dictionary()

    def get(self, key: AnyBuffer) -> bytes | None:
        """The value of a key, or ``None`` if the file does not have the key.

        Raises
        ------
        Error
            If a block that the lookup reads is damaged or cannot be read.
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
        """The values of many keys, in the order of ``keys``; ``None`` for a key that the file does
        not have. Blocks are decoded in batches of up to 4 MiB of content, each block once in a
        batch.

        Parameters
        ----------
        keys : iterable of buffers
            Keys in any order.
        errors : "raise" or "return"
            "raise": after all lookups the first error is raised, with the ``index`` of its key.
            "return": errors are in the list, in place of values.
        """
        return multi_get(((self, key) for key in keys), errors)

    def scan(
        self, start: AnyBuffer | None = None, stop: AnyBuffer | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Yields keys and values in key order, from the key ``start`` to the key ``stop`` (not
        included). Default: from the first record, and to the last."""
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
        """Reads the whole file, and checks hashes, key order and counts. Returns the counts.

        Raises
        ------
        Error
            The error of the first damaged part.
        """
        return Counts(*self._file.verify())


class Sst(ReadThroughStore):
    """One of RocksDB's SST files: a block-based table of format version 2 to 7. Any number of
    threads may read it.

    While the file is open, its index is in memory and its dictionary in the store.
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
            The store for the file's dictionary.
        map : bool
            Whether to map the file into memory; otherwise each block is read separately. If
            somebody shortens a mapped file, reading it may crash the program.
        checksums : bool
            Whether to verify the checksum of each data block that is read. Those of other blocks
            are always verified.
        block_limit : int
            Maximum size of a decoded block, and of the range deletions in memory, in bytes.

        Raises
        ------
        OSError
            If the file cannot be read.
        Error
            If the file is damaged, is no SST file, or uses a feature that is not supported.
        """
        check_readable(path)
        self = cls.__new__(cls)
        self._file = _pylinerate.DictSst.open(path, store._store, map, checksums, block_limit)
        self._path, self._store = path, store
        return self

    def entry(self, key: AnyBuffer, sequence: int | None = None) -> Entry | None:
        """The newest entry of a key, or with ``sequence`` the newest one up to that sequence
        number. If a newer range deletion contains the key, returns an entry of the kind "range
        deletion", even if the file has no other entry of the key. ``None`` if there is neither.

        Raises
        ------
        Error
            If a block that the lookup reads is damaged or cannot be read, or the key order is
            unknown.
        """
        found = self._file.get(key, 2**64 - 1 if sequence is None else sequence)
        return None if found is None else Entry(*found)

    def get(self, key: AnyBuffer) -> bytes | None:
        """The value of a key. ``None`` if the key is missing or deleted.

        Raises
        ------
        Error
            The errors of :meth:`entry`. Also an error of the kind "unsupported" if the newest entry
            of the key is a merge operand, the position of the value in a blob file, or of an
            unknown type.
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
        """The values that :meth:`get` returns for many keys, in the order of ``keys``. A block is
        decoded once for all of its keys.

        Parameters
        ----------
        keys : iterable of buffers
            Keys in any order.
        errors : "raise" or "return"
            "raise": after all lookups the first error is raised, with the ``index`` of its key.
            "return": errors are in the list, in place of values.
        """
        return multi_get(((self, key) for key in keys), errors)

    def scan(self, start: AnyBuffer | None = None, stop: AnyBuffer | None = None) -> Iterator[Entry]:
        """Yields all entries in the order of the file, from the key ``start`` to the key ``stop``
        (not included): all versions of a key, the newest first, and deletions. Range deletions are
        not among them, see :meth:`range_deletions`. If the key order is unknown, ``start`` or
        ``stop`` is an error of the kind "unsupported".
        """
        # If the key order is unknown, each read starts from the beginning of the file, and skips
        # the entries that earlier reads have returned.
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
        """The range deletions, in the order of the file."""
        return [RangeDeletion(*row) for row in self._file.range_deletions()]

    def stats(self) -> SstStats:
        """Statistics of the file. This reads data blocks but does not decode them."""
        head, stored, properties = self._file.stats()
        return SstStats(*head, {name: BlockCount(*counts) for name, *counts in stored}, dict(properties))

    def verify(self) -> SstReport:
        """Reads and decodes every block. Errors do not stop the verification; they are in the
        report."""
        counts, failures, failed = self._file.verify()
        return SstReport(*counts, failures, failed)


def _value(entry: tuple[bytes, int, str, bytes] | None) -> bytes | Error | None:
    """The value of the key that has ``entry`` as its newest entry. ``None`` if the key is missing
    or deleted; an error if only the application can compute the value."""
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
    """The values of keys in many files, in the order of ``requests``; ``None`` for a key that its
    file does not have. Blocks of block files are decoded in batches, those of SST files all at
    once, each block once in a batch. While one block is decoded, the memory of the next and of its
    dictionary is prefetched.

    Parameters
    ----------
    requests : iterable of pairs
        Pairs of a file and a key. The files must all be of one class, :class:`BlockFile` or
        :class:`Sst`, and must have been opened with one store.
    errors : "raise" or "return"
        "raise": after all lookups the first error is raised, with the ``index`` of its request.
        "return": errors are in the list, in place of values.
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
