"""Decompresses the message streams of chat gateways: one zlib or zstd stream for each connection.

This module is for programs with one connection or with thousands. Each connection takes up to 34 KB
(zlib) or 72 KB (zstd with a window of 64 KiB). Each message gives one payload, and damaged streams
are errors.

>>> import zlib
>>> from pylinerate.gateway import Decompressor
>>> gateway = zlib.compressobj()
>>> decompressor = Decompressor("zlib-stream")      # one per connection
>>> for payload in b'{"op":10,"d":{}}', b'{"op":11,"d":null}':
...     frame = gateway.compress(payload) + gateway.flush(zlib.Z_SYNC_FLUSH)
...     print(decompressor.decompress(frame))
b'{"op":10,"d":{}}'
b'{"op":11,"d":null}'

Pass a decompressor all websocket messages of its connection, in order. Decode in the thread of the
event loop. Other Python threads run meanwhile only for messages of at least 16 compressed KiB.
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

    #: The opcode; 0 for events. None if the payload has none.
    op: int | None
    #: The sequence number of an event. None if the payload has none.
    s: int | None
    #: The name of an event as it is written; escapes are not decoded. None if the payload has none.
    t: str | None


def peek(payload: AnyBuffer | str, encoding: Literal["json", "etf"] = "json") -> Envelope:
    """Reads only the envelope of a payload, to decide whether the payload is worth parsing.

    Gateways that write JSON put the members of the envelope first. Bytes after the last of them are
    not checked.

    >>> peek(b'{"t":"TYPING_START","s":7,"op":0,"d":{"user_id":"1"}}')
    Envelope(op=0, s=7, t='TYPING_START')

    Raises
    ------
    Error
        If the payload is not a JSON object or a map of Erlang's external format, as ``encoding``
        says, or is damaged before the end of the last member.
    """
    return Envelope(*_pylinerate.gateway_peek(payload, encoding))


def trim() -> None:
    """Returns memory to the system: unused working memory, and the freed memory of closed
    connections.

    This happens by itself after 64 or more connections were closed, once no further one is closed
    for two to four seconds. It takes milliseconds for hundreds of megabytes.
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
        Base-2 logarithm of the largest window of a "zstd-stream", 10 to 27. Gateways use 16 (64
        KiB). A stream with a larger window is an error, before any memory is allocated for it.
        Other transports ignore this limit.
    checks : "json", "etf" or None
        Whether each payload must be exactly one JSON object, or one map in Erlang's external
        format. The streams have no checksums, so only this check detects most lost or damaged
        messages. It takes one pass over the payload and sets :attr:`envelope`.
    sequence : bool
        Whether the sequence numbers of the payloads that have one must also increase by one.
        Requires ``checks``.
    recent : tuple of int, optional
        Maximum number and maximum total bytes of compressed messages to keep for :meth:`recording`.
        Default: none are kept.
    dictionaries : Dictionaries, optional
        The zstd dictionaries that messages of "zstd-frame" may name. With another kind they are a
        ``ValueError``.
    stats : StatsRecorder, optional
        The recorder of this connection's messages; :attr:`stats` has the statistics.

    Errors of a stream persist: after a :class:`GatewayError` every call that decompresses raises it
    again until :meth:`reset`. If each message is compressed on its own, the next one decodes again.
    A message that could not be delivered, because ``out`` was too small, the payload was not UTF-8
    or memory ran out, is kept if memory allows: call again with the same data. A stream decodes no
    other message before that; if each message is compressed on its own, another one replaces it.
    """

    __slots__ = ()

    @property
    def envelope(self) -> Envelope | None:
        """The envelope of the last decoded payload. None without ``checks``, and before the first
        payload."""
        members = self._envelope()
        return None if members is None else Envelope(*members)

    def __repr__(self) -> str:
        state = "" if self.error is None else ", failed"
        return f"<{type(self).__name__}: {self.kind}, {self.messages} messages{state}>"


class Dictionaries(NotPicklable, _pylinerate.GatewayDictionaries):
    """Zstd dictionaries, digested once for any number of decompressors of the kind "zstd-frame".
    Frames name a dictionary by its id.

    Parameters
    ----------
    *dictionaries : bytes
        Dictionaries in zstd's format, each with its id. Other bytes are raw content, which has the
        id 0; frames that name no dictionary use it.

    Raises
    ------
    Error
        If a dictionary is damaged or has 4 GiB or more, or two have the same id.
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
        The NAME at the beginning of the file names. Default: "gateway".
    max_bytes, max_age, max_files : int, float, int
        A new file is begun before one has more than ``max_bytes`` bytes, and when it is ``max_age``
        seconds old. The oldest files are deleted if there are more than ``max_files``.
    clock : "elapsed" or "cpu"
        Whether decoding times are elapsed time, or CPU time of the thread if the system has such a
        clock.
    capacity : int
        Number of messages for which the recorder has room while they wait to be counted, rounded up
        to a power of two.
    max_connections : int
        Largest number of connections with statistics of their own at the same time, about 2 KiB
        each. Messages of further connections are counted only in the statistics of their transport
        and of all.

    Raises
    ------
    OSError
        If the log cannot be created, or the thread cannot be started.

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
    """Base of the decompression contexts for discord.py. discord.py makes one for each
    connection."""

    __slots__ = ("decompressor",)

    #: The transport that discord.py requests from the gateway.
    COMPRESSION_TYPE: str
    #: The kind of the :class:`Decompressor`.
    _kind: ClassVar[Kind]
    #: Arguments of the :class:`Decompressor`, except its kind.
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

    discord.py 2.5 and newer makes a context for each connection, of the class that
    ``discord.utils._ActiveDecompressionContext`` names.
    """

    __slots__ = ()

    COMPRESSION_TYPE: str = "zstd-stream"
    _kind = "zstd-stream"


from ._zlib_module import ZlibModule  # noqa: E402, last because it imports Decompressor from this module
