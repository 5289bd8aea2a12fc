"""The data that a stream passes to its transport, and the end of the stream.

The transport is a fake that records calls.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import pytest

from kafka.net.frame_stream import Stream
from unit.virtual_loop import simulate

LARGE = 16 * 1024


class Transport:
    """Is full after some writes. Its end follows some iterations of the loop after `close` or `abort`."""

    def __init__(self) -> None:
        self.stream: Any = None
        self.full_after: int | None = None
        self.turns_to_close: int | None = 0
        self.turns_to_abort = 4
        self.calls: list[str] = []
        self.written: list[bytes] = []
        self.extra: dict[str, Any] = {}

    def get_extra_info(self, name: str) -> Any:
        return self.extra.get(name)

    def set_write_buffer_limits(self, high: int) -> None:
        self.calls.append("set_write_buffer_limits")
        self.high_water = high

    def is_closing(self) -> bool:
        return "close" in self.calls or "abort" in self.calls

    def write(self, data: bytes) -> None:
        self.calls.append("write")
        self._take([data])

    def writelines(self, chunks: list[bytes]) -> None:
        self.calls.append("writelines")
        self._take(chunks)

    def _take(self, chunks: list[bytes]) -> None:
        self.written += map(bytes, chunks)
        if self.full_after is not None and len(self.written) >= self.full_after:
            self.full_after = None
            self.stream.pause_writing()

    def close(self) -> None:
        self.calls.append("close")
        if self.turns_to_close is not None:
            self._end_in(self.turns_to_close)

    def abort(self) -> None:
        self.calls.append("abort")
        self._end_in(self.turns_to_abort)

    def _end_in(self, turns: int) -> None:
        if turns:
            asyncio.get_running_loop().call_soon(self._end_in, turns - 1)
        else:
            self.stream.connection_lost(None)


def write(stream: Stream, parts: list[bytes]) -> None:
    stream.write(parts, sum(map(len, parts)))


def play(scenario: Callable[[Stream, Transport, list[Any]], Any]) -> None:
    """Run a scenario with a stream, its transport, and the list of reasons for its end."""

    async def main() -> None:
        lost: list[Any] = []
        transport = Transport()
        transport.stream = Stream(lambda view, buffer: True, lambda stream, why: lost.append(why), 1 << 24)
        transport.stream.connection_made(transport)
        await scenario(transport.stream, transport, lost)

    simulate(main)


def test_small_parts_are_joined_and_large_ones_are_not_copied() -> None:
    async def scenario(stream: Stream, transport: Transport, lost: list[Any]) -> None:
        small, large = b"s" * (LARGE - 1), b"l" * LARGE
        write(stream, [b"a", small, large, large, b"b", b"c"])
        assert transport.written == [b"a" + small, large, large, b"bc"]
        write(stream, [large, b"d", large])
        assert transport.written[4:] == [large, b"d", large]

    play(scenario)


def test_several_parts_are_sent_in_one_call_if_python_does_not_join_them() -> None:
    async def scenario(stream: Stream, transport: Transport, lost: list[Any]) -> None:
        del transport.calls[:]
        write(stream, [b"a" * LARGE, b"b" * LARGE])
        write(stream, [b"c"])
        gathered = sys.version_info >= (3, 12)
        assert transport.calls == (["writelines", "write"] if gathered else ["write", "write", "write"])

    play(scenario)


def test_writes_to_a_full_transport_are_queued_in_order() -> None:
    async def scenario(stream: Stream, transport: Transport, lost: list[Any]) -> None:
        transport.full_after = 1
        for part in (b"1", b"2", b"3", b"4"):
            write(stream, [part])
        assert transport.written == [b"1"]
        transport.full_after = 2
        stream.resume_writing()
        assert transport.written == [b"1", b"2"]
        stream.resume_writing()
        write(stream, [b"5"])
        assert transport.written == [b"1", b"2", b"3", b"4", b"5"]

    play(scenario)


def test_callbacks_run_once_the_queue_is_drained() -> None:
    async def scenario(stream: Stream, transport: Transport, lost: list[Any]) -> None:
        called: list[str] = []
        stream.when_drained(lambda: called.append("at once"))
        assert called == ["at once"]
        stream.pause_writing()
        stream.when_drained(lambda: called.append("later"))
        write(stream, [b"1"])
        write(stream, [b"2"])
        transport.full_after = 1
        stream.resume_writing()
        assert called == ["at once"]
        transport.full_after = 2
        stream.resume_writing()
        assert called == ["at once"]
        stream.resume_writing()
        stream.resume_writing()
        assert called == ["at once", "later"]

    play(scenario)


def test_the_end_is_reported_before_drain_callbacks_run() -> None:
    async def scenario(stream: Stream, transport: Transport, lost: list[Any]) -> None:
        called: list[list[Any]] = []
        stream.pause_writing()
        write(stream, [b"unsent"])
        stream.when_drained(lambda: called.append(list(lost)))
        gone = ConnectionResetError("gone")
        stream.connection_lost(gone)
        assert lost == [gone]
        assert called == [[gone]]
        assert stream.ended
        stream.resume_writing()
        assert transport.written == []
        assert len(called) == 1

    play(scenario)


def test_nothing_is_written_to_a_closing_transport() -> None:
    async def scenario(stream: Stream, transport: Transport, lost: list[Any]) -> None:
        stream.abort()
        write(stream, [b"1"])
        write(stream, [b"2", b"3"])
        assert transport.written == []

    play(scenario)


@pytest.mark.parametrize("size", [1, LARGE])
def test_nothing_is_written_after_the_peer_has_closed(size: int) -> None:
    async def scenario(stream: Stream, transport: Transport, lost: list[Any]) -> None:
        assert stream.eof_received() is False
        write(stream, [b"1" * size, b"2"])
        assert transport.written == []

    play(scenario)


def test_nothing_large_is_written_to_a_transport_that_is_about_to_report_its_end() -> None:
    """`writelines` of Python 3.12 and 3.13 would watch the socket again, and leave it in the selector as it closes."""

    async def scenario(stream: Stream, transport: Transport, lost: list[Any]) -> None:
        transport.calls.append("close")  # by asyncio, after an error; `connection_lost` follows in the next iteration
        write(stream, [b"1" * LARGE, b"2"])
        assert transport.written == []

    play(scenario)


@pytest.mark.parametrize("later", [None, OSError("later")])
def test_the_first_reason_of_an_abort_is_reported(later: Exception | None) -> None:
    async def scenario(stream: Stream, transport: Transport, lost: list[Any]) -> None:
        first = ValueError("first")
        stream.abort(first)
        stream.abort(later)
        assert not stream.ended
        stream.connection_lost(OSError("from the system"))
        assert lost == [first]

    play(scenario)


def test_a_stream_that_closes_in_time_is_not_aborted() -> None:
    async def scenario(stream: Stream, transport: Transport, lost: list[Any]) -> None:
        transport.turns_to_close = 3
        started = asyncio.get_running_loop().time()
        await stream.close(3.0)
        assert asyncio.get_running_loop().time() == started
        assert transport.calls == ["set_write_buffer_limits", "close"]
        assert lost == [None]

    play(scenario)


def test_a_stream_that_does_not_close_in_time_is_aborted_and_has_ended_then() -> None:
    async def scenario(stream: Stream, transport: Transport, lost: list[Any]) -> None:
        transport.turns_to_close = None
        started = asyncio.get_running_loop().time()
        await stream.close(3.0)
        assert asyncio.get_running_loop().time() - started == 3.0
        assert transport.calls == ["set_write_buffer_limits", "close", "abort"]
        assert stream.ended
        assert lost == [None]

    play(scenario)


def test_a_stream_that_was_never_opened_counts_as_closed() -> None:
    async def main() -> None:
        stream = Stream(lambda view, buffer: True, lambda stream, why: None, 1 << 24)
        stream.abort()
        await stream.close(3.0)
        assert stream.extra("socket") is None
        assert not stream.received_anything

    simulate(main)


def test_a_transport_holds_a_few_batches_before_it_is_full() -> None:
    async def scenario(stream: Stream, transport: Transport, lost: list[Any]) -> None:
        assert 64 * 1024 <= transport.high_water <= 1 << 20

    play(scenario)


@pytest.mark.parametrize("tls", [False, True])
def test_the_low_water_mark_is_used_only_without_tls(tls: bool) -> None:
    class Socket:
        def __init__(self) -> None:
            self.wakes_at: list[int] = []

        def setsockopt(self, level: int, name: int, value: int) -> None:
            self.wakes_at.append(value)

    async def main() -> None:
        transport, sock = Transport(), Socket()
        transport.extra = {"socket": sock, "sslcontext": object() if tls else None}
        frames: list[bytes] = []
        stream = Stream(lambda view, buffer: frames.append(bytes(view)) or True, lambda stream, why: None, 1 << 24)
        transport.stream = stream
        stream.connection_made(transport)  # type: ignore[arg-type]
        data = (100_000).to_bytes(4, "big") + bytes(100_000)
        sent = 0
        while sent < len(data):
            room = stream.get_buffer(-1)
            count = min(len(room), len(data) - sent, 30_000)
            room[:count] = data[sent : sent + count]
            stream.buffer_updated(count)
            sent += count
        assert frames == [bytes(100_000)]
        waits = sys.platform == "linux" and not tls
        assert sock.wakes_at == ([100_004 - 30_000, 100_004 - 60_000, 100_004 - 90_000, 1] if waits else [])

    simulate(main)
