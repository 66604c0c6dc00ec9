"""Packs: files of dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from . import _pylinerate
from ._files import File, check_readable

if TYPE_CHECKING:
    from typing import Self

    from ._files import Path
    from ._slices import AnyBuffer
    from ._store import Store


class PackEntry(NamedTuple):
    """A dictionary in a :class:`Pack`."""

    #: ID in the pack, never reused.
    id: int
    #: Size in bytes.
    size: int
    #: The :func:`content_hash`.
    hash: int
    #: The Dictionary_ID in zstd's format; 0 for raw content.
    number: int
    #: Base-2 logarithms of the sizes of the tables of literal lengths, match lengths, offsets and
    #: Huffman codes.
    table_logs: tuple[int, int, int, int]
    #: The cluster that the dictionary was added to.
    cluster: int
    #: Bytes as stored.
    stored: int
    #: Number of users.
    users: int


class PackStats(NamedTuple):
    """Statistics of a :class:`Pack`."""

    #: Number of dictionaries.
    dictionaries: int
    #: Number of dictionaries without users.
    unused: int
    #: Bytes of the dictionaries.
    dictionary_bytes: int
    #: Bytes of the dictionaries as stored.
    stored_bytes: int
    #: Stored bytes of removed dictionaries that are kept because others are compressed with them.
    removed_bytes: int
    #: Bytes of the file.
    size: int
    #: Bytes after the last complete segment, which an interrupted write left.
    ignored: int
    #: Number of commits so far.
    generation: int
    #: Whether dictionaries are stored uncompressed.
    uncompressed: bool


class Compacted(NamedTuple):
    """Result of :meth:`Pack.compact`."""

    #: Number of dictionaries kept.
    kept: int
    #: Number of dictionaries dropped.
    dropped: int
    #: Bytes of the file before.
    before: int
    #: Bytes of the file now.
    after: int


class Pack(File):
    """A file of dictionaries with 64-bit IDs. An open pack shows the file as it was when it was
    opened.

    A pack is compressed by default, and records the users of each dictionary. Changes are appended;
    nothing is overwritten in place.
    ``pack[id]`` is a dictionary; iterating gives the IDs.

    >>> import os, tempfile
    >>> from pylinerate.dict import Pack, Store
    >>> path = os.path.join(tempfile.mkdtemp(), "dictionaries.pack")
    >>> with Pack.create(path) as editor:
    ...     id = editor.add(b"a dictionary of a few words")
    ...     editor.retain(id, "000123.sst")
    True
    >>> store = Store()
    >>> with Pack.open(path) as pack, pack.load(store) as ids:
    ...     store[ids[id]]
    b'a dictionary of a few words'
    """

    __slots__ = ()
    _file: _pylinerate.DictPack

    def __init__(self) -> None:
        raise TypeError("use Pack.open, Pack.create or Pack.edit")

    @classmethod
    def open(cls, path: Path, *, map: bool = True) -> Self:
        """Opens a pack without reading its dictionaries.

        Parameters
        ----------
        path : str or path
            The file.
        map : bool
            Whether to map the file into memory. Only the part up to the last commit is mapped, so
            the pack may be edited while it is open.

        Raises
        ------
        OSError
            If the file cannot be read.
        Error
            If the file is damaged or is no pack.
        """
        check_readable(path)
        self = cls.__new__(cls)
        self._file, self._path = _pylinerate.DictPack.open(path, map), path
        return self

    @staticmethod
    def create(path: Path, *, uncompressed: bool = False, level: int = 3) -> PackEditor:
        """Creates a pack. The file must not exist; it appears when the editor commits.

        Parameters
        ----------
        path : str or path
            The file.
        uncompressed : bool
            Whether to store dictionaries uncompressed, so that they are used directly from the
            mapped file.
        level : int
            A level of zstd, -7 to 22.
        """
        return PackEditor(_pylinerate.DictEditor.create(path, uncompressed, level))

    @staticmethod
    def edit(path: Path) -> PackEditor:
        """Opens a pack to change it. Only one editor can be open at a time. Packs that are open for
        reading keep showing the old state.
        """
        check_readable(path)
        return PackEditor(_pylinerate.DictEditor.open(path))

    @staticmethod
    def compact(
        path: Path, drop: Iterable[int] = (), *, uncompressed: bool | None = None, level: int = 3
    ) -> Compacted:
        """Rewrites a pack without removed dictionaries and without those in ``drop``. Replaces the
        old file atomically.

        Raises
        ------
        UnknownId
            If a dictionary in ``drop`` does not exist.
        Error
            If a dictionary in ``drop`` has users, or the pack is damaged. The pack is then
            unchanged.
        """
        numbers = set(drop)
        with Pack.open(path) as pack:
            for id in numbers:
                pack.users(id)  # raises UnknownId
            if uncompressed is None:
                uncompressed = pack.stats().uncompressed
        return Compacted(*_pylinerate.dict_compact(path, numbers, uncompressed, level))

    def __getitem__(self, id: int) -> bytes:
        return self._file.read(id)

    def __contains__(self, id: object) -> bool:
        return isinstance(id, int) and 0 <= id < 2**64 and self._file.entry(id) is not None

    def __len__(self) -> int:
        return self._file.stats()[0]

    def __iter__(self) -> Iterator[int]:
        return iter([row[0] for row in self._file.entries()])

    def entries(self) -> list[PackEntry]:
        """The dictionaries in the order of their IDs."""
        return [PackEntry(*row) for row in self._file.entries()]

    def entry(self, id: int) -> PackEntry | None:
        """The dictionary with this ID, or ``None``."""
        row = self._file.entry(id)
        return None if row is None else PackEntry(*row)

    def find(self, hash: int) -> int | None:
        """The ID of the first dictionary with this :func:`content_hash`, or ``None``."""
        return self._file.find(hash)

    def users(self, id: int) -> list[int]:
        """The users of a dictionary as numbers, see :meth:`PackEditor.retain`.

        Raises
        ------
        UnknownId
            If there is no dictionary with this ID.
        """
        return self._file.users(id)

    @property
    def generation(self) -> int:
        """Number of commits so far. While it is the same, the pack has the same content."""
        return self.stats().generation

    def stats(self) -> PackStats:
        """Statistics of the pack."""
        return PackStats(*self._file.stats())

    def verify(self) -> PackStats:
        """Reads every dictionary and compares it with the index. Returns the statistics.

        Raises
        ------
        Error
            The error of the first damaged part.
        """
        return PackStats(*self._file.verify())

    def load(self, store: Store, lazy: bool = True) -> Loaded:
        """Loads the pack's dictionaries into a store.

        Parameters
        ----------
        store : Store
            The target. Dictionaries that it has already are shared.
        lazy : bool
            Whether each dictionary is read only when it is first used; the pack may be closed
            before that. If the dictionary is damaged, the block that needs it has the error.

        Returns
        -------
        Loaded
            Maps IDs in the pack to IDs in the store.
        """
        return Loaded(self._file.load(store._store, lazy))


class Loaded(Mapping[int, int]):
    """The dictionaries of a pack in a store: a mapping of IDs in the pack to IDs in the store.

    This object is a user of the dictionaries until it is released: by :meth:`release`, at the end
    of a ``with`` block, or when it is garbage collected.
    """

    __slots__ = ("__weakref__", "_ids", "_loaded")

    def __init__(self, loaded: _pylinerate.DictLoaded) -> None:
        self._loaded = loaded
        self._ids = dict(loaded.ids())

    def __getitem__(self, id: int) -> int:
        return self._ids[id]

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[int]:
        return iter(self._ids)

    def release(self) -> None:
        """Releases the dictionaries. Those without other users are dropped from the store."""
        self._loaded.release()
        self._ids = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Loaded cannot be pickled or copied: load the pack again")

    def __repr__(self) -> str:
        return f"<Loaded: {len(self)} dictionaries>"


class PackEditor:
    """Changes a pack: see :meth:`Pack.create` and :meth:`Pack.edit`.

    Changes become visible with :meth:`commit`. The end of a ``with`` block commits, or discards the
    changes if an exception ended the block. Until then the file is unchanged.
    """

    __slots__ = ("__weakref__", "_editor")

    def __init__(self, editor: _pylinerate.DictEditor) -> None:
        self._editor = editor

    def add(self, dictionary: AnyBuffer, cluster: int = 0) -> int:
        """Adds a dictionary and returns its ID. A dictionary that the pack has already keeps its
        ID.

        Dictionaries of one ``cluster`` should resemble each other: each is compressed with the
        first one.

        Raises
        ------
        Error
            If the dictionary is a damaged trained one, or has fewer than 8 bytes or more than 64
            MiB.
        """
        return self._editor.add(dictionary, cluster)

    def retain(self, id: int, user: int | str) -> bool:
        """Adds a user to a dictionary. Returns whether the user is new.

        A user is a number, or a name, such as that of a file; the hash of a name is its number.
        """
        return self._editor.retain(id, _user(user))

    def release(self, id: int, user: int | str) -> bool:
        """Removes a user from a dictionary. Returns whether it was one. The dictionary stays in the
        pack until :meth:`remove`.
        """
        return self._editor.release(id, _user(user))

    def remove(self, id: int) -> None:
        """Removes a dictionary. Its bytes are freed when the pack is compacted.

        Raises
        ------
        Error
            If the dictionary does not exist or has users.
        """
        self._editor.remove(id)

    def commit(self) -> int:
        """Writes the changes atomically and durably. Returns the pack's new generation."""
        return self._editor.commit()

    def discard(self) -> None:
        """Discards uncommitted changes."""
        self._editor.discard()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.commit()
        else:
            self.discard()

    def __reduce__(self) -> Any:
        raise TypeError("a PackEditor cannot be pickled or copied")


def _user(user: int | str) -> int:
    return _pylinerate.dict_user(user) if isinstance(user, str) else user
