"""The sink that delivers exactly once, through Spark. The protocol itself is tried in test_exactly_once.py."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from kafka import KafkaConsumer
from kafka.spark import run_available
from kafka.structs import TopicPartition

from .spark_support import FORMAT, load, load_stream, numbered, options, produce, spark

__all__ = ["spark"]

PARTITIONS = 2


def committed(broker: Any, topic: str) -> list[int]:
    """The numbers in a topic that readers of committed records see."""
    with KafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers,
        group_id=None,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
    ) as consumer:
        partitions = [TopicPartition(topic, number) for number in range(PARTITIONS)]
        consumer.assign(partitions)
        consumer.seek_to_beginning(*partitions)
        ends = consumer.end_offsets(partitions)
        found: list[int] = []
        while any(consumer.position(each) < ends[each] for each in partitions):
            for records in consumer.poll(timeout_ms=500).values():
                found += [int(record.value) for record in records]
    return sorted(found)


def sink(broker: Any, topic: str, prefix: str) -> dict[str, str]:
    return options(broker, topic=topic, exactlyOnce="true", transactionalIdPrefix=prefix)


def as_if_killed(checkpoint: pathlib.Path) -> None:
    """The last micro-batch was committed, but Spark did not write that down any more."""
    last = max((path for path in (checkpoint / "commits").glob("[0-9]*")), key=lambda path: int(path.name))
    last.unlink()
    last.with_name(f".{last.name}.crc").unlink(missing_ok=True)


def copy(frame: Any, broker: Any, topic: str, checkpoint: pathlib.Path) -> None:
    writer = frame.writeStream.format(FORMAT).options(**sink(broker, topic, f"of-{topic}"))
    run_available(writer.option("checkpointLocation", str(checkpoint)))


def test_a_stateful_stream_that_died_after_its_commit_writes_nothing_twice(spark, broker, make_topic, tmp_path):
    source, target = make_topic(partitions=PARTITIONS), make_topic(partitions=PARTITIONS)
    produce(broker.bootstrap_servers, source, numbered(40, PARTITIONS))
    produce(broker.bootstrap_servers, source, numbered(40, PARTITIONS))
    frame = load_stream(spark, broker, source, startingOffsets="earliest", maxOffsetsPerTrigger="50")
    frame = frame.selectExpr("cast(value as string) as value").dropDuplicates(["value"])
    copy(frame, broker, target, tmp_path)
    as_if_killed(tmp_path)
    produce(broker.bootstrap_servers, source, numbered(60, PARTITIONS))
    copy(frame, broker, target, tmp_path)
    assert committed(broker, target) == list(range(60))


def test_a_second_write_in_one_micro_batch_is_refused_and_loses_nothing(spark, broker, make_topic, tmp_path):
    source, target = make_topic(partitions=PARTITIONS), make_topic(partitions=PARTITIONS)
    produce(broker.bootstrap_servers, source, numbered(10, PARTITIONS))
    frame = load_stream(spark, broker, source, startingOffsets="earliest").selectExpr("value")
    second = "same"

    def write(rows: Any, _: int) -> None:
        for prefix in ("first", second):
            given = sink(broker, target, f"{prefix}-{target}".replace("same", "first"))
            rows.write.format(FORMAT).options(**given).mode("append").save()

    for _ in range(2):  # the second time it is replayed
        writer = frame.writeStream.foreachBatch(write).option("checkpointLocation", str(tmp_path))
        with pytest.raises(Exception, match="each write of a foreachBatch function needs a prefix of its own"):
            run_available(writer)
        assert committed(broker, target) == list(range(10))
    second = "second"
    run_available(writer)
    assert committed(broker, target) == sorted([*range(10), *range(10)])


def test_a_batch_write_of_which_a_task_fails_leaves_nothing(spark, broker, make_topic):
    source, target = make_topic(partitions=PARTITIONS), make_topic(partitions=PARTITIONS)
    produce(broker.bootstrap_servers, source, numbered(10, PARTITIONS))
    frame = load(spark, broker, source, minPartitions="4")

    def save(rows: Any) -> None:
        rows.write.format(FORMAT).options(**sink(broker, target, f"of-{target}")).mode("append").save()

    with pytest.raises(Exception, match="not this one"):
        save(frame.selectExpr("if(offset = 4 and partition = 1, raise_error('not this one'), value) as value"))
    assert committed(broker, target) == []
    save(frame.selectExpr("value"))
    assert committed(broker, target) == list(range(10))
