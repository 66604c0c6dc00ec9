"""Reads and edits packs, which are files of dictionaries."""

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

    #: ID of the dictionary in the pack. IDs are never reused.
    id: int
    #: Size of the dictionary in bytes.
    size: int
    #: The :func:`content_hash` of the dictionary.
    hash: int
    #: The Dictionary_ID in zstd's format; 0 for raw content.
    number: int
    #: Base-2 logarithms of the sizes of the tables of literal lengths, match lengths, offsets and
    #: Huffman codes. All are 0 for raw content.
    table_logs: tuple[int, int, int, int]
    #: Number of the cluster that the dictionary was added to, see :meth:`PackEditor.add`.
    cluster: int
    #: Bytes that the dictionary takes in the file.
    stored: int
    #: Number of users of the dictionary.
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
    #: Bytes at the end of the file that are not committed: an interrupted write left them, or an
    #: editor is writing them.
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
    """A file of dictionaries with 64-bit IDs. An open pack shows the state that the file had when
    the pack was opened.

    A pack is compressed by default, and records the users of each dictionary. Changes are appended
    to the file, and committed bytes are never overwritten. ``pack[id]`` returns the bytes of a
    dictionary; iterating gives the IDs.

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
        """Creates a pack, and returns its editor. The file must not exist; it appears when the
        editor commits.

        Parameters
        ----------
        path : str or path
            The file.
        uncompressed : bool
            Whether to store dictionaries uncompressed, so that they are used directly from the
            mapped file.
        level : int
            The level of zstd at which dictionaries are compressed, -7 to 22.

        Raises
        ------
        OSError
            If the file exists or cannot be created.
        Error
            If ``level`` is invalid.
        """
        return PackEditor(_pylinerate.DictEditor.create(path, uncompressed, level))

    @staticmethod
    def edit(path: Path) -> PackEditor:
        """Opens a pack to change it, and returns its editor. Packs that are open for reading keep
        showing the old state.

        Raises
        ------
        OSError
            If the file cannot be opened for writing, or another editor has it open.
        Error
            If the file is damaged or is no pack.
        """
        check_readable(path)
        return PackEditor(_pylinerate.DictEditor.open(path))

    @staticmethod
    def compact(
        path: Path, drop: Iterable[int] = (), *, uncompressed: bool | None = None, level: int = 3
    ) -> Compacted:
        """Rewrites a pack without the bytes of removed dictionaries, and without the dictionaries
        whose IDs are in ``drop``. Replaces the old file atomically. IDs do not change.
        ``uncompressed`` and ``level`` are as for :meth:`create`; by default the new pack is
        uncompressed if the old one is.

        Raises
        ------
        UnknownId
            If a dictionary in ``drop`` does not exist.
        Error
            If a dictionary in ``drop`` has users, the pack is damaged, or ``level`` is invalid.
        OSError
            If the file cannot be read or written, or an editor has it open.

        After an error the pack is unchanged.
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
        """Descriptions of all dictionaries, in the order of their IDs."""
        return [PackEntry(*row) for row in self._file.entries()]

    def entry(self, id: int) -> PackEntry | None:
        """The description of the dictionary with this ID, or ``None`` if there is none."""
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
        """Reads every dictionary, and compares it with its entry in the pack's index. Returns the
        statistics.

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
            The store. Dictionaries that it has already are shared with it.
        lazy : bool
            Whether each dictionary is read only when it is first used; the pack may be closed
            before that. If the dictionary is damaged, the block that needs it has the error.

        Returns
        -------
        Loaded
            Maps IDs in the pack to IDs in the store, and keeps the dictionaries there.

        Raises
        ------
        Error
            If a dictionary is damaged, unless ``lazy`` is true, or the store is full.
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
        """Releases the dictionaries; the mapping is empty then. Dictionaries without other users
        are dropped from the store."""
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
    changes if an exception ended the block. Until then readers of the file see its old state. An
    editor cannot be used after it has committed or discarded.
    """

    __slots__ = ("__weakref__", "_editor")

    def __init__(self, editor: _pylinerate.DictEditor) -> None:
        self._editor = editor

    def add(self, dictionary: AnyBuffer, cluster: int = 0) -> int:
        """Adds a dictionary and returns its ID. A dictionary that the pack has already is not added
        again, and keeps its ID and cluster.

        Dictionaries with the same number ``cluster`` should resemble each other: each is compressed
        with the first one of them, if that makes it smallest.

        Raises
        ------
        Error
            If the dictionary is a damaged trained one, or has fewer than 8 bytes or more than 64
            MiB.
        OSError
            If the file cannot be written.
        """
        return self._editor.add(dictionary, cluster)

    def retain(self, id: int, user: int | str) -> bool:
        """Adds a user to a dictionary. Returns whether the user is new.

        A user is a number, or a name, such as that of a file, whose 64-bit hash is its number.

        Raises
        ------
        Error
            If the dictionary does not exist.
        """
        return self._editor.retain(id, _user(user))

    def release(self, id: int, user: int | str) -> bool:
        """Removes a user from a dictionary. Returns whether it was a user of it. The dictionary
        stays in the pack until :meth:`remove`.

        Raises
        ------
        Error
            If the dictionary does not exist.
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
        """Makes the changes visible, atomically and durably. Returns the pack's new generation, or
        the old one if nothing has changed."""
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
