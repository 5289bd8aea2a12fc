"""Pipelines whose sink is not a topic: their rows are in the target, and rejected rows are dead letters."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from kafka import KafkaConsumer, KafkaProducer
from kafka.pipelines.declaration import Declaration
from kafka.pipelines.replay import replay
from kafka.pipelines.run import run
from kafka.pipelines.yaml_file import parse
from kafka.structs import TopicPartition

from .spark_support import spark

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


class Flights:
    """Topics with flights, and pipelines from them to a target.

    Arguments:
        broker: the broker.
        make_topic: creates a topic.
        directory: where pipelines keep their progress.
    """

    def __init__(self, broker: Any, make_topic: Any, directory: Path) -> None:
        self.servers = broker.bootstrap_servers
        self.dead = make_topic(partitions=2)
        self.directory = directory
        self._name = f"flights-{uuid.uuid4().hex[:8]}"

    def produce(self, topic: str, numbers: range) -> None:
        """Write records; every fifth is not JSON."""
        with KafkaProducer(bootstrap_servers=self.servers) as producer:
            for number in numbers:
                day = {"id": number, "ts": f"2026-11-{20 + number % 3}T12:00:00Z"}
                producer.send(topic, b"broken" if number % 5 == 0 else json.dumps(day).encode(), partition=0)

    def declaration(self, source: str, sink: str, longest: int = 1000) -> Declaration:
        return parse(
            f"""
pipeline: {self._name}
kafka: {{bootstrap.servers: "{self.servers}"}}
checkpoint: {self.directory}/pipeline
source:
  {source}
  value: {{format: json, schema: "id int, ts timestamp"}}
  max_offsets_per_trigger: 10
rules:
  - {{name: id is small, holds: id < {longest}}}
query: select id, ts from source where id <> 3
sink: {sink}
dead_letters: {{topic: {self.dead}}}
"""
        )

    def dead_letters(self) -> int:
        """Return the number of committed dead letters."""
        with KafkaConsumer(bootstrap_servers=self.servers, isolation_level="read_committed") as consumer:
            partitions = [TopicPartition(self.dead, number) for number in range(2)]
            consumer.assign(partitions)
            consumer.seek_to_beginning(*partitions)
            ends = consumer.end_offsets(partitions)
            found = 0
            while any(consumer.position(each) < end for each, end in ends.items()):
                found += sum(len(records) for records in consumer.poll(timeout_ms=1000).values())
            return found


@pytest.fixture
def flights(broker: Any, make_topic: Any, tmp_path: Path) -> Flights:
    return Flights(broker, make_topic, tmp_path)


def ids(spark: Any, path: Path) -> list[int]:
    return sorted(row.id for row in spark.read.parquet(str(path)).select("id").collect())


def good(numbers: range, longest: int = 1000) -> list[int]:
    return [each for each in numbers if each % 5 and each != 3 and each < longest]


def test_parquet_by_date_with_dead_letters_and_replay(
    spark: Any, flights: Flights, make_topic: Any, tmp_path: Path
) -> None:
    topic = make_topic(partitions=1)
    flights.produce(topic, range(25))
    path = tmp_path / "rows"
    sink = f'{{parquet: {path}, partition_by: "to_date(ts)"}}'
    run(flights.declaration(f"topic: {topic}", sink, 20), spark)
    assert ids(spark, path) == good(range(25), 20)
    assert sorted(each.name for each in path.glob("date=*")) == [f"date=2026-11-{day}" for day in (20, 21, 22)]
    assert flights.dead_letters() == 5 + 4
    replay(flights.declaration(f"topic: {topic}", sink), spark)
    assert ids(spark, path) == good(range(25))
    assert flights.dead_letters() == 5 + 4 + 5, "what cannot be decoded is rejected again"
