"""The shape of the module ``zlib``, for clients that decompress gateways by ``zlib.decompressobj``."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from ._pylinerate import GatewayError
from .gateway import Decompressor

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._slices import AnyBuffer


class StreamError(GatewayError, zlib.error):
    """A :class:`GatewayError` that programs written for ``zlib`` catch as ``zlib.error``."""


def stream_error(error: GatewayError) -> StreamError:
    """``error`` as a :class:`StreamError`, with the same attributes."""
    made = StreamError(*error.args)
    made.__dict__.update(error.__dict__)
    return made


class DecompressObject:
    """The shape of ``zlib.decompressobj()``: :class:`ZlibModule` makes it."""

    __slots__ = ("_raises", "decompressor")

    #: A gateway's stream never ends, and nothing is left over.
    eof = False
    unused_data = b""
    unconsumed_tail = b""

    def __init__(self, decompressor: Decompressor, raises: Callable[[str], Exception] | None = None) -> None:
        #: The decompressor behind it.
        self.decompressor = decompressor
        self._raises = raises

    def decompress(self, data: AnyBuffer, /, max_length: int = 0) -> bytes:
        """Return the payload; nothing if the message is incomplete.

        ``max_length`` must be 0: the limit is the decompressor's ``max_message``.

        Raises
        ------
        GatewayError
            Which is a ``zlib.error`` too. If the stream is damaged or above the limits, unless ``raises`` says what to raise.
        """
        if max_length:
            raise ValueError("max_length is not supported: set max_message")
        try:
            return self.decompressor.decompress(data) or b""
        except GatewayError as error:
            if self._raises is None:
                raise stream_error(error) from None
            raise self._raises(str(error)) from error

    def flush(self, length: int = 16384, /) -> bytes:
        """Return nothing: each message is complete."""
        return b""


class ZlibModule:
    """Stands for the module ``zlib`` in clients of gateways that call ``zlib.decompressobj().decompress(message)``.

    Assign one to the name ``zlib`` of the client's module. ``decompressobj()`` then makes a :class:`DecompressObject`
    for each connection; every other name, and ``decompressobj`` with arguments, is that of ``zlib``.

    Parameters
    ----------
    raises : callable, optional
        What is raised in place of a ``GatewayError``: many clients connect again and resume after a ``TimeoutError``.
    options
        Those of :class:`Decompressor`.
    """

    def __init__(self, *, raises: Callable[[str], Exception] | None = None, **options: Any) -> None:
        self._raises, self._options = raises, options
        self.decompressobj()  # so that wrong options are errors here

    def decompressobj(self, *arguments: Any, **named: Any) -> Any:
        """Return a :class:`DecompressObject`; with arguments, that of ``zlib``."""
        if arguments or named:
            return zlib.decompressobj(*arguments, **named)
        return DecompressObject(Decompressor("zlib-stream", **self._options), self._raises)

    def __getattr__(self, name: str) -> Any:
        return getattr(zlib, name)
