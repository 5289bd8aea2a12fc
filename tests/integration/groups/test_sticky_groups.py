"""Groups with the sticky assignor, whose members come and go while few partitions move, on both brokers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from integration.consumer_support import poll_until, produce
from kafka import KafkaConsumer
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

Open = Callable[..., KafkaConsumer]


@pytest.fixture
def open_member(broker: Broker) -> Iterator[Open]:
    """Return a function that opens a member of a topic's group; all are closed at the end."""
    opened: list[KafkaConsumer] = []

    def open_one(topic: str, **options: Any) -> KafkaConsumer:
        settings = {"partition_assignment_strategy": [StickyPartitionAssignor], **options}
        consumer = KafkaConsumer(
            topic,
            bootstrap_servers=broker.bootstrap_servers,
            group_id=f"group-{topic}",
            auto_offset_reset="earliest",
            heartbeat_interval_ms=200,
            session_timeout_ms=30_000,
            **settings,
        )
        opened.append(consumer)
        return consumer

    yield open_one
    for consumer in opened:
        consumer.close(timeout_ms=5_000)


def share(consumer: KafkaConsumer) -> set[int]:
    return {tp.partition for tp in consumer.assignment()}


def settle(partitions: int, *members: KafkaConsumer) -> list[set[int]]:
    """Poll until the members share the partitions evenly; return what each has."""
    least = partitions // len(members)

    def is_settled() -> bool:
        shares = [share(member) for member in members]
        return len(set().union(*shares)) == sum(map(len, shares)) == partitions and min(map(len, shares)) == least

    poll_until(is_settled, *members)
    return [share(member) for member in members]


def test_members_that_come_and_go_leave_the_others_what_they_had(make_topic: MakeTopic, open_member: Open) -> None:
    topic = make_topic(12)
    first = open_member(topic)
    (everything,) = settle(12, first)
    second = open_member(topic)
    one, two = settle(12, first, second)
    assert one < everything
    third = open_member(topic)
    one_of_three, two_of_three, three = settle(12, first, second, third)
    assert one_of_three < one
    assert two_of_three < two
    second.close()
    one_again, three_again = settle(12, first, third)
    assert one_again > one_of_three
    assert three_again > three
    fourth = open_member(topic)
    one_last, three_last, four = settle(12, first, third, fourth)
    assert one_last < one_again
    assert three_last < three_again
    assert len(four) == 4


def test_nothing_is_lost_or_read_twice_while_members_come_and_go(
    broker: Broker, make_topic: MakeTopic, open_member: Open
) -> None:
    topic = make_topic(5)
    for partition in range(5):
        produce(broker.bootstrap_servers, topic, partition, [b"%d" % n for n in range(200)])
    seen: list[tuple[int, int]] = []
    members: list[KafkaConsumer] = []

    def read_on() -> int:
        for member in members:
            seen.extend((record.partition, record.offset) for record in member.poll(20))
        return len(seen)

    options = {"max_poll_records": 20, "auto_commit_interval_ms": 100_000}
    for wanted in (100, 300, 500):
        members.append(open_member(topic, **options))
        poll_until(lambda wanted=wanted: read_on() >= wanted)  # type: ignore[misc]
    members.pop(0).close()
    poll_until(lambda: read_on() >= 1000)
    assert sorted(seen) == [(partition, offset) for partition in range(5) for offset in range(200)]


def test_a_group_moves_from_range_to_sticky_member_by_member(make_topic: MakeTopic, open_member: Open) -> None:
    topic = make_topic(6)
    both = {"partition_assignment_strategy": [StickyPartitionAssignor, RangePartitionAssignor]}
    old = open_member(topic, partition_assignment_strategy=[RangePartitionAssignor])
    first, second = open_member(topic, **both), open_member(topic, **both)
    assert sorted(map(sorted, settle(6, old, first, second))) == [[0, 1], [2, 3], [4, 5]]
    old.close()
    one, two = settle(6, first, second)
    third = open_member(topic)
    one_later, two_later, _ = settle(6, first, second, third)
    assert one_later < one
    assert two_later < two
