"""Groups in which this client and librdkafka are members together, on both brokers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import confluent_kafka
import pytest

from integration.consumer_support import poll_until, produce
from kafka import KafkaConsumer
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

PARTITIONS, RECORDS = 4, 100
OURS: dict[str, dict[str, Any]] = {
    "cooperative": {
        "partition_assignment_strategy": [CooperativeStickyAssignor],
        "session_timeout_ms": 6_000,
        "heartbeat_interval_ms": 200,
    },
    "consumer": {"group_protocol": "consumer"},
}
THEIRS: dict[str, dict[str, Any]] = {
    "cooperative": {
        "partition.assignment.strategy": "cooperative-sticky",
        "session.timeout.ms": 6_000,
        "heartbeat.interval.ms": 200,
    },
    "consumer": {"group.protocol": "consumer"},
}
PROTOCOLS = ["cooperative", pytest.param("consumer", marks=pytest.mark.needs(broker=(4, 0), why="KIP-848"))]


class Both:
    """A consumer of ours and one of theirs, which read all that comes."""

    def __init__(self, servers: str, topic: str, protocol: str) -> None:
        self._common = servers, topic, protocol
        self.seen: list[tuple[int, int]] = []
        self.ours: KafkaConsumer | None = None
        self.theirs: confluent_kafka.Consumer | None = None

    def open_ours(self) -> None:
        servers, topic, protocol = self._common
        options = {"auto_offset_reset": "earliest", "auto_commit_interval_ms": 100, **OURS[protocol]}
        self.ours = KafkaConsumer(topic, bootstrap_servers=servers, group_id=f"group-{topic}", **options)

    def open_theirs(self) -> None:
        servers, topic, protocol = self._common
        options = {"auto.offset.reset": "earliest", "auto.commit.interval.ms": 100, **THEIRS[protocol]}
        self.theirs = confluent_kafka.Consumer({"bootstrap.servers": servers, "group.id": f"group-{topic}", **options})
        self.theirs.subscribe([topic])

    def read_on(self) -> tuple[set[int], set[int]]:
        """Read what there is; what each has then."""
        shares: tuple[set[int], set[int]] = set(), set()
        if self.ours is not None:
            self.seen += [(record.partition, record.offset) for record in self.ours.poll(20)]
            shares[0].update(tp.partition for tp in self.ours.assignment())
        if self.theirs is not None:
            for message in self.theirs.consume(100, 0.02):
                assert message.error() is None, message.error()
                self.seen.append((message.partition(), message.offset()))  # type: ignore[arg-type]
            shares[1].update(tp.partition for tp in self.theirs.assignment())
        return shares

    def close(self) -> None:
        for consumer in (self.ours, self.theirs):
            if consumer is not None:
                consumer.close()


@pytest.fixture
def both(broker: Broker, make_topic: MakeTopic, request: pytest.FixtureRequest) -> Iterator[Both]:
    topic = make_topic(PARTITIONS)
    for partition in range(PARTITIONS):
        produce(broker.bootstrap_servers, topic, partition, [b"%d" % n for n in range(RECORDS)])
    opened = Both(broker.bootstrap_servers, topic, request.getfixturevalue("protocol"))
    yield opened
    opened.close()


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("ours_first", [True, False])
def test_they_share_the_partitions_and_lose_nothing(both: Both, protocol: str, ours_first: bool) -> None:
    first, second = (both.open_ours, both.open_theirs) if ours_first else (both.open_theirs, both.open_ours)
    first()
    poll_until(lambda: max(map(len, both.read_on())) == PARTITIONS)
    second()
    poll_until(lambda: sorted(map(len, both.read_on())) == [2, 2])
    ours, theirs = both.read_on()
    assert ours | theirs == set(range(PARTITIONS))
    everything = {(partition, offset) for partition in range(PARTITIONS) for offset in range(RECORDS)}
    poll_until(lambda: both.read_on() is not None and everything <= set(both.seen))
    if ours_first:
        both.ours.close()  # type: ignore[union-attr]
        both.ours = None
    else:
        both.theirs.close()  # type: ignore[union-attr]
        both.theirs = None
    poll_until(lambda: max(map(len, both.read_on())) == PARTITIONS)
