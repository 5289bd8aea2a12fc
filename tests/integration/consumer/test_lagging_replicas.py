"""Followers: one elected uncleanly, which cuts the log back (KIP-320), and one read in its leader's place (KIP-392)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from integration.consumer_support import poll_until, read
from kafka import AsyncKafkaConsumer, KafkaAdminClient, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import NewTopic
from kafka.errors import LogTruncationError
from kafka.spark.options.parsing import parse_read
from kafka.spark.planning.cluster_lookup import ClusterLookup
from kafka.spark.planning.data_loss import DataLossError
from kafka.spark.planning.stream_plan import StreamPlanner
from kafka.spark.tasks.read_task import read_task

if TYPE_CHECKING:
    from harness.releases import Kafka
    from harness.tools import JavaTools

pytestmark = [
    pytest.mark.apache,
    pytest.mark.slow,
    pytest.mark.needs(broker=(3, 9), why="brokers in different racks, which the tests only set up with KRaft"),
]
PATIENCE_S = 60.0
PROPERTIES = {
    "broker.rack": "rack-{node}",
    "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
    "min.insync.replicas": "1",
}


@pytest.fixture(scope="module")
def cluster(java_tools: JavaTools, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    from harness.fetch import release_numbers
    from harness.releases import kafka_of

    # Replicas that may be elected although they are out of sync would have nobody elected uncleanly (KIP-966).
    features = {"eligible.leader.replicas.version": 0} if release_numbers(java_tools.version) >= (4, 0) else None
    folder = tmp_path_factory.mktemp("lagging-replicas")
    with kafka_of(java_tools.version, folder, nodes=3, properties=PROPERTIES, features=features) as kafka:
        yield kafka


@pytest.fixture
def admin(cluster: Kafka) -> Iterator[KafkaAdminClient]:
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers) as client:
        yield client


def partition_of(admin: KafkaAdminClient, topic: str) -> Any:
    (described,) = admin.describe_topics([topic])
    return described["partitions"][0]


def write(cluster: Kafka, tp: TopicPartition, values: list[bytes], **options: Any) -> None:
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, **options) as producer:
        for value in values:
            producer.send(tp.topic, value, partition=tp.partition).get(PATIENCE_S)


def open_at(cluster: Kafka, tp: TopicPartition, **options: Any) -> KafkaConsumer:
    consumer = KafkaConsumer(bootstrap_servers=cluster.bootstrap_servers, reconnect_backoff_max_ms=500, **options)
    consumer.assign([tp])
    consumer.seek(tp, 0)
    return consumer


async def read_awaiting(consumer: AsyncKafkaConsumer, count: int) -> list[bytes | None]:
    values: list[bytes | None] = []
    async with asyncio.timeout(PATIENCE_S):
        while len(values) < count:
            values += [record.value for records in (await consumer.poll(200)).values() for record in records]
    return values


def raised_by(consumer: KafkaConsumer) -> LogTruncationError:
    found: list[LogTruncationError] = []

    def told() -> bool:
        try:
            assert consumer.poll(100) == {}
        except LogTruncationError as error:
            found.append(error)
        return bool(found)

    poll_until(told, patience_s=PATIENCE_S)
    return found[0]


def test_a_consumer_is_told_of_records_that_an_unclean_election_has_taken_back(
    cluster: Kafka, admin: KafkaAdminClient
) -> None:
    tp = TopicPartition("unclean", 0)
    leader, lagging = 1, 2
    config = {"unclean.leader.election.enable": "true"}
    admin.create_topics([NewTopic(tp.topic, replica_assignments={0: [leader, lagging]}, topic_configs=config)])
    kept, lost, others = ([b"%s %d" % (kind, n) for n in range(5)] for kind in (b"kept", b"lost", b"other"))
    write(cluster, tp, kept)
    cluster.kill(lagging)
    poll_until(lambda: partition_of(admin, tp.topic)["isr"] == [leader], patience_s=PATIENCE_S)
    write(cluster, tp, lost, acks=1)
    with (
        open_at(cluster, tp, auto_offset_reset="none") as told,
        open_at(cluster, tp, auto_offset_reset="earliest") as moved,
        asyncio.Runner() as runner,
    ):
        awaited = AsyncKafkaConsumer(bootstrap_servers=cluster.bootstrap_servers, auto_offset_reset="earliest")
        runner.run(awaited.start())
        runner.run(awaited.assign([tp]))
        assert runner.run(read_awaiting(awaited, 10)) == kept + lost
        for consumer in (told, moved):
            assert [record.value for record in read(consumer, 10)] == kept + lost
        cluster.kill(leader)
        cluster.restart(lagging)
        poll_until(lambda: partition_of(admin, tp.topic)["leader"] == lagging, patience_s=PATIENCE_S)
        write(cluster, tp, others[:3], acks=1)

        error = raised_by(told)
        epoch = error.divergent_offsets[tp].leader_epoch  # type: ignore[index]
        assert error.divergent_offsets == {tp: OffsetAndMetadata(5, "", epoch)}
        position = error.positions[tp]  # type: ignore[index]
        assert (position.offset, position.leader_epoch >= epoch) == (10, True)
        assert told.position(tp) == 10
        told.seek(tp, 5)
        for consumer in (told, moved):
            assert [record.value for record in read(consumer, 3, PATIENCE_S)] == others[:3]
            assert consumer.position(tp) == 8
        assert runner.run(read_awaiting(awaited, 3)) == others[:3]
        runner.run(awaited.close())
    cluster.restart(leader)


@pytest.mark.parametrize(
    "others",
    [
        pytest.param(3, id="shorter"),
        pytest.param(5, id="as long", marks=pytest.mark.exhaustive),
        pytest.param(9, id="longer", marks=pytest.mark.exhaustive),
    ],
)
def test_a_stream_of_spark_notices_between_two_micro_batches_what_an_unclean_election_has_taken_back(
    cluster: Kafka, admin: KafkaAdminClient, others: int
) -> None:
    pytest.importorskip("pyarrow")
    tp = TopicPartition(f"unclean-stream-{others}", 0)
    leader, lagging = 1, 2
    config = {"unclean.leader.election.enable": "true"}
    admin.create_topics([NewTopic(tp.topic, replica_assignments={0: [leader, lagging]}, topic_configs=config)])
    write(cluster, tp, [b"kept %d" % n for n in range(5)])
    cluster.kill(lagging)
    poll_until(lambda: partition_of(admin, tp.topic)["isr"] == [leader], patience_s=PATIENCE_S)
    write(cluster, tp, [b"lost %d" % n for n in range(5)], acks=1)
    strict, lenient = (Stream(cluster, tp.topic, fails) for fails in (True, False))
    try:
        begin = strict.planner().initial()
        planned = strict.planner().latest(begin, None, everything=True)
        assert strict.rows(begin, planned) == [b"kept %d" % n for n in range(5)] + [b"lost %d" % n for n in range(5)]
        cluster.kill(leader)
        cluster.restart(lagging)
        poll_until(lambda: partition_of(admin, tp.topic)["leader"] == lagging, patience_s=PATIENCE_S)
        written = [b"other %d" % n for n in range(others)]
        write(cluster, tp, written, acks=1)

        with pytest.raises(DataLossError, match=f"log of {tp.topic}-0 was truncated to offset 5 .* had read up to 10"):
            strict.planner().latest(planned, None, everything=True)
        with pytest.raises(DataLossError, match=f"{tp.topic}-0 was to be read from offset"):
            strict.rows(begin, planned)  # the micro-batch that was planned before, again
        assert lenient.rows(begin, planned) == [b"kept %d" % n for n in range(5)]
        later = lenient.planner().latest(planned, None, everything=True)
        assert lenient.rows(planned, later) == written
        write(cluster, tp, [b"more"], acks=1)
        assert lenient.rows(later, lenient.planner().latest(later, None, everything=True)) == [b"more"]
    finally:
        strict.close()
        lenient.close()
        cluster.restart(leader)
        poll_until(lambda: len(partition_of(admin, tp.topic)["isr"]) == 2, patience_s=PATIENCE_S)


class Stream:
    """A stream of Spark as far as it is ours: planners, each a new one as after a restart, and tasks."""

    def __init__(self, cluster: Kafka, topic: str, fails: bool) -> None:
        given = {"kafka.bootstrap.servers": cluster.bootstrap_servers, "subscribe": topic}
        given |= {"startingoffsets": "earliest", "failondataloss": str(fails), "kafka.reconnect.backoff.max.ms": "500"}
        self._options = parse_read(given, streaming=True)
        self._lookup = ClusterLookup(self._options)

    def planner(self) -> StreamPlanner:
        return StreamPlanner(self._options, self._lookup, time.monotonic)

    def rows(self, start: dict[str, Any], end: dict[str, Any]) -> list[bytes]:
        tasks = self.planner().tasks(start, end)
        batches = (batch for task in tasks for batch in read_task(self._options, ("value",), task))
        return [value for batch in batches for value in batch["value"].to_pylist()]

    def close(self) -> None:
        self._lookup.close()


def test_a_follower_in_the_consumers_rack_is_read_and_its_leader_when_it_is_gone(
    cluster: Kafka, admin: KafkaAdminClient
) -> None:
    tp = TopicPartition("near", 0)
    leader, follower = 1, 3
    admin.create_topics([NewTopic(tp.topic, replica_assignments={0: [leader, follower]})])
    write(cluster, tp, [b"%d" % n for n in range(20)])
    with open_at(cluster, tp, client_rack=f"rack-{follower}", metadata_max_age_ms=3_000) as consumer:

        def read_from() -> int | None:
            lease = consumer._core.fetcher._replicas.leases.get(tp)
            return None if lease is None else lease.broker_id

        def fetched_bytes(node: int) -> float:
            group = consumer.metrics().get(f"consumer-node-metrics.node-{node}", {})
            return float(group.get("incoming-byte-total", 0))

        assert [int(record.value) for record in read(consumer, 20)] == list(range(20))
        assert read_from() == follower
        before = fetched_bytes(leader)
        write(cluster, tp, [bytes(100_000) for _ in range(5)])
        assert len(read(consumer, 5)) == 5
        assert fetched_bytes(leader) - before < 100_000  # metadata, and being sent to the follower again
        cluster.kill(follower)
        write(cluster, tp, [b"after"], acks=1)
        assert [record.value for record in read(consumer, 1, PATIENCE_S)] == [b"after"]
        assert read_from() is None
        cluster.restart(follower)
        poll_until(lambda: len(partition_of(admin, tp.topic)["isr"]) == 2, patience_s=PATIENCE_S)
        again: Callable[[], bool] = lambda: read_from() == follower  # noqa: E731
        poll_until(again, consumer, patience_s=PATIENCE_S)  # once the leader is asked again
        write(cluster, tp, [b"again"])
        assert [record.value for record in read(consumer, 1, PATIENCE_S)] == [b"again"]
