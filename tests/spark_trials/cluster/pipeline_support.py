"""What the trials of pipelines share: records with known outcomes, and what reached the sinks.

Every tenth record cannot be decoded, and every seventh fails the rule.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.process import Supervised
from harness.spark_cluster import HOME
from harness.topics import create_topic, new_topic_name
from kafka import KafkaConsumer, KafkaProducer
from kafka.structs import TopicPartition

from .pipeline_program import START_MS
from .trial_support import CLUSTER

PROGRAM = Path(__file__).with_name("pipeline_program.py")
TREE = Path(__file__).resolve().parents[3]
PARTITIONS = 2
LIMIT_S = 900.0
"""A deadline ends a hang; a busy machine takes a quarter of it."""

DECLARATION = """
pipeline: submitted
kafka: {{bootstrap.servers: "{servers}"}}
source: {{topic: {source}, value: {{format: json, schema: "id int, carrier string, delay double"}}}}
rules:
  - {{name: carrier is known, holds: carrier is not null}}
query: select id, delay from source where delay > 0
sink: {{topic: {sink}, key: id}}
dead_letters: {{topic: {dead}}}
"""
"""The pipeline rows of `pipeline_program` in YAML."""


class Flights:
    """Topics with records, and the works for pipelines between them.

    Arguments:
        servers: the brokers.
        folder: for what the pipelines write.
    """

    def __init__(self, servers: str, folder: Path) -> None:
        self.servers = servers
        self.folder = folder
        self.source, self.sink, self.dead, self.other = (
            new_topic_name(stem) for stem in ("source", "sink", "dead", "to")
        )
        for topic in (self.source, self.sink, self.dead, self.other):
            create_topic(servers, topic, PARTITIONS)
        (folder / "function").mkdir(parents=True, exist_ok=True)

    def produce(self, numbers: Iterable[int]) -> None:
        """Write records."""
        with KafkaProducer(bootstrap_servers=self.servers) as producer:
            for number in numbers:
                flight = {"id": number, "carrier": None if number % 7 == 0 else "AA", "delay": number - 50.0}
                value = b"broken %d" % number if number % 10 == 0 else json.dumps(flight).encode()
                at = START_MS + 60_000 * number
                producer.send(self.source, value, partition=number % PARTITIONS, timestamp_ms=at)

    def work(self, what: str, kind: str, offsets: int = 1_000, **more: Any) -> str:
        """Return an argument of the program."""
        topics = (self.source, self.sink, self.dead)
        given = {"what": what, "kind": kind, "servers": self.servers, "topics": topics, "offsets": offsets}
        return json.dumps({**given, "folder": str(self.folder), **more})

    def values(self, topic: str) -> list[Any]:
        """Return the committed values of a topic as parsed JSON, in no order."""
        return [json.loads(each.value) for each in self.records(topic)]

    def ids(self, topic: str) -> list[int]:
        """Return the sorted ids of the committed rows of a topic."""
        return sorted(each["id"] for each in self.values(topic))

    def letters(self) -> list[tuple[int, int, int]]:
        """Return the source's partition and offset, and the attempt, of each dead letter, sorted."""
        found = []
        for each in self.records(self.dead):
            headers = {name: value.decode() for name, value in each.headers if value is not None}
            _, partition, offset, *_ = headers["kafka.source"].split("/")
            found.append((int(partition), int(offset), int(headers["kafka.attempt"])))
        return sorted(found)

    def records(self, topic: str) -> list[Any]:
        """Return the committed records of a topic."""
        settings: dict[str, Any] = {"group_id": None, "auto_offset_reset": "earliest"}
        settings["isolation_level"] = "read_committed"
        found: list[Any] = []
        with KafkaConsumer(bootstrap_servers=self.servers, **settings) as consumer:
            partitions = [TopicPartition(topic, number) for number in range(PARTITIONS)]
            consumer.assign(partitions)
            ends = consumer.end_offsets(partitions)
            while any(consumer.position(each) < ends[each] for each in partitions):
                for some in consumer.poll(timeout_ms=500).values():
                    found += some
        return found


def good(numbers: Iterable[int]) -> list[int]:
    """Return the records that pass all rules."""
    return [each for each in numbers if each % 10 and each % 7]


def late_flights(numbers: Iterable[int]) -> list[int]:
    """Return the records that pass all rules and that the query keeps."""
    return [each for each in good(numbers) if each > 50]


def letters_of(numbers: Sequence[int], attempt: int = 1) -> list[tuple[int, int, int]]:
    """Return what `Flights.letters` finds for records that were written in this order, from offset 0."""
    next_offset = [0] * PARTITIONS
    found = []
    for number in numbers:
        partition = number % PARTITIONS
        if number % 10 == 0 or number % 7 == 0:
            found.append((partition, next_offset[partition], attempt))
        next_offset[partition] += 1
    return sorted(found)


def hours(numbers: Iterable[int]) -> dict[int, int]:
    """Return the number of good records by the start of their hour, in milliseconds since 1970."""
    return dict(Counter(START_MS + number // 60 * 3_600_000 for number in good(numbers)))


def table_ids(files: Any) -> list[int]:
    """Return the sorted ids in a directory of Parquet files, or in a list of files."""
    from pyarrow import dataset

    found: list[int] = dataset.dataset(files, format="parquet", exclude_invalid_files=True).to_table()["id"].to_pylist()
    return sorted(found)


def delta_ids(path: Path) -> list[int]:
    """Return the sorted ids in a Delta table."""
    from deltalake import DeltaTable

    return table_ids([str(path / each) for each in DeltaTable(path).file_uris()])


def submit(master: str, arguments: Sequence[str], log: Path, **env: str) -> Supervised:
    """Start spark-submit. Its output goes to a log.

    Arguments:
        master: Spark's master.
        arguments: options of spark-submit, and then a program and its arguments.
        log: the file for the output.
        env: environment variables.
    """
    settings = [part for name, value in CLUSTER.items() for part in ("--conf", f"{name}={value}")]
    command = [str(HOME / "bin" / "spark-submit"), "--master", master, *settings, *arguments]
    return Supervised(with_environment(command, env), log, log.parent)


def with_environment(command: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """Return a command that runs with this package and without Python's warnings."""
    path = os.pathsep.join([*filter(None, [env.get("PYTHONPATH")]), str(TREE / "tests")])
    given = {"SPARK_LOCAL_IP": "127.0.0.1", "PYTHONWARNINGS": "ignore", **env, "PYTHONPATH": path}
    return ["env", *(f"{name}={value}" for name, value in given.items()), *command]


def results(process: Supervised) -> list[dict[str, Any]]:
    """Wait for the end of a program, and return its results without its events."""
    assert process.finish(LIMIT_S) == 0, process.output()[-6_000:]
    lines = [json.loads(line) for line in process.output().splitlines() if line.startswith("{")]
    return [each for each in lines if "event" not in each and "logger" not in each]
