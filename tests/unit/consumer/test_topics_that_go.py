"""A consumer without a group whose topic is not there for a moment, or for good."""

from __future__ import annotations

from uuid import UUID

from unit.consumer.consumer_harness import T0, T1, ConsumerHarness, play


async def read_all(harness: ConsumerHarness) -> dict[int, list[int]]:
    """Poll for some seconds."""
    read: dict[int, list[int]] = {}
    for _ in range(5):
        for partition, offsets in (await harness.poll(1_000)).items():
            read.setdefault(partition, []).extend(offsets)
    return read


ALL = {0: list(range(10)), 1: list(range(10))}


def test_the_same_topic_continues_and_another_one_starts_over() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.core.subscription.subscribe(["t"])
        harness.core.subscribed()
        assert await read_all(harness) == ALL
        for is_another in (False, True):
            harness.cluster.topics = {}
            harness.cluster.publish(["t"])
            assert await read_all(harness) == {}
            assert harness.core.subscription.assigned_partitions() == set()
            harness.cluster.topics = {"t": 2}
            if is_another:
                harness.cluster.topic_id = lambda name: UUID(int=77)  # type: ignore[method-assign]
            assert await read_all(harness) == (ALL if is_another else {})
            assert harness.core.subscription.assigned_partitions() == {T0, T1}

    play(scenario, group_id=None)
