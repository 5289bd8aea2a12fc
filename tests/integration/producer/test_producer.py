"""The producer against real brokers, read back by a client that is not ours."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import confluent_kafka
import pytest

from integration.consumer_support import is_since, poll_until, without_idempotence_warning
from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import ACL, ACLOperation, ACLPermissionType, KafkaAdminClient, ResourcePattern, ResourceType
from kafka.errors import (
    ClusterAuthorizationFailedError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    NoBrokersAvailable,
    UnsupportedVersionError,
)
from kafka.partitioner import DefaultPartitioner
from kafka.producer import AsyncKafkaProducer
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from harness.tools import JavaTools

PATIENCE_S = 60.0
ZSTD = pytest.mark.needs(broker=(2, 1), why="zstd (KIP-110)")


def read(
    bootstrap_servers: str, topic: str, partitions: int, count: int, *, exact: bool = True
) -> dict[int, list[confluent_kafka.Message]]:
    """Read `count` records, and find that there are no more, unless more than that are as good."""
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": bootstrap_servers, "group.id": "judge", "enable.partition.eof": True, "check.crcs": True}
    )
    consumer.assign([confluent_kafka.TopicPartition(topic, p, 0) for p in range(partitions)])
    found: dict[int, list[confluent_kafka.Message]] = {p: [] for p in range(partitions)}
    ended: set[int] = set()
    deadline = time.monotonic() + PATIENCE_S
    try:
        # Without acknowledgements the broker may still be writing: an end before the last record is none.
        while len(ended) < partitions or sum(map(len, found.values())) < count:
            assert time.monotonic() < deadline, f"read {sum(map(len, found.values()))} of {count} records"
            message = consumer.poll(1)
            if message is None:
                continue
            if message.error() is None:
                found[message.partition()].append(message)
                ended.discard(message.partition())
            elif message.error().code() == confluent_kafka.KafkaError._PARTITION_EOF:
                ended.add(message.partition())
            else:
                raise AssertionError(message.error())
    finally:
        consumer.close()
    assert not exact or sum(map(len, found.values())) == count
    return found


@pytest.fixture
def producer(broker: Any) -> Iterator[KafkaProducer]:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        yield producer


def test_a_record_is_read_as_it_was_sent(broker: Any, make_topic: Any, producer: KafkaProducer) -> None:
    topic = make_topic()
    headers = [("a", b"1"), ("b", None)] if is_since(broker, (0, 11)) else []
    future = producer.send(topic, b"value", b"key", headers, timestamp_ms=1_600_000_000_123)
    tombstone = producer.send(topic, None, b"key")
    metadata = future.get(PATIENCE_S)
    assert metadata[:5] == (topic, 0, TopicPartition(topic, 0), 0, 1_600_000_000_123)
    assert metadata[5:] == (None, 3, 5, 3 if headers else -1)
    assert tombstone.get(PATIENCE_S).offset == 1
    first, second = read(broker.bootstrap_servers, topic, 1, 2)[0]
    assert (first.key(), first.value(), first.headers() or []) == (b"key", b"value", headers)
    assert first.timestamp() == (confluent_kafka.TIMESTAMP_CREATE_TIME, 1_600_000_000_123)
    assert (second.key(), second.value()) == (b"key", None)
    assert abs(second.timestamp()[1] - time.time() * 1000) < 60_000


@pytest.mark.parametrize("codec", [None, "gzip", "snappy", "lz4", pytest.param("zstd", marks=ZSTD)])
def test_every_codec_is_read_back_in_order(broker: Any, make_topic: Any, codec: str | None) -> None:
    topic = make_topic(3)
    values = [b"%06d %s" % (i, b"abc" * (i % 50)) for i in range(5_000)]
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, compression_type=codec, linger_ms=5) as producer:
        for i, value in enumerate(values):
            producer.send(topic, value, b"%d" % (i % 100))
        producer.flush()
    pick = DefaultPartitioner()
    found = read(broker.bootstrap_servers, topic, 3, 5_000)
    for partition, messages in found.items():
        wanted = [v for i, v in enumerate(values) if pick(b"%d" % (i % 100), [0, 1, 2], []) == partition]
        assert [message.value() for message in messages] == wanted


@pytest.mark.parametrize("acks", [0, 1, "all"])
def test_every_kind_of_acknowledgement(broker: Any, make_topic: Any, acks: Any) -> None:
    topic = make_topic()
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, acks=acks, batch_size=0) as producer:
        futures = [producer.send(topic, b"%d" % i) for i in range(200)]
        producer.flush()
        offsets = [future.get(PATIENCE_S).offset for future in futures]
    assert offsets == ([-1] * 200 if acks == 0 else list(range(200)))
    found = [m.value() for m in read(broker.bootstrap_servers, topic, 1, 200)[0]]
    if acks == 0 and not is_since(broker, (0, 11)):  # these may write two requests the wrong way round
        found.sort(key=int)
    assert found == [b"%d" % i for i in range(200)]


def test_many_threads_share_a_producer(broker: Any, make_topic: Any) -> None:
    topic = make_topic(2)
    called: list[int] = []
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, linger_ms=1, buffer_memory=200_000) as producer:

        def work(number: int) -> None:
            for i in range(2_000):
                future = producer.send(topic, b"%d %d" % (number, i), partition=number % 2)
                future.add_callback(lambda metadata: called.append(metadata.partition))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        producer.flush()
        assert len(called) == 12_000
        assert producer.metrics()["producer-metrics"]["record-send-total"] == 12_000
    found = read(broker.bootstrap_servers, topic, 2, 12_000)
    for number in range(6):
        mine = [m.value() for m in found[number % 2] if m.value().startswith(b"%d " % number)]
        assert mine == [b"%d %d" % (number, i) for i in range(2_000)]


def test_a_batch_above_the_topics_limit_is_split(broker: Any, make_topic: Any) -> None:
    topic = make_topic(config={"max.message.bytes": "20000"})
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, batch_size=100_000, linger_ms=50) as producer:
        futures = [producer.send(topic, b"%03d" % i + os.urandom(500)) for i in range(150)]
        producer.flush()
        assert [future.get(0).offset for future in futures] == list(range(150))
        too_large = producer.send(topic, os.urandom(30_000))
        after = producer.send(topic, b"after")
        with pytest.raises(MessageSizeTooLargeError):
            too_large.get(PATIENCE_S)
        assert after.get(PATIENCE_S).offset == 150
    values = [m.value() for m in read(broker.bootstrap_servers, topic, 1, 151)[0]]
    assert [value[:3] for value in values[:150]] == [b"%03d" % i for i in range(150)]


def test_arrow_rows_are_read_back(broker: Any, make_topic: Any, producer: KafkaProducer) -> None:
    pa = pytest.importorskip("pyarrow")
    topic = make_topic(3)
    rows = 50_000
    table = pa.table(
        {
            "key": [f"k{i % 1000}" for i in range(rows)],
            "value": [None if i % 100 == 7 else f"value {i}" for i in range(rows)],
            "timestamp": pa.array([1_600_000_000_000 + i for i in range(rows)], pa.timestamp("ms", tz="UTC")),
        }
    )
    result = producer.send_arrow(topic, table).get(PATIENCE_S)
    assert result.rows == rows
    found = read(broker.bootstrap_servers, topic, 3, rows)
    assert {p: sum(r.records for r in result.offsets[TopicPartition(topic, p)]) for p in range(3)} == {
        p: len(messages) for p, messages in found.items()
    }
    pick = DefaultPartitioner()
    for partition, messages in found.items():
        mine = [i for i in range(rows) if pick(b"k%d" % (i % 1000), [0, 1, 2], []) == partition]
        assert [m.value() for m in messages] == [None if i % 100 == 7 else b"value %d" % i for i in mine]
        assert [m.timestamp()[1] for m in messages] == [1_600_000_000_000 + i for i in mine]


async def test_the_asyncio_face_sends_on_the_callers_loop(broker: Any, make_topic: Any) -> None:
    topic = make_topic(2)
    loops = [thread.name for thread in threading.enumerate()].count("kafka-loop")
    async with AsyncKafkaProducer(bootstrap_servers=broker.bootstrap_servers, linger_ms=2) as producer:
        assert await producer.partitions_for(topic) == {0, 1}
        assert (await producer.send_and_wait(topic, b"0", partition=1)).offset == 0
        futures = [await producer.send(topic, b"%d" % i, partition=i % 2) for i in range(1, 1_000)]
        await producer.flush()
        assert (await futures[-1]).offset == 500
        assert [thread.name for thread in threading.enumerate()].count("kafka-loop") == loops
        pa = pytest.importorskip("pyarrow")
        assert (await (await producer.send_arrow(topic, pa.table({"value": ["a", "b"]})))).rows == 2
        results = await asyncio.gather(*(producer.send_and_wait(topic, b"x") for _ in range(100)))
        assert len(results) == 100
    read(broker.bootstrap_servers, topic, 2, 1_102)


def test_our_consumer_reads_what_our_producer_wrote(broker: Any, make_topic: Any, producer: KafkaProducer) -> None:
    topic = make_topic()
    headers = [[("n", b"%d" % i)] if is_since(broker, (0, 11)) else [] for i in range(100)]
    for i in range(100):
        producer.send(topic, b"%d" % i, headers=headers[i])
    producer.flush()
    place = TopicPartition(topic, 0)
    consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap_servers)
    try:
        consumer.assign([place])
        consumer.seek(place, 0)
        records: list[Any] = []
        deadline = time.monotonic() + PATIENCE_S
        while len(records) < 100 and time.monotonic() < deadline:
            records += consumer.poll(500).get(place, [])
    finally:
        consumer.close()
    assert [(r.value, r.headers) for r in records] == [(b"%d" % i, headers[i]) for i in range(100)]


def stepped_down(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if "without idempotence" in each.getMessage()]


@pytest.mark.apache
@pytest.mark.needs(before=(0, 11), why="brokers without support for idempotence")
def test_a_broker_that_knows_no_idempotence_costs_one_warning(
    apache_kafka: Any, make_topic_on: Any, caplog: pytest.LogCaptureFixture
) -> None:
    topic = make_topic_on(apache_kafka)()
    options = {"bootstrap_servers": apache_kafka.bootstrap_servers}
    with KafkaProducer(**options) as producer:
        assert [producer.send(topic, b"x").get(PATIENCE_S).offset for _ in range(3)] == [0, 1, 2]
    assert len(stepped_down(caplog)) == 1
    with KafkaProducer(**options, enable_idempotence=True) as producer, pytest.raises(UnsupportedVersionError):
        producer.send(topic, b"x").get(PATIENCE_S)


@pytest.mark.apache
@pytest.mark.needs(
    broker=(0, 11), before=(2, 8), why="rejection of idempotence for principals that may only write (KIP-679)"
)
def test_a_cluster_that_forbids_idempotence_costs_one_warning(
    java_tools: JavaTools, make_topic_on: Any, caplog: pytest.LogCaptureFixture
) -> None:
    from harness.releases import authorizer_class, kafka_of

    authorizer = {"authorizer.class.name": authorizer_class(java_tools.version)}
    with kafka_of(java_tools.version, properties={**authorizer, "allow.everyone.if.no.acl.found": "true"}) as kafka:
        topic = make_topic_on(kafka)()
        options = {"bootstrap_servers": kafka.bootstrap_servers}
        cluster = ResourcePattern(ResourceType.CLUSTER, "kafka-cluster")
        rules = (
            (ACLOperation.ALL, ACLPermissionType.ALLOW),
            (ACLOperation.IDEMPOTENT_WRITE, ACLPermissionType.DENY),
        )
        with KafkaAdminClient(**options) as admin:
            assert admin.create_acls([ACL("User:ANONYMOUS", "*", *rule, cluster) for rule in rules])["failed"] == []

        def is_refused() -> bool:
            with KafkaProducer(**options, enable_idempotence=True) as producer:
                try:
                    producer.send(topic, b"x").get(PATIENCE_S)
                except ClusterAuthorizationFailedError:
                    return True
                return False

        poll_until(is_refused)  # the broker hears of rules a little later
        caplog.clear()
        with KafkaProducer(**options) as producer:
            first, second = (producer.send(topic, b"x").get(PATIENCE_S).offset for _ in range(2))
        assert second == first + 1
        assert len(stepped_down(caplog)) == 1


def test_no_broker_is_said_with_every_address_that_was_tried() -> None:
    with pytest.raises(NoBrokersAvailable, match=r"127\.0\.0\.1:1"):
        KafkaProducer(bootstrap_servers="127.0.0.1:1", bootstrap_timeout_ms=500)


def run_script(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program of its own, which has a minute: half as long as a record may take to be delivered."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", script, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_program_that_ends_without_close_delivers_what_it_sent(broker: Any, make_topic: Any) -> None:
    topic = make_topic()
    script = (
        "import sys; from kafka import KafkaProducer\n"
        "producer = KafkaProducer(bootstrap_servers=sys.argv[1], linger_ms=60000)\n"
        "[producer.send(sys.argv[2], b'%d' % i) for i in range(1000)]\n"
        "sys.exit(7)\n"
    )
    done = run_script(script, broker.bootstrap_servers, topic)
    assert (done.returncode, without_idempotence_warning(done.stderr)) == (7, "")
    assert len(read(broker.bootstrap_servers, topic, 1, 1_000)[0]) == 1_000


def test_a_producer_that_is_dropped_delivers_what_it_has(broker: Any, make_topic: Any) -> None:
    topic = make_topic()
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers, linger_ms=60_000)
    future = producer.send(topic, b"x")
    del producer
    assert future.get(PATIENCE_S).offset == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_is_told_and_neither_hangs_nor_sends(broker: Any, make_topic: Any) -> None:
    topic = make_topic()
    script = (
        "import os, sys, time; from kafka import KafkaProducer; from kafka.errors import ForkedClientError\n"
        "producer = KafkaProducer(bootstrap_servers=sys.argv[1], linger_ms=300)\n"
        "old = producer.send(sys.argv[2], b'parent')\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    for act in (lambda: producer.send(sys.argv[2], b'child'), lambda: old.get(), producer.flush):\n"
        "        try: act()\n"
        "        except ForkedClientError: continue\n"
        "        os._exit(3)\n"
        "    new = KafkaProducer(bootstrap_servers=sys.argv[1])\n"
        "    new.send(sys.argv[2], b'new').get(60)\n"
        "    sys.exit(0)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0\n"
        "old.get(60); producer.close()\n"
    )
    done = run_script(script, broker.bootstrap_servers, topic)
    assert (done.returncode, without_idempotence_warning(done.stderr)) == (0, "")
    assert sorted(m.value() for m in read(broker.bootstrap_servers, topic, 1, 2)[0]) == [b"new", b"parent"]


@pytest.mark.slow
def test_a_program_whose_broker_is_gone_ends_soon_and_says_what_is_lost(tmp_path: Any) -> None:
    script = (
        "import logging, subprocess, sys; from kafka import KafkaProducer\n"
        "logging.basicConfig(level=logging.ERROR)\n"
        "command = [sys.executable, '-m', 'kafka', 'broker', '--data-dir', sys.argv[1], '--port', '0']\n"
        "with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as broker:\n"
        "    producer = KafkaProducer(bootstrap_servers=broker.stdout.readline().split()[-1])\n"
        "    producer.send('t', b'x').get(60)\n"
        "    broker.kill()\n"
        "for _ in range(10): producer.send('t', b'y')\n"
        "sys.exit(7)\n"
    )
    done = run_script(script, str(tmp_path))
    assert done.returncode == 7
    assert "Traceback" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if "not delivered" in line]
    assert sum(int(line.split("failures:")[1].split()[0]) for line in lines) == 10


@pytest.mark.apache
@pytest.mark.slow
def test_a_killed_broker_costs_neither_records_nor_order(java_tools: JavaTools, make_topic_on: Any) -> None:
    from harness.fetch import release_numbers
    from harness.releases import kafka_of

    with kafka_of(java_tools.version) as kafka:
        topic = make_topic_on(kafka)(2)
        with KafkaProducer(bootstrap_servers=kafka.bootstrap_servers, linger_ms=5) as producer:
            futures = []
            sent: dict[int, list[bytes]] = {0: [], 1: []}
            killer = threading.Thread(target=lambda: (kafka.kill(), kafka.restart()))
            for i in range(6_000):
                if i == 2_000:
                    killer.start()
                futures.append(producer.send(topic, b"%d" % i, partition=i % 2))
                sent[i % 2].append(b"%d" % i)
                if i >= 500:
                    futures[i - 500].get(PATIENCE_S)  # so that the broker is killed in the middle
            killer.join()
            producer.flush(PATIENCE_S)
            assert all(future.succeeded() for future in futures)
        may_repeat = release_numbers(java_tools.version) < (0, 11)  # without idempotence (KIP-98)
        found = read(kafka.bootstrap_servers, topic, 2, 6_000, exact=not may_repeat)
        values = {p: [m.value() for m in messages] for p, messages in found.items()}
        assert {p: list(dict.fromkeys(each)) if may_repeat else each for p, each in values.items()} == sent


@pytest.mark.apache
@pytest.mark.slow
def test_without_a_broker_records_fail_in_time_and_the_program_ends(java_tools: JavaTools, make_topic_on: Any) -> None:
    from harness.releases import kafka_of

    with kafka_of(java_tools.version) as kafka:
        topic = make_topic_on(kafka)()
        options: dict[str, Any] = {"bootstrap_servers": kafka.bootstrap_servers, "request_timeout_ms": 1_000}
        producer = KafkaProducer(delivery_timeout_ms=2_000, **options)
        producer.send(topic, b"x").get(PATIENCE_S)
        kafka.kill()
        producer.send(topic, b"y")
        with pytest.raises(KafkaTimeoutError, match=r"1 record\(s\) in 1 batch\(es\).*delivery_timeout_ms"):
            producer.flush(PATIENCE_S)
        last = producer.send(topic, b"z")
        producer.close(0.5)
        with pytest.raises(KafkaTimeoutError, match="closed before the record was acknowledged"):
            last.get(0)
