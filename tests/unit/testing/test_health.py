"""The result of `health()` while brokers fail and recover, in virtual time."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from kafka import AsyncKafkaAdminClient, AsyncKafkaConsumer, AsyncKafkaProducer, KafkaConsumer, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.errors import WakeupError
from kafka.health import Health, HealthState
from kafka.testing.ledger import CommitLedger
from kafka.testing.simulated_cluster import SimulatedCluster
from kafka.testing.simulated_loop import SimulatedLoop, run_simulated

HOST = "broker-1"
TOPIC = "numbers"
STARTING, HEALTHY, DEGRADED, FAILED, CLOSED = HealthState


async def begin(folder: Path) -> SimulatedCluster:
    """Start a cluster of one broker."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SimulatedLoop)
    cluster = make_cluster(loop, folder)
    await cluster.start_all()
    return cluster


async def until(health: Callable[[], Health], state: HealthState, seconds: float = 120.0) -> Health:
    """Wait until a client is in a state."""
    async with asyncio.timeout(seconds):
        while health().state is not state:
            await asyncio.sleep(0.5)
    return health()


async def poll_for_ever(consumer: AsyncKafkaConsumer) -> None:
    while True:
        await consumer.poll(timeout_ms=500)


def play(scenario: Callable[[SimulatedCluster], Awaitable[None]], folder: Path) -> None:
    async def whole() -> None:
        cluster = await begin(folder)
        try:
            await scenario(cluster)
        finally:
            await cluster.stop_all()

    run_simulated(whole)


@pytest.mark.once
def test_a_consumer_is_degraded_while_its_broker_is_dead_and_healthy_when_it_is_back(tmp_path: Path) -> None:
    async def scenario(cluster: SimulatedCluster) -> None:
        consumer = AsyncKafkaConsumer(
            TOPIC, bootstrap_servers=cluster.bootstrap_servers, group_id="g", client_id="reader"
        )
        assert consumer.health().state is STARTING
        assert consumer.health().client_id == "reader"
        async with (
            AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers, client_id="writer") as producer,
            AsyncKafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers) as admin,
        ):
            await producer.send_and_wait(TOPIC, b"1")
            await consumer.start()
            polling = asyncio.create_task(poll_for_ever(consumer))
            await asyncio.sleep(30)
            fine = consumer.health()
            assert fine
            assert (fine.membership, fine.connected_brokers, fine.failing) == ("STABLE", (1,), ())
            assert fine.lag
            assert fine.total_lag == 0
            assert fine.seconds_since_progress is not None
            assert fine.seconds_since_progress < 1
            assert "records" in fine.waits_for
            assert producer.health().state is HEALTHY
            assert producer.health().seconds_since_progress is None
            assert admin.health().state is HEALTHY

            await cluster.crash(HOST)
            waiting = await producer.send(TOPIC, b"2")
            down = await until(consumer.health, DEGRADED)
            assert any("broker" in each.what for each in down.failing)
            assert down.last_error is not None
            assert down.connected_brokers == ()
            json.dumps(down.to_dict())
            held_up = await until(producer.health, DEGRADED)
            assert held_up.waits_for == ("acknowledgements of 1 record(s)",)
            await asyncio.sleep(60)
            older = producer.health().seconds_since_progress
            assert older is not None
            assert older >= 60

            await cluster.start(HOST)
            await waiting
            assert (await until(producer.health, HEALTHY)).waits_for == ()
            back = await until(consumer.health, HEALTHY)
            assert back.last_error is not None  # past errors are still reported
            polling.cancel()
            await consumer.close()
            assert consumer.health().state is CLOSED
        assert producer.health().state is CLOSED
        assert admin.health().state is CLOSED

    play(scenario, tmp_path)


def test_a_silent_leader_shows_before_a_request_times_out(tmp_path: Path) -> None:
    async def scenario(cluster: SimulatedCluster) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimulatedLoop)
        async with (
            AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer,
            AsyncKafkaConsumer(bootstrap_servers=cluster.bootstrap_servers, request_timeout_ms=300_000) as consumer,
        ):
            await producer.send_and_wait(TOPIC, b"1")
            await consumer.assign([TopicPartition(TOPIC, 0)])
            await consumer.poll(timeout_ms=5_000)
            assert consumer.health()
            assert consumer.health().membership is None
            loop.network.silence(HOST, 100)
            await asyncio.sleep(5)
            assert consumer.health()
            await asyncio.sleep(15)
            stuck = consumer.health()
            assert stuck.state is DEGRADED
            assert stuck.failing == ()  # only the time shows it, as nothing has failed
            assert stuck.seconds_since_progress is not None
            assert stuck.seconds_since_progress > 10
            assert stuck.waits_for == ("records",)
            await until(consumer.health, HEALTHY)

    play(scenario, tmp_path)


@pytest.mark.parametrize(("protocol", "named"), [("classic", "UNJOINED"), ("consumer", "STALE")])
def test_a_membership_lost_for_not_polling_shows(protocol: str, named: str, tmp_path: Path) -> None:
    async def scenario(cluster: SimulatedCluster) -> None:
        options = {"group_protocol": protocol, "max_poll_interval_ms": 60_000, "session_timeout_ms": 45_000}
        if protocol == "consumer":
            del options["session_timeout_ms"]
        async with (
            AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer,
            AsyncKafkaConsumer(TOPIC, bootstrap_servers=cluster.bootstrap_servers, group_id="g", **options) as consumer,
        ):
            await producer.send_and_wait(TOPIC, b"1")
            while consumer.health().membership != "STABLE":
                await consumer.poll(timeout_ms=500)
            lost = await until(consumer.health, DEGRADED)
            assert lost.membership == named
            assert any("poll()" in each for each in lost.waits_for)
            async with asyncio.timeout(60):
                while not consumer.health():
                    await consumer.poll(timeout_ms=500)
            assert consumer.health().membership == "STABLE"

    play(scenario, tmp_path)


def make_cluster(loop: SimulatedLoop, folder: Path) -> SimulatedCluster:
    return SimulatedCluster(loop, folder, CommitLedger([], {}, {}))


def poll_until_woken(consumer: KafkaConsumer) -> None:
    with contextlib.suppress(WakeupError):
        consumer.poll(timeout_ms=600_000)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_health_is_available_to_threads_but_not_to_forked_children() -> None:
    with EmbeddedBroker() as broker, KafkaConsumer(TOPIC, bootstrap_servers=broker.bootstrap_servers) as consumer:
        polling = threading.Thread(target=poll_until_woken, args=(consumer,))
        polling.start()
        assert consumer.health().state in (HEALTHY, STARTING)
        child = os.fork()
        if not child:
            seen = consumer.health()
            told = seen.state is FAILED and seen.last_error is not None and seen.last_error.error == "ForkedClientError"
            os._exit(0 if told else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        consumer.wakeup()
        polling.join()


def test_a_client_health_is_true_only_if_healthy() -> None:
    assert [bool(Health(state, "c")) for state in HealthState] == [False, True, False, False, False]
