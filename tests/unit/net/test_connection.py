import asyncio
import logging
import socket
import struct
from types import SimpleNamespace

import pytest

from kafka.config import parse_admin
from kafka.errors import (
    Cancelled,
    CorrelationIdError,
    InvalidReceiveError,
    KafkaConfigurationError,
    KafkaConnectionError,
    KafkaTimeoutError,
    UnsupportedVersionError,
    WireFormatError,
)
from kafka.net import BufferPool, Reply, establish, open_connection
from kafka.net.framing import SHARED_BYTES
from kafka.net.stream import Stream
from kafka.wire.api.api_versions import ApiVersion, ApiVersionsResponse
from kafka.wire.api.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from kafka.wire.api.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka.wire.api.metadata import MetadataRequest, MetadataResponse, MetadataResponseTopic
from kafka.wire.api.produce import ProduceRequest, ProduceResponse
from unit.net.scripted import HANG_UP, SILENCE, Raw, ScriptedBroker
from unit.waiting import let_pass, until


@pytest.fixture
async def broker():
    async with ScriptedBroker() as broker:
        broker.on("Heartbeat", lambda *_: HeartbeatResponse(error_code=0))
        yield broker


@pytest.fixture(autouse=True)
def _forget_greetings():
    establish._greetings.clear()
    yield
    establish._greetings.clear()


class Clock:
    """The loop's time, moved forward by hand."""

    def __init__(self, loop, monkeypatch):
        self._real, self.ahead = loop.time, 0.0
        monkeypatch.setattr(loop, "time", lambda: self._real() + self.ahead)


@pytest.fixture
async def clock(monkeypatch):
    return Clock(asyncio.get_running_loop(), monkeypatch)


def options(**configs):
    return parse_admin({"request_timeout_ms": 5_000, "socket_connection_setup_timeout_ms": 3_000, **configs})


async def connect(broker, node_id=-1, **configs):
    parsed = options(**configs)
    return await open_connection(broker.host, broker.port, parsed.connection, parsed.security, node_id)


def heartbeat():
    return HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


# Opening


async def test_open_agrees_on_versions_and_names_the_client(broker):
    connection = await connect(broker)
    assert connection.api_versions.range(3) == (MetadataRequest.MIN_VERSION, MetadataRequest.MAX_VERSION)
    header, greeting = broker.seen[0]
    assert (header.request_api_version, greeting.client_software_name) == (3, "kafka-columnar")
    assert header.client_id.startswith("kafka-columnar-")
    await connection.close()


async def test_a_broker_that_refuses_the_greetings_version_is_asked_in_one_it_has(broker):
    ranges = [
        ApiVersion(api_key=18, min_version=0, max_version=2),
        ApiVersion(api_key=12, min_version=0, max_version=1),
    ]

    def refuse(header, request):
        if header.request_api_version > 2:
            refusal = ApiVersionsResponse(error_code=35, api_keys=ranges[:1]).encode(0)
            body = header.correlation_id.to_bytes(4, "big") + refusal
            return Raw(len(body).to_bytes(4, "big") + body)
        return ApiVersionsResponse(api_keys=ranges)

    broker.on("ApiVersions", refuse)
    connection = await connect(broker)
    assert [header.request_api_version for header, _ in broker.seen] == [3, 2]
    assert broker.connections == 1
    assert connection.api_versions.range(12) == (0, 1)
    await connection.close()


async def test_a_refusal_without_a_range_leads_to_version_0(broker):
    def refuse(header, request):
        if header.request_api_version > 0:
            body = header.correlation_id.to_bytes(4, "big") + b"\0\x23\0\0\0\0"
            return Raw(len(body).to_bytes(4, "big") + body)
        return ApiVersionsResponse(api_keys=[ApiVersion(api_key=3, min_version=0, max_version=1)])

    broker.on("ApiVersions", refuse)
    connection = await connect(broker)
    assert connection.api_versions.range(3) == (0, 1)
    await connection.close()


async def test_a_broker_that_hangs_up_on_the_greeting_is_asked_in_version_0_and_remembered(broker):
    modern = broker.handlers["ApiVersions"]
    broker.on("ApiVersions", lambda header, request: HANG_UP if header.request_api_version else modern(header, request))
    for _ in range(2):
        await (await connect(broker)).close()
    assert [header.request_api_version for header, _ in broker.seen] == [3, 0, 0]


async def test_a_listener_that_always_hangs_up_is_told_with_the_likely_causes(broker):
    broker.on("ApiVersions", lambda *_: HANG_UP)
    with pytest.raises(KafkaConnectionError, match=r"first request.*TLS.*'PLAINTEXT'.*api_version"):
        await connect(broker)


async def test_a_given_old_version_is_believed_without_asking(broker):
    connection = await connect(broker, api_version=(0, 9))
    assert broker.seen == []
    assert connection.api_versions.range(1) == (0, 1)
    assert await connection.send(heartbeat()) == HeartbeatResponse(error_code=0)
    await connection.close()


async def test_a_given_version_of_the_middle_ages_is_asked_in_version_0(broker):
    await (await connect(broker, api_version=(1, 1))).close()
    assert [header.request_api_version for header, _ in broker.seen] == [0]


async def test_a_refused_connection_names_the_address_and_the_reason():
    port = free_port()
    parsed = options()
    with pytest.raises(
        KafkaConnectionError, match=rf"127\.0\.0\.1:{port}: connection refused \(ECONNREFUSED\)"
    ) as caught:
        await open_connection("127.0.0.1", port, parsed.connection, parsed.security)
    assert caught.value.attempts[0][0] == f"127.0.0.1:{port}"


async def test_every_address_of_a_name_is_tried_and_named(broker, monkeypatch):
    loop, dead = asyncio.get_running_loop(), free_port()
    resolve = loop.getaddrinfo

    async def two_addresses(host, port, **kwargs):
        if host != "kafka.test":
            return await resolve(host, port, **kwargs)
        kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
        return [(*kind, ("127.0.0.1", dead)), (*kind, ("127.0.0.1", port))]

    monkeypatch.setattr(loop, "getaddrinfo", two_addresses)
    parsed = options()
    connection = await open_connection("kafka.test", broker.port, parsed.connection, parsed.security)
    await connection.close()
    other = free_port()
    with pytest.raises(KafkaConnectionError, match=rf"127\.0\.0\.1:{dead}: .*; 127\.0\.0\.1:{other}: "):
        await open_connection("kafka.test", other, parsed.connection, parsed.security)


async def test_a_name_that_cannot_be_resolved_is_told(monkeypatch):
    async def unknown(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", unknown)
    parsed = options()
    with pytest.raises(KafkaConnectionError, match=r"'nowhere\.invalid' cannot be resolved: Name or service not known"):
        await open_connection("nowhere.invalid", 9092, parsed.connection, parsed.security)


async def test_a_listener_that_never_answers_is_given_up(broker):
    broker.on("ApiVersions", lambda *_: SILENCE)
    connecting = asyncio.create_task(connect(broker, socket_connection_setup_timeout_ms=60_500))
    await until(lambda: broker.requests("ApiVersions"))
    let_pass(60.5)
    with pytest.raises(KafkaTimeoutError, match=r"ApiVersionsRequest.*60\.5 s"):
        await connecting


async def test_a_proxy_is_refused_as_long_as_there_is_none():
    with pytest.raises(KafkaConfigurationError, match="socks5_proxy"):
        await connect(SimpleNamespace(host="localhost", port=1), socks5_proxy="socks5://localhost:1080")


async def test_socket_options_are_set_and_a_wrong_one_is_named(broker):
    connection = await connect(broker, send_buffer_bytes=50_000, receive_buffer_bytes=60_000)
    sock = connection._stream.extra("socket")
    assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) >= 50_000
    assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) >= 60_000
    await connection.close()
    with pytest.raises(KafkaConfigurationError, match=r"\(99999, 1, 1\)"):
        await connect(broker, socket_options=[(99_999, 1, 1)])


# Requests


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


async def test_a_reply_is_given_its_answer_once_and_can_send_more(broker):
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


async def test_a_reply_that_is_cancelled_hears_nothing(broker):
    connection = await connect(broker)
    heard = []
    reply = Reply(lambda response, error: heard.append(response))
    connection.post_for(reply, heartbeat())
    reply.cancel()
    await connection.send(heartbeat())
    assert reply.done()
    assert not heard
    await connection.close()


async def test_when_a_reply_hears_of_a_failure_the_connection_is_closed_already(broker):
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


async def test_a_request_that_the_broker_does_not_know_is_refused_before_sending(broker):
    connection = await connect(broker)
    del connection.api_versions._ranges[12]
    with pytest.raises(UnsupportedVersionError, match="HeartbeatRequest"):
        await connection.send(heartbeat())
    await connection.close()


def fetched(records):
    return FetchResponse(
        responses=[FetchableTopicResponse(topic="t", partitions=[PartitionData(partition_index=0, records=records)])]
    )


@pytest.mark.parametrize("size", [10, SHARED_BYTES * 3])
async def test_records_stay_valid_while_later_frames_come_in(broker, size):
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


async def test_a_large_response_without_records_gives_its_buffer_back_by_itself(broker):
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


async def test_large_requests_arrive_whole_though_the_peer_reads_slowly(broker):
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
    assert connection._stream._backlog  # 18 MB do not fit into the buffers on the way
    gate.set()
    await asyncio.gather(blocker, *futures)
    assert [request.generation_id for request in broker.requests("Heartbeat")[1:]] == list(range(300))
    await connection.close()


# How much leaves at a time


@pytest.mark.parametrize("limit", [1, 3])
async def test_no_more_requests_than_allowed_wait_for_their_answers(broker, limit):
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


async def test_what_was_given_up_before_it_left_is_not_sent(broker):
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


async def test_what_waits_to_leave_fails_with_the_connection(broker):
    broker.on("Heartbeat", lambda *_: SILENCE)
    connection = await connect(broker, max_in_flight_requests_per_connection=1)
    futures = [connection.post(heartbeat()) for _ in range(3)]
    await until(lambda: broker.requests("Heartbeat"))
    broker.hang_up()
    for future in futures:
        with pytest.raises(KafkaConnectionError):
            await future


async def test_a_broker_that_throttles_is_left_alone_for_so_long(broker, clock, caplog):
    broker.on("Heartbeat", lambda *_: HeartbeatResponse(throttle_time_ms=20_000))
    connection = await connect(broker)
    with caplog.at_level(logging.WARNING, "kafka"):
        await connection.send(heartbeat())
    assert "throttles this client: 20 s after a HeartbeatRequest" in caplog.text
    broker.on("Heartbeat", lambda *_: HeartbeatResponse())
    later = connection.post(heartbeat(), timeout_ms=1_000)  # counted from when it leaves
    clock.ahead += 19
    await asyncio.sleep(0.01)
    assert not later.done()
    assert len(broker.requests("Heartbeat")) == 1
    clock.ahead += 1.5
    await later
    assert len(broker.requests("Heartbeat")) == 2
    await connection.close()


async def test_a_broker_of_before_kip_219_has_waited_itself(broker):
    low, _ = broker.versions[HeartbeatRequest.API_KEY]
    broker.versions[HeartbeatRequest.API_KEY] = (low, 1)
    broker.on("Heartbeat", lambda *_: HeartbeatResponse(throttle_time_ms=3_600_000))
    connection = await connect(broker)
    async with asyncio.timeout(5):
        await connection.send(heartbeat())
        await connection.send(heartbeat())
    await connection.close()


async def test_what_is_in_flight_gets_its_time_again_after_a_throttle(broker, clock):
    answers = [HeartbeatResponse(throttle_time_ms=20_000)]
    broker.on("Heartbeat", lambda *_: answers.pop(0) if answers else SILENCE)
    connection = await connect(broker)
    first, second = connection.post(heartbeat()), connection.post(heartbeat(), timeout_ms=1_000)
    await first
    clock.ahead += 19
    await asyncio.sleep(0.01)
    assert not second.done()
    clock.ahead += 2.5
    with pytest.raises(KafkaTimeoutError):
        await second


# What goes wrong


async def test_a_timeout_ends_the_connection_and_tells_what_was_waited_for(broker):
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


async def test_giving_up_leaves_the_connection_in_use(broker):
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


async def test_a_hang_up_fails_what_is_in_flight_and_later_requests(broker):
    broker.on("Heartbeat", lambda *_: HANG_UP)
    connection = await connect(broker, node_id=3)
    with pytest.raises(KafkaConnectionError, match=r"broker 3 at 127\.0\.0\.1:\d+"):
        await connection.send(heartbeat())
    with pytest.raises(KafkaConnectionError, match="is closed"):
        await connection.send(heartbeat())


async def test_close_fails_what_is_in_flight_and_tells_its_listeners(broker):
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
async def test_garbage_ends_the_connection_with_its_own_error(broker, answer, error):
    broker.on("Heartbeat", lambda *_: Raw(answer))
    connection = await connect(broker)
    with pytest.raises(error):
        await connection.send(heartbeat())
    assert connection.closed


async def test_a_response_that_cannot_be_read_names_the_request_and_the_broker(broker):
    def short(header, request):
        return Raw(struct.pack(">iib", 5, header.correlation_id, 0))

    broker.on("Heartbeat", short)
    connection = await connect(broker)
    with pytest.raises(WireFormatError, match=rf"127\.0\.0\.1:{broker.port} to HeartbeatRequest version"):
        await connection.send(heartbeat())
    assert connection.closed


async def test_an_unused_connection_is_closed(broker, clock):
    connection = await connect(broker, connections_max_idle_ms=60_000)
    clock.ahead = 59
    connection._deadlines.check()
    assert not connection.closed
    clock.ahead = 61
    connection._deadlines.check()
    assert connection.closed
    assert connection.ended_here


async def test_a_connection_in_use_is_not_idle(broker, clock):
    connection = await connect(broker, connections_max_idle_ms=60_000)
    for clock.ahead in (50, 100, 150):
        await connection.send(heartbeat())
        connection._deadlines.check()
    assert not connection.closed
    await connection.close()


async def test_the_buffer_of_an_abandoned_answer_goes_back_to_the_pool(broker, monkeypatch):
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


async def test_an_answer_that_fails_to_be_read_unexpectedly_fails_its_request(broker, monkeypatch):
    def broken(*args):
        raise RecursionError("too deep")

    connection = await connect(broker)
    monkeypatch.setattr("kafka.net.answer_reader.decode_response", broken)
    with pytest.raises(WireFormatError, match="too deep"):
        await connection.send(heartbeat())
    assert connection.closed


@pytest.mark.parametrize("configs", [{}, {"receive_buffer_bytes": 4096}, {"socket_options": [(6, 1, 1)]}])
async def test_a_socket_that_the_peer_closed_meanwhile_is_a_connection_error(broker, monkeypatch, configs):
    """A load balancer without a live backend: it takes the connection and closes it before its options are set."""
    from kafka.net import dial

    race = dial._Race.run

    async def won_and_lost(*args):
        stream = await race(*args)
        stream._transport._sock.close()
        return stream

    monkeypatch.setattr(dial._Race, "run", won_and_lost)
    with pytest.raises(KafkaConnectionError, match="closed the connection at once"):
        await connect(broker, **configs)


async def test_a_socket_option_that_the_system_refuses_is_the_users_mistake(broker):
    with pytest.raises(KafkaConfigurationError, match="socket_options"):
        await connect(broker, socket_options=[(12345, 1, 1)])
