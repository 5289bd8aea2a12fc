"""The end of a connection, and its effect on pending requests."""

import asyncio
import struct

import pytest

from kafka.errors import (
    Cancelled,
    CorrelationIdError,
    InvalidReceiveError,
    KafkaConnectionError,
    KafkaTimeoutError,
    WireFormatError,
)
from kafka.net import BufferPool
from kafka.net.frame_stream import SHARED_BYTES, Stream
from kafka.wire.api.fetch import FetchRequest
from kafka.wire.api.heartbeat import HeartbeatResponse
from unit.net.connections import connect, fetched, heartbeat
from unit.net.scripted import HANG_UP, SILENCE, Raw
from unit.waiting import let_pass, settable_clock, until


async def test_a_timeout_closes_the_connection_and_names_the_request(broker):
    broker.on("Heartbeat", lambda *_: SILENCE)
    connection = await connect(broker, node_id=7)
    first = connection.post(heartbeat(), timeout_ms=20)
    second = connection.post(heartbeat())
    with pytest.raises(KafkaTimeoutError, match=r"HeartbeatRequest version \d from broker 7|HeartbeatRequest version"):
        await first
    with pytest.raises(KafkaConnectionError, match="got no answer"):
        await second
    assert connection.closed


async def test_one_timer_serves_all_requests(broker):
    connection = await connect(broker)
    timers = set()
    for _ in range(100):
        await connection.send(heartbeat())
        timers.add(id(connection._deadlines.timer))
    assert len(timers) == 1
    await connection.close()


async def test_cancelling_a_request_keeps_the_connection(broker):
    gate = asyncio.Event()

    async def wait(*_):
        await gate.wait()
        return HeartbeatResponse()

    broker.on("Heartbeat", wait)
    connection = await connect(broker)
    task = asyncio.create_task(connection.send(heartbeat()))
    await until(lambda: connection.in_flight == 1)
    task.cancel()
    gate.set()
    assert await connection.send(heartbeat()) == HeartbeatResponse()
    await connection.close()


async def test_a_hang_up_fails_requests_in_flight_and_later_ones(broker):
    broker.on("Heartbeat", lambda *_: HANG_UP)
    connection = await connect(broker, node_id=3)
    with pytest.raises(KafkaConnectionError, match=r"broker 3 at 127\.0\.0\.1:\d+"):
        await connection.send(heartbeat())
    with pytest.raises(KafkaConnectionError, match="is closed"):
        await connection.send(heartbeat())


async def test_close_fails_requests_in_flight_and_notifies_listeners(broker):
    broker.on("Heartbeat", lambda *_: SILENCE)
    connection = await connect(broker)
    told = []
    connection.on_close(lambda *both: told.append(both))
    future = connection.post(heartbeat())
    await connection.close()
    with pytest.raises(Cancelled):
        await future
    assert told[0][0] is connection
    await connection.close()


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"\x15\x03\x03\x00\x02\x02\x0a", InvalidReceiveError),
        (struct.pack(">i", 200_000_000), InvalidReceiveError),
        (struct.pack(">i", -5), InvalidReceiveError),
        (struct.pack(">ii", 4, 12_345), CorrelationIdError),
        (b"\0\0\0\x02ab", InvalidReceiveError),
        (b"\0\0\0\0", InvalidReceiveError),
    ],
)
async def test_garbage_closes_the_connection_with_its_own_error(broker, answer, error):
    broker.on("Heartbeat", lambda *_: Raw(answer))
    connection = await connect(broker)
    with pytest.raises(error):
        await connection.send(heartbeat())
    assert connection.closed


async def test_the_error_of_a_malformed_response_names_request_and_broker(broker):
    def short(header, request):
        return Raw(struct.pack(">iib", 5, header.correlation_id, 0))

    broker.on("Heartbeat", short)
    connection = await connect(broker)
    with pytest.raises(WireFormatError, match=rf"127\.0\.0\.1:{broker.port} to HeartbeatRequest version"):
        await connection.send(heartbeat())
    assert connection.closed


async def test_an_unused_connection_is_closed(broker):
    connection = await connect(broker, connections_max_idle_ms=60_000)
    let_pass(59)
    connection._deadlines.check()
    assert not connection.closed
    let_pass(2)
    connection._deadlines.check()
    assert connection.closed
    assert connection.ended_here


async def test_a_connection_in_use_is_not_idle(broker):
    settable_clock()
    connection = await connect(broker, connections_max_idle_ms=60_000)
    for _ in range(3):
        let_pass(50)
        await connection.send(heartbeat())
        connection._deadlines.check()
    assert not connection.closed
    await connection.close()


async def test_the_buffer_of_an_abandoned_answer_returns_to_the_pool(broker, monkeypatch):
    gate = asyncio.Event()

    async def late(*_):
        await gate.wait()
        return fetched(b"r" * (SHARED_BYTES * 3))

    pool = BufferPool()
    monkeypatch.setattr(Stream.__init__, "__defaults__", (pool,))
    broker.on("Fetch", late)
    connection = await connect(broker)
    abandoned = connection.post(FetchRequest(), version=11)
    after = connection.post(heartbeat())
    abandoned.cancel()
    gate.set()
    await after
    assert pool.held_bytes > SHARED_BYTES * 3
    await connection.close()


async def test_an_unexpected_decoding_error_fails_the_request(broker, monkeypatch):
    def broken(*args):
        raise RecursionError("too deep")

    connection = await connect(broker)
    monkeypatch.setattr("kafka.net.receiver.decode_response", broken)
    with pytest.raises(WireFormatError, match="too deep"):
        await connection.send(heartbeat())
    assert connection.closed


@pytest.mark.parametrize("configs", [{}, {"receive_buffer_bytes": 4096}, {"socket_options": [(6, 1, 1)]}])
async def test_a_socket_closed_by_the_peer_is_a_connection_error(broker, monkeypatch, configs):
    """A load balancer without a live backend accepts the connection and closes it before its options are set."""
    from kafka.net import open_stream

    race = open_stream._Race.run

    async def won_and_lost(*args):
        stream = await race(*args)
        stream._transport._sock.close()
        return stream

    monkeypatch.setattr(open_stream._Race, "run", won_and_lost)
    with pytest.raises(KafkaConnectionError, match="closed the connection at once"):
        await connect(broker, **configs)


async def test_a_socket_error_fails_requests_in_flight(broker):
    broker.on("Heartbeat", lambda *_: SILENCE)
    connection = await connect(broker)
    waiting = connection.post(heartbeat())
    connection._stream.abort(OSError(113, "No route to host"))
    with pytest.raises(KafkaConnectionError, match=r"the connection to .* failed: .*[Nn]o route to host"):
        await waiting
    assert connection.closed
