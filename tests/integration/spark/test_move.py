"""Ours beside Spark's own Kafka connector: the same rows, and one checkpoint for both."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import missing
from harness.fetch import FetchError
from harness.java import JavaError
from kafka.spark.pyspark_versions import TELLS_TRIGGER

from .spark_support import (
    FORMAT,
    Rec,
    connector_jars,
    load,
    load_stream,
    numbered,
    numbers,
    produce,
    spark,
    wait_until,
)

__all__ = ["spark"]

THEIRS = "kafka"
SAMPLE = [
    Rec(b"plain", key=b"k", partition=0, timestamp_ms=1_700_000_000_123),
    Rec(None, key=b"tombstone", partition=0, timestamp_ms=0),
    Rec(b"", key=b"", partition=0, headers=(("", b""),)),
    Rec(b"\x00\xff", partition=1, headers=(("h", b"1"), ("none", None), ("h", b"2"))),
    Rec(None, key=b"no value", partition=1, timestamp_ms=1_600_000_000_999),
    *(Rec(b"%d" % n, key=b"%d" % n, partition=n % 3, headers=(("n", b"%d" % n),)) for n in range(2_000)),
]


@pytest.fixture(autouse=True)
def connector(spark: Any) -> None:
    """Spark's own connector, which the session then has."""
    try:
        connector_jars()
    except (FetchError, JavaError) as error:
        missing(f"Spark's own connector is not to be had: {error}")


@pytest.mark.parametrize("timestamp_type", ["CreateTime", "LogAppendTime"])
def test_both_connectors_read_the_same(spark, apache_kafka, make_topic_on, timestamp_type):
    topic = make_topic_on(apache_kafka)(partitions=3, config={"message.timestamp.type": timestamp_type})
    produce(apache_kafka.bootstrap_servers, topic, SAMPLE)
    ours, theirs = (
        load(spark, apache_kafka, topic, each, includeHeaders="true").orderBy("partition", "offset")
        for each in (FORMAT, THEIRS)
    )
    assert ours.dtypes == theirs.dtypes
    rows = ours.collect()
    assert rows == theirs.collect()
    assert len(rows) == len(SAMPLE)
    assert {row.timestampType for row in rows} == {int(timestamp_type == "LogAppendTime")}


class Query:
    """Two queries over one topic, one that copies and one that counts, each with a checkpoint for both connectors."""

    def __init__(self, spark: Any, broker: Any, topic: str, folder: Path) -> None:
        self._spark = spark
        self._broker = broker
        self._topic = topic
        self._folder = folder
        self._counts = topic.replace("-", "_")

    def run(self, format_name: str, until: int, limit: int = 10) -> None:
        """Run both until each has committed so many rows, and stop them, wherever they are."""
        given = {"startingOffsets": "earliest", "maxOffsetsPerTrigger": limit}
        stream = load_stream(self._spark, self._broker, self._topic, format_name, **given)
        copying = stream.writeStream.format("parquet")
        counts = stream.selectExpr("cast(cast(value as string) as int) % 3 as rest").groupBy("rest").count()
        counting = counts.writeStream.format("memory").queryName(self._counts).outputMode("complete")
        running = [
            copying.option("checkpointLocation", f"{self._folder}/copy").start(f"{self._folder}/rows"),
            counting.option("checkpointLocation", f"{self._folder}/count").start(),
        ]
        try:
            for name, query in zip(("copy", "count"), running, strict=True):
                wait_until(lambda name=name: self.committed(name) >= until, query)
                # Spark's connector before 4.2 fails if the first batch after a restart is already planned.
                if not TELLS_TRIGGER:
                    query.processAllAvailable()
        finally:
            for query in running:
                query.stop()

    def committed(self, name: str) -> int:
        """How many rows the checkpoint says are done."""
        checkpoint = self._folder / name
        done = max((int(path.name) for path in (checkpoint / "commits").glob("[0-9]*")), default=None)
        if done is None:
            return 0
        offsets = json.loads((checkpoint / "offsets" / str(done)).read_text().splitlines()[-1])
        return sum(offsets[self._topic].values())

    def rows(self) -> list[int]:
        """What was copied."""
        return numbers(self._spark.read.parquet(f"{self._folder}/rows"))

    def counts(self) -> dict[int, int]:
        """How many numbers were counted by their rest when divided by 3."""
        return {row["rest"]: row["count"] for row in self._spark.table(self._counts).collect()}


@pytest.mark.parametrize("formats", [(THEIRS, FORMAT, THEIRS), (FORMAT, THEIRS, FORMAT)], ids="-".join)
def test_a_checkpoint_moves_between_the_connectors_and_back(spark, apache_kafka, make_topic_on, tmp_path, formats):
    topic = make_topic_on(apache_kafka)(partitions=2)
    query = Query(spark, apache_kafka, topic, tmp_path)
    produced = 0
    for format_name, until in zip(formats, (30, 70, 150), strict=True):
        produce(apache_kafka.bootstrap_servers, topic, numbered(50, partitions=2, first=produced))
        produced += 50
        query.run(format_name, until)
    assert query.rows() == list(range(150))
    assert query.counts() == {0: 50, 1: 50, 2: 50}
