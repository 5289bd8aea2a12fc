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
from kafka.admin import NewTopic, OffsetSpec
from kafka.cluster import ClusterClient
from kafka.config import parse_admin
from kafka.errors import NoError, OffsetOutOfRangeError, TopicAlreadyExistsError, UnknownTopicOrPartitionError
from kafka.net.connection import Connection
from kafka.partitioner import DefaultPartitioner, LegacyPartitioner, Murmur2Partitioner, RoundRobinPartitioner
from kafka.structs import OffsetAndMetadata

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


# What is asked about several things: one request a broker ------------------------------------------------------------


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The requests that connections were given, with the broker; a test may clear it."""
    seen: list[tuple[str, int]] = []
    post = Connection.post_for

    def noted(connection: Connection, reply: Any, request: Any, *others: Any, **named: Any) -> None:
        seen.append((type(request).__name__.removesuffix("Request"), connection.node_id))
        post(connection, reply, request, *others, **named)

    monkeypatch.setattr(Connection, "post_for", noted)
    return seen


def brokers_asked(requests: list[tuple[str, int]], api: str) -> list[int]:
    return sorted(node for name, node in requests if name == api)


@pytest.mark.needs(broker=(0, 11), why="DeleteRecords")
def test_records_of_many_partitions_are_one_request_a_leader_and_one_result_each(
    cluster: Kafka, admin: KafkaAdminClient, make_topic_on: Any, requests: list[tuple[str, int]]
) -> None:
    topic = make_topic_on(cluster)(6)
    partitions = [TopicPartition(topic, number) for number in range(6)]
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
        for number in range(30):
            producer.send(topic, b"%d" % number, partition=number % 6)
        producer.flush(PATIENCE_S)
    leaders = sorted({each["leader"] for each in partitions_of(admin, topic).values()})
    assert len(leaders) > 1  # under load one may have been fenced when the topic was made

    requests.clear()
    ends = admin.list_partition_offsets(dict.fromkeys(partitions, OffsetSpec.LATEST))
    assert {tp: found.offset for tp, found in ends.items()} == dict.fromkeys(partitions, 5)
    assert brokers_asked(requests, "ListOffsets") == leaders

    missing = TopicPartition(topic, 99)
    wanted = {**{tp: tp.partition for tp in partitions[:5]}, partitions[5]: 6, missing: 1}
    deleted = admin.delete_records(wanted, raise_errors=False)
    assert brokers_asked(requests, "DeleteRecords") == leaders
    assert [deleted[tp]["low_watermark"] for tp in partitions[:5]] == [0, 1, 2, 3, 4]
    assert type(deleted[partitions[5]]) is OffsetOutOfRangeError
    assert type(deleted[missing]) is UnknownTopicOrPartitionError
    begins = admin.list_partition_offsets(dict.fromkeys(partitions, OffsetSpec.EARLIEST))
    assert [begins[tp].offset for tp in partitions] == [0, 1, 2, 3, 4, 0]


@pytest.mark.needs(broker=(1, 1), why="DeleteGroups")
def test_groups_are_one_request_a_coordinator_and_topics_one_to_the_controller(
    cluster: Kafka, admin: KafkaAdminClient, make_topic_on: Any, requests: list[tuple[str, int]]
) -> None:
    place = TopicPartition(make_topic_on(cluster)(1), 0)
    groups = [f"group-{number}-{place.topic}" for number in range(12)]
    for group in groups:
        assert admin.alter_group_offsets(group, {place: OffsetAndMetadata(3, "", -1)}) == {place: NoError}
    coordinators = sorted({coordinator_of(cluster, group) for group in groups})

    requests.clear()
    found = admin.list_group_offsets(groups)
    assert {group: offsets[place].offset for group, offsets in found.items()} == dict.fromkeys(groups, 3)
    if is_since(cluster, (3, 0)):  # before it a request is about one group
        assert brokers_asked(requests, "OffsetFetch") == coordinators
    deleted = admin.delete_groups([*groups, "no-such-group"])
    assert deleted == {**dict.fromkeys(groups, "OK"), "no-such-group": "GroupIdNotFoundError"}
    asked = brokers_asked(requests, "DeleteGroups")
    assert asked == sorted({*coordinators, coordinator_of(cluster, "no-such-group")})

    names = [f"{place.topic}-{number}" for number in range(3)]
    requests.clear()
    made = admin.create_topics([NewTopic(name, 1, 1) for name in (*names, place.topic)], raise_errors=False)
    assert [each["error_code"] for each in made["topics"]] == [0, 0, 0, TopicAlreadyExistsError.errno]
    assert len(brokers_asked(requests, "CreateTopics")) == 1
    poll_until(lambda: set(names) <= set(admin.list_topics()), patience_s=PATIENCE_S)
    gone = admin.delete_topics([*names, "no-such-topic"], raise_errors=False)
    assert [each["error_code"] for each in gone["topics"]] == [0, 0, 0, UnknownTopicOrPartitionError.errno]
    assert len(brokers_asked(requests, "DeleteTopics")) == 1


@pytest.mark.filterwarnings("ignore:HashedPartitioner is deprecated:DeprecationWarning")
@pytest.mark.parametrize(
    "kind", [None, DefaultPartitioner, Murmur2Partitioner, LegacyPartitioner, RoundRobinPartitioner]
)
def test_a_key_is_in_the_partition_that_each_generations_partitioner_gives_it(
    cluster: Kafka, topic: str, kind: Any
) -> None:
    """What the partitioners choose is compared with the originals in ``unit/partitioner``; here, that it is obeyed."""
    everything, keys = list(range(PARTITIONS)), [b"key-%d" % number for number in range(30)]

    def make() -> Any:
        return DefaultPartitioner() if kind in (None, DefaultPartitioner) else kind(everything)

    options = {} if kind is None else {"partitioner": make()}
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, **options) as producer:
        futures = [producer.send(topic, b"v", key=key) for key in keys]
        placed = [future.get(PATIENCE_S).partition for future in futures]
    judge = make()
    if isinstance(judge, DefaultPartitioner):
        assert placed == [judge(key, everything, everything) for key in keys]
    else:
        assert placed == [judge.partition(key) for key in keys]
