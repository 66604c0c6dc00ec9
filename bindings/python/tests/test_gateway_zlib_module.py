"""ZlibModule in place of zlib: alone, and in disnake, connected to a gateway on the loopback
interface."""

import asyncio
import json
import logging
import zlib

import pytest
from gateway_serve import serve
from gateways import HELLO, HELLO_FRAMES, SAMPLES, frames_of, sample, traffic

from pylinerate.gateway import GatewayError, ZlibModule

ENDING = b"\x00\x00\xff\xff"


def test_payloads_equal_those_of_zlib():
    payloads = traffic()
    ours, theirs = ZlibModule().decompressobj(), zlib.decompressobj()
    for payload, frame in zip(payloads, frames_of("zlib-stream", payloads)):
        for data in [frame, bytearray(frame), memoryview(frame)][len(payload) % 3 :][:1]:
            assert ours.decompress(data) == theirs.decompress(data) == payload
    assert (ours.eof, ours.unused_data, ours.unconsumed_tail, ours.flush()) == (False, b"", b"", b"")


def test_a_fragment_returns_empty_bytes():
    frame = HELLO_FRAMES["zlib-stream"]
    made = ZlibModule().decompressobj()
    assert made.decompress(frame[:20]) == b""
    assert made.decompress(frame[20:]) == HELLO


def test_other_names_are_passed_on_to_zlib():
    module = ZlibModule()
    assert module.crc32 is zlib.crc32 and module.error is zlib.error
    assert module.decompress(zlib.compress(b"text")) == b"text"
    assert module.decompressobj(wbits=-15).decompress(zlib.compress(b"text")[2:-4]) == b"text"
    with pytest.raises(AttributeError):
        module.inflate
    with pytest.raises(TypeError):
        ZlibModule(max_size=1)


def test_errors_are_caught_as_zlib_error_and_keep_their_attributes():
    module = ZlibModule(checks="json")
    for data in (b"\x06" + ENDING, b"garbage" + ENDING):
        made = module.decompressobj()
        for _ in range(2):
            try:
                made.decompress(data)
                raise AssertionError("no error")
            except module.error as error:
                assert isinstance(error, GatewayError)
                own = made.decompressor.error
                assert (str(error), error.kind, error.offset, error.message_index) == (
                    str(own), own.kind, own.offset, own.message_index
                )


def test_errors_and_limits():
    frame = HELLO_FRAMES["zlib-stream"]
    for size in [len(HELLO), len(HELLO) - 1]:
        made = ZlibModule(max_message=size).decompressobj()
        if size == len(HELLO):
            assert made.decompress(frame) == HELLO
            continue
        with pytest.raises(GatewayError, match="limit"):
            made.decompress(frame)
    made = ZlibModule(raises=TimeoutError).decompressobj()
    for _ in range(2):
        with pytest.raises(TimeoutError) as caught:
            made.decompress(b"\x06" + ENDING)
        assert isinstance(caught.value.__cause__, GatewayError)
    with pytest.raises(ValueError, match="max_message"):
        made.decompress(frame, 100)
    with pytest.raises(ValueError, match="max_message"):
        made.decompress(frame, max_length=100)


@pytest.fixture
def disnake(monkeypatch):
    disnake = pytest.importorskip("disnake", reason="SKIP: disnake is not installed")
    logging.disable(logging.CRITICAL)
    yield disnake
    logging.disable(logging.NOTSET)


async def receive(disnake, server, is_last):
    """Runs disnake until the last payload; returns all payloads."""
    got, enough = [], asyncio.Event()

    class Client(disnake.Client):
        async def on_socket_raw_receive(self, message):
            got.append(message)
            if is_last(message):
                enough.set()

    client = Client(intents=disnake.Intents.all(), enable_debug_events=True, chunk_guilds_at_startup=False)
    running = asyncio.ensure_future(client.start("token"))
    waiting = asyncio.ensure_future(enough.wait())
    await asyncio.wait([running, waiting], timeout=45, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    await client.close()
    await asyncio.wait_for(running, 10)
    return got


@pytest.mark.parametrize(
    "options, connections",
    [
        ([], 1),
        (["--reconnect-after", 50], 2),
        (["--corrupt-at", 50], 2),
        (["--drop-at", 50], 2),
    ],
)
def test_disnake_receives_each_event_once_from_gateway_serve(options, connections, disnake, monkeypatch):
    module = ZlibModule(raises=TimeoutError, checks="json", sequence=True)
    monkeypatch.setattr(disnake.gateway, "zlib", module)
    payloads, _ = sample("sample", "zlib-stream")
    expected = [event for event in map(json.loads, payloads[2:]) if event["op"] == 0]
    is_last = lambda payload: json.loads(payload)["d"] == expected[-1]["d"]
    with serve("--messages", SAMPLES / "sample.msgs", *options) as server:
        monkeypatch.setattr(disnake.http.Route, "BASE", f"http://{server.host}/api/v10")
        got = asyncio.run(receive(disnake, server, is_last))
    received = [event for event in map(json.loads, got) if event["op"] == 0]
    numbers = [event["s"] for event in received]
    assert numbers == sorted(set(numbers))
    events = [(event["t"], event["d"]) for event in received if event["t"] not in ("READY", "RESUMED")]
    assert events == [(event["t"], event["d"]) for event in expected]
    assert server.report["connections"] == connections
    assert server.report["resumes"] == connections - 1
