"""Brokers before 0.10, which do not support ApiVersions, and others that only seem to be old."""

import asyncio

import pytest

from kafka.errors import KafkaConnectionError, KafkaTimeoutError
from kafka.net.broker_versions import release_of
from kafka.net.peer_probes import _SECOND_SILENCE_S, _SILENCE_S
from kafka.wire.api.metadata import MetadataResponse
from unit.net.connections import connect, heartbeat
from unit.net.scripted import HANG_UP, SILENCE
from unit.waiting import let_pass, until


@pytest.fixture
def old(broker):
    broker.on("ApiVersions", lambda *_: SILENCE)
    broker.on("Metadata", lambda *_: MetadataResponse())
    return broker


def asked(broker):
    named = [(type(request).__name__, header.request_api_version) for header, request in broker.seen]
    return [(name.removesuffix("Request"), version) for name, version in named]


async def test_a_silent_broker_counts_as_0_9(old):
    connecting = asyncio.create_task(connect(old, socket_connection_setup_timeout_ms=60_000))
    await until(lambda: asked(old) == [("ApiVersions", 3)])
    let_pass(_SILENCE_S)
    await until(lambda: len(old.seen) == 3)
    assert asked(old)[1:] == [("Metadata", 0), ("ApiVersions", 0)]
    let_pass(_SECOND_SILENCE_S)
    connection = await connecting
    assert release_of(connection.api_versions) == (0, 9)
    assert (await connection.send(heartbeat())).error_code == 0
    await connection.close()
    await until(lambda: old.open_connections == 0)


async def test_the_next_connection_does_not_wait_as_long(old):
    for number in (1, 2):
        old.seen.clear()
        connecting = asyncio.create_task(connect(old, socket_connection_setup_timeout_ms=60_000))
        await until(lambda: old.seen)
        let_pass(_SILENCE_S if number == 1 else 0)
        await until(lambda: len(old.seen) == 3)
        let_pass(_SECOND_SILENCE_S)
        await (await connecting).close()


async def test_a_broker_that_hangs_up_counts_as_0_8_2_each_time(old):
    old.on("ApiVersions", lambda *_: HANG_UP)
    for _ in range(2):
        old.seen.clear()
        connection = await connect(old)
        assert asked(old) == [("ApiVersions", 3), ("ApiVersions", 0), ("Metadata", 0), ("ApiVersions", 0)]
        assert release_of(connection.api_versions) == (0, 8, 2)
        await connection.close()


async def test_a_broker_that_is_only_slow_is_waited_for(broker):
    answers, answer_now = broker.handlers["ApiVersions"], asyncio.Event()

    async def slow_at_first(header, request):
        if header.request_api_version:
            await answer_now.wait()
        return answers(header, request)

    broker.on("ApiVersions", slow_at_first)
    broker.on("Metadata", lambda *_: MetadataResponse())
    connecting = asyncio.create_task(connect(broker, socket_connection_setup_timeout_ms=60_000))
    await until(lambda: broker.seen)
    let_pass(_SILENCE_S)
    await until(lambda: len(broker.seen) == 3)
    answer_now.set()
    connection = await connecting
    assert release_of(connection.api_versions) > (0, 10)
    assert [name for name, _ in asked(broker)] == ["ApiVersions", "Metadata", "ApiVersions"]
    await connection.close()


@pytest.mark.parametrize("answer", [SILENCE, HANG_UP])
async def test_a_listener_that_never_answers_is_not_an_old_broker(broker, answer):
    broker.on("ApiVersions", lambda *_: SILENCE)
    broker.on("Metadata", lambda *_: answer)
    connecting = asyncio.create_task(connect(broker, socket_connection_setup_timeout_ms=60_000))
    await until(lambda: broker.seen)
    let_pass(_SILENCE_S)
    await until(lambda: len(broker.seen) == 2)
    let_pass(60)
    with pytest.raises((KafkaTimeoutError, KafkaConnectionError), match="ApiVersionsRequest"):
        await connecting


async def test_a_cancelled_probe_leaves_no_connection(old):
    connecting = asyncio.create_task(connect(old, socket_connection_setup_timeout_ms=60_000))
    await until(lambda: old.seen)
    let_pass(_SILENCE_S)
    await until(lambda: len(old.seen) == 3)
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connecting
    await until(lambda: old.open_connections == 0)


async def test_a_broker_that_requires_sasl_is_not_probed_twice(broker):
    broker.on("ApiVersions", lambda *_: HANG_UP)
    broker.on("Metadata", lambda *_: MetadataResponse())
    login = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN"}
    with pytest.raises(KafkaConnectionError, match="first request"):
        await connect(broker, **login, sasl_plain_username="alice", sasl_plain_password="secret")
    assert [name for name, _ in asked(broker)] == ["ApiVersions", "ApiVersions"]
