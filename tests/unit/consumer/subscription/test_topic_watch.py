"""What a consumer does about topics that are missing, against a cluster in memory and in virtual time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from fakes.cluster import FakeCluster
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.consumer.subscription.topic_watch import TopicWatch
from kafka.errors import InvalidTopicError, TopicAuthorizationFailedError
from kafka.structs import TopicPartition
from unit.virtual_loop import simulate


class TopicWatchHarness:
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


Watching = Callable[[Callable[[TopicWatchHarness], Awaitable[None]]], None]


@pytest.fixture
def watching(caplog: pytest.LogCaptureFixture) -> Watching:
    caplog.set_level(logging.INFO, "kafka.consumer.subscription.topic_watch")

    def run(scenario: Callable[[TopicWatchHarness], Awaitable[None]]) -> None:
        async def main() -> None:
            harness = TopicWatchHarness(caplog)
            await scenario(harness)
            harness.watch.close()
            await harness.cluster.close()

        simulate(main)

    return run


def test_a_missing_topic_is_logged_at_once_then_rarely_and_when_it_appears(watching: Watching) -> None:
    async def scenario(harness: TopicWatchHarness) -> None:
        harness.subscription.subscribe(["nope"])
        harness.watch.update()
        await asyncio.sleep(1)
        assert harness.lines() == ["topic 'nope' does not exist; waiting for it to be created"]
        await asyncio.sleep(100)
        assert len(harness.lines()) == 3  # after 30 s, and 60 s after that
        assert 80 < harness.cluster.refreshes < 110
        harness.cluster.topics["nope"] = 1
        await asyncio.sleep(2)
        assert harness.lines(logging.INFO) == ["topic 'nope' can be read now"]
        before = harness.cluster.refreshes
        await asyncio.sleep(100)
        assert (len(harness.lines()), harness.cluster.refreshes) == (3, before)

    watching(scenario)


def test_a_partition_that_does_not_exist_is_named(watching: Watching) -> None:
    async def scenario(harness: TopicWatchHarness) -> None:
        harness.subscription.assign_from_user([TopicPartition("t", 1), TopicPartition("t", 7)])
        harness.watch.update()
        await asyncio.sleep(1)
        assert harness.lines() == ["topic 't' has 2 partitions, and none with the number 7; waiting for it"]

    watching(scenario)


def test_a_partition_without_a_leader_is_named(watching: Watching) -> None:
    async def scenario(harness: TopicWatchHarness) -> None:
        harness.cluster.lead(1, -1, 0)
        harness.subscription.assign_from_user([TopicPartition("t", 0), TopicPartition("t", 1)])
        harness.watch.update()
        await asyncio.sleep(1)
        assert harness.lines() == ["no leader at the moment: topic 't', partition 1"]

    watching(scenario)


def test_a_pattern_without_a_match_is_logged(watching: Watching) -> None:
    async def scenario(harness: TopicWatchHarness) -> None:
        harness.subscription.subscribe(pattern="x.*")
        harness.watch.update()
        await asyncio.sleep(1)
        assert harness.lines() == ["no topic matches the pattern 'x.*'; waiting for one to be created"]
        harness.cluster.topics["xy"] = 1
        harness.cluster.request_refresh()
        await asyncio.sleep(1)
        assert harness.lines(logging.INFO) == ["topics match the pattern now"]

    watching(scenario)


def test_a_topic_that_may_not_be_read_is_an_error_once_and_no_warning(watching: Watching) -> None:
    async def scenario(harness: TopicWatchHarness) -> None:
        harness.cluster.topic_errors["secret"] = 29
        harness.subscription.subscribe(["secret", "t"])
        harness.watch.update()
        await asyncio.sleep(100)
        assert harness.errors == [TopicAuthorizationFailedError({"secret"})]
        assert harness.lines() == []
        harness.watch.update()
        await asyncio.sleep(1)
        assert len(harness.errors) == 2

    watching(scenario)


def test_known_metadata_cost_no_request(watching: Watching) -> None:
    async def scenario(harness: TopicWatchHarness) -> None:
        harness.cluster.publish(["t"])
        harness.subscription.subscribe(["t"])
        harness.watch.update()
        await asyncio.sleep(100)
        assert (harness.cluster.refreshes, harness.lines(), harness.cluster.watched) == (0, [], {"t"})

    watching(scenario)


def test_of_many_partitions_that_do_not_exist_five_are_named(watching: Watching) -> None:
    async def scenario(harness: TopicWatchHarness) -> None:
        harness.cluster.publish(["t"])
        for count, shown in ((5, "6, 5, 4, 3, 2"), (6, "7, 6, 5, 4, 3, 2")):
            numbers = [int(number) for number in shown.split(", ")]
            harness.subscription.assign_from_user([TopicPartition("t", number) for number in numbers])
            harness.watch.metadata_changed(harness.cluster.metadata)
            assert len(numbers) == count
            harness.watch._warnings = type(harness.watch._warnings)(logging.getLogger(harness.watch.__module__))
        assert harness.lines() == [
            "topic 't' has 2 partitions, and none with the number 2, 3, 4, 5, 6; waiting for it",
            "topic 't' has 2 partitions, and none with the number 2, 3, 4, 5, 6 and 1 more; waiting for it",
        ]

    watching(scenario)


def test_a_leader_watches_all_topics_of_its_group_until_assign(
    watching: Watching,
) -> None:
    async def scenario(harness: TopicWatchHarness) -> None:
        harness.cluster.publish(["t"])
        harness.subscription.subscribe(["t"])
        harness.watch.watch_group(frozenset({"u"}))
        assert harness.cluster.watched == {"t", "u"}
        harness.watch.update()
        assert harness.cluster.watched == {"t", "u"}
        harness.subscription.unsubscribe()
        harness.subscription.assign_from_user([TopicPartition("t", 0)])
        harness.watch.update()
        assert harness.cluster.watched == {"t"}

    watching(scenario)


def test_a_pattern_watches_all_topics_and_is_matched_at_once(watching: Watching) -> None:
    async def scenario(harness: TopicWatchHarness) -> None:
        harness.cluster.publish(["t"])
        harness.subscription.subscribe(pattern="t")
        harness.watch.update()
        assert harness.cluster.watched is None
        assert harness.subscription.topics == {"t"}
        assert not harness.watch.metadata_changed(harness.cluster.metadata)
        await asyncio.sleep(1)
        assert harness.cluster.refreshes == 1
        harness.cluster.topics["t2"] = 1
        harness.cluster.publish(["t", "t2"])
        assert harness.subscription.topics == {"t", "t2"}

    watching(scenario)


def test_nothing_is_looked_for_once_the_consumer_is_closed(watching: Watching) -> None:
    async def scenario(harness: TopicWatchHarness) -> None:
        harness.subscription.subscribe(["nope"])
        harness.watch.update()
        await asyncio.sleep(1)
        before = harness.cluster.refreshes
        timer = harness.watch._timer
        assert timer is not None
        harness.watch.close()
        assert timer.cancelled()
        harness.watch.update()
        await asyncio.sleep(100)
        assert harness.cluster.refreshes == before

    watching(scenario)


def test_another_error_of_a_topic_is_raised_too(watching: Watching) -> None:
    async def scenario(harness: TopicWatchHarness) -> None:
        harness.cluster.topic_errors["secret"] = 29
        harness.subscription.subscribe(["secret"])
        harness.watch.update()
        await asyncio.sleep(20)
        harness.cluster.topic_errors["secret"] = 17
        await asyncio.sleep(100)
        assert harness.errors == [TopicAuthorizationFailedError({"secret"}), InvalidTopicError({"secret"})]

    watching(scenario)


def test_errors_of_topics_that_others_want_are_not_this_consumers(watching: Watching) -> None:
    async def scenario(harness: TopicWatchHarness) -> None:
        harness.cluster.topic_errors["secret"] = 29
        harness.subscription.subscribe(["t"])
        harness.watch.watch_group(frozenset({"secret"}))
        harness.cluster.publish(["t", "secret"])
        await asyncio.sleep(1)
        assert harness.errors == []

    watching(scenario)
