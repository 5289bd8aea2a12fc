"""Requests over one connection: their order, their answers, and the limit in flight."""

import asyncio
import logging

import pytest

from kafka.config import parse_admin
from kafka.errors import (
    KafkaConnectionError,
    KafkaTimeoutError,
    UnsupportedVersionError,
)
from kafka.metrics.client_metrics import ClientMetrics
from kafka.net import Reply, open_connection
from kafka.net.frame_stream import SHARED_BYTES
from kafka.net.statistics import NetworkTraffic
from kafka.wire.api.fetch import FetchRequest
from kafka.wire.api.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka.wire.api.metadata import MetadataRequest, MetadataResponse, MetadataResponseTopic
from kafka.wire.api.produce import ProduceRequest, ProduceResponse
from unit.net.connections import connect, fetched, heartbeat, options
from unit.net.scripted import SILENCE
from unit.waiting import let_pass, settable_clock, until


async def test_many_requests_at_once_each_get_their_own_answer(broker):
    broker.on("Heartbeat", lambda _, request: HeartbeatResponse(error_code=request.generation_id))
    connection = await connect(broker)
    requests = [HeartbeatRequest(group_id="g", generation_id=n, member_id="m") for n in range(200)]
    answers = await asyncio.gather(*(connection.send(request) for request in requests))
    assert [answer.error_code for answer in answers] == list(range(200))
    assert connection.in_flight == 0
    await connection.close()


async def test_requests_go_out_in_the_order_of_the_calls(broker):
    connection = await connect(broker)
    futures = [connection.post(HeartbeatRequest(group_id="g", generation_id=n, member_id="m")) for n in range(50)]
    await asyncio.gather(*futures)
    assert [request.generation_id for request in broker.requests("Heartbeat")] == list(range(50))
    await connection.close()


async def test_correlation_ids_differ_and_wrap_before_they_are_negative(broker):
    numbers = []

    def answer(header, _):
        numbers.append(header.correlation_id)
        return HeartbeatResponse()

    broker.on("Heartbeat", answer)
    connection = await connect(broker)
    connection._table.last_id = 2**31 - 3
    await asyncio.gather(*(connection.send(heartbeat()) for _ in range(3)))
    assert numbers == [2**31 - 2, 2**31 - 1, 0]
    await connection.close()


async def test_a_reply_gets_its_answer_once_and_can_send_more(broker):
    broker.on("Heartbeat", lambda _, request: HeartbeatResponse(error_code=request.generation_id))
    connection = await connect(broker)
    events = []
    done = asyncio.get_running_loop().create_future()

    def take(response, error):
        events.append((response.error_code, error))
        if response.error_code == 3:
            connection.post_for(Reply(take), HeartbeatRequest(group_id="g", generation_id=4, member_id="m"))
        else:
            done.set_result(None)

    connection.post_for(Reply(take), HeartbeatRequest(group_id="g", generation_id=3, member_id="m"))
    await done
    assert events == [(3, None), (4, None)]
    await connection.close()


async def test_a_cancelled_reply_gets_no_answer(broker):
    connection = await connect(broker)
    heard = []
    reply = Reply(lambda response, error: heard.append(response))
    connection.post_for(reply, heartbeat())
    reply.cancel()
    await connection.send(heartbeat())
    assert reply.done()
    assert not heard
    await connection.close()


async def test_the_connection_is_closed_when_a_reply_gets_an_error(broker):
    broker.on("Heartbeat", lambda *_: SILENCE)
    connection = await connect(broker)
    heard = []
    done = asyncio.get_running_loop().create_future()

    def take(response, error):
        heard.append((response, type(error), connection.closed))
        if len(heard) == 2:
            done.set_result(None)

    connection.post_for(Reply(take), heartbeat(), timeout_ms=20)
    connection.post_for(Reply(take), heartbeat())
    await done
    assert sorted(heard, key=str) == [(None, KafkaConnectionError, True), (None, KafkaTimeoutError, True)]


async def test_the_highest_common_version_is_used_unless_one_is_given(broker):
    broker.versions[12] = (0, 3)
    connection = await connect(broker)
    await connection.send(heartbeat())
    await connection.send(heartbeat(), version=1)
    assert [header.request_api_version for header, _ in broker.seen[1:]] == [3, 1]
    await connection.close()


async def test_an_unsupported_request_is_rejected_before_sending(broker):
    connection = await connect(broker)
    del connection.api_versions._ranges[12]
    with pytest.raises(UnsupportedVersionError, match="HeartbeatRequest"):
        await connection.send(heartbeat())
    await connection.close()


@pytest.mark.parametrize("size", [10, SHARED_BYTES * 3])
async def test_records_stay_valid_while_later_frames_arrive(broker, size):
    payloads = iter([b"a" * size, b"b" * size, b"c" * size])
    broker.on("Fetch", lambda *_: fetched(next(payloads)))
    connection = await connect(broker)
    responses = [await connection.send(FetchRequest(), version=11) for _ in range(3)]
    kept = [bytes(response.responses[0].partitions[0].records) for response in responses]
    assert kept == [b"a" * size, b"b" * size, b"c" * size]
    await connection.close()


async def test_a_large_response_with_records_keeps_its_frame_until_it_is_released(broker):
    broker.on("Fetch", lambda *_: fetched(b"x" * 300_000))
    connection = await connect(broker)
    first = await connection.send(FetchRequest(), version=11)
    memory = first.frame._buffer
    first.frame.release()
    second = await connection.send(FetchRequest(), version=11)
    assert second.frame._buffer is memory
    await connection.close()


async def test_a_large_response_without_records_releases_its_buffer_itself(broker):
    topics = [MetadataResponseTopic(name="t" * 200 + str(n)) for n in range(1_000)]
    broker.on("Metadata", lambda *_: MetadataResponse(topics=topics))
    connection = await connect(broker)
    response = await connection.send(MetadataRequest())
    assert response.topics[-1].name.endswith("999")
    assert not hasattr(response, "frame")
    await connection.close()


async def test_acks_0_waits_for_no_answer(broker):
    broker.on("Produce", lambda *_: SILENCE)
    connection = await connect(broker)
    assert await connection.send(ProduceRequest(acks=0, timeout_ms=1), version=7) == ProduceResponse()
    assert connection.in_flight == 0
    await connection.send(heartbeat())
    assert len(broker.requests("Produce")) == 1
    await connection.close()


async def test_large_requests_arrive_completely_if_the_peer_reads_slowly(broker):
    gate = asyncio.Event()

    async def wait(*_):
        await gate.wait()
        return HeartbeatResponse()

    broker.on("Heartbeat", wait)
    connection = await connect(broker, max_in_flight_requests_per_connection=1_000)
    blocker = connection.post(heartbeat())
    group = "g" * 30_000
    futures = [
        connection.post(HeartbeatRequest(group_id=group, generation_id=n, member_id="m" * 30_000)) for n in range(300)
    ]
    assert connection._stream._backlog  # 18 MB exceed the buffers in between
    gate.set()
    await asyncio.gather(blocker, *futures)
    assert [request.generation_id for request in broker.requests("Heartbeat")[1:]] == list(range(300))
    await connection.close()


@pytest.mark.parametrize("limit", [1, 3])
async def test_at_most_the_allowed_number_of_requests_is_in_flight(broker, limit):
    gate, most = asyncio.Event(), []

    async def wait(*_):
        await gate.wait()
        most.append(len(connection._table))
        return HeartbeatResponse()

    broker.on("Heartbeat", wait)
    connection = await connect(broker, max_in_flight_requests_per_connection=limit)
    futures = [connection.post(HeartbeatRequest(group_id="g", generation_id=n, member_id="m")) for n in range(10)]
    assert (len(connection._table), connection.in_flight) == (limit, 10)
    gate.set()
    await asyncio.gather(*futures)
    assert max(most) <= limit
    assert [request.generation_id for request in broker.requests("Heartbeat")] == list(range(10))
    await connection.close()


async def test_an_abandoned_queued_request_is_not_sent(broker):
    gate = asyncio.Event()

    async def wait(*_):
        await gate.wait()
        return HeartbeatResponse()

    broker.on("Heartbeat", wait)
    connection = await connect(broker, max_in_flight_requests_per_connection=1)
    futures = [connection.post(HeartbeatRequest(group_id="g", generation_id=n, member_id="m")) for n in range(3)]
    futures[1].cancel()
    gate.set()
    await asyncio.gather(futures[0], futures[2])
    assert [request.generation_id for request in broker.requests("Heartbeat")] == [0, 2]
    await connection.close()


async def test_queued_requests_fail_with_the_connection(broker):
    broker.on("Heartbeat", lambda *_: SILENCE)
    connection = await connect(broker, max_in_flight_requests_per_connection=1)
    futures = [connection.post(heartbeat()) for _ in range(3)]
    await until(lambda: broker.requests("Heartbeat"))
    broker.hang_up()
    for future in futures:
        with pytest.raises(KafkaConnectionError):
            await future


async def test_nothing_is_sent_to_a_broker_while_it_throttles(broker, caplog):
    broker.on("Heartbeat", lambda *_: HeartbeatResponse(throttle_time_ms=20_000))
    settable_clock()
    connection = await connect(broker)
    with caplog.at_level(logging.WARNING, "kafka"):
        await connection.send(heartbeat())
    assert "throttles this client: 20 s after a HeartbeatRequest" in caplog.text
    broker.on("Heartbeat", lambda *_: HeartbeatResponse())
    later = connection.post(heartbeat(), timeout_ms=1_000)  # the timeout starts when it is sent
    let_pass(19)
    for _ in range(3):
        await asyncio.sleep(0)
    assert not later.done()
    assert len(broker.requests("Heartbeat")) == 1
    let_pass(1.5)
    await later
    assert len(broker.requests("Heartbeat")) == 2
    await connection.close()


async def test_a_broker_before_kip_219_has_already_waited(broker):
    low, _ = broker.versions[HeartbeatRequest.API_KEY]
    broker.versions[HeartbeatRequest.API_KEY] = (low, 1)
    broker.on("Heartbeat", lambda *_: HeartbeatResponse(throttle_time_ms=3_600_000))
    connection = await connect(broker)
    async with asyncio.timeout(60):
        await connection.send(heartbeat())
        await connection.send(heartbeat())
    await connection.close()


async def test_timeouts_restart_after_a_throttle(broker):
    answers = [HeartbeatResponse(throttle_time_ms=20_000)]
    broker.on("Heartbeat", lambda *_: answers.pop(0) if answers else SILENCE)
    connection = await connect(broker)
    first, second = connection.post(heartbeat()), connection.post(heartbeat(), timeout_ms=1_000)
    await first
    let_pass(19)
    for _ in range(3):
        await asyncio.sleep(0)
    assert not second.done()
    let_pass(2.5)
    with pytest.raises(KafkaTimeoutError):
        await second


async def test_answers_are_counted_with_their_size_prefix(broker):
    metrics = ClientMetrics(parse_admin({}).connection, asyncio.get_running_loop().time)
    network = NetworkTraffic(metrics, "admin")
    broker.on("Heartbeat", lambda *_: HeartbeatResponse())
    parsed = options()
    connection = await open_connection(
        broker.host, broker.port, parsed.connection, parsed.security, 1, traffic=network.node("1")
    )

    def received() -> float:
        return metrics.snapshot()["admin-node-metrics.node-1"]["incoming-byte-rate"] * 30

    def connections() -> float:
        return metrics.snapshot()["admin-metrics"]["connection-count"]

    before = received()
    await connection.send(heartbeat(), 0)
    assert received() - before == pytest.approx(4 + 4 + 2, rel=0.05)  # the size, the correlation id and an error code
    assert connections() == 1
    await connection.close()
    assert connections() == 0
