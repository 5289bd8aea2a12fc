"""Writes, batch and streaming, as another client reads them afterwards."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from spark_trials.comparison.trial import FIRST_MS, Program, Trial

HEADERS = (
    "array(struct('h' as key, cast('1' as binary) as value), struct('none' as key, cast(null as binary) as value))"
)

TABLE: dict[str, tuple[list[str], dict[str, Any]]] = {
    "values": (["cast(id as string) value"], {}),
    "values in binary": (["cast(cast(id as string) as binary) value"], {}),
    "keys and values": (["cast(id as string) key", "concat('v', id) value"], {}),
    "keys in binary": (["cast(cast(id as string) as binary) key", "cast(id as string) value"], {}),
    "null values": (["cast(id as string) key", "if(id % 2 = 0, null, cast(id as string)) value"], {}),
    "null keys": (["cast(null as string) key", "cast(id as string) value"], {}),
    "headers": (["cast(id as string) value", f"{HEADERS} headers"], {"includeHeaders": "true"}),
    "headers without the option": (["cast(id as string) value", f"{HEADERS} headers"], {}),
    "null headers": (["cast(id as string) value", f"if(id = 1, null, {HEADERS}) headers"], {}),
    "columns that are not the sink's": (["cast(id as string) value", "id", "'x' note"], {}),
    "a codec": (["cast(id as string) value"], {"kafka.compression.type": "zstd"}),
    "another codec": (["cast(id as string) value"], {"kafka.compression.type": "gzip"}),
    "one acknowledgement": (["cast(id as string) value"], {"kafka.acks": "1", "kafka.enable.idempotence": "false"}),
    "an option of the consumer": (["cast(id as string) value"], {"kafka.group.id": "g"}),
    "a group prefix": (["cast(id as string) value"], {"kafka.linger.ms": "5", "kafka.batch.size": "100"}),
    "no value": (["cast(id as string) key"], {}),
    "a value of another type": (["id value"], {}),
    "a key of another type": (["id key", "cast(id as string) value"], {}),
    "a partition of another type": (["cast(id as string) value", "'0' partition"], {}),
    "headers of another type": (["cast(id as string) value", "'h' headers"], {}),
    "a record too large": (["repeat('x', 2000000) value"], {}),
    "key.serializer": (["cast(id as string) value"], {"kafka.key.serializer": "a.B"}),
    "value.serializer": (["cast(id as string) value"], {"kafka.value.serializer": "a.B"}),
    "strings and nulls": (["if(id = 3, '', if(id = 4, null, 'é')) value"], {}),
}
"""Columns of a frame of twenty rows, and options."""

FAILS = {
    "no value",
    "a value of another type",
    "a key of another type",
    "a partition of another type",
    "headers of another type",
    "a record too large",
    "key.serializer",
    "value.serializer",
}
QUICK = {"keys and values", "headers"}


def _rows(trial: Trial, columns: list[str]) -> Any:
    return trial.spark.range(20, numPartitions=2).selectExpr(*columns)


def _write(trial: Trial, columns: list[str], given: dict[str, Any]) -> Any:
    trial.topic("out", 3)
    trial.write(_rows(trial, columns), topic="<out>", **given)
    return trial.written("out", partitions=any(" key" in each and "null" not in each for each in columns))


def _partitions(trial: Trial) -> Any:
    trial.topic("out", 3)
    trial.write(_rows(trial, ["cast(id as string) value", "cast(id % 3 as int) partition"]), topic="<out>")
    return trial.written("out", partitions=True)


def _null_partitions(trial: Trial) -> Any:
    trial.topic("out", 3)
    columns = ["cast(id as string) key", "cast(id as string) value", "cast(if(id < 9, null, 1) as int) partition"]
    trial.write(_rows(trial, columns), topic="<out>")
    return trial.written("out", partitions=True)


def _absent_partition(trial: Trial) -> Any:
    trial.topic("out", 1)
    frame = _rows(trial, ["cast(id as string) value", "9 partition"])
    trial.write(frame, topic="<out>", **{"kafka.max.block.ms": "3000", "kafka.delivery.timeout.ms": "31000"})
    return trial.written("out")


def _topics(trial: Trial, **given: Any) -> Any:
    names = [trial.topic("out"), trial.topic("other")]
    column = f"if(id % 2 = 0, '{names[0]}', '{names[1]}') topic"
    trial.write(_rows(trial, ["cast(id as string) value", column]), **given)
    return trial.written("out"), trial.written("other")


def _null_topic(trial: Trial) -> Any:
    trial.topic("out")
    trial.write(_rows(trial, ["cast(id as string) value", "cast(null as string) topic"]))
    return trial.written("out")


def _no_topic(trial: Trial) -> Any:
    trial.write(_rows(trial, ["cast(id as string) value"]))


def _mode(trial: Trial, mode: str | None) -> Any:
    trial.topic("out")
    trial.write(_rows(trial, ["cast(id as string) value"]), mode, topic="<out>")
    return trial.written("out")


def _twice(trial: Trial) -> Any:
    trial.topic("out")
    for _ in range(2):
        trial.write(_rows(trial, ["cast(id as string) value"]), topic="<out>")
    return trial.written("out")


def _copy(trial: Trial) -> Any:
    trial.topic("out", 3)
    frame = trial.frame(subscribe="<three>", includeHeaders="true").select("key", "value", "headers", "partition")
    trial.write(frame, topic="<out>")
    return trial.written("out", partitions=True)


def _times(trial: Trial, **given: Any) -> Any:
    trial.topic("out")
    frame = trial.frame(subscribe="<one>").select("value", "timestamp")
    trial.write(frame, topic="<out>", **given)
    return [row[-1] < FIRST_MS + 100_000 for row in trial.written("out", times=True)]


def _no_rows(trial: Trial) -> Any:
    trial.topic("out")
    trial.write(_rows(trial, ["cast(id as string) value"]).where("false"), topic="<out>")
    return trial.written("out")


def _tasks(trial: Trial) -> Any:
    trial.topic("out")
    frame = _rows(trial, ["cast(id as string) key", "cast(id * 2 as string) value"])
    trial.write(frame.repartition(4), topic="<out>")
    return trial.written("out")


def _stream(trial: Trial, mode: str, query: str = "q", **given: Any) -> Any:
    """From topic to topic; complete and update modes count."""
    trial.topic("out", 2)
    stream = trial.stream(subscribe="<three>", startingOffsets="earliest", maxOffsetsPerTrigger="25")
    if mode != "append":
        stream = stream.groupBy("partition").count().selectExpr("cast(partition as string) key", "string(count) value")
    writer = stream.select("key", "value").writeStream.format(trial.format).outputMode(mode)
    options = trial.options({"topic": "<out>", "checkpointLocation": trial.folder / query, **given})
    trial.run(writer.options(**options))
    return trial.written("out", partitions=mode != "append")


def _stream_without_topic(trial: Trial) -> Any:
    stream = trial.stream(subscribe="<one>", startingOffsets="earliest").select("value")
    writer = stream.writeStream.format(trial.format).options(
        **trial.options({"checkpointLocation": trial.folder / "q"})
    )
    trial.run(writer)


def _upsert(trial: Trial) -> Any:
    """Update mode, with ours through `kafka.spark.upsert`."""
    from kafka.spark import upsert
    from spark_trials.comparison.trial import OURS

    if trial.format != OURS:
        return _stream(trial, "update")
    trial.topic("out", 2)
    stream = trial.stream(subscribe="<three>", startingOffsets="earliest", maxOffsetsPerTrigger="25")
    counts = stream.groupBy("partition").count().selectExpr("cast(partition as string) key", "string(count) value")
    trial.run(upsert(counts.writeStream, trial.options({"topic": "<out>"}), checkpointLocation=trial.folder / "q"))
    return trial.written("out", partitions=True)


def programs() -> Iterator[Program]:
    """The list."""
    for name, (columns, given) in TABLE.items():
        run = functools.partial(_write, columns=columns, given=given)
        yield Program(f"write: {name}", run, fails=name in FAILS, quick=name in QUICK)
    yield Program("write: partitions", _partitions)
    yield Program("write: partitions that may be null", _null_partitions)
    yield Program("write: a partition that does not exist", _absent_partition, fails=True)
    yield Program("write: a column of topics", _topics, quick=True)
    yield Program("write: a column of topics, and the option", functools.partial(_topics, topic="<out>"))
    yield Program("write: a null topic", _null_topic, fails=True)
    yield Program("write: no topic", _no_topic, fails=True)
    yield Program(
        "write: the default mode",
        functools.partial(_mode, mode=None),
        differs="Spark refuses its default mode for sinks in Python",
    )
    yield Program("write: mode overwrite", functools.partial(_mode, mode="overwrite"), fails=True)
    yield Program("write: mode ignore", functools.partial(_mode, mode="ignore"), fails=True)
    yield Program("write: twice", _twice)
    yield Program("write: a copy", _copy)
    yield Program("write: in four tasks", _tasks)
    yield Program("write: no rows", _no_rows)
    yield Program("write: a column timestamp", _times)
    yield Program(
        "write: a column timestamp with includeTimestamp",
        _kept_times,
        differs="it sets the records' timestamps, an option of this package",
    )
    yield Program("write: a stream in append mode", functools.partial(_stream, mode="append"), quick=True)
    yield Program("write: a stream in complete mode", functools.partial(_stream, mode="complete"))
    yield Program(
        "write: a stream in update mode",
        functools.partial(_stream, mode="update"),
        differs="Spark refuses update mode for sinks in Python",
    )
    yield Program("write: a stream in update mode, by upsert", _upsert)
    yield Program("write: a stream without a topic", _stream_without_topic, fails=True)


def _kept_times(trial: Trial) -> Any:
    from spark_trials.comparison.trial import OURS

    return _times(trial, **({"includeTimestamp": "true"} if trial.format == OURS else {}))
