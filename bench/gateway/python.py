"""Measures pylinerate.gateway beside the libraries of Python clients: zlib, zstandard, backports.zstd.

Run as `python bench/gateway/python.py --corpus DIR`. It prints JSON Lines. DIR has files of messages, each with its length in
front (4 bytes, little-endian): payloads in X.msgs, their compressed forms in X.zlib and X.zst. All output is first compared with
the payloads. There are five shapes:

* start: connections from their first message on
* live: messages after the last GUILD_CREATE; earlier messages are decoded untimed
* many: 2,500 connections that receive messages in turn, with the resident memory of each, in a
  child process
* busy: the first 200 messages of a connection while another thread computes, in wall time
* dictionary: messages of at most 4 KiB, each a separate zstd frame with a dictionary
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import struct
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module, metadata
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pylinerate
from pylinerate import _pylinerate
from pylinerate.dict import Decoder, Store
from pylinerate.gateway import Decompressor, Dictionaries

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))
import lines

ENDINGS = {"zlib-stream": "zlib", "zstd-stream": "zst"}
CONNECTIONS = 2500
#: Messages of a connection in the shape `many`: their number, and how many of them, the last ones,
#: are timed. The others fill the window of the decoder.
MANY, LIVE = 30, 24
#: Maximum number of messages of the connection in the shape `busy`.
BUSY = 200
#: Shape `dictionary`: bytes of the dictionary, most bytes in a message, and most messages of the connection.
DICTIONARY, SMALL, FRAMES = 16 << 10, 4 << 10, 2000
Decode = Callable[[bytes], Any]
#: The messages of one connection, each as compressed form and payload.
Stream = list[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Contender:
    """A decoder of messages. Each call of `begin` starts a connection and returns its function from
    message to result."""

    name: str
    version: str
    #: Type of the result: "bytes", "text", or "buffer" for the number of bytes written to an
    #: existing buffer.
    result: str
    begin: Callable[[], Decode]


@dataclass
class Times:
    """Seconds per message of a contender in each round: the mean and, for the shape `busy`, the
    longest. For the shape `many`, also the resident bytes of a connection."""

    mean: list[float] = field(default_factory=list)
    worst: list[float] = field(default_factory=list)
    resident: int | None = None

    def take(self, begin: Callable[[], Decode], all_streams: list[Stream], skips: list[int], busy: bool) -> None:
        """Measures one round of any shape but `many`. `skips` has the number of messages of each
        connection that are decoded first, untimed."""
        if busy:
            each = time_busy(begin(), all_streams[0])
            self.worst.append(max(each))
            seconds = sum(each)
        else:
            seconds = sum(time_stream(begin(), stream, skip) for stream, skip in zip(all_streams, skips))
        messages = sum(len(stream) - skip for stream, skip in zip(all_streams, skips))
        self.mean.append(seconds / messages)


def contenders(kind: str) -> Iterator[Contender]:
    """Yields the installed contenders. Those with one type of result are compared with the first of
    them, "buffer" with "bytes"."""
    for name, version, begin in peers(kind):
        yield Contender(name, version, "bytes", begin)
        yield Contender(name, version, "text", lambda begin=begin: as_text(begin()))
    ours = pylinerate.__version__
    yield Contender("linerate", ours, "bytes", lambda: Decompressor(kind).decompress)
    yield Contender("linerate", ours, "text", lambda: Decompressor(kind).decompress_text)
    out = bytearray(4 << 20)
    yield Contender("linerate", ours, "buffer", lambda: into(Decompressor(kind), out))


def peers(kind: str) -> Iterator[tuple[str, str, Callable[[], Decode]]]:
    if kind == "zlib-stream":
        yield "zlib", zlib.ZLIB_RUNTIME_VERSION, lambda: zlib.decompressobj().decompress
        return
    if zstandard := module("zstandard"):
        yield (
            "zstandard",
            zstandard.__version__,
            lambda: zstandard.ZstdDecompressor().decompressobj().decompress,
        )
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    if zstd := module(name):
        version = platform.python_version() if name.startswith("compression") else metadata.version(name)
        yield name, version, lambda: zstd.ZstdDecompressor().decompress


def contenders_with_dictionary(dictionary: bytes) -> Iterator[Contender]:
    """Yields the contenders for frames with a dictionary. Those with one type of result are
    compared with the first of them."""
    zstandard = import_module("zstandard")
    known = zstandard.ZstdCompressionDict(dictionary)
    version = zstandard.__version__
    begin = lambda: zstandard.ZstdDecompressor(dict_data=known).decompress
    yield Contender("zstandard", version, "bytes", begin)
    yield Contender("zstandard", version, "text", lambda: as_text(begin()))
    kind, ours = "zstd-frame", pylinerate.__version__
    dictionaries = Dictionaries(dictionary)
    make = partial(Decompressor, kind, dictionaries=dictionaries)
    yield Contender("linerate", ours, "bytes", lambda: make().decompress)
    yield Contender("linerate", ours, "text", lambda: make().decompress_text)
    store = Store()
    id = store.insert(dictionary)
    yield Contender("linerate, dict", ours, "bytes", lambda: partial(Decoder(store).decode, id))


def module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        print(f"not installed: {name}", file=sys.stderr)
        return None


def as_text(decode: Decode) -> Decode:
    return lambda frame: decode(frame).decode()


def into(decompressor: Decompressor, out: bytearray) -> Decode:
    decode = decompressor.decompress_into
    return lambda frame: decode(frame, out)


def records(path: Path) -> list[bytes]:
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at)
        found.append(data[at + 4 : at + 4 + length])
        at += 4 + length
    return found


def streams(corpus: Path, kind: str) -> list[Stream]:
    """Returns the connections in a folder."""
    found = []
    for path in sorted(corpus.glob("*.msgs")):
        frames = records(path.with_suffix("." + ENDINGS[kind]))
        found.append(list(zip(frames, records(path), strict=True)))
    if not found:
        raise SystemExit(f"no .msgs files in {corpus}")
    return found


def settled(stream: Stream) -> int:
    """Returns the index of the first message after the last GUILD_CREATE."""
    large = [i for i, (_, payload) in enumerate(stream) if b'"t":"GUILD_CREATE"' in payload]
    return large[-1] + 1 if large else 0


def framed(stream: Stream) -> tuple[Stream, bytes]:
    """Returns the small messages after the last GUILD_CREATE, each as a separate frame, and the
    dictionary of the frames, which is trained on every second message."""
    zstandard = import_module("zstandard")
    payloads = [payload for _, payload in stream[settled(stream) :] if len(payload) <= SMALL]
    payloads = payloads[:FRAMES]
    dictionary = zstandard.train_dictionary(DICTIONARY, payloads[::2])
    compress = zstandard.ZstdCompressor(dict_data=dictionary).compress
    return [(compress(payload), payload) for payload in payloads], dictionary.as_bytes()


def verify(contender: Contender, all_streams: Iterable[Stream]) -> None:
    for stream in all_streams:
        decode = contender.begin()
        for i, (frame, payload) in enumerate(stream):
            got = decode(frame)
            expected = {"bytes": payload, "text": None, "buffer": len(payload)}[contender.result]
            if (got.encode() if expected is None else got) != (payload if expected is None else expected):
                raise SystemExit(f"{contender.name} decodes message {i} to different bytes")


def time_stream(decode: Decode, stream: Stream, skip: int) -> float:
    """Returns CPU seconds for the messages after the first `skip`."""
    frames = [frame for frame, _ in stream]
    for frame in frames[:skip]:
        decode(frame)
    frames = frames[skip:]
    begin = time.process_time()
    for frame in frames:
        decode(frame)
    return time.process_time() - begin


def time_busy(decode: Decode, stream: Stream) -> list[float]:
    """Returns the wall seconds for each message while another thread computes."""
    stop = threading.Event()

    def compute() -> None:
        while not stop.is_set():
            sum(range(100))

    thread = threading.Thread(target=compute)
    thread.start()
    taken = []
    for frame, _ in stream:
        begin = time.perf_counter()
        decode(frame)
        taken.append(time.perf_counter() - begin)
    stop.set()
    thread.join()
    return taken


def many(kind: str, index: int, frames: list[bytes], rounds: int) -> tuple[list[float], int]:
    """Returns CPU seconds per message in each round, with many connections that receive messages in
    turn, and the resident bytes of one connection. Needs a new process, whose memory no other
    contender has grown."""
    contender = [each for each in contenders(kind) if each.result == "bytes"][index]
    contender.begin()(frames[0])
    times = []
    for round in range(rounds):
        before = resident()
        connections = [contender.begin() for _ in range(CONNECTIONS)]
        begin = 0.0
        for i, frame in enumerate(frames):
            if i == MANY - LIVE:
                begin = time.process_time()
            for decode in connections:
                decode(frame)
        times.append((time.process_time() - begin) / (LIVE * CONNECTIONS))
        if round == 0:
            gc.collect()
            each = (resident() - before) // CONNECTIONS
        del connections, decode
    return times, each


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def excerpt(stream: Stream, kind: str) -> Stream:
    """Returns a short connection: the first messages of `stream`, which fill the window, then
    events after the last GUILD_CREATE, all compressed anew."""
    at = settled(stream)
    payloads = [payload for _, payload in stream[: MANY - LIVE] + stream[at : at + LIVE]]
    if kind == "zlib-stream":
        stream_of = zlib.compressobj(6)
        flush = lambda: stream_of.flush(zlib.Z_SYNC_FLUSH)
    else:
        zstandard = import_module("zstandard")
        parameters = zstandard.ZstdCompressionParameters.from_level(
            7, window_log=16, chain_log=15, hash_log=15, write_content_size=False
        )
        stream_of = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
        flush = lambda: stream_of.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    return [(stream_of.compress(payload) + flush(), payload) for payload in payloads]


def measure(shape: str, kind: str, data: str, all_streams: list[Stream], rounds: int) -> None:
    """Measures a shape with the contenders that it has, and prints a line for each."""
    if shape == "dictionary":
        stream, dictionary = framed(max(all_streams, key=len))
        all_streams, rivals = [stream], list(contenders_with_dictionary(dictionary))
        kind = "zstd-frame"
    else:
        rivals = list(contenders(kind))
    if shape == "many":
        rivals = [rival for rival in rivals if rival.result == "bytes"]
        all_streams = [excerpt(all_streams[0], kind)]
    if shape == "busy":
        all_streams = [all_streams[0][:BUSY]]
    skips = [settled(stream) if shape == "live" else 0 for stream in all_streams]
    if shape == "many":
        skips = [MANY - LIVE]
    for rival in rivals:
        verify(rival, all_streams)
    sizes = [len(payload) for stream, skip in zip(all_streams, skips) for _, payload in stream[skip:]]
    taken = [Times() for _ in rivals]
    if shape == "many":
        frames = [frame for frame, _ in all_streams[0]]
        for i, times in enumerate(taken):
            with get_context("spawn").Pool(1) as pool:
                times.mean, times.resident = pool.apply(many, (kind, i, frames, rounds))
    else:
        turns = [
            partial(times.take, rival.begin, all_streams, skips, shape == "busy")
            for rival, times in zip(rivals, taken)
        ]
        lines.rounds(rounds, turns)
    bases = {rival.result: i for i, rival in reversed(list(enumerate(rivals)))}
    bases["buffer"] = bases["bytes"]
    average = sum(sizes) / len(sizes) / 1e6
    for rival, times in zip(rivals, taken):
        base = bases[rival.result]
        params = {
            "mode": shape,
            "transport": kind,
            "result": rival.result,
            "clock": "wall" if shape == "busy" else "cpu",
            "connections": CONNECTIONS if shape == "many" else len(all_streams),
            "messages": len(sizes),
            "base": f"{rivals[base].name}, {rivals[base].result}",
        }
        metrics = {
            "speed": [average / seconds for seconds in times.mean],
            "time": [seconds * 1e6 for seconds in times.mean],
            "longest": [seconds * 1e6 for seconds in times.worst],
            # Quotients are taken within a round, because other work on the machine affects all of a round.
            "speed_by_base": [other / own for other, own in zip(taken[base].mean, times.mean)],
            "resident": times.resident,
        }
        lines.measurement("python", data, rival.name, params, metrics)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench/gateway/python.py", description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, required=True, help="folder of .msgs, .zlib and .zst files")
    parser.add_argument("--rounds", type=int, default=7, help="number of rounds [default: 7]")
    shapes = "start,live,many,busy,dictionary"
    parser.add_argument("--shape", default=shapes, help="only these shapes, as a,b")
    options = parser.parse_args(arguments)
    if _pylinerate.DEBUG_ASSERTIONS:
        print("pylinerate was built for tests; to measure it, run: pip install ./bindings/python", file=sys.stderr)
    versions = {rival.name: rival.version for kind in ENDINGS for rival in contenders(kind)}
    versions["python"] = platform.python_version()
    lines.run(lines.command("bench/gateway/python.py", arguments), versions)
    for kind in ENDINGS:
        all_streams = streams(options.corpus, kind)
        for shape in options.shape.split(","):
            # The shape dictionary would be the same for both kinds of streams.
            if shape != "dictionary" or (kind == "zstd-stream" and module("zstandard")):
                measure(shape, kind, options.corpus.name, all_streams, options.rounds)


if __name__ == "__main__":
    main(sys.argv[1:])
