"""Slices of one buffer: blocks, outputs, and the results of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from ._pylinerate import Error

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Buffer

    #: Type of any object with a buffer. Arrays are named, because only from Python 3.12 on do type
    #: checkers know that they are buffers too.
    AnyBuffer: TypeAlias = Buffer | NDArray[Any]


class Slices(Sequence[memoryview]):
    """Slices of one buffer, such as blocks in a file, or outputs of a batch. This is a sequence of
    ``memoryview`` objects; the content of the buffer is not copied. Raises ``ValueError`` if a
    slice is not within the buffer, or there are more or fewer starts than lengths.

    Attributes
    ----------
    data : array of uint8
        The bytes of the buffer.
    starts, lengths : array of int64
        Offset and size of each slice in bytes.
    """

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]

    def __init__(self, data: AnyBuffer, starts: ArrayLike, lengths: ArrayLike) -> None:
        from ._arrays import flat_bytes, integers  # needs NumPy, and says how to install it

        import numpy as np

        self.data = flat_bytes(data)
        self.starts = integers(starts, np.int64, "starts")
        self.lengths = integers(lengths, np.int64, "lengths")
        if self.starts.shape != self.lengths.shape:
            raise ValueError(f"there are {len(self.starts)} starts and {len(self.lengths)} lengths")
        ends = self.starts + self.lengths
        if ((self.starts < 0) | (self.lengths < 0) | (ends < self.starts) | (ends > self.data.size)).any():
            raise ValueError(f"a slice is not within the {self.data.size} bytes")

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, index: int) -> memoryview: ...
    @overload
    def __getitem__(self, index: slice) -> Slices: ...
    def __getitem__(self, index: int | slice) -> memoryview | Slices:
        if isinstance(index, slice):
            return Slices(self.data, self.starts[index], self.lengths[index])
        start = int(self.starts[index])
        return self.data.data[start : start + int(self.lengths[index])]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} of {self.data.size} bytes>"


class Batch(Slices):
    """The results of decoding a batch, in the order in which its blocks were given.

    ``batch[i]`` returns the content of block i, a ``memoryview`` of :attr:`data`, or raises the
    block's error. A batch has the attributes of :class:`Slices`; the length of a block that could
    not be decoded is 0.

    Attributes
    ----------
    errors : dict of int to Error
        The errors of blocks that could not be decoded, by the index of the block.
    """

    errors: dict[int, Error]

    def __init__(
        self, data: AnyBuffer, starts: ArrayLike, lengths: ArrayLike, errors: dict[int, Error]
    ) -> None:
        super().__init__(data, starts, lengths)
        self.errors = errors

    @property
    def ok(self) -> NDArray[np.bool_]:
        """Whether each block was decoded, as an array of bool."""
        import numpy as np

        ok = np.ones(len(self), np.bool_)
        ok[list(self.errors)] = False
        return ok

    @overload
    def __getitem__(self, index: int) -> memoryview: ...
    @overload
    def __getitem__(self, index: slice) -> Batch: ...
    def __getitem__(self, index: int | slice) -> memoryview | Batch:
        chosen = range(len(self))[index]
        if isinstance(chosen, range):
            errors = {i: self.errors[at] for i, at in enumerate(chosen) if at in self.errors}
            return Batch(self.data, self.starts[index], self.lengths[index], errors)
        if chosen in self.errors:
            raise self.errors[chosen].with_traceback(None)
        return super().__getitem__(chosen)

    def __repr__(self) -> str:
        return f"<Batch: {len(self)} blocks, {len(self.errors)} of them with an error>"
