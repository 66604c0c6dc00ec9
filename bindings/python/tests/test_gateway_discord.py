"""discord.py uses the decompression contexts of this package, connected to a gateway on the
loopback interface."""

import asyncio
import json
import logging
import re
import struct
import subprocess

import pytest
from gateway_serve import program, serve
from gateways import HELLO, HELLO_FRAMES, Server, sample
from support import REPOSITORY, run_python

from pylinerate.gateway import GatewayError, ZlibContext, ZstdContext

discord = pytest.importorskip("discord", reason="SKIP: discord.py is not installed")
web = pytest.importorskip("aiohttp.web")
yarl = pytest.importorskip("yarl")

CONTEXTS = [ZlibContext, ZstdContext]


class ResumingContext(ZstdContext):
    """Raises TimeoutError in place of a GatewayError. discord.py then resumes the connection."""

    options = {"checks": "json", "sequence": True}

    def decompress(self, data):
        try:
            return super().decompress(data)
        except GatewayError as error:
            raise TimeoutError("the gateway's stream is broken") from error


@pytest.mark.parametrize("context", CONTEXTS)
def test_contexts_have_the_interface_of_discord_py(context):
    other = discord.utils._ActiveDecompressionContext
    assert type(other.COMPRESSION_TYPE) is type(context.COMPRESSION_TYPE) is str
    frame = HELLO_FRAMES[context.COMPRESSION_TYPE]
    made = context()
    if context is ZlibContext:
        assert made.decompress(frame[:50]) is None
        assert made.decompress(frame[50:]) == HELLO.decode()
    else:
        assert made.decompress(frame) == HELLO.decode()
    with pytest.raises(GatewayError):
        made.decompress(b"\x06\x00\x00\x00\x00\xff\xff")


def test_subclasses_set_options_of_the_decompressor():
    class Small(ZstdContext):
        options = {"max_message": 100}

    with pytest.raises(GatewayError, match="limit"):
        Small().decompress(HELLO_FRAMES["zstd-stream"])


def answer(**members):
    return web.Response(body=json.dumps(members).encode(), content_type="application/json")


class Gateway:
    """A gateway with the HTTP endpoints that a client calls first, on the loopback interface.

    ``scripts`` has the payloads of each connection; ``damage`` may change each frame of the first
    connection; ``part`` is the maximum size of a websocket message.
    """

    def __init__(self, scripts, damage=lambda number, frame: frame, part=None):
        self.scripts, self.damage, self.part = list(scripts), damage, part
        self.queries, self.sent, self.received = [], 0, []

    async def __aenter__(self):
        app = web.Application()
        app.router.add_get("/api/v10/users/@me", self.user)
        app.router.add_get("/api/v10/oauth2/applications/@me", self.application)
        app.router.add_get("/", self.connection)
        self.runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self.runner.setup()
        await web.TCPSite(self.runner, "127.0.0.1", 0).start()
        self.host = "127.0.0.1:{}".format(self.runner.addresses[0][1])
        return self

    async def __aexit__(self, *_):
        await self.runner.cleanup()

    async def user(self, request):
        return answer(id="1", username="bot", discriminator="0", avatar=None)

    async def application(self, request):
        owner = {"id": "2", "username": "owner", "discriminator": "0", "avatar": None}
        flags = {"flags": 0, "bot_public": False, "bot_require_code_grant": False, "rpc_origins": []}
        texts = {"name": "bot", "description": "", "verify_key": "", "icon": None}
        return answer(id="1", owner=owner, team=None, **texts, **flags)

    async def connection(self, request):
        socket = web.WebSocketResponse(timeout=0.1)
        await socket.prepare(request)
        number = len(self.queries)
        self.queries.append(dict(request.query))
        server = Server(request.query["compress"])
        for payload in self.scripts[number]:
            frame = server.send(payload)
            if number == 0:
                frame = self.damage(self.sent, frame)
            self.sent += 1
            for start in range(0, len(frame), self.part or len(frame)):
                await socket.send_bytes(frame[start : start + (self.part or len(frame))])
            if payload is self.scripts[number][0]:
                # The client sends IDENTIFY or RESUME, after a heartbeat.
                while json.loads(await socket.receive_str(timeout=10))["op"] not in (2, 6):
                    pass
        async for message in socket:
            self.received.append(json.loads(message.data))
        return socket


async def run_client(gateway, context, is_last, monkeypatch):
    """Runs discord.py until the last payload; returns all payloads as text."""
    monkeypatch.setattr(discord.utils, "_ActiveDecompressionContext", context)
    monkeypatch.setattr(discord.http.Route, "BASE", f"http://{gateway.host}/api/v10")
    default = yarl.URL(f"ws://{gateway.host}/")
    monkeypatch.setattr(discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", default)
    got, enough = [], asyncio.Event()

    class Client(discord.Client):
        async def on_socket_raw_receive(self, message):
            got.append(message)
            if is_last(message):
                enough.set()

    options = {"enable_debug_events": True, "chunk_guilds_at_startup": False, "max_messages": None}
    client = Client(intents=discord.Intents.all(), **options)
    async with client:
        running = asyncio.ensure_future(client.start("token"))
        waiting = asyncio.ensure_future(enough.wait())
        await asyncio.wait([running, waiting], timeout=30, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        await client.close()
        if running.done():
            await running
        await asyncio.wait_for(running, 10)
    return got


def addressed(payloads, host):
    """The payloads, with the resume URL of READY set to ``host``."""
    events = [json.loads(payload) for payload in payloads]
    events[1]["d"]["resume_gateway_url"] = f"ws://{host}/"
    return [json.dumps(event).encode() for event in events]


def last(gateway):
    """Returns a function that tells whether a payload is the last one."""
    return lambda payload: payload == gateway.scripts[-1][-1].decode()


@pytest.fixture(autouse=True)
def quiet():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("context, part", [(ZlibContext, None), (ZlibContext, 1000), (ZstdContext, None)])
def test_the_client_receives_every_payload(context, part, monkeypatch):
    async def scenario():
        payloads, _ = sample("sample", context.COMPRESSION_TYPE)
        async with Gateway([], part=part) as gateway:
            gateway.scripts.append(addressed(payloads, gateway.host))
            got = await run_client(gateway, context, last(gateway), monkeypatch)
            assert [query["compress"] for query in gateway.queries] == [context.COMPRESSION_TYPE]
            assert got == [payload.decode() for payload in gateway.scripts[0]]

    asyncio.run(scenario())


def test_a_damaged_stream_ends_the_client(monkeypatch):
    async def scenario():
        payloads, _ = sample("sample", "zstd-stream")
        async with Gateway([], damage=break_message_9) as gateway:
            gateway.scripts.append(addressed(payloads, gateway.host))
            with pytest.raises(GatewayError) as caught:
                await run_client(gateway, ZstdContext, last(gateway), monkeypatch)
            assert caught.value.message_index == 9

    asyncio.run(scenario())


def test_the_client_resumes_after_a_timeout_error(monkeypatch):
    async def scenario():
        payloads, _ = sample("sample", "zstd-stream")
        async with Gateway([], damage=break_message_9) as gateway:
            first = addressed(payloads, gateway.host)
            number = 1 + sum(json.loads(payload)["op"] == 0 for payload in payloads)
            resumed = f'{{"op":0,"t":"RESUMED","s":{number},"d":{{"_trace":[]}}}}'.encode()
            gateway.scripts = [first, [payloads[0], *payloads[9:], resumed]]
            expected = first[:9] + gateway.scripts[1]
            got = await run_client(gateway, ResumingContext, last(gateway), monkeypatch)
            assert got == [payload.decode() for payload in expected]
            assert len(gateway.queries) == 2

    asyncio.run(scenario())


def break_message_9(number, frame):
    return b"\x06\x00\x00" if number == 9 else frame


@pytest.fixture
def events(tmp_path):
    """The events of the sample after READY, and a file of all its payloads."""
    payloads, _ = sample("sample", "zstd-stream")
    changed = addressed(payloads, "127.0.0.1")
    path = tmp_path / "sample.msgs"
    path.write_bytes(b"".join(struct.pack("<I", len(payload)) + payload for payload in changed))
    return [event for event in map(json.loads, changed[2:]) if event["op"] == 0], path


@pytest.mark.parametrize(
    "context, options, connections",
    [
        (ZlibContext, [], 1),
        (ZlibContext, ["--fragment", 100], 1),
        (ZstdContext, [], 1),
        (ZstdContext, ["--reconnect-after", 50], 2),
        (ResumingContext, ["--corrupt-at", 50], 2),
        (ResumingContext, ["--truncate-at", 50], 2),
        (ResumingContext, ["--drop-at", 50], 2),
        (ResumingContext, ["--corrupt-at", 20, "--drop-at", 50, "--truncate-at", 200], 4),
    ],
)
def test_the_client_receives_each_event_once_from_gateway_serve(context, options, connections, events, monkeypatch):
    expected, path = events
    is_last = lambda payload: json.loads(payload)["d"] == expected[-1]["d"]
    with serve("--messages", path, *options) as server:
        got = asyncio.run(run_client(server, context, is_last, monkeypatch))
    received = [event for event in map(json.loads, got) if event["op"] == 0]
    # RESUMED has a sequence number too.
    numbers = [event["s"] for event in received]
    assert numbers == sorted(set(numbers))
    events_received = [(event["t"], event["d"]) for event in received if event["t"] not in ("READY", "RESUMED")]
    assert events_received == [(event["t"], event["d"]) for event in expected]
    assert server.report["connections"] == connections
    assert server.report["resumes"] == connections - 1


def test_the_client_handles_generated_traffic(tmp_path, monkeypatch):
    """discord.py uses its own decompression, and requests all members of all guilds."""
    made = tmp_path / "made"
    options = ["-q", "--guilds", "4", "--events", "300", "-o", made]
    subprocess.run([program(), "gateway", "generate", *options], check=True, timeout=60)
    bytes = (made / "shard-0.msgs").read_bytes()
    names, at = [], 0
    while at < len(bytes):
        length = int.from_bytes(bytes[at : at + 4], "little")
        names.append(json.loads(bytes[at + 4 : at + 4 + length])["t"])
        at += 4 + length
    expected = {"ready": 1, "message": names.count("MESSAGE_CREATE"), "typing": names.count("TYPING_START")}
    got = dict.fromkeys(expected, 0)

    class Client(discord.Client):
        async def on_ready(self):
            got["ready"] += 1

        async def on_message(self, message):
            got["message"] += 1

        async def on_typing(self, channel, user, when):
            got["typing"] += 1

    async def run(server):
        monkeypatch.setattr(discord.http.Route, "BASE", f"http://{server.host}/api/v10")
        gateway = yarl.URL(f"ws://{server.host}/")
        monkeypatch.setattr(discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", gateway)
        client = Client(intents=discord.Intents.all())
        async with client:
            running = asyncio.ensure_future(client.start("token"))
            end = asyncio.get_running_loop().time() + 45
            while got != expected and not running.done() and asyncio.get_running_loop().time() < end:
                await asyncio.sleep(0.02)
            assert [guild.me.id for guild in client.guilds] == [client.user.id] * 4
            await client.close()
            await asyncio.wait_for(running, 10)

    with serve("--messages", made / "shard-0.msgs") as server:
        asyncio.run(run(server))
    assert got == expected
    assert (server.report["identifies"], server.report["resumes"]) == (1, 0)


def test_the_bot_of_the_page_meets_gateway_serve(tmp_path):
    (bot,) = re.findall(r"^```python\n(.*?)^```$", (REPOSITORY / "docs/gateway/serve.md").read_text(), flags=re.S | re.M)
    assert "127.0.0.1:40000" in bot
    with serve() as server:
        printed = run_python(bot.replace("127.0.0.1:40000", server.host), cwd=tmp_path)
    assert printed.strip()
    assert server.report["identifies"] == 1
