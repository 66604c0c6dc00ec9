"""A stand-in for the module ``zlib`` in clients that decompress gateways with
``zlib.decompressobj``."""

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
    """Converts ``error`` to a :class:`StreamError` with the same attributes."""
    made = StreamError(*error.args)
    made.__dict__.update(error.__dict__)
    return made


class DecompressObject:
    """The decompressor of one connection, with methods of the objects that ``zlib.decompressobj()``
    makes. :class:`ZlibModule` makes it."""

    __slots__ = ("_raises", "decompressor")

    # Attributes of zlib's objects. They never change, because a gateway's stream never ends and
    # every message is decompressed completely.
    eof = False
    unused_data = b""
    unconsumed_tail = b""

    def __init__(self, decompressor: Decompressor, raises: Callable[[str], Exception] | None = None) -> None:
        #: The decompressor of the connection.
        self.decompressor = decompressor
        self._raises = raises

    def decompress(self, data: AnyBuffer, /, max_length: int = 0) -> bytes:
        """Decompresses the content of one websocket message. Returns the payload, or ``b""`` if the
        gateway's message is incomplete.

        ``max_length`` must be 0, because the decompressor's ``max_message`` is the limit.

        Raises
        ------
        GatewayError
            If the stream is damaged or above the limits. The error is a ``zlib.error`` too. If this
            object was made with ``raises``, the exception that ``raises`` makes is raised instead.
        ValueError
            If ``max_length`` is not 0.
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
        """Returns ``b""``, since :meth:`decompress` has returned everything. ``length`` is
        ignored."""
        return b""


class ZlibModule:
    """Replaces the module ``zlib`` in gateway clients that call
    ``zlib.decompressobj().decompress(message)``.

    Assign a ``ZlibModule`` to the name ``zlib`` of the client's module. ``decompressobj()`` then
    makes a :class:`DecompressObject` for each connection. ``decompressobj`` with arguments, and
    every other name, is passed on to ``zlib``.

    Parameters
    ----------
    raises : callable, optional
        Makes the exception to raise in place of a ``GatewayError``, from the message of that error:
        usually an exception class. Many clients connect again and resume after a ``TimeoutError``.
    options
        The arguments of :class:`Decompressor`, except its kind, which is "zlib-stream".
    """

    def __init__(self, *, raises: Callable[[str], Exception] | None = None, **options: Any) -> None:
        self._raises, self._options = raises, options
        self.decompressobj()  # so that wrong options raise an error now, not at a connection

    def decompressobj(self, *arguments: Any, **named: Any) -> Any:
        """Returns a :class:`DecompressObject`; with arguments, the object that ``zlib`` makes."""
        if arguments or named:
            return zlib.decompressobj(*arguments, **named)
        return DecompressObject(Decompressor("zlib-stream", **self._options), self._raises)

    def __getattr__(self, name: str) -> Any:
        return getattr(zlib, name)
