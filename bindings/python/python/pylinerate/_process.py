"""Objects that belong to one process."""

from __future__ import annotations

from typing import NoReturn


class OfThisProcess:
    """Cannot be pickled or copied."""

    __slots__ = ()

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be pickled or copied: make another one")
