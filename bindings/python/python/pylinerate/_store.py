"""The dictionaries of a program, in memory."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Literal, NamedTuple

from . import _pylinerate
from ._process import NotPicklable

if TYPE_CHECKING:
    from ._slices import AnyBuffer


class Stats(NamedTuple):
    """The state of a :class:`Store`."""

    #: Number of dictionaries.
    dictionaries: int
    #: Bytes of the dictionaries, without those used directly from a mapped pack.
    raw_bytes: int
    #: Dictionaries with tables.
    digested: int
    #: Bytes of these tables.
    table_bytes: int
    #: Bytes of the slots and lists of dictionaries.
    slot_bytes: int
    #: Bytes of reserved address space; unused parts take no memory.
    mapped_bytes: int
    #: "off" if not requested, "advised" if the system accepted the advice, else "refused".
    huge_pages: Literal["off", "advised", "refused"]
    #: Number of digests: tables built and kept.
    digests: int
    #: Number of tables evicted for others.
    evictions: int


class Store(NotPicklable):
    """Dictionaries under numbers that the store assigns, shared by threads.

    A dictionary never changes. It is checked when it is inserted; its tables are made for the first block
    that needs them. Numbers are never reused; they are not the 32-bit numbers in trained dictionaries, which
    need not be unique. ``id in store``, ``len(store)`` and ``store[id]``, a copy of a dictionary, are
    supported.

    Parameters
    ----------
    table_budget : int, optional
        Bytes for tables, at most 5.3 KiB per dictionary. If that is not enough for all, the most used
        dictionaries keep theirs; for others they are made for each block.
    raw_limit : int, optional
        Bytes for the dictionaries, each rounded up to 64. Inserting more is an error.
    huge_pages : bool
        Whether to request huge pages.
    """

    __slots__ = ("__weakref__", "_store")

    def __init__(
        self, table_budget: int | None = None, raw_limit: int | None = None, huge_pages: bool = True
    ) -> None:
        self._store = _pylinerate.DictStore(table_budget, raw_limit, huge_pages)

    def insert(self, dictionary: AnyBuffer, hash: int | None = None) -> int:
        """Copies a dictionary into the store and returns its number. Adds a user to the dictionary if the same
        bytes were inserted before.

        Parameters
        ----------
        dictionary : buffer
            A trained dictionary if it begins with the magic number, else raw content of at least 8 bytes.
        hash : int, optional
            The :func:`content_hash` that it must have.

        Raises
        ------
        Error
            If a trained dictionary is damaged, the hash differs, or ``raw_limit`` is reached.
        """
        return self._store.insert(dictionary, hash)

    def hash(self, id: int) -> int:
        """The :func:`content_hash` of a dictionary. Stored with blocks, it detects a wrong dictionary before
        decoding. :class:`UnknownId` if there is none of this number.
        """
        return self._store.hash(id)

    def find(self, hash: int) -> int | None:
        """The number of a dictionary with this :func:`content_hash`, if there is one. This does not add
        a user: :meth:`retain` the dictionary to keep it.
        """
        return self._store.find(hash)

    def retain(self, id: int) -> None:
        """Adds a user to a dictionary. :class:`UnknownId` if there is none of this number."""
        self._store.retain(id)

    def release(self, id: int) -> bool:
        """Removes a user of a dictionary. Without users it is dropped; running decodes finish. Returns whether
        it was dropped.

        Raises
        ------
        UnknownId
            If there is no dictionary of this number.
        """
        return self._store.release(id)

    def trim(self) -> int:
        """Returns unused memory to the system, except for a reserve. Returns the number of bytes, which are
        counted in ``stats().mapped_bytes``.
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

    # Numbers are not consecutive.
    __iter__ = None

    def stats(self) -> Stats:
        """The state of the store."""
        return Stats(*self._store.stats())

    def __repr__(self) -> str:
        stats = self.stats()
        return f"<Store: {stats.dictionaries} dictionaries, {stats.raw_bytes} bytes>"
