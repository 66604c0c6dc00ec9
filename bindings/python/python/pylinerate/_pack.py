"""Files of dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from . import _pylinerate
from ._files import File, look

if TYPE_CHECKING:
    from typing import Self

    from ._files import Path
    from ._slices import AnyBuffer
    from .dict import Store


class PackEntry(NamedTuple):
    """A dictionary in a :class:`Pack`."""

    #: Its number in the pack, which no other dictionary ever had or will have there.
    id: int
    #: Bytes of it.
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
    #: How many use it.
    users: int


class PackStats(NamedTuple):
    """What is in a :class:`Pack`."""

    #: Dictionaries.
    dictionaries: int
    #: Those that nobody uses.
    unused: int
    #: Bytes of the dictionaries.
    dictionary_bytes: int
    #: Bytes of them as stored.
    stored_bytes: int
    #: Bytes of removed dictionaries that others are compressed with.
    hidden_bytes: int
    #: Bytes of the file.
    size: int
    #: Bytes behind the last whole segment, from writing that was broken off.
    ignored: int
    #: How often it was changed.
    generation: int
    #: Whether dictionaries are stored as they are.
    uncompressed: bool


class Compacted(NamedTuple):
    """What :meth:`Pack.compact` did."""

    #: Dictionaries that stayed.
    kept: int
    #: Dictionaries that went.
    dropped: int
    #: Bytes of the file before.
    before: int
    #: Bytes of the file now.
    after: int


class Pack(File):
    """A file of dictionaries under 64-bit numbers, as it was when it was opened.

    It is compressed, tells who uses which dictionary, and is never rewritten in place. ``pack[id]`` is a
    dictionary; as an iterable it gives the numbers.

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
        """Opens a pack. Of the dictionaries nothing is read yet.

        Parameters
        ----------
        path : str or path
            The file.
        map : bool
            Whether to map the file into memory. Then it must not become shorter while it is open.

        Raises
        ------
        OSError
            If the file cannot be read.
        Error
            If it is damaged or no pack.
        """
        look(path)
        self = cls.__new__(cls)
        self._file, self._path = _pylinerate.DictPack.open(path, map), path
        return self

    @staticmethod
    def create(path: Path, *, uncompressed: bool = False, level: int = 3) -> PackEditor:
        """A new pack, which is there when the editor is committed. No file may be there.

        Parameters
        ----------
        path : str or path
            The file.
        uncompressed : bool
            Whether dictionaries are stored as they are, so that they are used from where they are mapped.
        level : int
            A level of zstd, -7 to 22.
        """
        return PackEditor(_pylinerate.DictEditor.create(path, uncompressed, level))

    @staticmethod
    def edit(path: Path) -> PackEditor:
        """Changes a pack that is there. It has one editor at a time; who has it open sees it as it was."""
        look(path)
        return PackEditor(_pylinerate.DictEditor.open(path))

    @staticmethod
    def compact(
        path: Path, drop: Iterable[int] = (), *, uncompressed: bool | None = None, level: int = 3
    ) -> Compacted:
        """Writes a pack anew, without what was removed and without the dictionaries ``drop``, and puts it
        in place of the old one. Whatever happens meanwhile, one of both is there.

        Raises
        ------
        UnknownId
            If a dictionary that is to be dropped is not there.
        Error
            If a dictionary that is to be dropped has users, and for damage. Then the pack is as it was.
        """
        numbers = set(drop)
        with Pack.open(path) as pack:
            for id in numbers:
                pack.users(id)  # there is such a dictionary
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
        """The dictionary of that number, if there is one."""
        row = self._file.entry(id)
        return None if row is None else PackEntry(*row)

    def find(self, hash: int) -> int | None:
        """The number of the first dictionary with this :func:`content_hash`, if there is one."""
        return self._file.find(hash)

    def users(self, id: int) -> list[int]:
        """Who uses a dictionary: numbers, see :meth:`PackEditor.retain`. :class:`UnknownId` if there is
        none of this number.
        """
        return self._file.users(id)

    @property
    def generation(self) -> int:
        """How often it was changed. Who opens it again and finds the same number has the same pack."""
        return self.stats().generation

    def stats(self) -> PackStats:
        """What is in the pack."""
        return PackStats(*self._file.stats())

    def verify(self) -> PackStats:
        """Reads every dictionary, and compares it with what the index says. Returns what is in the pack.

        Raises
        ------
        Error
            For the first damage.
        """
        return PackStats(*self._file.verify())

    def load(self, store: Store, lazy: bool = True) -> Loaded:
        """Its dictionaries in a store.

        Parameters
        ----------
        store : Store
            Where they go, apart from those that it has.
        lazy : bool
            Whether each is read when it is first used. The pack may be closed all the same. What is wrong
            with one is then the error of the block that needs it.

        Returns
        -------
        Loaded
            The number in the store of each number in the pack.
        """
        return Loaded(self._file.load(store._store, lazy))


class Loaded(Mapping[int, int]):
    """The dictionaries of a pack in a store: a mapping of numbers in the pack to numbers in the store.

    They have this as a user until it is released, at the end of a ``with`` block or when it is no longer
    used.
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
        """Gives the dictionaries back. Numbers are unknown to the store then, unless there are other
        users.
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

    Nothing of it is seen before :meth:`commit`, which the end of a ``with`` block does unless an error
    ended it. Until then nothing is changed, whatever happens.
    """

    __slots__ = ("__weakref__", "_editor")

    def __init__(self, editor: _pylinerate.DictEditor) -> None:
        self._editor = editor

    def add(self, dictionary: AnyBuffer, cluster: int = 0) -> int:
        """Adds a dictionary, compressed with the first one of its ``cluster``, and returns its number. One
        that is there already keeps its number.

        Raises
        ------
        Error
            For a trained one that is damaged, for fewer than 8 bytes and more than 64 MiB.
        """
        return self._editor.add(dictionary, cluster)

    def retain(self, id: int, user: int | str) -> bool:
        """Notes that a user needs a dictionary: a number, or a name such as that of a file, whose hash
        is the number. Returns whether that was new.
        """
        return self._editor.retain(id, _user(user))

    def release(self, id: int, user: int | str) -> bool:
        """Notes that a user needs a dictionary no longer. Returns whether it did before. The dictionary
        stays until it is removed.
        """
        return self._editor.release(id, _user(user))

    def remove(self, id: int) -> None:
        """Removes a dictionary. Its bytes go when the pack is compacted.

        Raises
        ------
        Error
            If it is not there or has users.
        """
        self._editor.remove(id)

    def commit(self) -> int:
        """Makes the changes last, and returns the generation of the pack. It is as it was before, or as it
        is now, whatever happens.
        """
        return self._editor.commit()

    def discard(self) -> None:
        """Forgets the changes that were not committed."""
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
