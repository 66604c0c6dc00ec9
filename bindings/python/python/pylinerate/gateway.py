"""Decompresses the message streams of chat gateways: one zlib or zstd stream for each connection.

It is for programs with one connection or with thousands. Each connection takes up to 33 KB (zlib)
or 72 KB (zstd). Each message gives one payload, and damaged streams are errors.

>>> import zlib
>>> from pylinerate.gateway import Decompressor
>>> gateway = zlib.compressobj()
>>> decompressor = Decompressor("zlib-stream")      # one per connection
>>> for payload in b'{"op":10,"d":{}}', b'{"op":11,"d":null}':
...     frame = gateway.compress(payload) + gateway.flush(zlib.Z_SYNC_FLUSH)
...     print(decompressor.decompress(frame))
b'{"op":10,"d":{}}'
b'{"op":11,"d":null}'

Pass a decompressor all messages of its connection, in order. Decode in the thread of the event
loop: other Python threads run while a message of at least 16 compressed KiB is decoded.
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

    #: The transport. The first two are values of ``compress`` in a gateway's URL; the others are
    #: for feeds that compress each message on its own.
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
    """Reads the envelope of a payload and not the rest, to decide whether the payload is worth
    parsing.

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
    """Returns memory to the system: unused working memory, and the freed memory of closed
    connections.

    This happens by itself a few seconds after 64 or more connections were closed. It takes
    milliseconds for hundreds of megabytes.
    """
    _pylinerate.gateway_trim()


class Decompressor(NotPicklable, _pylinerate.GatewayDecompressor):
    """The decompressor of one connection.

    Before the first message it holds almost no memory; its history grows with the data. All
    connections of the process share the memory that is needed only while a message is decoded.

    Parameters
    ----------
    kind : "zlib-stream", "zstd-stream", "zstd-frame", "zlib", "gzip" or "raw-deflate"
        The transport. The first two are for gateways: they are values of ``compress`` in the URL.
        The others are for feeds that compress each message on its own, so that an error concerns
        only its message.
    max_message : int
        Largest payload in bytes. A larger one is an error.
    window_log : int
        Base-2 logarithm of the largest window of a zstd frame. Gateways use 16 (64 KiB). A frame
        with a larger window is an error, before any memory is allocated for it.
    checks : "json", "etf" or None
        Whether each payload must be exactly one JSON object, or one map in Erlang's external
        format. The streams have no checksums, so only this check detects lost or damaged messages.
        It takes one pass over the payload and sets :attr:`envelope`.
    sequence : bool
        Whether sequence numbers must also increase by one. Requires ``checks``.
    recent : tuple of int, optional
        Maximum number and maximum total bytes of compressed messages to keep for :meth:`recording`.
    dictionaries : Dictionaries, optional
        The dictionaries that frames may name. Only for "zstd-frame".
    stats : StatsRecorder, optional
        The recorder of this connection's messages; :attr:`stats` has the statistics.

    Errors of a stream persist: after a :class:`GatewayError` every call raises it again until
    :meth:`reset`. If each message is compressed on its own, the next one decodes again. A message
    that could not be delivered, because ``out`` was too small or memory ran out, is not
    lost: call again with the same data.
    """

    __slots__ = ()

    @property
    def envelope(self) -> Envelope | None:
        """The envelope of the last payload; None without ``checks``."""
        members = self._envelope()
        return None if members is None else Envelope(*members)

    def __repr__(self) -> str:
        state = "" if self.error is None else ", failed"
        return f"<{type(self).__name__}: {self.kind}, {self.messages} messages{state}>"


class Dictionaries(NotPicklable, _pylinerate.GatewayDictionaries):
    """Zstd dictionaries, digested once for any number of decompressors. Frames name a dictionary by
    its id.

    Parameters
    ----------
    *dictionaries : bytes
        Dictionaries in zstd's format, each with its id. Raw content has the id 0; frames that name
        no dictionary use it.

    Raises
    ------
    Error
        If a dictionary is damaged, or two have the same id.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.ids}>"


class StatsRecorder(NotPicklable, _pylinerate.GatewayStatsRecorder):
    """Records each message of any number of decompressors: time of arrival, bytes, verdict,
    decoding time.

    Payloads, tokens and addresses are not recorded. Decoding never waits for the recorder;
    :attr:`dropped` counts the messages for which it had no room. The recorder has a thread, which a
    forked process does not inherit: make another recorder there.

    Parameters
    ----------
    log : path, optional
        Folder for log files named ``NAME-000001.stats`` and so on, with 32 bytes for each message.
        ``linerate gateway stats`` reads them. Default: no log.
    name : str, optional
        The beginning of the file names.
    max_bytes, max_age, max_files : int, float, int
        A new file is begun above this number of bytes or seconds. The oldest file is deleted above
        this number of files.
    clock : "elapsed" or "cpu"
        Whether decoding times are elapsed time, or CPU time of the thread if the system has such a
        clock.
    capacity : int
        Number of messages that may wait to be counted.
    max_connections : int
        Number of connections that get statistics of their own, about 2 KiB each. Later connections
        are only counted in the statistics of all.

    Raises
    ------
    OSError
        If the log cannot be created.

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
        """Yields metrics for ``prometheus_client``, after
        ``prometheus_client.REGISTRY.register(recorder)``."""
        require("prometheus_client", "prometheus")
        from prometheus_client.parser import text_string_to_metric_families

        yield from text_string_to_metric_families(self.prometheus())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.connections} connections>"


class _Context:
    """Base of discord.py's decompression contexts, one per connection."""

    __slots__ = ("decompressor",)

    #: The transport that discord.py requests from the gateway.
    COMPRESSION_TYPE: str
    _kind: ClassVar[Kind]
    #: Arguments of the decompressor, except its kind.
    options: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.decompressor = Decompressor(self._kind, **self.options)

    def decompress(self, data: bytes, /) -> str | None:
        """Returns the payload as text, or None if the message is incomplete."""
        return self.decompressor.decompress_text(data)


class ZlibContext(_Context):
    """A decompression context of discord.py for zlib-stream. Subclasses may set ``options``."""

    __slots__ = ()

    COMPRESSION_TYPE: str = "zlib-stream"
    _kind = "zlib-stream"


class ZstdContext(_Context):
    """A decompression context of discord.py for zstd-stream. Subclasses may set ``options``.

    discord.py 2.5 and newer creates one for each connection, of the class
    ``discord.utils._ActiveDecompressionContext``.
    """

    __slots__ = ()

    COMPRESSION_TYPE: str = "zstd-stream"
    _kind = "zstd-stream"


from ._zlib_module import ZlibModule  # noqa: E402, last because it imports Decompressor from this module
