"""A client for the broker's tests: one connection and plain messages, independent of the package's clients."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TypeVar

from kafka.broker import EmbeddedBroker
from kafka.broker.broker import Endpoint
from kafka.wire import Request, Response
from kafka.wire.framing import correlation_id, decode_response, encode_request

R = TypeVar("R", bound=Response)


class WireClient:
    """A connection; `async with` closes it."""

    def __init__(self, broker: EmbeddedBroker | Endpoint) -> None:
        self._address = broker.host, broker.port
        self._number = 0

    async def __aenter__(self) -> WireClient:
        self._reader, self._writer = await asyncio.open_connection(*self._address)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()
        await self._writer.wait_closed()

    async def send(self, request: Request[R], version: int) -> int:
        """Send a request, and return its correlation id."""
        self._number += 1
        self._writer.writelines(encode_request(request, version, self._number, "wire-client"))
        await self._writer.drain()
        return self._number

    async def receive(self, request: type[Request[R]], version: int, number: int) -> R:
        """Return the response to the request with this correlation id, which must be the next one."""
        frame = await self.read_frame()
        assert correlation_id(frame) == number
        return decode_response(request, version, frame)

    async def call(self, request: Request[R], version: int) -> R:
        """Send a request, and return its response."""
        return await self.receive(type(request), version, await self.send(request, version))

    async def write(self, data: bytes) -> None:
        """Send raw bytes."""
        self._writer.write(data)
        await self._writer.drain()

    async def read_frame(self) -> bytes:
        """Return the next frame, without its size."""
        return await self._reader.readexactly(int.from_bytes(await self._reader.readexactly(4), "big"))

    async def read_to_the_end(self) -> bytes:
        """Read all bytes until the broker closes the connection."""
        with contextlib.suppress(ConnectionResetError):
            return await self._reader.read()
        return b""

    async def is_closed(self) -> bool:
        """Wait for the broker to close the connection, and return whether it sent nothing before."""
        try:
            return await self._reader.read(1) == b""
        except ConnectionResetError:
            return True
