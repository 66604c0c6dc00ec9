"""The base of classes whose objects cannot leave their process."""

from __future__ import annotations

from typing import NoReturn


class NotPicklable:
    """Base of objects that cannot be pickled or copied."""

    __slots__ = ()

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be pickled or copied: create another one")
