"""What a consumer does about topics that are missing, against a cluster in memory and in virtual time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from fakes.cluster import FakeCluster
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.consumer.subscription.topic_watch import TopicWatch
from kafka.errors import TopicAuthorizationFailedError
from kafka.structs import TopicPartition
from unit.virtual_loop import simulate


class Bench:
    """A watch over a cluster with the topic `t` of two partitions; its log lines."""

    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        self.cluster = FakeCluster({"t": 2})
        self.subscription = SubscriptionState()
        self.errors: list[Exception] = []
        self.watch = TopicWatch(self.cluster, self.subscription, True, self.errors.append)
        self.cluster.on_metadata(self.watch.metadata_changed)
        self._caplog = caplog

    def lines(self, level: int = logging.WARNING) -> list[str]:
        return [record.getMessage() for record in self._caplog.records if record.levelno == level]


Watching = Callable[[Callable[[Bench], Awaitable[None]]], None]


@pytest.fixture
def watching(caplog: pytest.LogCaptureFixture) -> Watching:
    caplog.set_level(logging.INFO, "kafka.consumer.subscription.topic_watch")

    def run(scenario: Callable[[Bench], Awaitable[None]]) -> None:
        async def main() -> None:
            bench = Bench(caplog)
            await scenario(bench)
            bench.watch.close()
            await bench.cluster.close()

        simulate(main)

    return run


def test_a_topic_that_does_not_exist_is_told_at_once_then_rarely_and_when_it_comes(watching: Watching) -> None:
    async def scenario(bench: Bench) -> None:
        bench.subscription.subscribe(["nope"])
        bench.watch.update()
        await asyncio.sleep(1)
        assert bench.lines() == ["topic 'nope' does not exist; waiting for it to be created"]
        await asyncio.sleep(100)
        assert len(bench.lines()) == 4
        assert 80 < bench.cluster.refreshes < 110
        bench.cluster.topics["nope"] = 1
        await asyncio.sleep(2)
        assert bench.lines(logging.INFO) == ["topic 'nope' can be read now"]
        before = bench.cluster.refreshes
        await asyncio.sleep(100)
        assert (len(bench.lines()), bench.cluster.refreshes) == (4, before)

    watching(scenario)


def test_a_partition_that_does_not_exist_is_named(watching: Watching) -> None:
    async def scenario(bench: Bench) -> None:
        bench.subscription.assign_from_user([TopicPartition("t", 1), TopicPartition("t", 7)])
        bench.watch.update()
        await asyncio.sleep(1)
        assert bench.lines() == ["topic 't' has 2 partitions, and none with the number 7; waiting for it"]

    watching(scenario)


def test_a_partition_without_a_leader_is_named(watching: Watching) -> None:
    async def scenario(bench: Bench) -> None:
        bench.cluster.lead(1, -1, 0)
        bench.subscription.assign_from_user([TopicPartition("t", 0), TopicPartition("t", 1)])
        bench.watch.update()
        await asyncio.sleep(1)
        assert bench.lines() == ["no leader at the moment: topic 't', partition 1"]

    watching(scenario)


def test_a_pattern_without_a_match_is_told(watching: Watching) -> None:
    async def scenario(bench: Bench) -> None:
        bench.subscription.subscribe(pattern="x.*")
        bench.watch.update()
        await asyncio.sleep(1)
        assert bench.lines() == ["no topic matches the pattern 'x.*'; waiting for one to be created"]
        bench.cluster.topics["xy"] = 1
        bench.cluster.request_refresh()
        await asyncio.sleep(1)
        assert bench.lines(logging.INFO) == ["topics match the pattern now"]

    watching(scenario)


def test_a_topic_that_may_not_be_read_is_an_error_once_and_no_warning(watching: Watching) -> None:
    async def scenario(bench: Bench) -> None:
        bench.cluster.topic_errors["secret"] = 29
        bench.subscription.subscribe(["secret", "t"])
        bench.watch.update()
        await asyncio.sleep(100)
        assert bench.errors == [TopicAuthorizationFailedError({"secret"})]
        assert bench.lines() == []
        bench.watch.update()
        await asyncio.sleep(1)
        assert len(bench.errors) == 2

    watching(scenario)


def test_what_is_there_costs_no_request(watching: Watching) -> None:
    async def scenario(bench: Bench) -> None:
        bench.cluster.publish(["t"])
        bench.subscription.subscribe(["t"])
        bench.watch.update()
        await asyncio.sleep(100)
        assert (bench.cluster.refreshes, bench.lines(), bench.cluster.watched) == (0, [], {"t"})

    watching(scenario)
