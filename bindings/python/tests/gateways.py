"""Helpers of gateway tests: messages, and the sending end of a connection."""

import json
import random
import struct
import zlib

import pytest
from support import REPOSITORY

KINDS = ["zlib-stream", "zstd-stream"]
SAMPLES = REPOSITORY / "testdata" / "gateway"


def records(path):
    """Reads the records of a file. Each is a 4-byte little-endian length and that number of
    bytes."""
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at)
        found.append(data[at + 4 : at + 4 + length])
        at += 4 + length
    assert at == len(data), path
    return found


def sample(name, kind):
    """A connection from ``testdata/gateway``: its payloads, and the compressed message of each."""
    ending = {"zlib-stream": "zlib", "zstd-stream": "zst"}[kind]
    return records(SAMPLES / f"{name}.msgs"), records(SAMPLES / f"{name}.{ending}")


#: The first payload of a connection, and its compressed form for each transport.
(HELLO,) = records(SAMPLES / "hello.msgs")
HELLO_FRAMES = {kind: sample("hello", kind)[1][0] for kind in KINDS}


class Server:
    """The sending end of a connection: one stream, flushed after each message."""

    def __init__(self, kind):
        if kind == "zlib-stream":
            stream = zlib.compressobj(6)
            self._flush = lambda: stream.flush(zlib.Z_SYNC_FLUSH)
        else:
            zstandard = pytest.importorskip("zstandard", reason="SKIP: zstandard is not installed")
            parameters = zstandard.ZstdCompressionParameters.from_level(
                7, window_log=16, chain_log=15, hash_log=15, write_content_size=False, write_checksum=False
            )
            stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
            self._flush = lambda: stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        self._stream = stream

    def send(self, payload):
        return self._stream.compress(payload) + self._flush()


def frames_of(kind, payloads):
    server = Server(kind)
    return [server.send(payload) for payload in payloads]


def traffic(seed=1, groups=3, events=60):
    """Payloads of a generated connection: HELLO, READY, a few large GUILD_CREATE, then small
    events."""
    rng = random.Random(seed)
    members = [{"id": str(rng.getrandbits(62)), "name": rng.choice(NAMES)} for _ in range(300)]
    messages, number = [HELLO], 0

    def event(name, data):
        nonlocal number
        number += 1
        return {"t": name, "s": number, "op": 0, "d": data}

    texts = [event("READY", {"v": 10, "user": members[0]})]
    for _ in range(groups):
        joined = rng.sample(members, rng.randrange(50, 300))
        texts.append(event("GUILD_CREATE", {"members": joined, "topic": "naïve ☃"}))
    for _ in range(events):
        author = rng.choice(members)
        if rng.random() < 0.5:
            words = " ".join(rng.choice(NAMES) for _ in range(rng.randrange(20)))
            texts.append(event("MESSAGE_CREATE", {"author": author, "content": words}))
        elif rng.random() < 0.9:
            texts.append(event("PRESENCE_UPDATE", {"user": author, "status": "idle"}))
        else:
            texts.append({"t": None, "s": None, "op": 11, "d": None})
    return messages + [
        json.dumps(text, ensure_ascii=False, separators=(",", ":")).encode() for text in texts
    ]


NAMES = "ada ben cleo dov eva finn gus hana ivo june kofi lena mia noor otto pia quin rosa sven tess".split()
