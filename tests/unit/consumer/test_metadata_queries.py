"""What a consumer tells of the cluster, against one in memory and in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from fakes.cluster import FakeCluster
from kafka.consumer.core import MetadataQueries
from unit.virtual_loop import simulate


def view(scenario: Callable[[FakeCluster, MetadataQueries], Awaitable[None]]) -> None:
    async def main() -> None:
        cluster = FakeCluster({"t": 3, "u": 1}, brokers=2)
        cluster.publish(["t"])
        await scenario(cluster, MetadataQueries(cluster))
        await cluster.close()

    simulate(main)


def test_the_partitions_of_a_topic_that_is_known_cost_no_request() -> None:
    async def scenario(cluster: FakeCluster, view: MetadataQueries) -> None:
        assert await view.partitions_for_topic("t") == {0, 1, 2}
        assert cluster.refreshes == 0

    view(scenario)


def test_a_topic_that_is_not_known_is_asked_about() -> None:
    async def scenario(cluster: FakeCluster, view: MetadataQueries) -> None:
        assert await view.partitions_for_topic("u") == {0}
        assert await view.partitions_for_topic("missing") == set()
        assert cluster.refreshes == 2

    view(scenario)


def test_brokers_that_serve_only_the_second_version_of_metadata_tell_all_topics() -> None:
    async def scenario(cluster: FakeCluster, view: MetadataQueries) -> None:
        cluster.versions["Metadata"] = (0, 1)
        assert await view.all_topics() == {"t", "u"}

    view(scenario)


def test_topics_that_may_not_be_seen_are_left_out() -> None:
    async def scenario(cluster: FakeCluster, view: MetadataQueries) -> None:
        cluster.topic_errors["hidden"] = 29
        assert await view.all_topics() == {"t", "u"}

    view(scenario)


def test_a_known_cluster_is_only_queried_again_on_request() -> None:
    async def scenario(cluster: FakeCluster, view: MetadataQueries) -> None:
        await view.find(None, renew=False)
        assert cluster.refreshes == 0
        await view.find(None, renew=True)
        assert cluster.refreshes == 1

    view(scenario)


def test_one_connection_is_enough_to_be_connected() -> None:
    async def scenario(cluster: FakeCluster, view: MetadataQueries) -> None:
        assert not await view.is_connected()
        await cluster.connection(2)
        assert await view.is_connected()
        cluster.stop_broker(2)
        await asyncio.sleep(0.01)
        assert not await view.is_connected()

    view(scenario)
