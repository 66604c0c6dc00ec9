"""permessage-deflate for the package websockets, with the package's own implementation as the
peer."""

import asyncio
import doctest
import pickle
import random
import zlib

import pytest

websockets = pytest.importorskip("websockets", reason="SKIP: websockets is not installed")

import websockets.sync.client
from websockets.asyncio.client import connect
from websockets.asyncio.server import broadcast, serve
from websockets.exceptions import ConnectionClosedError, NegotiationError, PayloadTooBig, ProtocolError
from websockets.extensions import permessage_deflate as theirs
from websockets.frames import Frame, Opcode

import pylinerate.websockets
from pylinerate import Error
from pylinerate.websockets import (
    PerMessageDeflate,
    PreparedBytes,
    PreparedText,
    client_extensions,
    prepare,
    server_extensions,
)


def messages():
    """Makes texts and bytes: empty, short, repetitive, random, and longer than windows and
    buffers."""
    rng = random.Random(1)
    text = [f'{{"op":0,"s":{i},"t":"PRESENCE_UPDATE","d":{{"naïve":"{i % 7}"}}}}' * (i % 9) for i in range(40)]
    data = [b"", b"a", rng.randbytes(3000), rng.randbytes(100) * 700, bytes(1 << 20)]
    return [*text, *data, "☃" * 30_000, *text]


async def exchange(server, client, sent, **options):
    """Sends each message to an echo server. Returns the received messages and the client's
    extensions."""

    async def echo(socket):
        async for message in socket:
            await socket.send(message)

    options = {"compression": None, "max_size": None, **options}
    async with serve(echo, "127.0.0.1", 0, extensions=server, **options) as listening:
        url = f"ws://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        async with connect(url, extensions=client, **options) as socket:
            received = []
            for message in sent:
                await socket.send(message)
                received.append(await asyncio.wait_for(socket.recv(), 60))
            return received, socket.protocol.extensions


def run(server, client, sent, **options):
    return asyncio.run(exchange(server, client, sent, **options))


@pytest.mark.parametrize("takeover", [True, False])
@pytest.mark.parametrize("bits", range(9, 16))
def test_every_window_size_works_with_the_implementation_of_websockets(bits, takeover):
    limits = {"server_max_window_bits": bits, "client_max_window_bits": bits}
    limits |= {"server_no_context_takeover": not takeover, "client_no_context_takeover": not takeover}
    options = {"window_bits": bits, "takeover": takeover}
    sent = messages()

    received, [agreed] = run([theirs.ServerPerMessageDeflateFactory(**limits)], client_extensions(**options), sent)
    assert received == sent
    assert (agreed.server_window_bits, agreed.client_window_bits) == (bits, bits)
    assert (agreed.server_takeover, agreed.client_takeover) == (takeover, takeover)

    received, [agreed] = run(server_extensions(**options), [theirs.ClientPerMessageDeflateFactory(**limits)], sent)
    assert received == sent
    assert (agreed.remote_max_window_bits, agreed.local_max_window_bits) == (bits, bits)
    assert (agreed.remote_no_context_takeover, agreed.local_no_context_takeover) == (not takeover, not takeover)


@pytest.mark.parametrize("options", [{"window_bits": 8}, {"window_bits": 8, "takeover": False}, {}, {"level": 6}, {"level": 9}])
def test_both_ends_of_ours_exchange_messages(options):
    sent = messages()
    received, [agreed] = run(server_extensions(**options), client_extensions(**options), sent)
    assert received == sent
    assert agreed.server_window_bits == agreed.client_window_bits == options.get("window_bits", 15)


def test_fragments_pass_both_ways_with_the_implementation_of_websockets():
    parts = ["fragment after fragment ", "", "fragment after fragment " * 4000, "end"]
    for server, client in [
        ([theirs.ServerPerMessageDeflateFactory()], client_extensions()),
        (server_extensions(), [theirs.ClientPerMessageDeflateFactory(client_max_window_bits=True)]),
        (server_extensions(), client_extensions(takeover=False)),
    ]:
        received, _ = run(server, client, [parts, "whole", parts])
        assert received == ["".join(parts), "whole", "".join(parts)]


def test_a_peer_without_the_extension_gets_uncompressed_messages():
    for server, client in [(server_extensions(), None), (None, client_extensions())]:
        received, extensions = run(server, client, ["text"])
        assert (received, extensions) == (["text"], [])


def test_clients_and_servers_on_threads_exchange_messages():
    def echo(socket):
        for message in socket:
            socket.send(message)

    from websockets.sync.server import serve as serve_threads
    from threading import Thread

    with serve_threads(echo, "127.0.0.1", 0, compression=None, extensions=server_extensions(), max_size=None) as server:
        running = Thread(target=server.serve_forever)
        running.start()
        url = f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        options = {"compression": None, "extensions": client_extensions(), "max_size": None}
        with websockets.sync.client.connect(url, **options) as one, websockets.sync.client.connect(url, **options) as two:
            for message in messages():
                one.send(message)
                two.send(prepare(message))
                assert one.recv(60) == two.recv(60) == message
        server.shutdown()
        running.join()


def pair(**options):
    """The extensions of a server and a client that have agreed."""
    [server] = server_extensions(**options)
    client = client_extensions(**options)[0]
    params, extension = server.process_request_params(client.get_request_params(), [])
    return extension, client.process_response_params(params, [])


def frame(data, opcode=Opcode.BINARY, fin=True, rsv1=True):
    return Frame(opcode, data, fin, rsv1)


def sent_frame(message):
    """The frame that the library passes to extensions."""
    if isinstance(message, str):
        return frame(message.encode(), Opcode.TEXT, rsv1=False)
    return frame(message, rsv1=False)


def in_any_order(rng, count):
    """Yields messages of several kinds in random order, about half of them prepared."""
    some = [message for message in messages() if len(message) < 10_000]
    for message in rng.choices(some, k=count):
        yield prepare(message, level=rng.choice([1, 6, 9])) if rng.random() < 0.5 else message


@pytest.mark.parametrize("remember", [True, False])
@pytest.mark.parametrize("takeover", [True, False])
@pytest.mark.parametrize("bits", range(9, 16))
def test_prepared_messages_between_ordinary_ones_decode_for_every_window(bits, takeover, remember):
    rng = random.Random(4 * bits + 2 * takeover + remember)
    sides = pair(window_bits=bits, takeover=takeover, remember_prepared=remember)
    for sender, receiver in [sides, reversed(sides)]:
        peer = theirs.PerMessageDeflate(not takeover, not takeover, bits, bits)
        for message in in_any_order(rng, 120):
            plain = sent_frame(message)
            encoded = sender.encode(plain)
            assert encoded.rsv1 or encoded == plain
            assert receiver.decode(encoded).data == peer.decode(encoded).data == plain.data


def test_prepared_messages_are_the_same_for_all_and_later_ones_refer_to_them():
    text = random.Random(4).randbytes(300).hex()
    after = {}
    for remember in [True, False]:
        (one, _), (two, _) = [pair(window_bits=12, remember_prepared=remember) for _ in range(2)]
        two.encode(sent_frame(text))
        news = prepare(text)
        assert one.encode(sent_frame(news)) == two.encode(sent_frame(news))
        after[remember] = len(one.encode(sent_frame(text)).data)
    assert after[True] < 20 < after[False]
    # A connection that only gets prepared messages does not copy them.
    server, _ = pair()
    before = server.memory
    for i in range(100):
        server.encode(sent_frame(prepare(f"{i} " * 10_000)))
    assert server.memory < before + 200


def test_a_prepared_message_is_the_text_or_the_bytes():
    news = prepare("naïve news, " * 10)
    assert news == "naïve news, " * 10 and isinstance(news, str)
    assert news.encode() == "naïve news, ".encode() * 10 and news.encode("latin-1")[2:3] == b"\xef"
    data = prepare(b"data " * 10)
    assert data == b"data " * 10 and isinstance(data, bytes)
    for message in [news, data]:
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(message)
    server, _ = pair(smallest=100)
    assert server.encode(sent_frame(prepare("x" * 100))).rsv1
    assert not server.encode(sent_frame(prepare("x" * 99))).rsv1
    noise = frame(prepare(random.Random(5).randbytes(300)), rsv1=False)
    assert server.encode(noise) is noise
    assert prepare(bytearray(b"data")) == prepare(memoryview(b"data")) == b"data"


def test_objects_of_the_prepared_types_that_prepare_did_not_make_are_ordinary_messages():
    sender, receiver = pair()
    for message in [PreparedText("news " * 10), PreparedBytes(b"news " * 10)]:
        encoded = sender.encode(sent_frame(message))
        assert encoded.rsv1 and receiver.decode(encoded).data == b"news " * 10
    with pytest.raises(TypeError):
        prepare(5)
    with pytest.raises(Error):
        prepare("text", level=10)
    with pytest.raises(UnicodeEncodeError):
        prepare("\ud800")


def test_broadcast_reaches_listeners_with_and_without_compression():
    async def scenario():
        listeners = []
        all_here = asyncio.Event()

        async def listen(socket):
            listeners.append(socket)
            if len(listeners) == 4:
                all_here.set()
            await socket.wait_closed()

        options = {"compression": None, "extensions": server_extensions()}
        async with serve(listen, "127.0.0.1", 0, **options) as listening:
            url = f"ws://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
            ours = client_extensions(receive_window_bits=8)
            small = {"server_max_window_bits": 9, "server_no_context_takeover": True}
            small = [theirs.ClientPerMessageDeflateFactory(**small)]
            async with (
                connect(url) as one,
                connect(url, compression=None) as two,
                connect(url, compression=None, extensions=ours) as three,
                connect(url, compression=None, extensions=small) as four,
            ):
                clients = [one, two, three, four]
                await all_here.wait()
                rng = random.Random(6)
                for message in in_any_order(rng, 100):
                    if rng.random() < 0.5:
                        broadcast(listeners, message)
                    else:
                        await asyncio.gather(*(socket.send(message) for socket in listeners))
                    received = [await asyncio.wait_for(client.recv(), 60) for client in clients]
                    assert received == [message] * 4

    asyncio.run(scenario())


def test_messages_at_a_limit_decode_and_above_it_are_too_big():
    for size in [5000, 1 << 20]:
        server, client = pair()
        small = client.encode(frame(bytes(size), rsv1=False))
        assert small.rsv1 and len(small.data) < size // 100
        assert server.decode(small, max_size=size).data == bytes(size)
        server, client = pair()
        with pytest.raises(PayloadTooBig):
            server.decode(client.encode(frame(bytes(size))), max_size=size - 1)
    for options in [{"message_limit": 99_999}, {"ratio_limit": 100}]:
        server, client = pair(**options)
        with pytest.raises(PayloadTooBig):
            server.decode(client.encode(frame(bytes(100_000))))
    # The limit holds for all fragments of a message together.
    server, client = pair(message_limit=1000)
    for opcode in [Opcode.TEXT, Opcode.CONT, Opcode.CONT, Opcode.CONT]:
        small = client.encode(frame(b"x" * 250, opcode, fin=False))
        assert server.decode(small).data == b"x" * 250
    with pytest.raises(PayloadTooBig):
        server.decode(client.encode(frame(b"x", Opcode.CONT)))


def test_a_bomb_closes_the_connection_with_1009():
    async def scenario():
        async def bomb(socket):
            await socket.send(bytes(1 << 28))
            await socket.wait_closed()

        server = {"compression": None, "extensions": [theirs.ServerPerMessageDeflateFactory()]}
        async with serve(bomb, "127.0.0.1", 0, **server) as listening:
            url = f"ws://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
            options = {"compression": None, "extensions": client_extensions(), "open_timeout": 60}
            async with connect(url, **options) as socket:
                with pytest.raises(ConnectionClosedError) as caught:
                    await asyncio.wait_for(socket.recv(), 120)
                assert caught.value.sent.code == 1009

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "data",
    [
        bytes.fromhex("f248cd"),  # ends inside a block
        bytes.fromhex("06"),  # a block of the reserved type
        bytes.fromhex("000500fa"),  # a stored block whose lengths disagree
        bytes.fromhex("02130000"),  # a match before the beginning
    ],
)
def test_damage_is_a_protocol_error(data):
    server, client = pair()
    with pytest.raises(ProtocolError):
        server.decode(frame(data))
    server, client = pair()
    good = client.encode(frame(b"good, good, good, good, good, good")).data
    with pytest.raises(ProtocolError):
        server.decode(frame(good[:-2]))


def test_flipped_bits_and_truncation_end_in_an_error_or_bytes():
    _, client = pair()
    good = client.encode(frame(messages()[8].encode())).data
    damaged = [good[:n] for n in range(len(good))]
    damaged += [good[:i] + bytes([good[i] ^ (1 << bit)]) + good[i + 1 :] for i in range(len(good)) for bit in range(8)]
    errors = 0
    for data in damaged:
        server, _ = pair()
        try:
            assert len(server.decode(frame(data), max_size=5000).data) <= 5000
        except (ProtocolError, PayloadTooBig):
            errors += 1
    assert errors > len(damaged) // 3


def test_a_larger_window_than_agreed_is_a_protocol_error():
    server, _ = pair(window_bits=9)
    cheater = zlib.compressobj(wbits=-15)
    text = random.Random(2).randbytes(2000)
    encoded = [cheater.compress(text) + cheater.flush(zlib.Z_SYNC_FLUSH) for _ in range(2)]
    assert server.decode(frame(encoded[0][:-4])).data == text
    with pytest.raises(ProtocolError):
        server.decode(frame(encoded[1][:-4]))


def test_rsv1_in_a_continuation_is_a_protocol_error():
    server, client = pair()
    server.decode(client.encode(frame(b"a fragment", Opcode.TEXT, fin=False)))
    with pytest.raises(ProtocolError):
        server.decode(frame(b"", Opcode.CONT))
    ping = frame(b"ping", Opcode.PING, rsv1=False)
    assert server.decode(ping) is ping and server.encode(ping) is ping


def test_plain_frames_between_compressed_ones_are_unchanged():
    server, client = pair()
    noise = random.Random(3).randbytes(500)
    for data in [b"text " * 30, noise, b"short", b"text " * 40]:
        sent = client.encode(frame(data, rsv1=False))
        assert sent.rsv1 == (data[:5] == b"text ")
        assert server.decode(sent).data == data
    part = frame(b"plain", Opcode.TEXT, fin=False, rsv1=False)
    rest = frame(b" fragments", Opcode.CONT, rsv1=False)
    assert (server.decode(part), server.decode(rest)) == (part, rest)


def test_unacceptable_handshakes_and_options_are_errors():
    [server], client = server_extensions(), client_extensions(receive_window_bits=10)[0]
    _, accepted = server.process_request_params([], [])
    for params in [[("unknown", None)], [("server_max_window_bits", "7")], [("client_no_context_takeover", "1")]]:
        with pytest.raises(NegotiationError):
            server.process_request_params(params, [])
        with pytest.raises(NegotiationError):
            client.process_response_params(params, [])
    for factory, method in [(server, "process_request_params"), (client, "process_response_params")]:
        with pytest.raises(NegotiationError):
            getattr(factory, method)([], [accepted])
    with pytest.raises(NegotiationError):
        client.process_response_params([], [])  # the answer has a window of 32 KiB, the offer one of 1 KiB
    for wrong in [{"window_bits": 7}, {"receive_window_bits": 16}, {"level": 10}]:
        with pytest.raises(Error):
            server_extensions(**wrong)
    with pytest.raises(TypeError):
        server_extensions(window=10)


def test_memory_of_a_connection_with_small_windows_is_below_6_kib():
    server, client = pair(window_bits=10)
    for message in messages():
        data = message.encode() if isinstance(message, str) else message
        assert server.decode(client.encode(frame(data, rsv1=False))).data == data
        assert client.decode(server.encode(frame(data, rsv1=False))).data == data
    assert server.memory < 6 << 10 and client.memory < 6 << 10
    assert isinstance(server, PerMessageDeflate) and "server 10 bits" in repr(server)


def test_memory_of_an_idle_connection_without_takeover_is_below_600_bytes():
    server, client = pair(takeover=False)
    assert server.decode(client.encode(sent_frame("text " * 100))).data == b"text " * 100
    assert client.decode(server.encode(sent_frame("text " * 100))).data == b"text " * 100
    assert server.memory < 600 and client.memory < 600


def test_doctests_pass():
    assert doctest.testmod(pylinerate.websockets).failed == 0
