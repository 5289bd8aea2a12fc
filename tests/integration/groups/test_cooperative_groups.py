"""Groups with cooperative rebalancing (KIP-429), on both brokers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

from integration.consumer_support import poll_until, produce
from kafka import ConsumerRebalanceListener, KafkaConsumer, TopicPartition
from kafka.coordinator.assignors.abstract import (
    AbstractPartitionAssignor,
    PartitionCounts,
    RebalanceProtocol,
    Subscription,
)
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.classic.state import MemberState
from kafka.coordinator.consumer_protocol import make_assignment, make_subscription, partitions_by_topic
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic


class KeepingAssignor(AbstractPartitionAssignor):
    """Deals out evenly, leaves with each member as much as it has, and gives nothing that another one still holds."""

    name = "test-cooperative"

    def supported_protocols(self) -> list[RebalanceProtocol]:
        return [RebalanceProtocol.COOPERATIVE]

    def metadata(self, topics: Iterable[str]) -> ConsumerProtocolSubscription:
        return make_subscription(topics)

    def on_assignment(self, assignment: ConsumerProtocolAssignment, generation: int = -1) -> None:
        """Nothing to remember."""

    def assign(
        self, cluster: PartitionCounts, members: Mapping[str, Subscription]
    ) -> Mapping[str, ConsumerProtocolAssignment]:
        topics = {topic for member in members.values() for topic in member.topics}
        everything = {TopicPartition(t, n) for t in topics for n in cluster.partitions_for_topic(t) or ()}
        most = -(-len(everything) // len(members))
        owners = {tp: name for name, member in members.items() for tp in member.owned_partitions}
        kept = {name: sorted(member.owned_partitions)[:most] for name, member in members.items()}
        free = sorted(everything - {tp for each in kept.values() for tp in each})
        for tp in free:
            name = min(kept, key=lambda each: (len(kept[each]), each))
            kept[name].append(tp)
        given = {name: [tp for tp in each if owners.get(tp, name) == name] for name, each in kept.items()}
        return {name: make_assignment(partitions_by_topic(each)) for name, each in given.items()}


class Changes(ConsumerRebalanceListener):
    """Counts what comes and goes; both must be told of exactly once."""

    def __init__(self) -> None:
        self.held: set[TopicPartition] = set()
        self.revoked: list[TopicPartition] = []

    def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        assert set(revoked) <= self.held
        self.held -= set(revoked)
        self.revoked += revoked

    def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        assert not self.held & set(assigned)
        self.held |= set(assigned)


@pytest.fixture
def members(broker: Broker) -> Iterator[Any]:
    """Return a function that opens a member of a cooperative group; all are closed at the end."""
    opened: list[KafkaConsumer] = []

    def open_one(topic: str, *assignors: Any) -> tuple[KafkaConsumer, Changes]:
        consumer = KafkaConsumer(
            bootstrap_servers=broker.bootstrap_servers,
            group_id=f"group-{topic}",
            auto_offset_reset="earliest",
            heartbeat_interval_ms=200,
            session_timeout_ms=30_000,
            max_poll_records=20,
            auto_commit_interval_ms=100_000,
            partition_assignment_strategy=assignors,
        )
        opened.append(consumer)
        changes = Changes()
        consumer.subscribe([topic], listener=changes)
        return consumer, changes

    yield open_one
    for consumer in opened:
        consumer.close(timeout_ms=5_000)


@pytest.mark.parametrize("assignor", [CooperativeStickyAssignor, KeepingAssignor])
def test_members_that_come_and_go_take_only_what_moves_and_nothing_is_lost_or_read_twice(
    broker: Broker, make_topic: MakeTopic, members: Any, assignor: Any
) -> None:
    topic = make_topic(6)
    for partition in range(6):
        produce(broker.bootstrap_servers, topic, partition, [b"%d" % n for n in range(200)])
    seen: list[tuple[int, int]] = []
    group: list[tuple[KafkaConsumer, Changes]] = []

    def read_on(timeout_ms: int = 20) -> None:
        for consumer, changes in group:
            seen.extend((record.partition, record.offset) for record in consumer.poll(timeout_ms))
            assert consumer.assignment() == changes.held

    def balanced() -> bool:
        read_on()
        shares = [len(changes.held) for _, changes in group]
        return sum(shares) == 6 and max(shares) - min(shares) <= 1

    group.append(members(topic, assignor))
    poll_until(balanced)
    changes = group[0][1]
    group.append(members(topic, assignor))
    poll_until(balanced)
    assert len(changes.revoked) == 3, "only what moved was given up"
    group.append(members(topic, assignor))
    poll_until(balanced)
    assert len(changes.revoked) <= 4
    stayed = set(changes.held)
    group.pop(1)[0].close()
    poll_until(balanced)
    assert stayed <= changes.held
    poll_until(lambda: read_on() or len(seen) >= 1_200)  # type: ignore[func-returns-value]
    assert sorted(seen) == [(partition, offset) for partition in range(6) for offset in range(200)]


def test_a_group_moves_from_an_eager_to_a_cooperative_assignor_in_two_rolling_restarts(
    make_topic: MakeTopic, members: Any
) -> None:
    topic = make_topic(6)
    group: list[tuple[KafkaConsumer, Changes]] = []

    def balanced(member: Changes | None = None) -> bool:
        for consumer, changes in group:
            consumer.poll(20)
            assert consumer.assignment() == changes.held
        return sorted(len(changes.held) for _, changes in group) == [3, 3] and (member is None or bool(member.revoked))

    for old, new in (
        ((), (RangePartitionAssignor,)),
        ((RangePartitionAssignor,), (CooperativeStickyAssignor, RangePartitionAssignor)),
        ((CooperativeStickyAssignor, RangePartitionAssignor), (CooperativeStickyAssignor,)),
    ):
        for _ in range(2):
            if old:
                group.pop(0)[0].close()
            group.append(members(topic, *new))
            if len(group) == 2:
                poll_until(balanced)
    keeps = [changes for _, changes in group]
    for changes in keeps:
        changes.revoked.clear()
    group.append(members(topic, CooperativeStickyAssignor))
    poll_until(lambda: balanced() or len(group[2][1].held) == 2)
    assert [len(changes.revoked) for changes in keeps] == [1, 1], "now they keep what they keep"


def test_members_read_on_what_they_keep_while_their_group_waits_for_another_member(
    broker: Broker, make_topic: MakeTopic, members: Any
) -> None:
    topic = make_topic(4)
    reads, changes = members(topic, CooperativeStickyAssignor)
    waits, _ = members(topic, CooperativeStickyAssignor)
    poll_until(lambda: len(changes.held) == 2, reads, waits)
    poll_until(lambda: len(waits.assignment()) == 2, reads, waits)
    kept = set(changes.held)
    changes.revoked.clear()  # it had all of them where it was alone at first
    comes, _ = members(topic, CooperativeStickyAssignor)
    poll_until(lambda: comes._core.membership.state is MemberState.JOINING, comes)
    membership = reads._core.membership
    poll_until(lambda: membership.state is MemberState.JOINING, reads)  # up to when the other one polls
    for tp in kept:
        produce(broker.bootstrap_servers, topic, tp.partition, [b"meanwhile"])
    seen: set[int] = set()

    def all_read() -> bool:
        seen.update(record.partition for record in reads.poll(20))
        return len(seen) == 2

    poll_until(all_read)
    assert membership.state is MemberState.JOINING
    assert changes.held == kept
    assert not changes.revoked
    poll_until(lambda: len(comes.assignment()) == 1, reads, waits, comes)
