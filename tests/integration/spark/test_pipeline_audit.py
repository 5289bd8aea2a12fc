"""The audit of real runs: everything balances after runs, replays and backfills, and planted faults are found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kafka
from kafka import KafkaAdminClient, KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.pipelines.audit import AuditResult, FaultKind, audit_pipeline
from kafka.pipelines.backfill import backfill
from kafka.pipelines.record_headers import parse_position
from kafka.pipelines.replay import replay
from kafka.pipelines.run import run
from kafka.pipelines.yaml_file import parse
from kafka.structs import TopicPartition

from .spark_support import spark

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def embedded() -> Iterator[EmbeddedBroker]:
    """A broker for the tests of this module."""
    with EmbeddedBroker() as broker:
        yield broker


class Numbers:
    """A pipeline that reads numbers. Multiples of 10 are broken, of 7 dead, of 4 dropped; odd ones are filtered out."""

    def __init__(self, broker: EmbeddedBroker, directory: Path, name: str) -> None:
        self.servers = broker.bootstrap_servers
        self.name = name
        self._directory = directory
        with KafkaAdminClient(bootstrap_servers=self.servers) as admin:
            admin.create_topics({f"{name}{suffix}": {"num_partitions": 2} for suffix in ("", ".out", ".dead")})

    def declaration(self, query: str = "select n from source where n % 2 = 0", dead: int = 7) -> Any:
        return parse(
            f"""
pipeline: {self.name}
kafka: {{bootstrap.servers: "{self.servers}"}}
checkpoint: {self._directory}
source: {{topic: {self.name}, value: {{format: json, schema: n int}}}}
rules:
  - {{name: not a seven, holds: n % {dead} != 0}}
  - {{name: not a four, holds: n % 4 != 0, otherwise: drop}}
query: {query}
sink: {{topic: {self.name}.out, key: n}}
dead_letters: {{topic: {self.name}.dead}}
"""
        )

    def produce(self, numbers: range, transactional: bool = False) -> None:
        """Write numbers; a transaction leaves a marker in each log, which is an offset without a record."""
        options: Any = {"transactional_id": "numbers"} if transactional else {}
        with KafkaProducer(bootstrap_servers=self.servers, **options) as producer:
            if transactional:
                producer.init_transactions()
                producer.begin_transaction()
            for number in numbers:
                value = b"broken" if number % 10 == 0 else json.dumps({"n": number}).encode()
                producer.send(self.name, value, partition=number % 2)
            if transactional:
                producer.commit_transaction()

    def records(self, suffix: str) -> list[Any]:
        """Return the committed records of the sink or the dead letters."""
        return list(kafka.read(self.name + suffix, isolation_level="read_committed", bootstrap_servers=self.servers))

    def copy(self, record: Any) -> TopicPartition:
        """Write a record again; return the partition of its input record."""
        headers = list(record.headers)
        with KafkaProducer(bootstrap_servers=self.servers) as producer:
            producer.send(record.topic, record.value, key=record.key, headers=headers).get(timeout=30)
        source = parse_position(dict(headers)["kafka.source"].decode())
        return TopicPartition(source.topic, source.partition)


def faults(result: AuditResult) -> list[tuple[FaultKind, int]]:
    """Return the kinds and offsets of faults."""
    return [(each.kind, offset) for each in result.faults for part in each.ranges for offset in range(*part)]


def test_runs_replays_and_backfills_balance(spark: Any, embedded: EmbeddedBroker, tmp_path: Path) -> None:
    numbers = Numbers(embedded, tmp_path, "balanced")
    numbers.produce(range(100), transactional=True)
    declaration = numbers.declaration()
    run(declaration, spark)
    numbers.produce(range(100, 160))
    run(declaration, spark)
    result = audit_pipeline(declaration, spark)
    assert [str(each) for each in result.faults] == []
    total = result.total
    dead = [number for number in range(160) if number % 10 == 0 or number % 7 == 0]
    dropped = [number for number in range(160) if number % 4 == 0 and number not in dead]
    assert (total.records, total.dead, total.dropped) == (160, len(dead), len(dropped))
    assert total.out + total.filtered == 160 - len(dead) - len(dropped)
    assert total.out == len(numbers.records(".out"))
    without_spark = audit_pipeline(declaration, recompute=False)
    assert [str(each) for each in without_spark.faults] == []

    fixed = numbers.declaration(dead=11)
    replay(fixed, spark, rule="not a seven")
    assert [str(each) for each in audit_pipeline(fixed, spark).faults] == []
    replay(fixed, spark)
    result = audit_pipeline(fixed, spark)
    assert [str(each) for each in result.faults] == []
    assert result.total.replayed == len(dead)
    backfill(declaration, spark, offsets={TopicPartition("balanced", 0): (3, 30)})
    assert [str(each) for each in audit_pipeline(fixed, spark).faults] == []
    part = audit_pipeline(fixed, spark, partitions=[TopicPartition("balanced", 1)], start=5, end=25)
    assert [(each.partition.partition, each.start, each.end) for each in part.partitions] == [(1, 5, 25)]
    assert part.balances


def test_planted_faults_are_found(spark: Any, embedded: EmbeddedBroker, tmp_path: Path) -> None:
    numbers = Numbers(embedded, tmp_path, "faulty")
    numbers.produce(range(60))
    declaration = numbers.declaration()
    run(declaration, spark)
    (row, other, *_) = numbers.records(".out")
    (letter, *_) = numbers.records(".dead")
    numbers.copy(row)
    numbers.copy(letter)
    expected = {
        (FaultKind.DUPLICATED_IN_SINK, parse_position(dict(row.headers)["kafka.source"].decode()).offset),
        (FaultKind.DUPLICATED_DEAD_LETTER, parse_position(dict(letter.headers)["kafka.source"].decode()).offset),
    }
    assert set(faults(audit_pipeline(declaration, spark))) == expected
    with KafkaAdminClient(bootstrap_servers=numbers.servers) as admin:
        admin.delete_records({TopicPartition(other.topic, other.partition): other.offset + 1})
    missing = set(faults(audit_pipeline(declaration, spark))) - expected
    assert (FaultKind.MISSING_IN_SINK, parse_position(dict(other.headers)["kafka.source"].decode()).offset) in missing
    assert {kind for kind, _ in missing} == {FaultKind.MISSING_IN_SINK}


def test_an_aggregating_query_balances_by_counts(spark: Any, embedded: EmbeddedBroker, tmp_path: Path) -> None:
    numbers = Numbers(embedded, tmp_path, "counted")
    numbers.produce(range(50))
    query = (
        "select window(kafka.timestamp, '1 minute').start as minute, count(*) as n from source "
        "group by window(kafka.timestamp, '1 minute')"
    )
    declaration = numbers.declaration(query).model_copy(update={"output_mode": "update"})
    declaration = declaration.model_copy(update={"sink": declaration.sink.model_copy(update={"key": None})})
    run(declaration, spark)
    result = audit_pipeline(declaration, spark)
    assert [str(each) for each in result.faults] == []
    total = result.total
    assert (total.records, total.out + total.dropped + total.dead) == (50, 50)
    assert any("were not compared by offset" in text for text in result.notes)
