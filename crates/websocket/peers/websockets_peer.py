"""Python's websockets as a peer. `serve BITS` echoes and prints its port. `client URL BITS COUNT` sends half of the messages
one by one and the others at once, checks the echoes, and prints what was agreed on. The windows of this library have at
least 9 bits."""

import asyncio
import os
import sys

from websockets.asyncio.client import connect
from websockets.asyncio.server import serve
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory, ServerPerMessageDeflateFactory


async def echo(socket):
    async for message in socket:
        await socket.send(message)


async def run_server(bits):
    factory = ServerPerMessageDeflateFactory(server_max_window_bits=bits, client_max_window_bits=bits)
    async with serve(echo, "127.0.0.1", 0, extensions=[factory], compression=None, max_size=None) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.to_thread(sys.stdin.read)


NOISE = os.urandom(200_000)


def message(i):
    return NOISE if i % 500 == 250 else f"{i}: " + f"message {i % 13} of many, " * (i % 90)


async def run_client(url, bits, count):
    factory = ClientPerMessageDeflateFactory(server_max_window_bits=bits, client_max_window_bits=bits)
    async with connect(url, extensions=[factory], compression=None, max_size=None) as socket:

        async def check(i):
            if await socket.recv() != message(i):
                raise SystemExit(f"message {i} differs")

        async def send_rest():
            for i in range(count // 2, count):
                await socket.send(message(i))

        for i in range(count // 2):
            await socket.send(message(i))
            await check(i)
        rest = asyncio.create_task(send_rest())
        for i in range(count // 2, count):
            await check(i)
        await rest
        print(socket.response.headers.get("Sec-WebSocket-Extensions", ""))


mode, *rest = sys.argv[1:]
if mode == "serve":
    asyncio.run(run_server(max(int(rest[0]), 9)))
else:
    asyncio.run(run_client(rest[0], max(int(rest[1]), 9), int(rest[2])))
