"""Message streams of chat gateways: one zlib or zstd stream for as long as the connection lives.

For programs with one or with thousands of connections. Each takes 33 KB (zlib) or 72 KB (zstd) once it has
seen as much, gives one payload per message, and says when a stream went wrong.

>>> import zlib
>>> from pylinerate.gateway import Decompressor
>>> gateway = zlib.compressobj()
>>> decompressor = Decompressor("zlib-stream")      # one per connection
>>> for payload in b'{"op":10,"d":{}}', b'{"op":11,"d":null}':
...     frame = gateway.compress(payload) + gateway.flush(zlib.Z_SYNC_FLUSH)
...     print(decompressor.decompress(frame))
b'{"op":10,"d":{}}'
b'{"op":11,"d":null}'

What is decoded with one decompressor must come from one connection, in order. An event loop may decode in
its own thread. While a message of 16 KiB or more, compressed, is decoded, other Python threads run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias

from . import _pylinerate
from ._pylinerate import GatewayError
from ._process import OfThisProcess

if TYPE_CHECKING:
    from ._slices import AnyBuffer

    #: How a gateway compresses, by the name in its address.
    Kind: TypeAlias = Literal["zlib-stream", "zstd-stream"]

__all__ = ["Decompressor", "Envelope", "GatewayError", "ZlibContext", "ZstdContext", "peek"]


class Envelope(NamedTuple):
    """What a payload says of itself."""

    #: The opcode; 0 for events.
    op: int | None
    #: The sequence number of an event.
    s: int | None
    #: The name of an event, as it is written, escapes and all.
    t: str | None


def peek(payload: AnyBuffer | str, encoding: Literal["json", "etf"] = "json") -> Envelope:
    """What a payload says of itself, read only as far as that takes: to tell whether it is worth parsing.

    Gateways that write JSON put these members first. What comes behind them is not looked at.

    >>> peek(b'{"t":"TYPING_START","s":7,"op":0,"d":{"user_id":"1"}}')
    Envelope(op=0, s=7, t='TYPING_START')

    Raises
    ------
    Error
        For what is no object or term, or is damaged before the last of the members.
    """
    return Envelope(*_pylinerate.gateway_peek(payload, encoding))


class Decompressor(OfThisProcess, _pylinerate.GatewayDecompressor):
    """The decompressor of one connection.

    Before the first message it holds next to nothing; its history grows with what it has seen. What is needed
    only while a message is decoded belongs to the process and is shared by all connections.

    Parameters
    ----------
    kind : "zlib-stream" or "zstd-stream"
        How the gateway compresses: what the address asked for with ``compress=``.
    max_message : int
        Bytes of the largest payload. One byte more is an error.
    window_log : int
        Logarithm of the largest window of a zstd frame. Gateways use 16, 64 KiB; what asks for more is
        refused before any memory is made for it.
    checks : "json", "etf" or None
        Whether each payload must be exactly one JSON object, or one term in Erlang's external format. The
        streams have no checksums, so this is what tells that a message was lost or damaged. It costs a
        walk over the payload, and gives its :attr:`envelope`.
    sequence : bool
        With ``checks``, whether sequence numbers must also count up by one.
    recent : tuple of int, optional
        Messages to keep as they came, and at most how many bytes of them: see :meth:`recording`.

    Errors stay: after a :class:`GatewayError` every call raises it again until :meth:`reset`. A message that
    could not be handed over, since ``out`` was too small or memory short, is not lost: the next call, with
    the same data, gets it.
    """

    __slots__ = ()

    @property
    def envelope(self) -> Envelope | None:
        """What the last message said of itself, if ``checks`` looked."""
        members = self._envelope()
        return None if members is None else Envelope(*members)

    def __repr__(self) -> str:
        state = "" if self.fault is None else ", failed"
        return f"<{type(self).__name__}: {self.kind}, {self.messages} messages{state}>"


class _Context:
    """What discord.py makes for each connection."""

    __slots__ = ("decompressor",)

    #: What it asks the gateway for.
    COMPRESSION_TYPE: str
    _kind: ClassVar[Kind]
    #: Arguments of the decompressor, but for its kind.
    options: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.decompressor = Decompressor(self._kind, **self.options)

    def decompress(self, data: bytes, /) -> str | None:
        """The payload as text, or None if more of it is to come."""
        return self.decompressor.decompress_text(data)


class ZlibContext(_Context):
    """A decompression context of discord.py for zlib-stream. Subclasses may set ``options``."""

    __slots__ = ()

    COMPRESSION_TYPE: str = "zlib-stream"
    _kind = "zlib-stream"


class ZstdContext(_Context):
    """A decompression context of discord.py for zstd-stream. Subclasses may set ``options``.

    discord.py, since 2.5, makes one for each connection, of the class that
    ``discord.utils._ActiveDecompressionContext`` is.
    """

    __slots__ = ()

    COMPRESSION_TYPE: str = "zstd-stream"
    _kind = "zstd-stream"
