"""permessage-deflate (RFC 7692) for the package ``websockets``, in a fraction of the memory of its own.

>>> import asyncio
>>> from websockets.asyncio.client import connect
>>> from websockets.asyncio.server import serve
>>> from pylinerate.websockets import client_extensions, server_extensions
>>> async def echo(socket):
...     async for message in socket:
...         await socket.send(message)
>>> async def main():
...     extensions = server_extensions(window_bits=11)
...     async with serve(echo, "127.0.0.1", 0, compression=None, extensions=extensions) as server:
...         port = server.sockets[0].getsockname()[1]
...         extensions = client_extensions()
...         async with connect(f"ws://127.0.0.1:{port}", compression=None, extensions=extensions) as socket:
...             await socket.send("again and again and again and again")
...             print(await socket.recv(), socket.protocol.extensions)
>>> asyncio.run(main())
again and again and again and again [<PerMessageDeflate: server 11 bits, client 11 bits>]

A message for many connections is compressed once by :func:`prepare`; ``broadcast`` and ``send`` take it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TypedDict, Unpack, overload

from . import _pylinerate
from ._optional import require
from ._process import NotPicklable

require("websockets", "websockets")

from websockets.exceptions import NegotiationError, PayloadTooBig, ProtocolError  # noqa: E402
from websockets.extensions.base import ClientExtensionFactory, Extension, ServerExtensionFactory  # noqa: E402
from websockets.frames import CTRL_OPCODES, Frame, Opcode  # noqa: E402
from websockets.typing import ExtensionName, ExtensionParameter  # noqa: E402

__all__ = [
    "ClientPerMessageDeflateFactory",
    "Options",
    "PerMessageDeflate",
    "PreparedBytes",
    "PreparedText",
    "ServerPerMessageDeflateFactory",
    "client_extensions",
    "prepare",
    "server_extensions",
]

_NAME = ExtensionName("permessage-deflate")


class PreparedBytes(NotPicklable, bytes):
    """A binary message for many connections; :func:`prepare` makes it."""

    #: What :func:`prepare` compresses; ``None`` for bytes that are made otherwise, an ordinary message.
    _native: _pylinerate.WebsocketPrepared | None = None


class PreparedText(NotPicklable, str):
    """A text message for many connections; :func:`prepare` makes it."""

    _payload: PreparedBytes | None = None

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        """Return the text as bytes; those in UTF-8 are the prepared ones, which the library sends."""
        if self._payload is None or encoding != "utf-8":
            return super().encode(encoding, errors)
        return self._payload


@overload
def prepare(message: str, *, level: int = 6) -> PreparedText: ...
@overload
def prepare(message: bytes | bytearray | memoryview, *, level: int = 6) -> PreparedBytes: ...
def prepare(
    message: str | bytes | bytearray | memoryview, *, level: int = 6
) -> PreparedText | PreparedBytes:
    """Return the same text or bytes, for any number of connections and compressed once for all.

    The result is a ``str`` or ``bytes`` for everybody else: the library's ``broadcast`` and ``send``
    take it, also for connections without this extension. It is compressed when a connection first
    needs it, for each size of window that makes a difference, and refers to no other message.

    Parameters
    ----------
    message : str or buffer
        The whole message, as text or binary.
    level : int
        0 to 9, as in :class:`Options`: more time once, fewer bytes for everybody.

    Raises
    ------
    Error
        If the level is not one of these.
    UnicodeEncodeError
        If the text has no form in UTF-8.

    >>> news = prepare("the same for all, the same for all, the same for all")
    >>> [server] = server_extensions()
    >>> params, extension = server.process_request_params([], [])
    >>> frames = [extension.encode(Frame(Opcode.TEXT, news.encode())) for _ in range(2)]
    >>> frames[0] == frames[1], len(frames[0].data) < len(news)
    (True, True)
    """
    payload = PreparedBytes(message.encode() if isinstance(message, str) else memoryview(message))
    payload._native = _pylinerate.WebsocketPrepared(payload, level)
    if not isinstance(message, str):
        return payload
    text = PreparedText(message)
    text._payload = payload
    return text


class PerMessageDeflate(Extension):
    """The extension of one connection; factories make it."""

    name = _NAME

    def __init__(self, codec: _pylinerate.WebsocketCodec) -> None:
        self._codec = codec
        #: Whether fragments of a compressed message are being received, or sent.
        self._decodes = self._encodes = False

    @property
    def server_window_bits(self) -> int:
        """Base-2 logarithm of the server's window in bytes."""
        return self._codec.agreement[0]

    @property
    def server_takeover(self) -> bool:
        """Whether the server's messages refer to earlier ones."""
        return self._codec.agreement[1]

    @property
    def client_window_bits(self) -> int:
        """Base-2 logarithm of the client's window in bytes."""
        return self._codec.agreement[2]

    @property
    def client_takeover(self) -> bool:
        """Whether the client's messages refer to earlier ones."""
        return self._codec.agreement[3]

    @property
    def memory(self) -> int:
        """Bytes held for the connection, without the working memory that all connections share."""
        return self._codec.memory

    def encode(self, frame: Frame) -> Frame:
        """Encode a frame that is sent; messages that would not become smaller stay as they are."""
        if frame.opcode in CTRL_OPCODES:
            return frame
        begins = frame.opcode is not Opcode.CONT
        if begins and frame.fin:
            native = frame.data._native if isinstance(frame.data, PreparedBytes) else None
            if native is None:
                encoded = self._codec.encode(frame.data)
            else:
                encoded = self._codec.encode_prepared(native)
            if encoded is None:
                return frame
        else:
            encoded = self._codec.encode_part(frame.data, frame.fin)
        return Frame(frame.opcode, encoded, frame.fin, begins, frame.rsv2, frame.rsv3)

    def decode(self, frame: Frame, *, max_size: int | None = None) -> Frame:
        """Decode a frame that was received.

        Raises
        ------
        PayloadTooBig
            If it is larger than ``max_size``, or its message than a limit of this side.
        ProtocolError
            If it is damaged, or uses a larger window than agreed.
        """
        if frame.opcode in CTRL_OPCODES:
            return frame
        if frame.opcode is not Opcode.CONT:
            self._decodes = frame.rsv1
        elif frame.rsv1:
            raise ProtocolError("RSV1 in a continuation frame")
        if not self._decodes:
            return frame
        limit = sys.maxsize if max_size is None else max_size
        try:
            data = self._codec.decode(frame.data, frame.fin, limit)
        except _pylinerate.Error as error:
            if error.kind == "limit exceeded":
                raise PayloadTooBig(None, limit) from error
            raise ProtocolError(f"permessage-deflate: {error}") from error
        return Frame(frame.opcode, data, frame.fin, False, frame.rsv2, frame.rsv3)

    def __repr__(self) -> str:
        server_bits, server_takeover, client_bits, client_takeover = self._codec.agreement
        server = f"server {server_bits} bits{'' if server_takeover else ', no takeover'}"
        client = f"client {client_bits} bits{'' if client_takeover else ', no takeover'}"
        return f"<{type(self).__name__}: {server}, {client}>"


class ServerPerMessageDeflateFactory(ServerExtensionFactory):
    """Accepts offers of clients; :func:`server_extensions` makes it."""

    name = _NAME

    def __init__(self, options: _pylinerate.WebsocketOptions) -> None:
        self._options = options

    def process_request_params(
        self, params: Sequence[ExtensionParameter], accepted_extensions: Sequence[Extension]
    ) -> tuple[list[ExtensionParameter], Extension]:
        """Answer one offer; ``NegotiationError`` declines it."""
        _refuse_second(accepted_extensions)
        answer = self._options.answer(_header(params))
        if answer is None:
            raise NegotiationError("an offer of permessage-deflate that cannot be accepted")
        header, codec = answer
        return _parameters(header), PerMessageDeflate(codec)


class ClientPerMessageDeflateFactory(ClientExtensionFactory):
    """One offer to a server; :func:`client_extensions` makes one for each."""

    name = _NAME

    def __init__(self, options: _pylinerate.WebsocketOptions, offer: str) -> None:
        self._options, self._offer = options, offer

    def get_request_params(self) -> list[ExtensionParameter]:
        """Return the parameters of the offer."""
        return _parameters(self._offer)

    def process_response_params(
        self, params: Sequence[ExtensionParameter], accepted_extensions: Sequence[Extension]
    ) -> PerMessageDeflate:
        """Return the extension that the server has accepted; ``NegotiationError`` if its answer fits no offer."""
        _refuse_second(accepted_extensions)
        try:
            codec = self._options.agree(_header(params))
        except _pylinerate.Error as error:
            raise NegotiationError(str(error)) from error
        if codec is None:
            raise NegotiationError("no answer to permessage-deflate")
        return PerMessageDeflate(codec)


class Options(TypedDict, total=False):
    """Options of one side of a connection.

    A connection holds the windows of both directions, and an index of twice the window of those sent.
    """

    #: Base-2 logarithm of the largest window in bytes for messages that are sent, 8 to 15; 15 unless told.
    window_bits: int
    #: Whether messages refer to earlier ones, within the window; they do unless told. Without it nothing is held
    #: between them.
    takeover: bool
    #: The same for messages that are received, where the peer has to agree; as for those sent, unless told.
    receive_window_bits: int
    receive_takeover: bool
    #: 0 to 9, from fast to small (8 and 9 are as 7), 2 unless told; from 4 on a connection holds hash chains, up to 144 KiB.
    level: int
    #: Messages of fewer bytes are sent as they are; 32 unless told.
    smallest: int
    #: Whether later messages may refer to prepared ones; they may unless told. Otherwise a prepared
    #: message empties the window: less work before the next ordinary message, which is larger.
    remember_prepared: bool
    #: Largest message received, in bytes, where the library's ``max_size`` is not smaller; 64 MiB unless told.
    message_limit: int
    #: Most times that a received message may be larger than what was sent, once it has 64 KiB; 1,032 unless told,
    #: which is the most that deflate can do.
    ratio_limit: int


def client_extensions(**options: Unpack[Options]) -> list[ClientPerMessageDeflateFactory]:
    """Return ``extensions`` for ``websockets.connect``, to be used with ``compression=None``.

    Raises
    ------
    Error
        If a number is not one of those of :class:`Options`.
    """
    native = _native(options)
    return [ClientPerMessageDeflateFactory(native, offer.strip()) for offer in native.offer().split(",")]


def server_extensions(**options: Unpack[Options]) -> list[ServerPerMessageDeflateFactory]:
    """Return ``extensions`` for ``websockets.serve``, to be used with ``compression=None``.

    A client that cannot limit its window is asked not to use it from one message to the next.

    Raises
    ------
    Error
        If a number is not one of those of :class:`Options`.
    """
    return [ServerPerMessageDeflateFactory(_native(options))]


def _native(options: Options) -> _pylinerate.WebsocketOptions:
    unknown = options.keys() - Options.__annotations__.keys()
    if unknown:
        raise TypeError(f"unknown options: {', '.join(sorted(unknown))}")
    bits, takeover = options.get("window_bits", 15), options.get("takeover", True)
    return _pylinerate.WebsocketOptions(
        (bits, takeover),
        (options.get("receive_window_bits", bits), options.get("receive_takeover", takeover)),
        options.get("level", 2),
        options.get("smallest", 32),
        options.get("remember_prepared", True),
        options.get("message_limit", 64 << 20),
        options.get("ratio_limit", 1032),
    )


def _header(params: Sequence[ExtensionParameter]) -> str:
    return "; ".join([_NAME, *(name if value is None else f"{name}={value}" for name, value in params)])


def _parameters(header: str) -> list[ExtensionParameter]:
    """The parameters of one offer or answer of ours."""
    parts = [part.strip().partition("=") for part in header.split(";")[1:]]
    return [(name, value if separator else None) for name, separator, value in parts]


def _refuse_second(accepted: Sequence[Extension]) -> None:
    if any(extension.name == _NAME for extension in accepted):
        raise NegotiationError("permessage-deflate is accepted already")
