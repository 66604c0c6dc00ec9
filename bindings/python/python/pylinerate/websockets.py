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

:func:`prepare` makes a message for many connections that is not compressed for each of them. The
package's ``broadcast`` and ``send`` take it.
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

    #: The native part of the prepared message. ``None`` if :func:`prepare` did not make this
    #: object, which is then sent as an ordinary message.
    _native: _pylinerate.WebsocketPrepared | None = None


class PreparedText(NotPicklable, str):
    """A text message for many connections. :func:`prepare` makes it."""

    #: The text in UTF-8. ``None`` if :func:`prepare` did not make this object.
    _payload: PreparedBytes | None = None

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        """Returns the text as bytes. For "utf-8", which the package ``websockets`` asks for, this
        is the :class:`PreparedBytes` object of the message."""
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
    """Prepares a message that is sent on many connections, so that it is not compressed for each.

    The result is still a ``str`` or ``bytes``: the functions ``broadcast`` and ``send`` of
    ``websockets`` take it, also for connections without this extension. It is compressed once for
    each window size, when it is first sent on a connection of that size, and refers to no other
    message.

    Parameters
    ----------
    message : str or buffer
        The whole message, as text or binary.
    level : int
        0 to 9, from fast to small, as in :class:`Options`. A higher level takes more time once, and
        saves bytes on every connection. Default: 6.

    Raises
    ------
    Error
        If ``level`` is above 9.
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
    """The extension permessage-deflate of one connection. The factories make it during the
    handshake."""

    name = _NAME

    def __init__(self, codec: _pylinerate.WebsocketCodec) -> None:
        self._codec = codec
        #: Whether the message whose frames are being received is compressed.
        self._decodes = False

    @property
    def server_window_bits(self) -> int:
        """Base-2 logarithm of the window for the server's messages, in bytes."""
        return self._codec.agreement[0]

    @property
    def server_takeover(self) -> bool:
        """Whether messages of the server may refer to earlier ones."""
        return self._codec.agreement[1]

    @property
    def client_window_bits(self) -> int:
        """Base-2 logarithm of the window for the client's messages, in bytes."""
        return self._codec.agreement[2]

    @property
    def client_takeover(self) -> bool:
        """Whether messages of the client may refer to earlier ones."""
        return self._codec.agreement[3]

    @property
    def memory(self) -> int:
        """Bytes of memory held for the connection, without the working memory and the prepared
        messages that connections share."""
        return self._codec.memory

    def encode(self, frame: Frame) -> Frame:
        """Encodes a frame to send. Returns unchanged a control frame, and a message of one frame
        that would not become smaller or is shorter than the option ``smallest``."""
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
        """Decodes a received frame. Returns control frames, and frames of messages that are not
        compressed, as they are.

        Raises
        ------
        PayloadTooBig
            If the decoded frame is larger than ``max_size`` bytes, its message exceeds a limit of
            this side's :class:`Options`, or memory runs out.
        ProtocolError
            If the frame is damaged, uses a larger window than agreed, or continues a message and
            has RSV1.
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
    """Answers the offers of clients during the handshake. :func:`server_extensions` makes it."""

    name = _NAME

    def __init__(self, options: _pylinerate.WebsocketOptions) -> None:
        self._options = options

    def process_request_params(
        self, params: Sequence[ExtensionParameter], accepted_extensions: Sequence[Extension]
    ) -> tuple[list[ExtensionParameter], Extension]:
        """Accepts the offer with these parameters. Returns the parameters of the answer and the
        extension of the connection. Raises ``NegotiationError`` to decline the offer."""
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
        """Returns the extension of the connection, from the parameters of the server's answer.
        Raises ``NegotiationError`` if the answer fits no offer, or the server has accepted this
        extension twice."""
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

    A connection holds the windows of both directions, and an index of the window for sent messages.
    The index takes twice the bytes of that window, but at most 8 KiB.
    """

    #: Base-2 logarithm of the largest window for sent messages, in bytes: 8 to 15. Default: 15.
    window_bits: int
    #: Whether sent messages may refer to earlier ones within the window. If not, no window is held
    #: for sent messages. Default: true.
    takeover: bool
    #: Base-2 logarithm of the largest window for received messages, if the peer agrees to it.
    #: Default: ``window_bits``.
    receive_window_bits: int
    #: Whether received messages may refer to earlier ones, if the peer agrees. Default:
    #: ``takeover``.
    receive_takeover: bool
    #: Level of compression, 0 to 9, from fast to small; 8 and 9 are the same as 7. From 4 on, a
    #: connection with ``takeover`` holds hash chains in place of the index, up to 144 KiB.
    #: Default: 2.
    level: int
    #: Smallest message to compress, in bytes. Shorter ones in one frame are sent uncompressed.
    #: Default: 32.
    smallest: int
    #: Whether later messages may refer to messages of :func:`prepare`. If not, sending a prepared
    #: message empties the window, which saves work before the next ordinary message but makes that
    #: message larger. Default: true.
    remember_prepared: bool
    #: Largest compressed message that is received, in decoded bytes. A smaller ``max_size`` of
    #: ``websockets`` applies too, and is the only limit for messages that are not compressed.
    #: Default: 64 MiB.
    message_limit: int
    #: Largest ratio of a received message to its compressed bytes, checked once 64 KiB of the
    #: message are decoded. Default: 1,032, the highest ratio that deflate can reach.
    ratio_limit: int


def client_extensions(**options: Unpack[Options]) -> list[ClientPerMessageDeflateFactory]:
    """Returns the argument ``extensions`` for ``connect`` of ``websockets``. Pass
    ``compression=None`` with it. The options are those of :class:`Options`.

    Raises
    ------
    Error
        If an option is out of the range that :class:`Options` allows.
    TypeError
        If there is no such option.
    """
    native = _native(options)
    return [ClientPerMessageDeflateFactory(native, offer.strip()) for offer in native.offer().split(",")]


def server_extensions(**options: Unpack[Options]) -> list[ServerPerMessageDeflateFactory]:
    """Returns the argument ``extensions`` for ``serve`` of ``websockets``. Pass
    ``compression=None`` with it. The options are those of :class:`Options`.

    If ``receive_window_bits`` is below 15 and a client cannot limit its window, the server asks the
    client not to keep its window between messages.

    Raises
    ------
    Error
        If an option is out of the range that :class:`Options` allows.
    TypeError
        If there is no such option.
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
    """Splits an offer or answer that the native code has made into its parameters."""
    parts = [part.strip().partition("=") for part in header.split(";")[1:]]
    return [(name, value if separator else None) for name, separator, value in parts]


def _refuse_second(accepted: Sequence[Extension]) -> None:
    if any(extension.name == _NAME for extension in accepted):
        raise NegotiationError("permessage-deflate is accepted already")
