"""Clients on a cluster of three brokers with three copies of everything: brokers die, and leaders move."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from integration.consumer_support import is_since, poll_until
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.cluster import ClusterClient
from kafka.config import parse_admin

if TYPE_CHECKING:
    from harness.releases import Kafka
    from harness.tools import JavaTools

pytestmark = [pytest.mark.apache, pytest.mark.slow]
PATIENCE_S = 60.0
PARTITIONS = 3
EVERY = 20
"""So many records are sent before the producer is waited for, and the consumer asked."""


@pytest.fixture(scope="module")
def cluster(java_tools: JavaTools, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    from harness.releases import kafka_of

    folder = tmp_path_factory.mktemp("three-brokers")
    with kafka_of(java_tools.version, folder, nodes=3, properties={"min.insync.replicas": "2"}) as kafka:
        yield kafka


@pytest.fixture
def topic(cluster: Kafka, make_topic_on: Any) -> str:
    name: str = make_topic_on(cluster)(PARTITIONS)
    return name


@pytest.fixture
def admin(cluster: Kafka) -> Iterator[KafkaAdminClient]:
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers) as client:
        yield client


def partitions_of(admin: KafkaAdminClient, topic: str) -> dict[int, Any]:
    (described,) = admin.describe_topics([topic])
    return {each["partition"]: each for each in described["partitions"]}


def await_copies(admin: KafkaAdminClient, topic: str) -> None:
    """Wait until all copies, those of committed offsets too, are in step."""

    def in_step() -> bool:
        found = [each for name in (topic, "__consumer_offsets") for each in partitions_of(admin, name).values()]
        return all(len(each["isr"]) == 3 for each in found)

    poll_until(in_step, patience_s=PATIENCE_S)


def coordinator_of(cluster: Kafka, group: str) -> int:
    async def ask() -> int:
        parsed = parse_admin({"bootstrap_servers": cluster.bootstrap_servers})
        client = ClusterClient(parsed.connection, parsed.security)
        await client.start()
        try:
            return await client.coordinator("group", group)
        finally:
            await client.close()

    return asyncio.run(ask())


def flow(cluster: Kafka, topic: str, trouble: Callable[[], None]) -> None:
    """Send and read records while there is trouble, and find that each has come, in its order, and once.

    Brokers before 0.11 know no idempotence: a record may come twice there.
    """
    servers = cluster.bootstrap_servers
    idempotent = is_since(cluster, (0, 11))
    in_flight = {} if idempotent else {"max_in_flight_requests_per_connection": 1}
    failed: list[BaseException] = []

    def make_trouble() -> None:
        try:
            trouble()
        except BaseException as error:
            failed.append(error)

    maker = threading.Thread(target=make_trouble)
    sent: dict[int, list[bytes]] = {number: [] for number in range(PARTITIONS)}
    found: dict[int, list[bytes]] = {number: [] for number in range(PARTITIONS)}
    options: dict[str, Any] = {"bootstrap_servers": servers, "reconnect_backoff_max_ms": 500}
    grouped = {"group_id": f"group-{topic}", "auto_offset_reset": "earliest", "auto_commit_interval_ms": 200}
    with KafkaProducer(**options, **in_flight) as producer, KafkaConsumer(topic, **options, **grouped) as consumer:

        def take() -> None:
            for tp, records in consumer.poll(10).items():
                found[tp.partition] += [record.value for record in records]

        futures = []
        number = 0
        while maker.is_alive() or maker.ident is None or number < 100 * EVERY:
            if number == 50 * EVERY:
                maker.start()
            partition = number % PARTITIONS
            sent[partition].append(b"%d" % number)
            futures.append(producer.send(topic, sent[partition][-1], partition=partition))
            number += 1
            if number % EVERY == 0:
                futures[-1].get(PATIENCE_S)
                take()
        maker.join()
        assert failed == []
        producer.flush(PATIENCE_S)
        assert all(future.succeeded() for future in futures)
        deadline = time.monotonic() + PATIENCE_S
        while any(not taken or taken[-1] != sent[each][-1] for each, taken in found.items()):
            assert time.monotonic() < deadline, {each: (len(taken), len(sent[each])) for each, taken in found.items()}
            take()
        consumer.commit()
        ends = consumer.end_offsets([TopicPartition(topic, each) for each in sent])
        assert {tp.partition: consumer.committed(tp) for tp in ends} == {tp.partition: end for tp, end in ends.items()}
    if not idempotent:
        found = {each: list(dict.fromkeys(taken)) for each, taken in found.items()}
    assert found == sent


def test_topics_have_three_copies(admin: KafkaAdminClient, topic: str) -> None:
    await_copies(admin, topic)
    assert len(admin.describe_cluster()["brokers"]) == 3
    found = partitions_of(admin, topic)
    assert {number: sorted(each["replicas"]) for number, each in found.items()} == {
        0: [1, 2, 3],
        1: [1, 2, 3],
        2: [1, 2, 3],
    }
    assert {each["leader"] for each in found.values()} == {1, 2, 3}


def test_a_leader_and_a_coordinator_that_are_killed_cost_no_record(
    cluster: Kafka, admin: KafkaAdminClient, topic: str
) -> None:
    def kill_both() -> None:
        for find in (
            lambda: partitions_of(admin, topic)[0]["leader"],
            lambda: coordinator_of(cluster, f"group-{topic}"),
        ):
            node = find()
            cluster.kill(node)
            poll_until(lambda gone=node: partitions_of(admin, topic)[0]["leader"] not in (gone, -1))
            cluster.restart(node)
            await_copies(admin, topic)

    flow(cluster, topic, kill_both)


def move_leader(admin: KafkaAdminClient, topic: str, partition: int) -> None:
    """Give a partition's replicas another order, and have the first of them elected."""
    place = TopicPartition(topic, partition)
    first, *others = partitions_of(admin, topic)[partition]["replicas"]
    assert admin.alter_partition_reassignments({place: [*others, first]}) == {place: None}
    poll_until(lambda: admin.list_partition_reassignments() == {})
    admin.elect_leaders(0, {topic: [partition]}, raise_errors=False)  # it may be done already
    poll_until(lambda: partitions_of(admin, topic)[partition]["leader"] == others[0])


def test_leaders_that_move_cost_no_record(cluster: Kafka, admin: KafkaAdminClient, topic: str) -> None:
    """A broker that ends in order gives its leaderships away first; where brokers take the request they are moved."""

    def move() -> None:
        leader = partitions_of(admin, topic)[0]["leader"]
        cluster.restart(leader)
        await_copies(admin, topic)
        if is_since(cluster, (2, 4)):
            for partition in range(PARTITIONS):
                move_leader(admin, topic, partition)

    flow(cluster, topic, move)
