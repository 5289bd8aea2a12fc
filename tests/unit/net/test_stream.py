"""A stream over a real socket: large frames in pieces, and the low-water mark."""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kafka.net.buffers import FrameBuffer
from kafka.net.frame_stream import Stream


class ConnectedStream:
    """A stream with the peer's end of its socket."""

    def __init__(self) -> None:
        self.frames: asyncio.Queue[bytes] = asyncio.Queue()
        self.lost: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
        self.ours, self.peer = socket.socketpair()
        self.peer.setblocking(False)
        self.stream = Stream(self._on_frame, lambda stream, why: self.lost.set_result(why), 1 << 24)

    def _on_frame(self, view: memoryview, buffer: FrameBuffer | None) -> bool:
        self.frames.put_nowait(bytes(view))
        return True

    async def send(self, data: bytes) -> None:
        """Send from the peer's end."""
        await asyncio.get_running_loop().sock_sendall(self.peer, data)

    @property
    def wakes_at(self) -> int:
        """The socket's low-water mark."""
        return self.ours.getsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT)


@pytest.fixture
async def connected() -> AsyncIterator[ConnectedStream]:
    made = ConnectedStream()
    await asyncio.get_running_loop().create_connection(lambda: made.stream, sock=made.ours)
    yield made
    made.stream.abort()
    made.peer.close()
    await made.lost


def framed(payload: bytes) -> bytes:
    return struct.pack(">i", len(payload)) + payload


async def test_frames_of_all_sizes_arrive_complete_however_they_are_split(connected: ConnectedStream) -> None:
    payloads = [b"a" * size for size in (3, 40_000, 600_000, 7, 300_000, 1)]
    data = b"".join(map(framed, payloads))
    for start in range(0, len(data), 70_000):
        await connected.send(data[start : start + 70_000])
    assert [await asyncio.wait_for(connected.frames.get(), 10) for _ in payloads] == payloads
    assert connected.wakes_at == 1


async def test_the_loop_wakes_up_for_large_parts_of_a_large_frame(connected: ConnectedStream) -> None:
    data = framed(b"x" * 1_000_000)
    await connected.send(data[:1000])
    while not connected.stream.mid_frame:
        await asyncio.sleep(0)
    assert connected.wakes_at == (256 * 1024 if sys.platform == "linux" else 1)
    await connected.send(data[1000:])
    assert len(await asyncio.wait_for(connected.frames.get(), 10)) == 1_000_000


async def test_an_end_within_a_large_frame_is_noticed_at_once(connected: ConnectedStream) -> None:
    await connected.send(framed(b"x" * 1_000_000)[:1000])
    while not connected.stream.mid_frame:
        await asyncio.sleep(0)
    connected.peer.close()
    assert await asyncio.wait_for(asyncio.shield(connected.lost), 10) is None


async def test_sockets_without_the_low_water_mark_work_too(
    connected: ConnectedStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: Any) -> None:
        raise TypeError("this socket cannot be set")

    monkeypatch.setattr(asyncio.trsock.TransportSocket, "setsockopt", refuse)
    await connected.send(framed(b"x" * 1_000_000))
    assert len(await asyncio.wait_for(connected.frames.get(), 10)) == 1_000_000
