"""`kafka consume` while its topic is recreated with fewer, as many or more partitions."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

import kafka
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.cli.consume.selection import Piece
from kafka.cli.consume.source import Following, InGroup, Snapshot, Source, closing
from kafka.errors import OffsetOutOfRangeError

if TYPE_CHECKING:
    from kafka.cli.session import Session

PATIENCE_S = 60.0
MakeTopic = Callable[..., str]


class FakeSession:
    """Creates consumers that detect recreated topics quickly."""

    def __init__(self, broker: EmbeddedBroker) -> None:
        self._broker = broker

    def consumer(self, **own: Any) -> KafkaConsumer[Any, Any]:
        common = {"metadata_max_age_ms": 100, "allow_auto_create_topics": False}
        return KafkaConsumer(bootstrap_servers=self._broker.bootstrap_servers, **common, **own)


def write(broker: EmbeddedBroker, topic: str, text: bytes, partitions: int) -> set[bytes]:
    values = [b"%s %d" % (text, number) for number in range(20)]
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number, value in enumerate(values):
            producer.send(topic, value, partition=number % partitions)
    return set(values)


def take(source: Source, wanted: set[bytes]) -> None:
    """Read until all of these values, and no others, have arrived."""
    values: list[bytes] = []
    deadline = time.monotonic() + PATIENCE_S
    for columns in source.columns():
        piece = Piece(columns, None, columns.next_offset)
        values += [bytes(record.value or b"") for record in piece.records()]
        source.written(piece)
        if len(values) >= len(wanted):
            break
        assert time.monotonic() < deadline
    assert sorted(values) == sorted(wanted)


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [1, 2, 3])
@pytest.mark.parametrize("in_group", [True, False])
def test_it_reads_the_new_topic_and_commits_nothing_of_the_deleted_one(
    broker: EmbeddedBroker, topic: MakeTopic, partitions: int, in_group: bool
) -> None:
    name = topic(2)
    session: Any = FakeSession(broker)
    old = write(broker, name, b"old", 2)
    with (
        closing(make_source(session, broker, name, in_group)) as source,
        KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        take(source, old)
        admin.delete_topics([name])
        admin.create_topics({name: {"num_partitions": partitions}}, wait_for_metadata=True)
        take(source, write(broker, name, b"new", min(partitions, 2)))
        if in_group:
            admin.delete_topics([name])
            admin.create_topics({name: {"num_partitions": partitions}}, wait_for_metadata=True)
            consumer: Any = source._consumer  # type: ignore[attr-defined]
            deadline = time.monotonic() + PATIENCE_S
            while not consumer.assignment() or {consumer.position(tp) for tp in consumer.assignment()} != {0}:
                consumer.poll(50)
                assert time.monotonic() < deadline
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        if in_group:
            assert {each.offset for each in admin.list_consumer_group_offsets(f"g-{name}").values()} <= {0}


@pytest.mark.parametrize("partitions", [1, 2, 3])
def test_a_bounded_read_fails_and_shows_none_of_the_new_topics_records(
    broker: EmbeddedBroker, topic: MakeTopic, partitions: int
) -> None:
    name = topic(2)
    write(broker, name, b"old", 2)
    snapshot = Snapshot(kafka.read(name, bootstrap_servers=broker.bootstrap_servers))
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.delete_topics([name])
        admin.create_topics({name: {"num_partitions": partitions}}, wait_for_metadata=True)
    write(broker, name, b"new", partitions)
    text = "no longer exist: their topic was deleted .*; run the command again to read the rest"
    with pytest.raises(OffsetOutOfRangeError, match=text):
        next(snapshot.columns())


def make_source(session: Session, broker: EmbeddedBroker, name: str, in_group: bool) -> Source:
    if in_group:
        return InGroup(session, [name], {"group_id": f"g-{name}"}, "earliest", None, lambda: True)
    read = kafka.read(name, bootstrap_servers=broker.bootstrap_servers)
    return Following(session, read, None)
