"""Groups of the protocol of KIP-848, on both brokers: members come, go and die, and no record is lost or read twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from integration.consumer_support import poll_until, produce
from kafka import (
    AsyncConsumerRebalanceListener,
    AsyncKafkaConsumer,
    ConsumerRebalanceListener,
    KafkaAdminClient,
    KafkaConsumer,
    KafkaProducer,
    OffsetAndMetadata,
    SubscriptionPattern,
    TopicPartition,
)
from kafka.admin import ConfigResource
from kafka.errors import (
    CommitFailedError,
    TransactionAbortableError,
    UnreleasedInstanceIdError,
    UnsupportedAssignorError,
)

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

pytestmark = pytest.mark.needs(broker=(4, 0), why="groups of the consumer protocol (KIP-848)")

Open = Callable[..., KafkaConsumer]


class Changes(ConsumerRebalanceListener):
    """Knows what it holds; whatever it is told has to fit."""

    def __init__(self) -> None:
        self.held: set[TopicPartition] = set()
        self.told: list[tuple[str, set[TopicPartition]]] = []

    def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        self._gone("revoked", set(revoked))

    def on_partitions_lost(self, lost: Collection[TopicPartition]) -> None:
        self._gone("lost", set(lost))

    def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        assert not self.held & set(assigned)
        self.held |= set(assigned)
        self.told.append(("assigned", set(assigned)))

    def _gone(self, how: str, partitions: set[TopicPartition]) -> None:
        assert partitions
        assert partitions <= self.held
        self.held -= partitions
        self.told.append((how, partitions))


@pytest.fixture
def open_member(broker: Broker) -> Iterator[Open]:
    """Return a function that opens a member; all are closed at the end."""
    opened: list[KafkaConsumer] = []

    def open_one(topic: str, listener: ConsumerRebalanceListener | None = None, **options: Any) -> KafkaConsumer:
        settings = {"group_id": f"group-{topic}", "group_protocol": "consumer", "auto_offset_reset": "earliest"}
        consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, **{**settings, **options})
        opened.append(consumer)
        consumer.subscribe([topic], listener=listener)
        return consumer

    yield open_one
    for consumer in opened:
        consumer.close(timeout_ms=5_000)


def shared_out(count: int, *members: KafkaConsumer) -> Callable[[], bool]:
    """Whether the members share so many partitions evenly."""

    def is_so() -> bool:
        shares = [member.assignment() for member in members]
        least, most = min(map(len, shares)), max(map(len, shares))
        return len(set().union(*shares)) == sum(map(len, shares)) == count and most - least <= 1

    return is_so


def session_of(broker: Broker, group: str, timeout_ms: int) -> None:
    """Set how long a member of a group may be silent."""
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        configs = {"consumer.session.timeout.ms": str(timeout_ms)}
        admin.alter_configs([ConfigResource("group", group, configs)], incremental=True)


def test_members_come_and_go_under_load_and_nothing_is_lost_or_read_twice(
    broker: Broker, make_topic: MakeTopic, open_member: Open
) -> None:
    topic = make_topic(6)
    for partition in range(6):
        produce(broker.bootstrap_servers, topic, partition, [b"%d" % n for n in range(150)])
    seen: list[tuple[int, int]] = []
    members: list[KafkaConsumer] = []
    listeners: list[Changes] = []

    def read_on() -> int:
        for member, changes in zip(members, listeners, strict=True):
            seen.extend((record.partition, record.offset) for record in member.poll(20))
            assert member.assignment() == changes.held
        return len(seen)

    for wanted in (100, 300, 500):
        listeners.append(Changes())
        members.append(open_member(topic, listeners[-1], max_poll_records=10, auto_commit_interval_ms=100_000))
        poll_until(lambda wanted=wanted: read_on() >= wanted and all(len(each.held) for each in listeners))  # type: ignore[misc]
    assert "lost" not in {how for each in listeners for how, _ in each.told}
    listeners.pop(0)
    members.pop(0).close()
    poll_until(lambda: read_on() >= 900)
    assert sorted(seen) == [(partition, offset) for partition in range(6) for offset in range(150)]


def test_a_member_keeps_what_stays_and_hears_only_of_what_moves(make_topic: MakeTopic, open_member: Open) -> None:
    topic, first, second = make_topic(4), Changes(), Changes()
    one = open_member(topic, first)
    poll_until(lambda: len(first.held) == 4, one)
    two = open_member(topic, second, group_remote_assignor="uniform")
    poll_until(shared_out(4, one, two), one, two)
    revoked = [partitions for how, partitions in first.told if how == "revoked"]
    assert len(revoked) == 1
    assert revoked[0] == second.held
    two.close()
    assert second.told[-1][0] == "revoked"
    poll_until(lambda: len(first.held) == 4, one)
    assert [how for how, partitions in first.told if partitions] == ["assigned", "revoked", "assigned"]


def test_a_member_that_dies_makes_room_and_finds_out_that_it_is_out(
    broker: Broker, make_topic: MakeTopic, open_member: Open
) -> None:
    topic, dies = make_topic(2), Changes()
    session_of(broker, f"group-{topic}", 2_000)
    one = open_member(topic, dies)
    poll_until(lambda: len(dies.held) == 2, one)
    two = open_member(topic)
    poll_until(shared_out(2, one, two), one, two)
    produce(broker.bootstrap_servers, topic, next(iter(dies.held)).partition, [b"x"])
    poll_until(lambda: one.position(next(iter(dies.held))) == 1, one)
    membership: Any = one._core.membership
    one._poll_loop.runner.submit(membership._heartbeat.stop)
    poll_until(lambda: len(two.assignment()) == 2, two)
    with pytest.raises(CommitFailedError):
        one.commit()
    one._poll_loop.runner.submit(membership._heartbeat.start)
    poll_until(lambda: "lost" in [how for how, _ in dies.told], one)
    poll_until(shared_out(2, one, two), one, two)


def test_a_static_member_that_comes_back_has_what_it_had_and_another_with_its_id_is_refused(
    make_topic: MakeTopic, open_member: Open
) -> None:
    topic, stays = make_topic(4), Changes()
    one = open_member(topic, stays)
    two = open_member(topic, group_instance_id="i")
    poll_until(shared_out(4, one, two), one, two)
    had, told = two.assignment(), len(stays.told)
    another = open_member(topic, group_instance_id="i")
    with pytest.raises(UnreleasedInstanceIdError, match="another consumer has this group_instance_id"):
        poll_until(lambda: False, another)
    two.close()
    back = open_member(topic, group_instance_id="i")
    poll_until(lambda: bool(back.assignment()), one, back)
    assert back.assignment() == had
    assert [partitions for _, partitions in stays.told[told:] if partitions] == []


def test_the_coordinator_matches_a_pattern(broker: Broker, make_topic: MakeTopic, open_member: Open) -> None:
    topic = make_topic(1)
    consumer = open_member(topic)
    consumer.subscribe(SubscriptionPattern(f"{topic}|{topic}-more"))
    poll_until(lambda: consumer.subscription() == {topic}, consumer)
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.create_topics({f"{topic}-more": {"num_partitions": 2, "replication_factor": 1}})
    consumer.subscribe(SubscriptionPattern(f"{topic}(-more)?"))  # has Kafka look at once
    poll_until(lambda: len(consumer.assignment()) == 3, consumer)
    assert consumer.subscription() == {topic, f"{topic}-more"}
    consumer.subscribe([topic])
    poll_until(lambda: consumer.assignment() == {TopicPartition(topic, 0)}, consumer)


def test_a_python_pattern_is_matched_here_and_its_topics_are_told_by_name(
    broker: Broker, make_topic: MakeTopic, open_member: Open
) -> None:
    topic = make_topic(1)
    consumer = open_member(topic, metadata_max_age_ms=300)
    consumer.subscribe(pattern=f"^{topic}-(?!x).")  # a look-ahead, which RE2/J does not have
    membership: Any = consumer._core.membership
    poll_until(lambda: membership.generation.is_valid, consumer)  # although no topic matches yet
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        new = {"num_partitions": 1, "replication_factor": 1}
        admin.create_topics({f"{topic}-x": new, f"{topic}-y": new})
    poll_until(lambda: consumer.assignment() == {TopicPartition(f"{topic}-y", 0)}, consumer)
    assert consumer.subscription() == {f"{topic}-y"}


def test_an_assignor_that_the_broker_does_not_have_is_refused(make_topic: MakeTopic, open_member: Open) -> None:
    topic = make_topic(1)
    consumer = open_member(topic, group_remote_assignor="mine")
    for _ in range(2):
        with pytest.raises(UnsupportedAssignorError, match="'uniform' or 'range'"):
            poll_until(lambda: False, consumer)


def test_offsets_are_committed_with_the_epoch_and_read_again(
    broker: Broker, make_topic: MakeTopic, open_member: Open
) -> None:
    topic = make_topic(1)
    tp = TopicPartition(topic, 0)
    produce(broker.bootstrap_servers, topic, 0, [b"a", b"b"])
    consumer = open_member(topic, enable_auto_commit=False)
    assert poll_until(lambda: bool(consumer.assignment()) and consumer.position(tp) == 2, consumer) == 2
    consumer.commit()
    metadata = consumer.group_metadata()
    assert metadata.generation_id > 0
    other = open_member(topic)
    poll_until(lambda: consumer.group_metadata().generation_id > metadata.generation_id, consumer, other)
    consumer.commit()
    assert consumer.committed(tp).offset == 2  # type: ignore[union-attr]


async def test_both_faces_are_in_one_group(broker: Broker, make_topic: MakeTopic, open_member: Open) -> None:
    topic, held = make_topic(2), set[TopicPartition]()

    class Listener(AsyncConsumerRebalanceListener):
        async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
            held.difference_update(revoked)

        async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
            held.update(assigned)

    settings = {"group_id": f"group-{topic}", "group_protocol": "consumer"}
    one = open_member(topic)
    async with AsyncKafkaConsumer(bootstrap_servers=broker.bootstrap_servers, **settings) as two:
        two.subscribe([topic], listener=Listener())
        async with asyncio.timeout(30):
            while not (len(held) == 1 and len(one.assignment()) == 1):
                await two.poll(50)
                await asyncio.to_thread(one.poll, 10)
        assert two.assignment() == held
    assert not held


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_the_transaction_of_a_member_that_was_put_out_is_refused_its_offsets(
    broker: Broker, make_topic: MakeTopic, open_member: Open, protocol: str
) -> None:
    topic = make_topic(1)
    tp = TopicPartition(topic, 0)
    produce(broker.bootstrap_servers, topic, 0, [b"a"])
    times = {} if protocol == "consumer" else {"session_timeout_ms": 6_000, "heartbeat_interval_ms": 200}
    slow = open_member(topic, group_protocol=protocol, enable_auto_commit=False, max_poll_interval_ms=2_000, **times)
    poll_until(lambda: bool(slow.assignment()) and slow.position(tp) == 1, slow)
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, transactional_id=f"txn-{topic}") as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(topic, b"made of a", partition=0)
        quick = open_member(topic, group_protocol=protocol, enable_auto_commit=False, **times)
        poll_until(lambda: quick.assignment() == {tp}, quick)  # as the other one does not poll
        assert slow.assignment() == {tp}, "it knows nothing yet"
        with pytest.raises(TransactionAbortableError, match="the group has rebalanced"):
            producer.send_offsets_to_transaction({tp: OffsetAndMetadata(1, "", None)}, slow.group_metadata())
        producer.abort_transaction()
    assert quick.committed(tp) is None


@pytest.mark.apache
def test_a_group_moves_to_the_new_protocol_and_back_without_a_stop(apache_kafka: Any, make_topic_on: Any) -> None:
    topic = make_topic_on(apache_kafka)(4)
    for partition in range(4):
        produce(apache_kafka.bootstrap_servers, topic, partition, [b"%d" % n for n in range(200)])
    seen: list[tuple[int, int]] = []
    members: list[KafkaConsumer] = []

    def open_one(protocol: str) -> KafkaConsumer:
        times = {} if protocol == "consumer" else {"session_timeout_ms": 6_000, "heartbeat_interval_ms": 200}
        return KafkaConsumer(
            topic,
            bootstrap_servers=apache_kafka.bootstrap_servers,
            group_id=f"group-{topic}",
            group_protocol=protocol,
            auto_offset_reset="earliest",
            max_poll_records=5,
            **times,
        )

    def read_on() -> bool:
        for member in members:
            seen.extend((record.partition, record.offset) for record in member.poll(20))
        return shared_out(4, *members)()

    try:
        members += [open_one("classic"), open_one("classic")]
        poll_until(read_on)
        for protocol in ("consumer", "classic"):
            for _ in range(2):
                members.pop(0).close()
                members.append(open_one(protocol))
                poll_until(read_on)
        poll_until(lambda: read_on() and len(seen) >= 800)
    finally:
        for member in members:
            member.close(timeout_ms=5_000)
    assert sorted(seen) == [(partition, offset) for partition in range(4) for offset in range(200)]
