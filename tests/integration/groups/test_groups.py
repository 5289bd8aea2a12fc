"""Groups of consumers: rebalancing, commits, listeners, patterns, and members that are not ours, on both brokers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer as Confluent
from confluent_kafka.admin import AdminClient, NewPartitions

from harness.topics import create_topic, new_topic_name
from integration.consumer_support import PATIENCE_S, poll_until, produce, read
from kafka import ConsumerRebalanceListener, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.errors import CommitFailedError, FencedInstanceIdError, IllegalStateError, InvalidSessionTimeoutError
from kafka.net import LoopThread

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

Open = Callable[..., KafkaConsumer]
SHORT_SESSION: dict[str, Any] = {"session_timeout_ms": 3_000, "heartbeat_interval_ms": 200}


@pytest.fixture
def open_consumer(broker: Broker) -> Iterator[Open]:
    """Return a function that opens a member of a group on `broker`; all are closed at the end."""
    opened: list[KafkaConsumer] = []

    def open_one(*topics: str, **options: Any) -> KafkaConsumer:
        defaults = {"auto_offset_reset": "earliest", "heartbeat_interval_ms": 200, "session_timeout_ms": 6_000}
        settings = {**defaults, **options}
        consumer = KafkaConsumer(*topics, bootstrap_servers=broker.bootstrap_servers, **settings)
        opened.append(consumer)
        return consumer

    yield open_one
    for consumer in opened:
        consumer.close(timeout_ms=5_000)


class RecordingListener(ConsumerRebalanceListener):
    """Writes down what it is told, in which thread."""

    def __init__(self, on_assigned: Callable[[Collection[TopicPartition]], None] | None = None) -> None:
        self.entries: list[tuple[str, set[int]]] = []
        self.threads: set[int] = set()
        self._on_assigned = on_assigned

    def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        self.threads.add(threading.get_ident())
        self.entries.append(("revoked", {tp.partition for tp in revoked}))

    def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        self.threads.add(threading.get_ident())
        self.entries.append(("assigned", {tp.partition for tp in assigned}))
        if self._on_assigned is not None:
            self._on_assigned(assigned)

    def on_partitions_lost(self, lost: Collection[TopicPartition]) -> None:
        self.entries.append(("lost", {tp.partition for tp in lost}))


def shares(*consumers: KafkaConsumer) -> list[set[int]]:
    return [{tp.partition for tp in consumer.assignment()} for consumer in consumers]


def test_a_group_resumes_where_it_has_committed(broker: Broker, make_topic: MakeTopic, open_consumer: Open) -> None:
    topic = make_topic(2)
    for partition in range(2):
        produce(broker.bootstrap_servers, topic, partition, [b"%d" % n for n in range(100)])
    group = f"group-{topic}"
    first = open_consumer(topic, group_id=group, enable_auto_commit=False, max_poll_records=30)
    seen = [(r.partition, r.offset) for r in read(first, 60)]
    first.commit()
    first.close()
    second = open_consumer(topic, group_id=group, enable_auto_commit=False)
    seen += [(r.partition, r.offset) for r in read(second, 200 - len(seen))]
    assert sorted(seen) == [(partition, offset) for partition in range(2) for offset in range(100)]
    second.close()
    third = open_consumer(topic, group_id=group, enable_auto_commit=False)
    assert len(read(third, 200 - 60)) == 200 - 60


def test_members_share_the_partitions_and_take_over_from_one_that_leaves(
    make_topic: MakeTopic, open_consumer: Open
) -> None:
    topic = make_topic(6)
    group = f"group-{topic}"
    first = open_consumer(topic, group_id=group)
    poll_until(lambda: shares(first) == [set(range(6))], first)
    second = open_consumer(topic, group_id=group)
    poll_until(lambda: sorted(map(len, shares(first, second))) == [3, 3], first, second)
    third = open_consumer(topic, group_id=group)
    poll_until(lambda: list(map(len, shares(first, second, third))) == [2, 2, 2], first, second, third)
    everything = shares(first, second, third)
    assert set().union(*everything) == set(range(6))
    assert all(sorted(share) == [min(share), min(share) + 1] for share in everything)  # range: neighbours
    first.close()
    poll_until(lambda: sorted(map(len, shares(second, third))) == [3, 3], second, third)
    second.close()
    poll_until(lambda: shares(third) == [set(range(6))], third)


def test_round_robin_deals_out_the_partitions_in_turn(make_topic: MakeTopic, open_consumer: Open) -> None:
    topic = make_topic(4)
    options = {"group_id": f"group-{topic}", "partition_assignment_strategy": [RoundRobinPartitionAssignor]}
    one, other = open_consumer(topic, **options), open_consumer(topic, **options)
    poll_until(lambda: sorted(map(sorted, shares(one, other))) == [[0, 2], [1, 3]], one, other)


def test_nothing_is_lost_or_read_twice_over_rebalances_with_auto_commit(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open
) -> None:
    topic = make_topic(4)
    for partition in range(4):
        produce(broker.bootstrap_servers, topic, partition, [b"%d" % n for n in range(500)])
    options = {"group_id": f"group-{topic}", "max_poll_records": 50, "auto_commit_interval_ms": 100_000}
    members = [open_consumer(topic, **options)]
    seen: list[tuple[int, int]] = []
    for turn in range(2_000):
        for member in members:
            seen += [(r.partition, r.offset) for r in member.poll(20)]
        if turn in (3, 8):
            members.append(open_consumer(topic, **options))
        if turn == 30:
            members.pop(0).close()
        if len(seen) >= 2_000:
            break
    assert sorted(seen) == [(partition, offset) for partition in range(4) for offset in range(500)]


def test_listeners_are_called_in_the_thread_that_polls_and_can_seek(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open
) -> None:
    topic = make_topic(2)
    for partition in range(2):
        produce(broker.bootstrap_servers, topic, partition, [b"%d" % n for n in range(10)])
    group = f"group-{topic}"
    consumer = open_consumer(group_id=group)

    def seek(assigned: Collection[TopicPartition]) -> None:
        for tp in assigned:
            consumer.seek(tp, 8)

    listener = RecordingListener(seek)
    consumer.subscribe([topic], listener=listener)
    assert sorted(r.offset for r in read(consumer, 4)) == [8, 8, 9, 9]
    assert listener.entries == [("revoked", set()), ("assigned", {0, 1})]
    other = open_consumer(topic, group_id=group)
    poll_until(lambda: list(map(len, shares(consumer, other))) == [1, 1], consumer, other)
    assert listener.entries[2] == ("revoked", {0, 1})
    assert listener.entries[-1] == ("assigned", shares(consumer)[0])
    mine = shares(consumer)[0]
    consumer.close()
    assert listener.entries[-1] == ("revoked", mine)
    assert listener.threads == {threading.get_ident()}


def test_an_error_of_a_listener_is_raised_by_poll_and_the_rebalance_goes_on(
    make_topic: MakeTopic, open_consumer: Open
) -> None:
    topic = make_topic()
    consumer = open_consumer(group_id=f"group-{topic}")

    def fail(assigned: Collection[TopicPartition]) -> None:
        raise ZeroDivisionError("on purpose")

    consumer.subscribe([topic], listener=RecordingListener(fail))
    with pytest.raises(ZeroDivisionError):
        poll_until(lambda: False, consumer)
    assert consumer.assignment() == {TopicPartition(topic, 0)}
    assert consumer.position(TopicPartition(topic, 0)) == 0


def test_auto_commit_commits_what_was_handed_out_before_the_poll(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open
) -> None:
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, 0, [b"%d" % n for n in range(20)])
    tp = TopicPartition(topic, 0)
    consumer = open_consumer(topic, group_id=f"group-{topic}", auto_commit_interval_ms=50, max_poll_records=5)
    watcher = open_consumer(group_id=f"group-{topic}", enable_auto_commit=False)
    read(consumer, 5)
    # Not 5 yet. 0 if the interval was over between finding the position and the first record: as in Java, a position
    # is committed as soon as it is known.
    assert watcher.committed(tp) in (None, 0)
    consumer.pause(tp)  # so that polling goes on without taking more
    poll_until(lambda: watcher.committed(tp) == 5, consumer)
    consumer.resume(tp)
    read(consumer, 1)
    position = consumer.position(tp)
    consumer.close()
    assert watcher.committed(tp) == position


def test_iteration_commits_and_rebalances_like_poll(broker: Broker, make_topic: MakeTopic, open_consumer: Open) -> None:
    topic = make_topic(2)
    for partition in range(2):
        produce(broker.bootstrap_servers, topic, partition, [b"%d" % n for n in range(400)])
    group = f"group-{topic}"
    one = open_consumer(topic, group_id=group, auto_commit_interval_ms=50, consumer_timeout_ms=60_000)
    other = open_consumer(topic, group_id=group)
    seen: list[tuple[int, int]] = []
    joined = threading.Event()
    stop = threading.Event()

    def second_member() -> None:
        while not stop.is_set():
            seen.extend((r.partition, r.offset) for r in other.poll(20))
            if other.assignment():
                joined.set()

    thread = threading.Thread(target=second_member)
    for record in one:
        seen.append((record.partition, record.offset))
        if len(seen) == 10:
            thread.start()
        if not joined.is_set() and len(seen) > 10:
            time.sleep(0.01)  # a slow handler, in the middle of a batch
        if len(set(seen)) == 800 or joined.is_set():
            break
    assert joined.wait(60)
    deadline = time.monotonic() + 60
    one_more = iter(one)
    while len(set(seen)) < 800 and time.monotonic() < deadline:
        if shares(one)[0] and one.position(next(iter(one.assignment()))) < 400:
            record = next(one_more)
            seen.append((record.partition, record.offset))
        else:
            one.poll(20)
    stop.set()
    thread.join()
    assert sorted(set(seen)) == [(partition, offset) for partition in range(2) for offset in range(400)]
    assert len(seen) == 800


def test_a_pattern_takes_in_topics_that_come_later(broker: Broker, open_consumer: Open) -> None:
    stem = new_topic_name("pattern")
    create_topic(broker.bootstrap_servers, f"{stem}-a")
    consumer = open_consumer(group_id=stem, metadata_max_age_ms=300)
    consumer.subscribe(pattern=f"{stem}-.*")
    poll_until(lambda: consumer.subscription() == {f"{stem}-a"} and len(consumer.assignment()) == 1, consumer)
    create_topic(broker.bootstrap_servers, f"{stem}-b", 2)
    create_topic(broker.bootstrap_servers, f"other-{stem}-c", 2)
    poll_until(lambda: len(consumer.assignment()) == 3, consumer)
    assert consumer.subscription() == {f"{stem}-a", f"{stem}-b"}
    produce(broker.bootstrap_servers, f"{stem}-b", 1, [b"found"])
    assert [r.value for r in read(consumer, 1)] == [b"found"]


@pytest.mark.needs(broker=(1, 0), why="CreatePartitions")
def test_new_partitions_of_a_topic_are_assigned(broker: Broker, make_topic: MakeTopic, open_consumer: Open) -> None:
    topic = make_topic(1)
    consumer = open_consumer(topic, group_id=f"group-{topic}", metadata_max_age_ms=300)
    poll_until(lambda: len(consumer.assignment()) == 1, consumer)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_partitions([NewPartitions(topic, 3)])[topic].result()
    poll_until(lambda: len(consumer.assignment()) == 3, consumer)


def test_changing_the_subscription_changes_the_assignment(make_topic: MakeTopic, open_consumer: Open) -> None:
    one, other = make_topic(1), make_topic(2)
    consumer = open_consumer(one, group_id=f"group-{one}")
    poll_until(lambda: consumer.assignment() == {TopicPartition(one, 0)}, consumer)
    consumer.subscribe([one, other])
    poll_until(lambda: len(consumer.assignment()) == 3, consumer)
    consumer.unsubscribe()
    assert consumer.assignment() == set()
    assert consumer.subscription() is None
    assert consumer.poll(50) == {}
    consumer.subscribe([other])
    poll_until(lambda: len(consumer.assignment()) == 2, consumer)
    with pytest.raises(IllegalStateError):
        consumer.assign([TopicPartition(one, 0)])


def test_a_subscription_that_changes_while_joining_takes_nothing_of_the_old_one(
    make_topic: MakeTopic, open_consumer: Open
) -> None:
    old, new = make_topic(1), make_topic(2)
    consumer, listener = open_consumer(group_id=f"group-{old}"), RecordingListener()
    for _ in range(10):
        consumer.subscribe([old], listener=listener)
        consumer.poll(0)
        consumer.subscribe([new], listener=listener)
        poll_until(lambda: consumer.assignment() == {TopicPartition(new, 0), TopicPartition(new, 1)}, consumer)
        consumer.unsubscribe()
    assert listener.entries.count(("assigned", {0, 1})) == 10
    assert ("assigned", {0}) not in listener.entries


@pytest.mark.needs(broker=(2, 3), why="static members (KIP-345)")
def test_a_static_member_whose_place_is_taken_raises_at_every_poll(make_topic: MakeTopic, open_consumer: Open) -> None:
    topic = make_topic(2)
    options = {"group_id": f"group-{topic}", "group_instance_id": "one"}
    first, listener = open_consumer(**options), RecordingListener()
    first.subscribe([topic], listener=listener)
    poll_until(lambda: len(first.assignment()) == 2, first)
    second = open_consumer(topic, **options)
    poll_until(lambda: len(second.assignment()) == 2, second)
    with pytest.raises(FencedInstanceIdError):
        poll_until(lambda: False, first)
    assert listener.entries[-1] == ("lost", {0, 1})
    assert first.assignment() == set()
    for _ in range(3):
        with pytest.raises(FencedInstanceIdError):
            first.poll(100)
    second.poll(100)
    second.commit({TopicPartition(topic, 0): OffsetAndMetadata(0)})
    assert len(second.assignment()) == 2


def test_a_member_that_does_not_poll_loses_its_partitions_and_gets_them_back(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open
) -> None:
    topic = make_topic(2)
    produce(broker.bootstrap_servers, topic, 0, [b"%d" % n for n in range(10)])
    group = f"group-{topic}"
    stuck = open_consumer(group_id=group, max_poll_interval_ms=1_000, enable_auto_commit=False)
    listener = RecordingListener()
    stuck.subscribe([topic], listener=listener)
    read(stuck, 10)
    other = open_consumer(topic, group_id=group)
    poll_until(lambda: len(other.assignment()) == 2, other)
    with pytest.raises(CommitFailedError):
        stuck.commit()
    poll_until(lambda: list(map(len, shares(stuck, other))) == [1, 1], stuck, other)
    assert ("lost", {0, 1}) in listener.entries


class Session:
    """Tells, by a member that says nothing any more, when a session that began now is over for the broker."""

    def __init__(self, broker: Broker, silent: KafkaConsumer) -> None:
        self._admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        self._group = silent.config["group_id"]
        poll_until(lambda: bool(silent.assignment()), silent)
        LoopThread.shared().call(silent._core.membership._heartbeat.stop)
        assert self.members(self._group) == 1

    def members(self, group: str) -> int:
        """How many members a group has."""
        return len(self._admin.describe_consumer_groups([group])[group].result().members)

    def wait_until_over(self) -> None:
        poll_until(lambda: self.members(self._group) == 0)


def test_a_slow_handler_keeps_its_partitions_as_long_as_it_may(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open
) -> None:
    topic = make_topic(2)
    consumer = open_consumer(topic, group_id=f"group-{topic}", **SHORT_SESSION)
    poll_until(lambda: len(consumer.assignment()) == 2, consumer)
    session = Session(broker, open_consumer(topic, group_id=f"silent-{topic}", **SHORT_SESSION))
    session.wait_until_over()
    assert session.members(f"group-{topic}") == 1
    consumer.poll(0)
    consumer.commit({TopicPartition(topic, 0): OffsetAndMetadata(0)})
    assert consumer.metrics()["consumer-coordinator-metrics"]["rebalances-total"] == 1


def test_a_callback_of_a_producer_that_does_not_end_costs_no_membership(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open
) -> None:
    topic = make_topic(1)
    consumer = open_consumer(topic, group_id=f"group-{topic}", **SHORT_SESSION)
    poll_until(lambda: len(consumer.assignment()) == 1, consumer)
    session = Session(broker, open_consumer(topic, group_id=f"silent-{topic}", **SHORT_SESSION))
    called, may_end = threading.Event(), threading.Event()

    def block(metadata: object) -> None:
        called.set()
        may_end.wait(PATIENCE_S)

    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, linger_ms=60_000) as producer:
        producer.send(topic, b"x").add_callback(block)
        flushing = threading.Thread(target=producer.flush)  # which sends it, now that the callback is there
        flushing.start()
        assert called.wait(PATIENCE_S)
        session.wait_until_over()
        assert session.members(f"group-{topic}") == 1
        assert [record.value for record in read(consumer, 1)] == [b"x"]
        consumer.commit()
        may_end.set()
        flushing.join()
    assert consumer.metrics()["consumer-coordinator-metrics"]["rebalances-total"] == 1


@pytest.mark.needs(broker=(2, 3), why="static members (KIP-345)")
def test_a_static_member_comes_back_without_a_rebalance(make_topic: MakeTopic, open_consumer: Open) -> None:
    topic = make_topic(4)
    group = f"group-{topic}"
    options = {"group_id": group, "session_timeout_ms": 20_000}
    first = open_consumer(topic, group_instance_id="one", **options)
    second = open_consumer(topic, group_instance_id="two", **options)
    poll_until(lambda: list(map(len, shares(first, second))) == [2, 2], first, second)
    kept = shares(first)
    second.close()
    again = open_consumer(topic, group_instance_id="two", **options)
    poll_until(lambda: len(again.assignment()) == 2, first, again)
    assert shares(first) == kept
    assert first.metrics()["consumer-coordinator-metrics"]["rebalances-total"] <= 2


def test_a_setting_that_the_coordinator_refuses_is_raised_by_poll(make_topic: MakeTopic, open_consumer: Open) -> None:
    topic = make_topic()
    options = {"session_timeout_ms": 2_000_000, "heartbeat_interval_ms": 1_000}
    consumer = open_consumer(topic, group_id=f"group-{topic}", **options)
    with pytest.raises(InvalidSessionTimeoutError):
        poll_until(lambda: False, consumer)


@pytest.mark.needs(broker=(1, 0), why="CreatePartitions")
def test_a_subscription_without_a_group_takes_all_partitions(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open
) -> None:
    topic = make_topic(2)
    for partition in range(2):
        produce(broker.bootstrap_servers, topic, partition, [b"%d" % n for n in range(10)])
    listener = RecordingListener()
    one, other = open_consumer(metadata_max_age_ms=300), open_consumer(topic)
    one.subscribe([topic], listener=listener)
    assert len(read(one, 20)) == len(read(other, 20)) == 20
    assert shares(one, other) == [{0, 1}, {0, 1}]
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_partitions([NewPartitions(topic, 3)])[topic].result()
    poll_until(lambda: len(one.assignment()) == 3, one)
    assert [one.position(TopicPartition(topic, partition)) for partition in range(3)] == [10, 10, 0]
    assert listener.entries == [("assigned", {0, 1}), ("assigned", {2})]
    with pytest.raises(IllegalStateError):
        one.commit()
    another = make_topic(1)
    one.subscribe([another])
    poll_until(lambda: one.assignment() == {TopicPartition(another, 0)}, one)
    one.unsubscribe()
    assert one.assignment() == set()


@pytest.mark.parametrize("strategy", ["range", "roundrobin"])
def test_ours_and_a_member_of_another_client_share_a_group(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open, strategy: str
) -> None:
    topic = make_topic(4)
    group = f"group-{topic}"
    theirs = Confluent(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "partition.assignment.strategy": strategy,
            "session.timeout.ms": 6_000,
            "heartbeat.interval.ms": 200,
        }
    )
    theirs.subscribe([topic])
    ours = open_consumer(topic, group_id=group)

    def balanced() -> bool:
        theirs.poll(0.02)
        held = {each.partition for each in theirs.assignment()}
        return len(held) == 2 and held | shares(ours)[0] == set(range(4))

    try:
        poll_until(balanced, ours)
    finally:
        theirs.close()
    poll_until(lambda: shares(ours) == [set(range(4))], ours)
