"""The in-memory network behaves like TCP (order, end of stream, resets, back-pressure), and simulates faults."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from kafka.testing import SimulatedLoop, SimulationStuckError, run_simulated


class Recorder(asyncio.Protocol):
    """A protocol that records its callbacks."""

    def __init__(self) -> None:
        self.received = b""
        self.lost: list[Exception | None] = []
        self.paused = 0
        self.transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.append(exc)

    def pause_writing(self) -> None:
        self.paused += 1

    def resume_writing(self) -> None:
        self.paused -= 1


def network() -> Any:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SimulatedLoop)
    return loop.network


async def connected(host: str = "server") -> tuple[Recorder, Recorder]:
    """Return the client's and the server's end of a new connection."""
    loop = asyncio.get_running_loop()
    accepted: list[Recorder] = []

    def accept() -> Recorder:
        accepted.append(Recorder())
        return accepted[-1]

    await loop.create_server(accept, host, 9092)
    _, client = await loop.create_connection(Recorder, host, 9092)
    return client, accepted[0]


def simulated(scenario: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """Decorate a test that runs on a simulated loop."""

    def test() -> None:
        run_simulated(scenario)

    test.__name__ = scenario.__name__
    return test


@simulated
async def test_bytes_arrive_in_order_after_the_latency() -> None:
    client, server = await connected()
    started = asyncio.get_running_loop().time()
    for number in range(100):
        client.transport.write(b"%d," % number)
    await asyncio.sleep(0)
    assert server.received == b""
    await asyncio.sleep(1)
    assert server.received == b"".join(b"%d," % number for number in range(100))
    assert asyncio.get_running_loop().time() - started == pytest.approx(1)


@simulated
async def test_written_bytes_arrive_before_the_end() -> None:
    client, server = await connected()
    client.transport.write(b"last words")
    client.transport.close()
    client.transport.write(b"too late")
    await asyncio.sleep(1)
    assert server.received == b"last words"
    assert (client.lost, server.lost) == ([None], [None])
    assert not network().links


@simulated
async def test_an_aborted_connection_is_reset_at_the_other_end() -> None:
    client, server = await connected()
    server.transport.abort()
    await asyncio.sleep(1)
    assert server.lost == [None]
    assert isinstance(client.lost[0], ConnectionResetError)


@simulated
async def test_a_paused_reader_pauses_the_writer() -> None:
    client, server = await connected()
    server.transport.pause_reading()
    client.transport.write(b"x" * 100_000)
    await asyncio.sleep(1)
    assert (client.paused, server.received) == (1, b"")
    server.transport.resume_reading()
    await asyncio.sleep(1)
    assert (client.paused, len(server.received)) == (0, 100_000)


@simulated
async def test_a_silent_host_delivers_delayed_bytes_afterwards() -> None:
    client, server = await connected()
    network().silence("server", 10)
    client.transport.write(b"late")
    await asyncio.sleep(9)
    assert server.received == b""
    await asyncio.sleep(2)
    assert server.received == b"late"


@simulated
async def test_delayed_bytes_arrive_when_the_network_is_healed() -> None:
    client, server = await connected()
    network().silence("server", 100)
    client.transport.write(b"soon")
    await asyncio.sleep(1)
    network().heal()
    await asyncio.sleep(1)
    assert server.received == b"soon"


@simulated
async def test_a_silent_host_notices_a_reset_afterwards() -> None:
    client, server = await connected()
    network().silence("server", 10)
    client.transport.write(b"never arrives, as nobody sends it again")
    client.transport.abort()
    await asyncio.sleep(9)
    assert (client.lost, server.lost) == ([None], [])
    await asyncio.sleep(2)
    assert isinstance(server.lost[0], ConnectionResetError)
    assert server.received == b""
    assert not network().links


@simulated
async def test_a_silent_host_cannot_reset_its_connections() -> None:
    client, server = await connected()
    network().silence("server", 10)
    server.transport.abort()
    await asyncio.sleep(9)
    assert (client.lost, server.lost) == ([], [None])
    network().heal()
    await asyncio.sleep(1)
    assert isinstance(client.lost[0], ConnectionResetError)


@simulated
async def test_a_silent_host_does_not_notice_cut_connections() -> None:
    client, server = await connected()
    network().silence("server", 10)
    network().cut_connections("server")
    await asyncio.sleep(9)
    assert isinstance(client.lost[0], ConnectionResetError)
    assert server.lost == []
    await asyncio.sleep(2)
    assert isinstance(server.lost[0], ConnectionResetError)


@simulated
async def test_a_reset_arrives_after_earlier_bytes() -> None:
    client, server = await connected()
    client.transport.write(b"last words")
    network().latency_s = (0.01, 0.01)
    client.transport.abort()
    await asyncio.sleep(1)
    assert server.received == b"last words"
    assert isinstance(server.lost[0], ConnectionResetError)


class Failing(asyncio.BufferedProtocol):
    """A protocol that raises in a given callback."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.lost: list[Exception | None] = []

    def fail(self, where: str) -> None:
        if where == self.where:
            raise ZeroDivisionError(where)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.fail("connection_made")

    def get_buffer(self, sizehint: int) -> bytearray:
        self.fail("get_buffer")
        return bytearray(10)

    def buffer_updated(self, nbytes: int) -> None:
        self.fail("buffer_updated")

    def eof_received(self) -> None:
        self.fail("eof_received")

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.append(exc)
        self.fail("connection_lost")


async def reports_of_a_failure(where: str) -> tuple[list[Any], Failing, Recorder]:
    """Return the reports to the loop's exception handler, the protocol that failed, and its peer."""
    loop = asyncio.get_running_loop()
    reports: list[Any] = []
    loop.set_exception_handler(lambda _, context: reports.append(context["exception"]))
    failing = Failing(where)
    await loop.create_server(lambda: failing, "server", 9092)
    _, client = await loop.create_connection(Recorder, "server", 9092)
    client.transport.write(b"hello")
    await asyncio.sleep(1)
    client.transport.close()
    await asyncio.sleep(1)
    return reports, failing, client


@pytest.mark.parametrize("where", ["get_buffer", "buffer_updated"])
def test_an_exception_while_receiving_closes_the_connection(where: str) -> None:
    (error,), failing, client = run_simulated(lambda: reports_of_a_failure(where))
    assert (type(error), str(error)) == (ZeroDivisionError, where)
    assert failing.lost == [error]
    assert isinstance(client.lost[0], ConnectionResetError)


@pytest.mark.parametrize("where", ["connection_made", "eof_received", "connection_lost"])
def test_exceptions_of_protocols_are_reported(where: str) -> None:
    (error,), failing, client = run_simulated(lambda: reports_of_a_failure(where))
    assert (type(error), str(error)) == (ZeroDivisionError, where)
    assert len(failing.lost) == 1
    assert client.lost == [None]


@simulated
async def test_connecting_to_a_silent_host_hangs() -> None:
    await connected()
    network().silence("server", 10)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(5):
            await asyncio.get_running_loop().create_connection(Recorder, "server", 9092)


@simulated
async def test_connections_are_refused_without_a_server_or_on_demand() -> None:
    await connected()
    loop = asyncio.get_running_loop()
    with pytest.raises(ConnectionRefusedError):
        await loop.create_connection(Recorder, "server", 1)
    network().refuse_connections("server", 5)
    with pytest.raises(ConnectionRefusedError):
        await loop.create_connection(Recorder, "server", 9092)
    await asyncio.sleep(5)
    await loop.create_connection(Recorder, "server", 9092)


@simulated
async def test_a_connection_is_cut_after_a_number_of_bytes() -> None:
    client, server = await connected()
    assert network().cut_connections("server", after_bytes=10) == 1
    client.transport.write(b"12345")
    await asyncio.sleep(1)
    client.transport.write(b"67890")
    await asyncio.sleep(1)
    assert server.received == b"12345"
    assert isinstance(client.lost[0], ConnectionResetError)
    assert isinstance(server.lost[0], ConnectionResetError)


@simulated
async def test_an_unknown_name_cannot_be_resolved() -> None:
    with pytest.raises(socket.gaierror):
        await asyncio.get_running_loop().getaddrinfo("nowhere", 9092)


def test_a_deadlocked_simulation_raises() -> None:
    async def wait_for_nothing() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(SimulationStuckError):
        run_simulated(wait_for_nothing)
