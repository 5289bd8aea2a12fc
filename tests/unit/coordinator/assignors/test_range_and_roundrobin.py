"""The range and round-robin assignors give what Java's give; the expected tables were worked out by hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest

from kafka.coordinator.assignors.abstract import Subscription
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.coordinator.consumer_protocol import assigned_partitions
from kafka.protocol.consumer import JoinGroupResponse
from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment


def test_assignors_cannot_change_a_members_subscription() -> None:
    subscription = Subscription(topics=["a"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        subscription.topics = ["b"]  # type: ignore[misc]


class Counts:
    """A cluster of which only the numbers of partitions are known."""

    def __init__(self, **counts: int) -> None:
        self._counts = counts

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        return set(range(self._counts[topic])) if topic in self._counts else None


def members(**topics: str) -> dict[str, Subscription]:
    return {member: Subscription(topics=names.split()) for member, names in topics.items()}


def readable(assigned: Mapping[str, ConsumerProtocolAssignment]) -> dict[str, str]:
    return {
        member: " ".join(f"{tp.topic}{tp.partition}" for tp in sorted(assigned_partitions(assignment)))
        for member, assignment in assigned.items()
    }


@pytest.mark.parametrize(
    ("counts", "subscriptions", "expected"),
    [
        ({"a": 3}, {"m": "a"}, {"m": "a0 a1 a2"}),
        ({"a": 1}, {"m": "a", "n": "a"}, {"m": "a0", "n": ""}),
        ({"a": 3, "b": 3}, {"m": "a b", "n": "a b"}, {"m": "a0 a1 b0 b1", "n": "a2 b2"}),
        ({"a": 2, "b": 2}, {"m": "a b", "n": "a b"}, {"m": "a0 b0", "n": "a1 b1"}),
        ({"a": 7}, {"m": "a", "n": "a", "o": "a"}, {"m": "a0 a1 a2", "n": "a3 a4", "o": "a5 a6"}),
        ({"a": 3, "b": 2}, {"m": "a", "n": "a b", "o": "a"}, {"m": "a0", "n": "a1 b0 b1", "o": "a2"}),
        ({"a": 2}, {"m": "a unknown"}, {"m": "a0 a1"}),
        ({}, {"m": "", "n": "unknown"}, {"m": "", "n": ""}),
        ({"a": 10}, {"n": "a", "m": "a"}, {"m": "a0 a1 a2 a3 a4", "n": "a5 a6 a7 a8 a9"}),
    ],
)
def test_range_cuts_each_topic_into_runs(
    counts: dict[str, int], subscriptions: dict[str, str], expected: dict[str, str]
) -> None:
    assigned = RangePartitionAssignor.assign(Counts(**counts), members(**subscriptions))
    assert readable(assigned) == expected
    assert all(topic.partitions for each in assigned.values() for topic in each.assigned_partitions)


@pytest.mark.parametrize(
    ("counts", "subscriptions", "expected"),
    [
        ({"a": 3}, {"m": "a"}, {"m": "a0 a1 a2"}),
        ({"a": 3, "b": 3}, {"m": "a b", "n": "a b"}, {"m": "a0 a2 b1", "n": "a1 b0 b2"}),
        ({"a": 1, "b": 2, "c": 3}, {"m": "a", "n": "a b", "o": "a b c"}, {"m": "a0", "n": "b0", "o": "b1 c0 c1 c2"}),
        ({"a": 2, "b": 2}, {"m": "a", "n": "b"}, {"m": "a0 a1", "n": "b0 b1"}),
        ({"a": 2}, {"m": "a unknown"}, {"m": "a0 a1"}),
        ({}, {"m": ""}, {"m": ""}),
    ],
)
def test_round_robin_deals_out_all_topics_in_turn(
    counts: dict[str, int], subscriptions: dict[str, str], expected: dict[str, str]
) -> None:
    assigned = RoundRobinPartitionAssignor.assign(Counts(**counts), members(**subscriptions))
    assert readable(assigned) == expected


@pytest.mark.parametrize("assignor", [RangePartitionAssignor, RoundRobinPartitionAssignor])
def test_static_members_come_first_in_order_of_instance_id(assignor: type[RangePartitionAssignor]) -> None:
    group = {
        "0-dynamic": Subscription(["t"]),
        "z-static": Subscription(["t"], group_instance_id="1"),
        "a-static": Subscription(["t"], group_instance_id="2"),
    }
    assigned = readable(assignor.assign(Counts(t=3), group))
    assert assigned == {"z-static": "t0", "a-static": "t1", "0-dynamic": "t2"}


@pytest.mark.parametrize("assignor", [RangePartitionAssignor, RoundRobinPartitionAssignor])
def test_every_partition_goes_to_exactly_one_member(assignor: type[RangePartitionAssignor]) -> None:
    for count in range(1, 12):
        for size in range(1, 6):
            group = {f"m{number}": Subscription(["t", "u"]) for number in range(size)}
            assigned = assignor.assign(Counts(t=count, u=2 * count), group)
            each = [tp for assignment in assigned.values() for tp in assigned_partitions(assignment)]
            assert len(each) == len(set(each)) == 3 * count


def test_the_metadata_are_the_topics_in_order() -> None:
    assert RangePartitionAssignor.metadata({"b", "a"}).topics == ["a", "b"]
    assert RoundRobinPartitionAssignor.metadata(["b", "a"]).topics == ["a", "b"]


@pytest.mark.parametrize("assignor", [RangePartitionAssignor, RoundRobinPartitionAssignor])
def test_assignors_have_the_version_of_kafka_pythons(
    assignor: type[RangePartitionAssignor],
) -> None:
    assert assignor.version == 0


def test_a_member_that_tells_no_generation_has_none() -> None:
    assert Subscription(["t"]).generation == -1


@pytest.mark.parametrize(
    "assignor",
    [RangePartitionAssignor, RoundRobinPartitionAssignor, StickyPartitionAssignor, CooperativeStickyAssignor],
)
def test_a_list_of_members_is_taken_as_in_kafka_python_3(assignor: type[RangePartitionAssignor]) -> None:
    told = [
        JoinGroupResponse.JoinGroupResponseMember(member_id=name, group_instance_id=instance, metadata=metadata)
        for name, instance in (("m", None), ("n", "static"))
        for metadata in [ConsumerProtocolSubscription(1, ["a"], b"")]
    ]
    expected = {
        "m": Subscription(topics=["a"]),
        "n": Subscription(topics=["a"], group_instance_id="static"),
    }
    assigned = readable(assignor.assign(Counts(a=3), told))
    assert assigned == readable(assignor.assign(Counts(a=3), expected))
    assert sorted(" ".join(assigned.values()).split()) == ["a0", "a1", "a2"]
