"""`ConsumerCoordinator` of 1.0 to 2.x: a member of a consumer group without a consumer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import kafka
from kafka.admin import NewPartitions, NewTopic
from kafka.broker import EmbeddedBroker
from kafka.client_async import KafkaClient
from kafka.consumer.subscription_state import ConsumerRebalanceListener, SubscriptionState
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor, decode_user_data
from kafka.coordinator.consumer import AutoCommitTask, ConsumerCoordinator
from kafka.coordinator.protocol import (
    ConsumerProtocol,
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)
from kafka.errors import CommitFailedError, KafkaConfigurationError, UnknownMemberIdError
from kafka.metrics import DictReporter, Metrics
from kafka.structs import OffsetAndMetadata, TopicPartition

ALL = {TopicPartition("topic", number) for number in range(4)}
FIRST = TopicPartition("topic", 0)
QUICK_MS = 20


class Listener(ConsumerRebalanceListener):
    def __init__(self) -> None:
        self.calls: list[tuple[str, set[TopicPartition]]] = []

    def on_partitions_revoked(self, revoked: Any) -> None:
        self.calls.append(("revoked", set(revoked)))

    def on_partitions_assigned(self, assigned: Any) -> None:
        self.calls.append(("assigned", set(assigned)))
        raise ZeroDivisionError("which is logged")


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as broker, kafka.KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("topic", 4, 1)])
        yield broker


Make = Callable[..., ConsumerCoordinator]


@pytest.fixture
def make(broker: EmbeddedBroker) -> Iterator[Make]:
    """Return a function that creates a coordinator with a client and a subscription to the topic."""
    made: list[ConsumerCoordinator] = []

    def make(subscribe: bool = True, **configs: Any) -> ConsumerCoordinator:
        client = KafkaClient(bootstrap_servers=broker.bootstrap_servers)
        subscription = SubscriptionState()
        if subscribe:
            subscription.subscribe(["topic"], listener=Listener())
        options = {"group_id": "group", "heartbeat_interval_ms": QUICK_MS, **configs}
        made.append(ConsumerCoordinator(client, subscription, **options))
        client.poll(future=client.cluster.request_update())
        return made[-1]

    yield make
    for coordinator in made:
        coordinator.close(autocommit=False)
        coordinator._client.close()


def partitions_of(coordinator: ConsumerCoordinator) -> set[TopicPartition]:
    return coordinator._subscription.assigned_partitions()


def poll_until(is_so: Callable[[], object], *coordinators: ConsumerCoordinator) -> None:
    while not is_so():
        for coordinator in coordinators:
            coordinator.poll(timeout_ms=QUICK_MS)
            coordinator._client.poll(timeout_ms=1)


def test_one_member_gets_all_partitions(make: Make) -> None:
    member = make()
    assert member.protocol_type() == "consumer"
    assert [name for name, _ in member.group_protocols()] == ["range", "roundrobin", "sticky"]
    assert ConsumerProtocol.METADATA.decode(member.group_protocols()[0][1]).subscription == ["topic"]
    assert member.need_rejoin()
    member.ensure_active_group()
    assert partitions_of(member) == ALL
    assert not member.need_rejoin()
    assert member._subscription.listener.calls == [("revoked", set()), ("assigned", ALL)]
    assert member.poll()
    assert 0 <= member.time_to_next_poll() <= QUICK_MS / 1000


def test_two_members_share_the_partitions(make: Make) -> None:
    first, second = make(), make()
    first.ensure_active_group()
    poll_until(lambda: len(partitions_of(first)) == 2 == len(partitions_of(second)), first, second)
    assert partitions_of(first) | partitions_of(second) == ALL
    assert first._subscription.listener.calls[2] == ("revoked", ALL)
    second.close()
    poll_until(lambda: partitions_of(first) == ALL, first)


def test_with_the_sticky_assignor_few_partitions_move(make: Make) -> None:
    first = make(assignors=[StickyPartitionAssignor])
    first.ensure_active_group()
    second = make(assignors=[StickyPartitionAssignor])
    poll_until(lambda: len(partitions_of(first)) == 2 == len(partitions_of(second)), first, second)
    kept = partitions_of(first)
    third = make(assignors=[StickyPartitionAssignor])
    poll_until(lambda: len(partitions_of(third)) == 1, first, second, third)
    second.close()
    poll_until(lambda: partitions_of(first) | partitions_of(third) == ALL, first, third)
    assert len(kept & partitions_of(first)) >= 1
    user_data = ConsumerProtocol.METADATA.decode(first.group_protocols()[0][1]).user_data
    assert set(decode_user_data(user_data).partitions) == partitions_of(first)


def test_commits_and_committed_offsets(make: Make) -> None:
    member = make(enable_auto_commit=False)
    member.ensure_active_group()
    offsets = {FIRST: OffsetAndMetadata(5, "text")}
    assert member.fetch_committed_offsets(ALL) == {}
    member.commit_offsets_sync(offsets)
    assert member.fetch_committed_offsets([FIRST])[FIRST][:2] == (5, "text")
    assert member.fetch_committed_offsets([]) == {}
    told: list[Any] = []
    future = member.commit_offsets_async({FIRST: OffsetAndMetadata(6, "")}, lambda *outcome: told.append(outcome))
    member._client.poll(future=future)
    assert future.succeeded()
    assert told == [({FIRST: OffsetAndMetadata(6, "")}, None)]
    assert member.refresh_committed_offsets_if_needed()
    assert member._subscription.position(FIRST) == 6
    assert member._subscription.assignment[FIRST].committed == 6
    assert not member._subscription.needs_fetch_committed_offsets
    member.commit_offsets_sync({})
    assert member.commit_offsets_async({}).succeeded()
    with pytest.raises(AssertionError):
        member.commit_offsets_sync({FIRST: 5})  # type: ignore[dict-item]


def test_a_commit_without_membership_fails(make: Make) -> None:
    member = make()
    offsets = {FIRST: OffsetAndMetadata(5, "")}
    with pytest.raises(CommitFailedError):
        member.commit_offsets_sync(offsets)
    told: list[Any] = []
    future = member.commit_offsets_async(offsets, lambda offsets, outcome: told.append(outcome))
    assert isinstance(future.exception, CommitFailedError)
    assert told == [future.exception]
    member.ensure_active_group()
    member._member.stop_heartbeats()
    member._member.generation = member._member.generation._replace(member_id="somebody else")
    with pytest.raises(CommitFailedError) as raised:
        member.commit_offsets_sync(offsets)
    assert isinstance(raised.value.__cause__, UnknownMemberIdError)
    assert member.need_rejoin()
    assert member.member_id == ""


def test_manually_assigned_partitions_are_committed_without_membership(make: Make) -> None:
    member = make(subscribe=False)
    member._subscription.assign_from_user([FIRST])
    assert member.poll()
    assert not member.need_rejoin()
    member.commit_offsets_sync({FIRST: OffsetAndMetadata(3, "")})
    assert member.refresh_committed_offsets_if_needed()
    assert member._subscription.position(FIRST) == 3
    assert member.generation == -1


def test_positions_are_committed_automatically(make: Make) -> None:
    told: list[Any] = []
    member = make(auto_commit_interval_ms=1, default_offset_commit_callback=lambda *outcome: told.append(outcome))
    member.ensure_active_group()
    member._subscription.seek(FIRST, 7)
    expected = ({FIRST: OffsetAndMetadata(7, "", -1)}, None)
    while expected not in told:
        member._client.poll(timeout_ms=QUICK_MS)
    assert member.fetch_committed_offsets([FIRST])[FIRST].offset == 7
    assert member.next_auto_commit_deadline is not None
    member._subscription.seek(FIRST, 8)
    member.close()
    assert member.next_auto_commit_deadline is None
    assert make().fetch_committed_offsets([FIRST])[FIRST].offset == 8


def test_a_rebalance_commits_first(make: Make) -> None:
    first, second = make(auto_commit_interval_ms=10_000_000), make()
    first.ensure_active_group()
    first._subscription.seek(FIRST, 7)
    poll_until(lambda: len(partitions_of(first)) == 2 == len(partitions_of(second)), first, second)
    assert second.fetch_committed_offsets([FIRST])[FIRST].offset == 7
    first._subscription.seek(next(iter(partitions_of(first))), 9)
    first.maybe_auto_commit_offsets_now()
    first.close(autocommit=False)


def test_the_auto_commit_task(make: Make) -> None:
    member = make(enable_auto_commit=False)
    task = AutoCommitTask(member, 1000)
    task.reschedule()
    task()
    assert task.next_at is None
    task.enable()
    first = task.next_at
    task.enable()
    assert task.next_at == first
    task.reschedule(1.0)
    assert task.next_at == 1.0
    task.run_if_due()  # the coordinator is unknown: retried soon
    assert time.time() - 60 < task.next_at < time.time() + 60
    task.disable()
    assert task.next_at is None


def test_a_leader_rejoins_when_topics_change(make: Make, broker: EmbeddedBroker) -> None:
    member = make()
    member.ensure_active_group()
    with kafka.KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.create_partitions({"topic": NewPartitions(5)})
    while not member.need_rejoin():
        member._client.poll(future=member._client.cluster.request_update())
    member.ensure_active_group()
    assert len(partitions_of(member)) == 5


def test_pattern_subscription_and_replacement(make: Make, broker: EmbeddedBroker) -> None:
    member = make(subscribe=False)
    member._subscription.subscribe(pattern="^top")
    poll_until(lambda: partitions_of(member) == ALL, member)
    with kafka.KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("topped", 1, 1)])
    member._cluster.request_update()
    poll_until(lambda: TopicPartition("topped", 0) in partitions_of(member), member)
    member._subscription.unsubscribe()
    member._subscription.subscribe(["topped"])
    member._client.set_topics(["topped"])
    poll_until(lambda: partitions_of(member) == {TopicPartition("topped", 0)}, member)


def test_without_a_group_all_partitions_are_assigned(make: Make) -> None:
    member = make(group_id=None)
    assert partitions_of(member) == ALL
    assert member.poll()
    assert not member.need_rejoin()
    assert make(api_version=(0, 8, 2))._subscription.assigned_partitions() == ALL


class LastTakesAll:
    """An assignor as written for 1.x."""

    name = "last"
    got: Any = None

    @classmethod
    def assign(cls, cluster: Any, member_metadata: Any) -> Any:
        (topics,) = {tuple(metadata.subscription) for metadata in member_metadata.values()}
        last = max(member_metadata)
        shares = {member_id: list[Any]() for member_id in member_metadata}
        shares[last] = [(topic, sorted(cluster.partitions_for_topic(topic))) for topic in topics]
        return {each: ConsumerProtocolMemberAssignment(0, share, b"") for each, share in shares.items()}

    @classmethod
    def metadata(cls, topics: Any) -> Any:
        return ConsumerProtocolMemberMetadata(0, list(topics), b"")

    @classmethod
    def on_assignment(cls, assignment: Any) -> None:
        cls.got = assignment


def test_an_assignor_of_1_x(make: Make) -> None:
    member = make(assignors=[LastTakesAll])
    member.ensure_active_group()
    assert partitions_of(member) == ALL
    assert set(LastTakesAll.got.partitions()) == ALL
    with pytest.raises(KafkaConfigurationError):
        make(assignors=[])


def test_metrics(make: Make) -> None:
    reporter = DictReporter()
    metrics = Metrics(reporters=[reporter])
    member = make(metrics=metrics)
    member.ensure_active_group()
    member.commit_offsets_sync({FIRST: OffsetAndMetadata(5, "")})
    told = reporter.snapshot()["consumer-coordinator-metrics"]
    assert told["assigned-partitions"] == 4
    assert told["commit-latency-avg"] > 0
    assert told["commit-latency-max"] >= told["commit-latency-avg"]
    assert told["commit-rate"] > 0
    assert told["join-rate"] > 0
