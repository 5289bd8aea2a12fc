"""How long new connections wait for their first response while other connections are busy."""

from __future__ import annotations

import asyncio
import multiprocessing
import statistics
import time
from multiprocessing.connection import Connection

_DIAL_TIMEOUT_S = 60.0
_BUSY_S = 120.0
_METADATA, _API_VERSIONS = 3, 18


def _request(key: int, version: int, body: bytes) -> bytes:
    head = key.to_bytes(2, "big") + version.to_bytes(2, "big") + (1).to_bytes(4, "big") + b"\0\1x"
    return (len(head) + len(body)).to_bytes(4, "big") + head + body


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> None:
    writer.write(request)
    await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))


def _ask_in_a_loop(host: str, port: int, connections: int, ready: Connection) -> None:
    """Ask for all metadata on each connection, again and again; tell `ready` once each has had an answer."""
    request = _request(_METADATA, 1, b"\xff" * 4)
    answered = 0

    async def one() -> None:
        nonlocal answered
        reader, writer = await asyncio.open_connection(host, port)
        await _ask(reader, writer, request)
        answered += 1
        if answered == connections:
            ready.send(True)
        until = time.monotonic() + _BUSY_S
        while time.monotonic() < until:
            await _ask(reader, writer, request)

    async def everyone() -> None:
        await asyncio.gather(*(one() for _ in range(connections)))

    asyncio.run(everyone())


async def _dial(host: str, port: int, dials: int) -> list[float]:
    async def one() -> float:
        start = time.monotonic()
        reader, writer = await asyncio.open_connection(host, port)
        await _ask(reader, writer, _request(_API_VERSIONS, 0, b""))
        writer.close()
        return time.monotonic() - start

    return list(await asyncio.gather(*(asyncio.wait_for(one(), _DIAL_TIMEOUT_S) for _ in range(dials))))


def neighbours(servers: str, busy: int, dials: int) -> dict[str, float]:
    """The longest and the median time until new connections have their first answer, in seconds."""
    host, _, port = servers.rpartition(":")
    context = multiprocessing.get_context("spawn")
    told, ready = context.Pipe(duplex=False)
    process = context.Process(target=_ask_in_a_loop, args=(host, int(port), busy, ready), daemon=True)
    process.start()
    try:
        if not told.poll(_DIAL_TIMEOUT_S):
            raise TimeoutError(f"{busy} connections were not all answered within {_DIAL_TIMEOUT_S:.0f} s")
        waits = asyncio.run(_dial(host, int(port), dials))
    finally:
        process.terminate()
        process.join()
    return {"longest": max(waits), "median": statistics.median(waits)}
