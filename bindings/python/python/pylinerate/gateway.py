"""Message streams of chat gateways: one zlib or zstd stream for as long as the connection lives.

For programs with one or thousands of connections. Each takes up to 33 KB (zlib) or 72 KB (zstd), returns one
payload per message, and reports damaged streams.

>>> import zlib
>>> from pylinerate.gateway import Decompressor
>>> gateway = zlib.compressobj()
>>> decompressor = Decompressor("zlib-stream")      # one per connection
>>> for payload in b'{"op":10,"d":{}}', b'{"op":11,"d":null}':
...     frame = gateway.compress(payload) + gateway.flush(zlib.Z_SYNC_FLUSH)
...     print(decompressor.decompress(frame))
b'{"op":10,"d":{}}'
b'{"op":11,"d":null}'

A decompressor must get the messages of one connection, in order. An event loop may decode in its own thread.
While a message of 16 KiB or more (compressed) is decoded, other Python threads run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias

from . import _pylinerate
from ._optional import require
from ._pylinerate import GatewayError
from ._pylinerate import GatewayStats as Stats
from ._process import NotPicklable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._slices import AnyBuffer

    #: Transport: of a gateway, the ``compress`` parameter of its URL, or of a feed whose messages are compressed each
    #: on its own.
    Kind: TypeAlias = Literal["zlib-stream", "zstd-stream", "zstd-frame", "zlib", "gzip", "raw-deflate"]

__all__ = [
    "Decompressor",
    "Dictionaries",
    "Envelope",
    "GatewayError",
    "Stats",
    "StatsRecorder",
    "ZlibContext",
    "ZlibModule",
    "ZstdContext",
    "peek",
    "trim",
]


class Envelope(NamedTuple):
    """Opcode, sequence number and event of a payload."""

    #: The opcode; 0 for events.
    op: int | None
    #: The sequence number of an event.
    s: int | None
    #: The name of an event; escapes are not decoded.
    t: str | None


def peek(payload: AnyBuffer | str, encoding: Literal["json", "etf"] = "json") -> Envelope:
    """Read the envelope of a payload without the rest, to decide whether it is worth parsing.

    Gateways that write JSON put these members first. Bytes after them are not checked.

    >>> peek(b'{"t":"TYPING_START","s":7,"op":0,"d":{"user_id":"1"}}')
    Envelope(op=0, s=7, t='TYPING_START')

    Raises
    ------
    Error
        If the payload is not an object or term, or is damaged before the last of the members.
    """
    return Envelope(*_pylinerate.gateway_peek(payload, encoding))


def trim() -> None:
    """Return memory to the system: working memory that is not in use, and what closed connections have left.

    It happens by itself some seconds after 64 connections or more were closed. It takes milliseconds for hundreds of
    megabytes.
    """
    _pylinerate.gateway_trim()


class Decompressor(NotPicklable, _pylinerate.GatewayDecompressor):
    """The decompressor of one connection.

    Before the first message it holds almost no memory; its history grows with the data. Memory needed only while
    a message is decoded is shared by all connections of the process.

    Parameters
    ----------
    kind : "zlib-stream", "zstd-stream", "zstd-frame", "zlib", "gzip" or "raw-deflate"
        The transport: one of the first two for gateways, the ``compress`` parameter of their URL. The others are those
        of feeds, whose messages are compressed each on its own; an error is then that of its message alone.
    max_message : int
        Largest payload in bytes. One byte more is an error.
    window_log : int
        Base-2 logarithm of the largest window of a zstd frame. Gateways use 16 (64 KiB); a frame with a larger
        window is an error before any memory is allocated for it.
    checks : "json", "etf" or None
        Whether each payload must be exactly one JSON object, or one term in Erlang's external format. The
        streams have no checksums, so only this detects lost or damaged messages. It costs one pass over the
        payload and sets :attr:`envelope`.
    sequence : bool
        With ``checks``, whether sequence numbers must also increase by one.
    recent : tuple of int, optional
        Maximum number and maximum total bytes of compressed messages to keep; see :meth:`recording`.
    dictionaries : Dictionaries, optional
        Of "zstd-frame": those that frames may name.
    stats : StatsRecorder, optional
        Where it is recorded what each message cost; :attr:`stats` is then what those of this connection did.

    Errors persist: after a :class:`GatewayError` every call raises it again until :meth:`reset`. A message that
    could not be delivered, because ``out`` was too small or memory ran out, is not lost: the next call with the
    same data returns it.
    """

    __slots__ = ()

    @property
    def envelope(self) -> Envelope | None:
        """Envelope of the last message; None without ``checks``."""
        members = self._envelope()
        return None if members is None else Envelope(*members)

    def __repr__(self) -> str:
        state = "" if self.error is None else ", failed"
        return f"<{type(self).__name__}: {self.kind}, {self.messages} messages{state}>"


class Dictionaries(NotPicklable, _pylinerate.GatewayDictionaries):
    """Zstd dictionaries, digested once for any number of decompressors. Frames name theirs by its id.

    Parameters
    ----------
    *dictionaries : bytes
        Each in zstd's format, with an id; or raw content, whose id is 0, for the frames that name none.

    Raises
    ------
    Error
        If one is damaged, or two have the same id.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.ids}>"


class StatsRecorder(NotPicklable, _pylinerate.GatewayStatsRecorder):
    """Records what each message of any number of decompressors cost: time of arrival, bytes, time of decoding, verdict.

    Payloads, tokens and addresses are not recorded. Decoding never waits for the recorder; messages that it could not
    take are counted as :attr:`dropped`. It has a thread of its own, so that a process that was forked needs a recorder
    of its own.

    Parameters
    ----------
    log : path, optional
        Folder of the log files, ``NAME-000001.stats`` and so on, 32 bytes a message, which ``linerate gateway stats``
        reads. Nothing is written without.
    name : str, optional
        Beginning of their names.
    max_bytes, max_age, max_files : int, float, int
        A new file is begun above these bytes or seconds; the oldest is deleted beyond this number of files.
    clock : "elapsed" or "cpu"
        Whether decoding times are elapsed time, or CPU time of the thread where the system tells it.
    capacity : int
        Records that may wait until they are counted.
    max_connections : int
        Connections with statistics of their own, some 2 KiB each; later ones are counted among all only.

    Raises
    ------
    OSError
        If the log cannot be made.

    >>> with StatsRecorder() as recorder:
    ...     decompressor = Decompressor("zlib", stats=recorder)
    ...     payload = decompressor.decompress(bytes.fromhex("789cabae0500017500f9"))
    >>> recorder.stats().messages, recorder.stats().payload_bytes
    (1, 2)
    """

    __slots__ = ()

    def __enter__(self) -> StatsRecorder:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def collect(self) -> Iterator[Any]:
        """Yield the metrics of ``prometheus_client``: ``prometheus_client.REGISTRY.register(recorder)``."""
        require("prometheus_client", "prometheus")
        from prometheus_client.parser import text_string_to_metric_families

        yield from text_string_to_metric_families(self.prometheus())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.connections} connections>"


class _Context:
    """Base of discord.py's decompression contexts, one per connection."""

    __slots__ = ("decompressor",)

    #: The transport to request from the gateway.
    COMPRESSION_TYPE: str
    _kind: ClassVar[Kind]
    #: Arguments of the decompressor, except its kind.
    options: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.decompressor = Decompressor(self._kind, **self.options)

    def decompress(self, data: bytes, /) -> str | None:
        """Return the payload as text, or None if the message is incomplete."""
        return self.decompressor.decompress_text(data)


class ZlibContext(_Context):
    """A decompression context of discord.py for zlib-stream. Subclasses may set ``options``."""

    __slots__ = ()

    COMPRESSION_TYPE: str = "zlib-stream"
    _kind = "zlib-stream"


class ZstdContext(_Context):
    """A decompression context of discord.py for zstd-stream. Subclasses may set ``options``.

    discord.py (since 2.5) creates one per connection, of the class
    ``discord.utils._ActiveDecompressionContext``.
    """

    __slots__ = ()

    COMPRESSION_TYPE: str = "zstd-stream"
    _kind = "zstd-stream"


from ._zlib_module import ZlibModule  # noqa: E402, after what it imports from here
