"""Clients that are not ours, unchanged, and ours: each reads what each wrote, on both brokers.

On Apache Kafka the tests are tests of our clients, on the embedded broker also of the broker: a client that works with
the one works with the other.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from harness.clients.asyncio_kafka import AioKafka
from harness.clients.confluent import Confluent
from harness.clients.java_console import JavaConsole
from harness.clients.kafka_api import KafkaPython, Ours
from harness.exchange import CODECS, PATIENCE_S, Client, Record, difference, sample
from harness.tools import JavaTools
from harness.topics import create_topic, new_topic_name
from kafka import KafkaConsumer

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic
    from harness.apache import ApacheKafka

NAMES = ("ours", "confluent-kafka", "aiokafka", "kafka-python", "java")
Written = Callable[["Broker", str], tuple[str, list[Record]]]


@pytest.fixture(scope="session")
def clients(java_tools: JavaTools) -> dict[str, Client]:
    """The clients by name."""
    found: list[Client] = [Ours(), Confluent(), AioKafka(), KafkaPython(), JavaConsole(java_tools)]
    return {client.name: client for client in found}


@pytest.fixture(scope="session")
def written(clients: dict[str, Client]) -> Written:
    """Return a function that gives a topic in which a client wrote batches of all codecs, and what it wrote."""
    topics: dict[tuple[str, str], tuple[str, list[Record]]] = {}

    def write(broker: Broker, writer: str) -> tuple[str, list[Record]]:
        if (broker.kind, writer) not in topics:
            topic = new_topic_name("interop")
            create_topic(broker.bootstrap_servers, topic)
            records = []
            for codec in CODECS:
                batch = sample(writer, codec)
                clients[writer].produce(broker.bootstrap_servers, topic, codec, batch)
                records += batch
            topics[broker.kind, writer] = topic, records
        return topics[broker.kind, writer]

    return write


@pytest.mark.parametrize("reader", NAMES)
@pytest.mark.parametrize("writer", NAMES)
def test_each_client_reads_what_each_wrote(
    broker: Broker, clients: dict[str, Client], written: Written, writer: str, reader: str
) -> None:
    topic, records = written(broker, writer)
    found = clients[reader].consume(broker.bootstrap_servers, topic, f"{topic}-{reader}", len(records))
    if writer == "java":  # its console producer cannot set the time
        now = time.time() * 1000
        assert all(record.timestamp_ms and now - 600_000 < record.timestamp_ms <= now for record in found)
        records = [replace(record, timestamp_ms=None) for record in records]
        found = [replace(record, timestamp_ms=None) for record in found]
    assert not difference(found, records)


@pytest.mark.parametrize("name", NAMES)
def test_a_group_goes_on_where_it_stopped(
    broker: Broker, clients: dict[str, Client], written: Written, name: str
) -> None:
    topic, records = written(broker, "confluent-kafka")
    group = f"{topic}-{name}-resume"
    first = clients[name].consume(broker.bootstrap_servers, topic, group, 70)
    second = clients[name].consume(broker.bootstrap_servers, topic, group, len(records) - 70)
    assert not difference(first, records[:70])
    assert not difference(second, records[70:])


def test_a_group_that_one_client_left_is_continued_by_another(
    broker: Broker, clients: dict[str, Client], written: Written
) -> None:
    topic, records = written(broker, "confluent-kafka")
    found = []
    for name in NAMES:
        found += clients[name].consume(broker.bootstrap_servers, topic, f"{topic}-relay", len(records) // len(NAMES))
    assert not difference(found, records)


def test_clients_share_the_partitions_of_one_group(broker: Broker, make_topic: MakeTopic) -> None:
    import confluent_kafka

    topic = make_topic(4)
    ours = KafkaConsumer(topic, bootstrap_servers=broker.bootstrap_servers, group_id=f"{topic}-mixed")
    settings = {"bootstrap.servers": broker.bootstrap_servers, "group.id": f"{topic}-mixed"}
    theirs = confluent_kafka.Consumer(settings)
    theirs.subscribe([topic])
    try:
        shares = _settle(ours, theirs)
        assert sorted(map(len, shares)) == [2, 2]
        assert set.union(*shares) == {0, 1, 2, 3}
    finally:
        theirs.close()
        ours.close()


def _settle(ours: Any, theirs: Any) -> list[set[int]]:
    """Poll both members until each has partitions; return the partitions of each."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        ours.poll(timeout_ms=100)
        theirs.poll(0.1)
        shares = [{tp.partition for tp in consumer.assignment()} for consumer in (ours, theirs)]
        if all(shares) and sum(map(len, shares)) == 4:
            return shares
    pytest.fail(f"the group did not settle in {PATIENCE_S} s", pytrace=False)


@pytest.mark.apache
def test_kafka_finds_our_batches_valid_on_its_disk(apache_kafka: ApacheKafka, clients: dict[str, Client]) -> None:
    topics = {codec: new_topic_name("dump") for codec in CODECS}
    for codec, topic in topics.items():
        create_topic(apache_kafka.bootstrap_servers, topic)
        clients["ours"].produce(apache_kafka.bootstrap_servers, topic, codec, sample("ours", codec))
    logs = [apache_kafka.data_folder() / f"{topic}-0" / "00000000000000000000.log" for topic in topics.values()]
    files = ",".join(map(str, logs))
    said = apache_kafka.tool("org.apache.kafka.tools.DumpLogSegments", "--deep-iteration", "--files", files).stdout
    _, *dumps = re.split(r"^Dumping ", said, flags=re.MULTILINE)
    for codec, dump in zip(topics, dumps, strict=True):
        batches = [line for line in dump.splitlines() if line.startswith("baseOffset")]
        assert batches
        for line in batches:
            assert "isvalid: true" in line
            assert f"compresscodec: {codec}" in line
            assert re.search(r"producerId: \d+", line), f"not idempotent: {line}"
        assert dump.count("| offset: ") == len(sample("ours", codec))
