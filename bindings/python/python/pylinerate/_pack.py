"""Files of dictionaries."""

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

    #: Its number in the pack, never reused.
    id: int
    #: Size in bytes.
    size: int
    #: Its :func:`content_hash`.
    hash: int
    #: Its number in zstd's format; 0 for raw content.
    number: int
    #: Logarithms of its tables of literal lengths, match lengths, offsets and Huffman codes.
    table_logs: tuple[int, int, int, int]
    #: The cluster that it was added to.
    cluster: int
    #: Bytes stored.
    stored: int
    #: Number of users.
    users: int


class PackStats(NamedTuple):
    """Statistics of a :class:`Pack`."""

    #: Dictionaries.
    dictionaries: int
    #: Dictionaries without users.
    unused: int
    #: Bytes of the dictionaries.
    dictionary_bytes: int
    #: Bytes of them as stored.
    stored_bytes: int
    #: Stored bytes of removed dictionaries that others are compressed with.
    removed_bytes: int
    #: Bytes of the file.
    size: int
    #: Bytes after the last complete segment, from an interrupted write.
    ignored: int
    #: Number of changes.
    generation: int
    #: Whether dictionaries are stored uncompressed.
    uncompressed: bool


class Compacted(NamedTuple):
    """Result of :meth:`Pack.compact`."""

    #: Dictionaries kept.
    kept: int
    #: Dictionaries dropped.
    dropped: int
    #: Bytes of the file before.
    before: int
    #: Bytes of the file now.
    after: int


class Pack(File):
    """A file of dictionaries under 64-bit numbers, as it was when it was opened.

    It is compressed, records the users of each dictionary, and is never rewritten in place. ``pack[id]`` is a
    dictionary; iterating gives the numbers.

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
            Whether to map the file into memory, up to its last commit: the pack may be edited while it is
            open.

        Raises
        ------
        OSError
            If the file cannot be read.
        Error
            If it is damaged or is no pack.
        """
        check_readable(path)
        self = cls.__new__(cls)
        self._file, self._path = _pylinerate.DictPack.open(path, map), path
        return self

    @staticmethod
    def create(path: Path, *, uncompressed: bool = False, level: int = 3) -> PackEditor:
        """Creates a pack, which appears when the editor commits. The file must not exist.

        Parameters
        ----------
        path : str or path
            The file.
        uncompressed : bool
            Whether dictionaries are stored uncompressed, so that they can be used directly from the mapped file.
        level : int
            A level of zstd, -7 to 22.
        """
        return PackEditor(_pylinerate.DictEditor.create(path, uncompressed, level))

    @staticmethod
    def edit(path: Path) -> PackEditor:
        """Changes an existing pack. One editor at a time; open readers keep seeing the old state."""
        check_readable(path)
        return PackEditor(_pylinerate.DictEditor.open(path))

    @staticmethod
    def compact(
        path: Path, drop: Iterable[int] = (), *, uncompressed: bool | None = None, level: int = 3
    ) -> Compacted:
        """Rewrites a pack without removed dictionaries and without ``drop``, and replaces the old file
        atomically.

        Raises
        ------
        UnknownId
            If a dictionary in ``drop`` does not exist.
        Error
            If a dictionary in ``drop`` has users, or the pack is damaged. The pack is then unchanged.
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
        """The dictionaries, by their numbers."""
        return [PackEntry(*row) for row in self._file.entries()]

    def entry(self, id: int) -> PackEntry | None:
        """The dictionary with this number, if there is one."""
        row = self._file.entry(id)
        return None if row is None else PackEntry(*row)

    def find(self, hash: int) -> int | None:
        """The number of the first dictionary with this :func:`content_hash`, if there is one."""
        return self._file.find(hash)

    def users(self, id: int) -> list[int]:
        """The users of a dictionary as numbers, see :meth:`PackEditor.retain`. :class:`UnknownId` if there is
        none of this number.
        """
        return self._file.users(id)

    @property
    def generation(self) -> int:
        """Number of changes. A pack of the same generation has the same content."""
        return self.stats().generation

    def stats(self) -> PackStats:
        """Statistics of the pack."""
        return PackStats(*self._file.stats())

    def verify(self) -> PackStats:
        """Reads every dictionary and compares it with the index. Returns the statistics.

        Raises
        ------
        Error
            For the first damaged part.
        """
        return PackStats(*self._file.verify())

    def load(self, store: Store, lazy: bool = True) -> Loaded:
        """Loads its dictionaries into a store.

        Parameters
        ----------
        store : Store
            The target. Dictionaries that it has already are shared.
        lazy : bool
            Whether each dictionary is read when it is first used. The pack may be closed before that. An
            error of a dictionary is then that of the block that needs it.

        Returns
        -------
        Loaded
            The number in the store of each number in the pack.
        """
        return Loaded(self._file.load(store._store, lazy))


class Loaded(Mapping[int, int]):
    """The dictionaries of a pack in a store: a mapping of numbers in the pack to numbers in the store.

    This object is their user until it is released, at the end of a ``with`` block or when it is garbage
    collected.
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
        """Releases the dictionaries. Those without other users are dropped from the store.
        """
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

    Changes become visible with :meth:`commit`, which the end of a ``with`` block calls unless an error
    ended it. Until then the file is unchanged.
    """

    __slots__ = ("__weakref__", "_editor")

    def __init__(self, editor: _pylinerate.DictEditor) -> None:
        self._editor = editor

    def add(self, dictionary: AnyBuffer, cluster: int = 0) -> int:
        """Adds a dictionary, compressed with the first one of its ``cluster``, and returns its number. An
        existing one keeps its number.

        Raises
        ------
        Error
            If a trained dictionary is damaged, or has fewer than 8 bytes or more than 64 MiB.
        """
        return self._editor.add(dictionary, cluster)

    def retain(self, id: int, user: int | str) -> bool:
        """Adds a user to a dictionary: a number, or a name, such as that of a file, whose hash is the number.
        Returns whether the user is new.
        """
        return self._editor.retain(id, _user(user))

    def release(self, id: int, user: int | str) -> bool:
        """Removes a user from a dictionary. Returns whether it was one. The dictionary stays until it is
        removed.
        """
        return self._editor.release(id, _user(user))

    def remove(self, id: int) -> None:
        """Removes a dictionary. Its bytes are freed when the pack is compacted.

        Raises
        ------
        Error
            If it does not exist or has users.
        """
        self._editor.remove(id)

    def commit(self) -> int:
        """Writes the changes atomically and durably, and returns the generation of the pack.
        """
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
