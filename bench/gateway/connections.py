"""Measures memory, threads and idle CPU time of `linerate gateway serve` with many connections.

Run as `python bench/gateway/connections.py PROGRAM CONNECTIONS TRANSPORT`. Each connection identifies and receives the events
of the small guild that is served without a file. All connections are idle for ten seconds, then each sends a heartbeat. Prints
JSON Lines. Linux only; this program and the gateway each need a descriptor for every connection (`ulimit -n`).
"""

from __future__ import annotations

import argparse
import json
import select
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))
import lines

UPGRADE = (
    "GET /?v=10&encoding=json{} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


def frame(text: str) -> bytes:
    """Returns the websocket frame of a text of at most 125 bytes, masked with zeros."""
    return bytes([0x81, 0x80 | len(text), 0, 0, 0, 0]) + text.encode()


def resources(process: subprocess.Popen[str]) -> tuple[int, int, float]:
    """Returns the resident memory in KiB, the number of threads, and the CPU time so far in
    seconds."""
    proc = Path(f"/proc/{process.pid}")
    status = dict(line.split(":", 1) for line in (proc / "status").read_text().splitlines())
    ticks = (proc / "stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return int(status["VmRSS"].split()[0]), int(status["Threads"]), sum(map(int, ticks)) / 100


def read_until_silence(poll: select.epoll, sockets: dict[int, socket.socket], seconds: float) -> set[int]:
    """Reads from all sockets until `seconds` pass without data. Returns the descriptors that
    received data."""
    received, last = set(), time.monotonic()
    while time.monotonic() - last < seconds:
        for descriptor, _ in poll.poll(0.5):
            if sockets[descriptor].recv(1 << 16):
                received.add(descriptor)
                last = time.monotonic()
            else:
                poll.unregister(descriptor)
    return received


def main(program: str, connections: int, transport: str) -> None:
    command = [program, "gateway", "serve", "--json", "--for", "900"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    port = json.loads(process.stdout.readline())["port"]
    upgrade = UPGRADE.format("" if transport == "text" else f"&compress={transport}").encode()
    poll, sockets = select.epoll(), {}
    for _ in range(connections):
        one = socket.create_connection(("127.0.0.1", port))
        one.sendall(upgrade)
        # The IDENTIFY may be sent at once: the server reads it after the upgrade, and answers with
        # READY.
        one.sendall(frame('{"op":2,"d":{"token":"t"}}'))
        one.setblocking(False)
        sockets[one.fileno()] = one
        poll.register(one, select.EPOLLIN)
    read_until_silence(poll, sockets, 5)
    resident, threads, before = resources(process)
    time.sleep(10)
    idle = resources(process)[2] - before
    for one in sockets.values():
        one.sendall(frame('{"op":1,"d":1}'))
    answered = len(read_until_silence(poll, sockets, 3))
    process.terminate()
    report = json.loads(process.stdout.read().splitlines()[-1])
    version = subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[-1]
    command = lines.command("bench/gateway/connections.py", [program, str(connections), transport])
    lines.run(command, {}, version)
    params = {"transport": transport, "connections": report["identifies"], "threads": threads}
    metrics = {
        "resident": resident * 1024,
        "per_connection": resident * 1024 // connections,
        "cpu_rest": idle / 10,
        "answered": answered,
    }
    lines.measurement("gateway-serve", "idle connections", "linerate", params, metrics)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/gateway/connections.py", description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the program linerate")
    parser.add_argument("connections", type=int)
    parser.add_argument("transport", choices=["text", "zlib-stream", "zstd-stream"])
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(**vars(parse(sys.argv[1:])))
