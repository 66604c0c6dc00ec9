"""permessage-deflate (RFC 7692) for the package ``websockets``, in a fraction of the memory of the
package's own.

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

:func:`prepare` compresses a message for many connections only once; ``broadcast`` and ``send`` take
it.
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
    """A binary message for many connections. :func:`prepare` makes it."""

    #: The native message. ``None`` if :func:`prepare` did not make these bytes: an ordinary
    #: message.
    _native: _pylinerate.WebsocketPrepared | None = None


class PreparedText(NotPicklable, str):
    """A text message for many connections. :func:`prepare` makes it."""

    _payload: PreparedBytes | None = None

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        """Returns the text as bytes. For UTF-8, which the library sends, they are the prepared
        bytes."""
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
    """Prepares a message for many connections, for which it is compressed only once.

    The result is still a ``str`` or ``bytes``: the library's ``broadcast`` and ``send`` take it,
    also for connections without this extension. It is compressed once for each window size, when a
    connection first needs that, and refers to no other message.

    Parameters
    ----------
    message : str or buffer
        The whole message, as text or binary.
    level : int
        0 to 9, as in :class:`Options`. A higher level takes more time once, and saves bytes for
        every listener.

    Raises
    ------
    Error
        If there is no such level.
    UnicodeEncodeError
        If the text cannot be encoded as UTF-8.

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
    """The extension of one connection. The factories make it."""

    name = _NAME

    def __init__(self, codec: _pylinerate.WebsocketCodec) -> None:
        self._codec = codec
        #: Whether the message being received is compressed.
        self._decodes = False

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
        """Bytes of memory held for the connection, without the working memory that all connections
        share."""
        return self._codec.memory

    def encode(self, frame: Frame) -> Frame:
        """Encodes a frame to send. A message of one frame that would not become smaller is returned as
        it is."""
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
        """Decodes a received frame.

        Raises
        ------
        PayloadTooBig
            If the frame is larger than ``max_size``, or its message exceeds a limit of this side.
        ProtocolError
            If the frame is damaged, or uses a larger window than agreed.
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
    """Accepts offers of clients. :func:`server_extensions` makes it."""

    name = _NAME

    def __init__(self, options: _pylinerate.WebsocketOptions) -> None:
        self._options = options

    def process_request_params(
        self, params: Sequence[ExtensionParameter], accepted_extensions: Sequence[Extension]
    ) -> tuple[list[ExtensionParameter], Extension]:
        """Answers one offer. Raises ``NegotiationError`` to decline it."""
        _refuse_second(accepted_extensions)
        answer = self._options.answer(_header(params))
        if answer is None:
            raise NegotiationError("an offer of permessage-deflate that cannot be accepted")
        header, codec = answer
        return _parameters(header), PerMessageDeflate(codec)


class ClientPerMessageDeflateFactory(ClientExtensionFactory):
    """Makes one offer to a server. :func:`client_extensions` makes a factory for each offer."""

    name = _NAME

    def __init__(self, options: _pylinerate.WebsocketOptions, offer: str) -> None:
        self._options, self._offer = options, offer

    def get_request_params(self) -> list[ExtensionParameter]:
        """Returns the parameters of the offer."""
        return _parameters(self._offer)

    def process_response_params(
        self, params: Sequence[ExtensionParameter], accepted_extensions: Sequence[Extension]
    ) -> PerMessageDeflate:
        """Returns the extension that the server has accepted. Raises ``NegotiationError`` if the
        answer fits no offer."""
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

    A connection holds the windows of both directions, and an index of twice the window for sent
    messages.
    """

    #: Base-2 logarithm of the largest window for sent messages, in bytes: 8 to 15. Default: 15.
    window_bits: int
    #: Whether sent messages may refer to earlier ones within the window. If not, nothing is held
    #: between messages. Default: true.
    takeover: bool
    #: ``window_bits`` for received messages, if the peer agrees. Default: as for sent messages.
    receive_window_bits: int
    #: ``takeover`` for received messages, if the peer agrees. Default: as for sent messages.
    receive_takeover: bool
    #: 0 to 9, from fast to small; 8 and 9 are the same as 7. From 4 on a connection holds hash
    #: chains, up to 144 KiB. Default: 2.
    level: int
    #: Messages of fewer bytes are sent uncompressed. Default: 32.
    smallest: int
    #: Whether later messages may refer to prepared ones. If not, a prepared message empties the
    #: window, which saves work before the next ordinary message but makes that message larger.
    #: Default: true.
    remember_prepared: bool
    #: Largest received message, in bytes. A smaller ``max_size`` of the library applies too.
    #: Default: 64 MiB.
    message_limit: int
    #: Largest ratio of a received message to its compressed bytes, checked once it has 64 KiB.
    #: Default: 1,032, the highest ratio that deflate can reach.
    ratio_limit: int


def client_extensions(**options: Unpack[Options]) -> list[ClientPerMessageDeflateFactory]:
    """Returns ``extensions`` for ``websockets.connect``. Pass ``compression=None`` with it.

    Raises
    ------
    Error
        If an option is out of the range that :class:`Options` allows.
    """
    native = _native(options)
    return [ClientPerMessageDeflateFactory(native, offer.strip()) for offer in native.offer().split(",")]


def server_extensions(**options: Unpack[Options]) -> list[ServerPerMessageDeflateFactory]:
    """Returns ``extensions`` for ``websockets.serve``. Pass ``compression=None`` with it.

    If a client cannot limit its window, the server asks it not to keep the window between messages.

    Raises
    ------
    Error
        If an option is out of the range that :class:`Options` allows.
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
    """Splits one of our own offers or answers into its parameters."""
    parts = [part.strip().partition("=") for part in header.split(";")[1:]]
    return [(name, value if separator else None) for name, separator, value in parts]


def _refuse_second(accepted: Sequence[Extension]) -> None:
    if any(extension.name == _NAME for extension in accepted):
        raise NegotiationError("permessage-deflate is accepted already")
