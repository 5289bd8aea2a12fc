"""`kafka copy --groups` to Apache Kafka, from the embedded broker and from Apache Kafka itself.

`tests/unit/cli/test_copied_groups.py` has the cases of one broker, and the properties of the translation.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.structs import OffsetAndMetadata, TopicPartition

LIMIT_S = 60
PARTITIONS = 2


def run(broker, *arguments: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("KAFKA_") or "PURE" in name}
    env = {**clean, "KAFKA_BOOTSTRAP_SERVERS": broker.bootstrap_servers, "XDG_CONFIG_HOME": "/no/such"}
    command = [sys.executable, "-m", "kafka", *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=LIMIT_S)


def send(broker, topic: str, numbers: range) -> None:
    """Send numbers in transactions, each of which is followed by an aborted one, so that offsets have gaps."""
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, transactional_id=f"to-{topic}") as producer:
        producer.init_transactions()
        for begin in range(numbers.start, numbers.stop, 10):
            producer.begin_transaction()
            for number in range(begin, begin + 10):
                producer.send(topic, str(number).encode(), partition=number % PARTITIONS)
            producer.commit_transaction()
            producer.begin_transaction()
            for partition in range(PARTITIONS):
                producer.send(topic, b"aborted", partition=partition)
            producer.flush()
            producer.abort_transaction()


def member(broker, topic: str, group: str) -> KafkaConsumer:
    return KafkaConsumer(
        topic,
        bootstrap_servers=broker.bootstrap_servers,
        group_id=group,
        enable_auto_commit=False,
        auto_offset_reset="none",
        isolation_level="read_committed",
    )


def read(consumer: KafkaConsumer, count: int) -> list[int]:
    found: list[int] = []
    while len(found) < count:
        for records in consumer.poll(500, max_records=count - len(found)).values():
            found += [int(record.value) for record in records]
    return found


def test_a_running_group_moves_from_a_topic_with_gaps_and_a_deleted_head(broker, apache_kafka, make_topic):
    name = make_topic(PARTITIONS)
    target, same_cluster = f"{name}-copy", broker.kind == "apache"
    copy = ("copy", name, target, "--to-brokers", apache_kafka.bootstrap_servers, "--group", name, "--json")
    send(broker, name, range(40))
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        head = {TopicPartition(name, partition): 4 for partition in range(PARTITIONS)}
        admin.delete_records(head)
        admin.alter_group_offsets(name, {tp: OffsetAndMetadata(offset, "", None) for tp, offset in head.items()})
    running = member(broker, name, name)
    done = read(running, 10)
    running.commit()
    done += read(running, 4)
    first = run(broker, *copy)
    assert first.returncode == (1 if same_cluster else 0), first.stderr  # on one cluster, it has members on the target
    assert ("must have no members on the target" in first.stderr) == same_cluster
    running.commit()
    send(broker, name, range(40, 60))
    done += read(running, 9)
    running.commit()
    uncommitted = read(running, 5)
    running.close()
    last = run(broker, *copy)
    assert last.returncode == 0, last.stderr
    rows = json.loads(last.stdout)["groups"]
    assert len(rows) == PARTITIONS
    assert any(row["source"] != row["offset"] for row in rows)
    moved = member(apache_kafka, target, name)
    rest = read(moved, 60 - 8 - len(done))
    moved.close()
    assert sorted(done + rest) == list(range(8, 60))
    assert set(uncommitted) <= set(rest)


@pytest.mark.exhaustive  # the unit test has the embedded broker
@pytest.mark.needs(broker=(4, 2), why="share groups (KIP-932)")
def test_a_share_group_moves_with_its_start_offsets(broker, apache_kafka, make_topic):
    name = make_topic(PARTITIONS)
    target, group = f"{name}-copy", f"share-{name}"
    send(broker, name, range(20))
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.alter_share_group_offsets(group, {TopicPartition(name, 0): 3, TopicPartition(name, 1): 10})
    to = ("--to-brokers", apache_kafka.bootstrap_servers)
    done = run(broker, "copy", name, target, *to, "--groups", "--json")
    assert done.returncode == 0, done.stderr
    rows = [row for row in json.loads(done.stdout)["groups"] if row["group"] == group]
    assert [(row["partition"], row["source"], row["error"]) for row in rows] == [(0, 3, None), (1, 10, None)]
    with KafkaAdminClient(bootstrap_servers=apache_kafka.bootstrap_servers) as admin:
        there = admin.list_share_group_offsets([group])[group]
    for row in rows:
        assert there[TopicPartition(target, row["partition"])].start_offset == row["offset"]
    left = [number for number in range(20) if number >= (15 if number % 2 else 6)]
    options = ("--share-group", group, "-n", str(len(left)), "--idle-timeout", "20s")
    assert sorted(map(int, run(apache_kafka, "--no-titles", "consume", target, *options).stdout.split())) == left
