"""The store, which holds a program's dictionaries in memory."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Literal, NamedTuple

from . import _pylinerate
from ._process import NotPicklable

if TYPE_CHECKING:
    from ._slices import AnyBuffer


class Stats(NamedTuple):
    """Sizes and counts of a :class:`Store`."""

    #: Number of dictionaries.
    dictionaries: int
    #: Bytes of the dictionaries, each rounded up to a multiple of 64, without those that are used
    #: directly from a mapped pack.
    raw_bytes: int
    #: Number of dictionaries whose decoding tables are kept now. Raw content needs no tables, and
    #: is not counted.
    digested: int
    #: Bytes of these tables, each rounded up to a multiple of 64.
    table_bytes: int
    #: Bytes of the store's own slots and lists.
    slot_bytes: int
    #: Bytes of address space reserved for dictionaries and tables. Parts that were never used take
    #: no memory.
    mapped_bytes: int
    #: "off" if huge pages were not requested, "advised" if the system accepted the request, else
    #: "refused".
    huge_pages: Literal["off", "advised", "refused"]
    #: Number of times that tables were built and kept.
    digests: int
    #: Number of times that tables were evicted to make room for those of other dictionaries.
    evictions: int


class Store(NotPicklable):
    """Holds dictionaries under IDs that the store assigns. Threads may share a store.

    A dictionary never changes. It is checked when it is inserted; its decoding tables are built for
    the first block that needs them. IDs are never reused. They are not zstd's Dictionary_ID, which
    need not be unique. ``store[id]`` returns a copy of a dictionary; ``id in store`` and
    ``len(store)`` work too.

    Parameters
    ----------
    table_budget : int, optional
        Maximum bytes of kept decoding tables; those of a dictionary take at most 5,440. When new
        tables exceed this budget, tables that were not used lately are evicted, and built again
        when a block needs them. If none can be evicted, a block gets temporary tables. Default: no
        limit.
    raw_limit : int, optional
        Maximum bytes of the dictionaries, each rounded up to a multiple of 64, without those used
        directly from a mapped pack. Inserting more is an error. Default: no limit.
    huge_pages : bool
        Whether to ask the system for huge pages, which make random accesses faster.
    """

    __slots__ = ("__weakref__", "_store")

    def __init__(
        self, table_budget: int | None = None, raw_limit: int | None = None, huge_pages: bool = True
    ) -> None:
        self._store = _pylinerate.DictStore(table_budget, raw_limit, huge_pages)

    def insert(self, dictionary: AnyBuffer, hash: int | None = None) -> int:
        """Copies a dictionary into the store and returns its ID. The caller is its first user, see
        :meth:`release`. If the store has the same bytes already, adds a user to that dictionary and
        returns its ID.

        Parameters
        ----------
        dictionary : buffer
            A trained dictionary, which begins with zstd's magic number, or raw content of at least
            8 bytes.
        hash : int, optional
            The :func:`content_hash` that the dictionary must have.

        Raises
        ------
        Error
            If the dictionary has fewer than 8 bytes or 4 GiB or more, a trained one is damaged, the
            hash differs, or ``raw_limit`` is reached.
        """
        return self._store.insert(dictionary, hash)

    def hash(self, id: int) -> int:
        """The :func:`content_hash` of a dictionary. Store it with your blocks to detect a wrong
        dictionary before decoding.

        Raises
        ------
        UnknownId
            If there is no dictionary with this ID.
        """
        return self._store.hash(id)

    def find(self, hash: int) -> int | None:
        """The ID of the first dictionary with this :func:`content_hash`, or ``None``. This does not
        add a user: call :meth:`retain` to keep the dictionary.
        """
        return self._store.find(hash)

    def retain(self, id: int) -> None:
        """Adds a user to a dictionary, which stays in the store until each user has called
        :meth:`release`.

        Raises
        ------
        UnknownId
            If there is no dictionary with this ID.
        """
        self._store.retain(id)

    def release(self, id: int) -> bool:
        """Removes a user of a dictionary. A dictionary without users is dropped; decoding in
        progress finishes. Returns whether it was dropped.

        Raises
        ------
        UnknownId
            If there is no dictionary with this ID.
        """
        return self._store.release(id)

    def trim(self) -> int:
        """Gives unused memory back to the system, including memory that is otherwise kept for later
        insertions. Returns the number of bytes by which ``stats().mapped_bytes`` has decreased.
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

    # Without this Python would iterate by store[0], store[1], ..., but IDs are not consecutive.
    __iter__ = None

    def stats(self) -> Stats:
        """Sizes and counts of the store at this moment."""
        return Stats(*self._store.stats())

    def __repr__(self) -> str:
        stats = self.stats()
        return f"<Store: {stats.dictionaries} dictionaries, {stats.raw_bytes} bytes>"
