"""The warning about topics that brokers create because a consumer asks for them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from fakes.cluster import Call, FakeCluster
from kafka.consumer.subscription.created_topics import CreatedTopics
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.consumer.subscription.topic_watch import TopicWatch
from kafka.structs import TopicPartition
from kafka.wire.api.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from unit.virtual_loop import simulate

CREATED = (
    "topic 'ordres' did not exist; the broker has created it with 1 partition, because this consumer asked for it "
    "(auto.create.topics.enable); to prevent that, set allow_auto_create_topics=False; did you mean 'orders'?"
)


def setting(value: str | None) -> DescribeConfigsResponse:
    """A response with the broker's setting; None: it is not shown."""
    config = DescribeConfigsResourceResult(name="auto.create.topics.enable", value=value)
    return DescribeConfigsResponse(results=[DescribeConfigsResult(configs=[] if value is None else [config])])


class CreationHarness:
    """A consumer's watch over a cluster with the topics `orders` and `payments`; its log lines."""

    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        self.cluster = FakeCluster({"orders": 3, "payments": 1})
        self.cluster.serve("DescribeConfigs", lambda call: self.setting)
        self.setting: object = setting("true")
        self.subscription = SubscriptionState()
        self.watch = TopicWatch(self.cluster, self.subscription, True, lambda error: None, CreatedTopics(self.cluster))
        self.cluster.on_metadata(self.watch.metadata_changed)
        self._caplog = caplog

    async def subscribe_and_create(self, topic: str, partitions: int = 1) -> list[str]:
        """Subscribe to a missing topic, create it, and return the warnings about created topics."""
        self.subscription.subscribe([topic])
        self.watch.update()
        await asyncio.sleep(0.5)
        self.cluster.topics[topic] = partitions
        await asyncio.sleep(5)
        return self.created()

    def created(self) -> list[str]:
        return [each.getMessage() for each in self._caplog.records if each.name.endswith("created_topics")]

    def asked(self) -> list[Call]:
        return [call for call in self.cluster.calls if call.api == "DescribeConfigs"]


Creating = Callable[[Callable[[CreationHarness], Awaitable[None]]], None]


@pytest.fixture
def creating(caplog: pytest.LogCaptureFixture) -> Creating:
    caplog.set_level(logging.INFO, "kafka.consumer")

    def run(scenario: Callable[[CreationHarness], Awaitable[None]]) -> None:
        async def main() -> None:
            harness = CreationHarness(caplog)
            await scenario(harness)
            harness.watch.close()
            await harness.cluster.close()

        simulate(main)

    return run


def test_a_created_topic_is_named_once_with_a_similar_one(creating: Creating) -> None:
    async def scenario(harness: CreationHarness) -> None:
        assert await harness.subscribe_and_create("ordres") == [CREATED]
        harness.watch.update()
        harness.cluster.request_refresh()
        await asyncio.sleep(100)
        assert harness.created() == [CREATED]

    creating(scenario)


def test_the_first_response_without_the_topic_is_not_logged(
    creating: Creating, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario(harness: CreationHarness) -> None:
        harness.subscription.subscribe(["ordres"])
        harness.watch.update()
        await asyncio.sleep(0.5)
        assert caplog.messages == []  # the next request creates it
        await asyncio.sleep(1)
        assert caplog.messages == ["topic 'ordres' does not exist; waiting for it to be created"]

    creating(scenario)


def test_no_topic_is_suggested_if_none_is_similar(creating: Creating) -> None:
    async def scenario(harness: CreationHarness) -> None:
        (line,) = await harness.subscribe_and_create("clicks", 4)
        assert "created it with 4 partitions," in line
        assert "did you mean" not in line

    creating(scenario)


def test_assigned_partitions_create_topics_too(creating: Creating) -> None:
    async def scenario(harness: CreationHarness) -> None:
        harness.subscription.assign_from_user([TopicPartition("ordres", 0)])
        harness.watch.update()
        await asyncio.sleep(0.5)
        harness.cluster.topics["ordres"] = 1
        await asyncio.sleep(5)
        assert harness.created() == [CREATED]

    creating(scenario)


def test_a_topic_that_someone_else_created_is_not_reported(creating: Creating) -> None:
    async def scenario(harness: CreationHarness) -> None:
        harness.setting = setting("false")
        assert await harness.subscribe_and_create("ordres") == []
        assert len(harness.asked()) == 1

    creating(scenario)


@pytest.mark.parametrize("answer", [setting(None), 31], ids=["not shown", "not allowed"])
def test_without_the_brokers_setting_the_warning_says_probably(creating: Creating, answer: object) -> None:
    async def scenario(harness: CreationHarness) -> None:
        harness.setting = (
            DescribeConfigsResponse(results=[DescribeConfigsResult(error_code=31)]) if answer == 31 else answer
        )
        assert await harness.subscribe_and_create("ordres") == [CREATED.replace("created it", "probably created it")]

    creating(scenario)


def test_topics_that_exist_cost_no_request(creating: Creating) -> None:
    async def scenario(harness: CreationHarness) -> None:
        harness.subscription.subscribe(["orders"])
        harness.watch.update()
        await asyncio.sleep(100)
        assert (harness.created(), harness.asked()) == ([], [])
        del harness.cluster.topics["orders"]
        harness.cluster.request_refresh()
        await asyncio.sleep(5)
        harness.cluster.topics["orders"] = 3
        await asyncio.sleep(5)
        assert (harness.created(), harness.asked()) == ([], [])  # it existed when the consumer subscribed

    creating(scenario)
