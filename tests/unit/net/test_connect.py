"""Opening connections: versions, addresses, options, and peers that are not brokers."""

import asyncio
import socket

import pytest

from harness.ports import free_port
from kafka.errors import (
    KafkaConfigurationError,
    KafkaConnectionError,
    KafkaTimeoutError,
    UnsupportedVersionError,
)
from kafka.net import Connection, open_connection
from kafka.wire.api.api_versions import ApiVersion, ApiVersionsResponse
from kafka.wire.api.heartbeat import HeartbeatResponse
from kafka.wire.api.metadata import MetadataRequest
from unit.net.connections import connect, heartbeat, options
from unit.net.scripted import HANG_UP, SILENCE, Raw
from unit.waiting import let_pass, until


async def test_open_agrees_on_versions_and_names_the_client(broker):
    connection = await connect(broker)
    assert connection.api_versions.range(3) == (MetadataRequest.MIN_VERSION, MetadataRequest.MAX_VERSION)
    header, greeting = broker.seen[0]
    assert (header.request_api_version, greeting.client_software_name) == (3, "kafka-columnar")
    assert header.client_id.startswith("kafka-python-")
    await connection.close()


async def test_a_broker_that_rejects_the_greetings_version_gets_one_it_supports(broker):
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


async def test_a_rejection_without_a_range_leads_to_version_0(broker):
    def refuse(header, request):
        if header.request_api_version > 0:
            body = header.correlation_id.to_bytes(4, "big") + b"\0\x23\0\0\0\0"
            return Raw(len(body).to_bytes(4, "big") + body)
        return ApiVersionsResponse(api_keys=[ApiVersion(api_key=3, min_version=0, max_version=1)])

    broker.on("ApiVersions", refuse)
    connection = await connect(broker)
    assert connection.api_versions.range(3) == (0, 1)
    await connection.close()


async def test_a_broker_that_hangs_up_on_the_greeting_gets_version_0_from_then_on(broker):
    modern = broker.handlers["ApiVersions"]
    broker.on("ApiVersions", lambda header, request: HANG_UP if header.request_api_version else modern(header, request))
    for _ in range(2):
        await (await connect(broker)).close()
    assert [header.request_api_version for header, _ in broker.seen] == [3, 0, 0]


async def test_a_listener_that_always_hangs_up_is_reported_with_likely_causes(broker):
    broker.on("ApiVersions", lambda *_: HANG_UP)
    with pytest.raises(KafkaConnectionError, match=r"first request.*TLS.*'PLAINTEXT'.*api_version"):
        await connect(broker)


async def test_a_configured_old_version_is_used_without_asking(broker):
    connection = await connect(broker, api_version=(0, 9))
    assert broker.seen == []
    assert connection.api_versions.range(1) == (0, 1)
    assert await connection.send(heartbeat()) == HeartbeatResponse(error_code=0)
    await connection.close()


async def test_a_configured_version_before_2_4_gets_version_0(broker):
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


async def test_a_name_that_cannot_be_resolved_is_reported(monkeypatch):
    async def unknown(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", unknown)
    parsed = options()
    with pytest.raises(KafkaConnectionError, match=r"'nowhere\.invalid' cannot be resolved: Name or service not known"):
        await open_connection("nowhere.invalid", 9092, parsed.connection, parsed.security)


async def test_a_listener_that_never_answers_times_out(broker):
    broker.on("ApiVersions", lambda *_: SILENCE)
    connecting = asyncio.create_task(connect(broker, socket_connection_setup_timeout_ms=60_500))
    await until(lambda: broker.requests("ApiVersions"))
    let_pass(60.5)
    with pytest.raises(KafkaTimeoutError, match=r"ApiVersionsRequest.*60\.5 s"):
        await connecting


async def test_socket_options_are_set_and_a_wrong_one_is_named(broker):
    connection = await connect(broker, send_buffer_bytes=50_000, receive_buffer_bytes=60_000)
    sock = connection._stream.extra("socket")
    assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) >= 50_000
    assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) >= 60_000
    await connection.close()
    with pytest.raises(KafkaConfigurationError, match=r"\(99999, 1, 1\)"):
        await connect(broker, socket_options=[(99_999, 1, 1)])


async def test_a_socket_option_that_the_system_rejects_is_a_configuration_error(broker):
    with pytest.raises(KafkaConfigurationError, match="socket_options"):
        await connect(broker, socket_options=[(12345, 1, 1)])


async def test_the_oldest_release_with_api_versions_gets_version_0(broker):
    await (await connect(broker, api_version=(0, 10))).close()
    assert [header.request_api_version for header, _ in broker.seen] == [0]


async def test_the_first_release_that_supports_the_greeting_gets_it(broker):
    await (await connect(broker, api_version=(2, 4))).close()
    assert [header.request_api_version for header, _ in broker.seen] == [3]


async def test_a_broker_that_rejects_version_0_is_not_asked_again(broker):
    broker.on("ApiVersions", lambda *_: ApiVersionsResponse(error_code=35))
    with pytest.raises(UnsupportedVersionError):
        await connect(broker, api_version=(1, 1))
    assert [header.request_api_version for header, _ in broker.seen] == [0]


async def test_a_connection_has_served_once_it_has_answered_after_its_setup(broker):
    connection = await connect(broker)
    assert connection.received_anything
    assert not connection.has_served
    await connection.send(heartbeat())
    assert connection.has_served
    assert not connection.receiving
    await connection.close()


async def test_a_connection_has_received_nothing_before_it_is_open():
    connection = Connection("a", 1, options().connection)
    assert not connection.received_anything
    assert not connection.receiving
    assert connection.in_flight == 0
    await connection.close()


async def test_a_broker_is_named_by_its_id_including_0(broker):
    for node_id, named in ((-1, ""), (0, "broker 0 at "), (7, "broker 7 at ")):
        connection = await connect(broker, node_id=node_id)
        assert connection.described_as == f"{named}{broker.host}:{broker.port}"
        await connection.close()


async def test_the_client_sends_its_client_id(broker):
    for given in ("mine", ""):
        await (await connect(broker, client_id=given)).close()
        assert broker.seen[-1][0].client_id == given
