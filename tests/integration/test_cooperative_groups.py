"""The caller's side stays as it is for a cooperative protocol (KIP-429): one that is written here, on both brokers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

from integration.consumer_support import poll_until, produce
from kafka import ConsumerRebalanceListener, KafkaConsumer, TopicPartition
from kafka.coordinator.assignors.abstract import AbstractPartitionAssignor, PartitionCounts, Subscription
from kafka.coordinator.classic import membership as classic
from kafka.coordinator.classic.membership import ClassicMembership
from kafka.coordinator.classic.state import MemberState
from kafka.coordinator.consumer_protocol import make_assignment, make_subscription, partitions_by_topic
from kafka.coordinator.membership import Partitions, Step, StepKind, step_towards
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic


class KeepingAssignor(AbstractPartitionAssignor):
    """Deals out evenly, leaves with each member as much as it has, and gives nothing that another one still holds."""

    name = "test-cooperative"

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


class CooperativeMembership(ClassicMembership):
    """Gives up only what is assigned to others, and joins again once it has."""

    _gave_up = False

    def next_step(self, held: Partitions) -> Step | None:
        view = self._view
        if view.state is MemberState.ADOPTING:
            return step_towards(view.assignment, held, view.number)
        if view.state in (MemberState.UNJOINED, MemberState.REBALANCING) and not view.lost:
            return Step(StepKind.REVOKE, frozenset(), view.number)
        return super().next_step(held)

    def step_done(self, step: Step, held: Partitions) -> None:
        if self.state is MemberState.ADOPTING and step.kind is StepKind.REVOKE:
            self._gave_up = True
            return
        super().step_done(step, held)
        if step.kind is StepKind.ADD and self._gave_up:
            self._gave_up = False
            self.subscription_changed("partitions were given up")


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
def members(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a function that opens a member of a cooperative group; all are closed at the end."""
    monkeypatch.setattr(classic, "ClassicMembership", CooperativeMembership)
    opened: list[KafkaConsumer] = []

    def open_one(topic: str) -> tuple[KafkaConsumer, Changes]:
        consumer = KafkaConsumer(
            bootstrap_servers=broker.bootstrap_servers,
            group_id=f"group-{topic}",
            auto_offset_reset="earliest",
            heartbeat_interval_ms=200,
            session_timeout_ms=6_000,
            max_poll_records=20,
            auto_commit_interval_ms=100_000,
            partition_assignment_strategy=[KeepingAssignor],
        )
        opened.append(consumer)
        changes = Changes()
        consumer.subscribe([topic], listener=changes)
        return consumer, changes

    yield open_one
    for consumer in opened:
        consumer.close(timeout_ms=5_000)


def test_members_that_come_and_go_take_only_what_moves_and_nothing_is_lost_or_read_twice(
    broker: Broker, make_topic: MakeTopic, members: Any
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

    group.append(members(topic))
    poll_until(balanced)
    changes = group[0][1]
    group.append(members(topic))
    poll_until(balanced)
    assert len(changes.revoked) == 3, "only what moved was given up"
    group.append(members(topic))
    poll_until(balanced)
    assert len(changes.revoked) <= 4
    stayed = set(changes.held)
    group.pop(1)[0].close()
    poll_until(balanced)
    assert stayed <= changes.held
    poll_until(lambda: read_on() or len(seen) >= 1_200)  # type: ignore[func-returns-value]
    assert sorted(seen) == [(partition, offset) for partition in range(6) for offset in range(200)]
