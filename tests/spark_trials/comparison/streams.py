"""Streaming reads, batch by batch."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from spark_trials.comparison.reads import offsets
from spark_trials.comparison.trial import FIRST_MS, PATIENCE_S, Program, Trial

EARLIEST = {"startingOffsets": "earliest"}


def _drain(trial: Trial, **given: Any) -> Any:
    return trial.drain(trial.stream(**given))


TABLE: dict[str, dict[str, Any]] = {
    "all of a topic": {"subscribe": "<three>", **EARLIEST},
    "all of a topic with headers": {"subscribe": "<three>", "includeHeaders": "true", **EARLIEST},
    "two topics": {"subscribe": "<three>,<one>", **EARLIEST},
    "an empty topic": {"subscribe": "<empty>", **EARLIEST},
    "a topic that does not exist": {"subscribe": "there-is-none", **EARLIEST},
    "from the end": {"subscribe": "<three>"},
    "a pattern": {"subscribePattern": "<three>$|<one>$", **EARLIEST},
    "some partitions": {"assign": {"<three>": [0, 2]}, **EARLIEST},
    "batches of a limited size": {"subscribe": "<three>", "maxOffsetsPerTrigger": "25", **EARLIEST},
    "batches smaller than the partitions": {"subscribe": "<three>", "maxOffsetsPerTrigger": "2", **EARLIEST},
    "batches of a skewed topic": {"subscribe": "<skewed>", "maxOffsetsPerTrigger": "100", **EARLIEST},
    "batches of a topic whose head is gone": {"subscribe": "<trimmed>", "maxOffsetsPerTrigger": "5", **EARLIEST},
    "batches of committed transactions": {
        "subscribe": "<txn>",
        "kafka.isolation.level": "read_committed",
        "maxOffsetsPerTrigger": "10",
        **EARLIEST,
    },
    "batches of a compacted topic": {"subscribe": "<compacted>", "maxOffsetsPerTrigger": "20", **EARLIEST},
    "from offsets": {"subscribe": "<three>", "startingOffsets": offsets(3, -2, 19)},
    "from offsets and latest": {"subscribe": "<three>", "startingOffsets": offsets(3, -1, 19)},
    "from offsets of too few partitions": {"subscribe": "<three>", "startingOffsets": offsets(3)},
    "from behind the end": {"subscribe": "<one>", "startingOffsets": offsets(99, topic="<one>")},
    "from a time": {"subscribe": "<three>", "startingTimestamp": FIRST_MS + 30_000},
    "from a time that no record has": {"subscribe": "<three>", "startingTimestamp": FIRST_MS + 59_000},
    "from a time that no record has, or latest": {
        "subscribe": "<three>",
        "startingTimestamp": FIRST_MS + 59_000,
        "startingOffsetsByTimestampStrategy": "latest",
    },
    "an end": {"subscribe": "<three>", "endingOffsets": "latest", **EARLIEST},
    "a least size that there is": {"subscribe": "<three>", "minOffsetsPerTrigger": "5", **EARLIEST},
    "limits that contradict each other": {
        "subscribe": "<three>",
        "minOffsetsPerTrigger": "5",
        "maxOffsetsPerTrigger": "2",
        **EARLIEST,
    },
    "tasks of a limited size": {
        "subscribe": "<three>",
        "maxRecordsPerPartition": "3",
        "minPartitions": "9",
        **EARLIEST,
    },
    "a limit of nothing": {"subscribe": "<one>", "maxOffsetsPerTrigger": "0", **EARLIEST},
}
"""Options of streams whose batches are compared: ends and rows."""

FAILS = {
    "a topic that does not exist",
    "from offsets of too few partitions",
    "from behind the end",
    "from a time that no record has",
    "an end",
    "limits that contradict each other",
}
DIFFERS = {"a limit of nothing": "it is refused; Spark's connector never reads anything"}
QUICK = {"batches of a limited size", "from offsets"}


def _ranges(trial: Trial, **given: Any) -> Any:
    """The offsets of each piece of a partition that a task reads."""
    from pyspark.sql.functions import max as latest
    from pyspark.sql.functions import min as earliest
    from pyspark.sql.functions import spark_partition_id

    found: list[Any] = []

    def take(frame: Any, number: int) -> None:
        pieces = frame.withColumn("task", spark_partition_id()).groupBy("task", "partition")
        found.extend(tuple(row)[1:] for row in pieces.agg(earliest("offset"), latest("offset")).collect())

    stream = trial.stream(subscribe="<skewed>", **EARLIEST, **given)
    writer = stream.writeStream.option("checkpointLocation", str(trial.folder / "q"))
    trial.run(writer.foreachBatch(take))
    return sorted(found)


def _goes_on(trial: Trial, **given: Any) -> Any:
    trial.topic("own", 2)
    found = []
    for start in (0, 10, 20):
        trial.produce("own", [b"%d" % n for n in range(start, start + 6)], partition=0)
        trial.produce("own", [b"%d" % n for n in range(start + 6, start + 10)], partition=1)
        found.append(trial.drain(trial.stream(subscribe="<own>", **EARLIEST, **given)))
    return found


def _goes_on_from_the_end(trial: Trial) -> Any:
    trial.topic("own")
    trial.produce("own", [b"before"])
    first = trial.drain(trial.stream(subscribe="<own>"))
    trial.produce("own", [b"after"])
    return first, [rows for _, rows in trial.drain(trial.stream(subscribe="<own>"))]


def _more_partitions(trial: Trial) -> Any:
    from kafka import KafkaAdminClient

    trial.topic("own")
    trial.produce("own", [b"1", b"2"])
    first = trial.drain(trial.stream(subscribe="<own>", **EARLIEST))
    with KafkaAdminClient(bootstrap_servers=trial.servers) as admin:
        admin.create_partitions({trial.topics["own"]: 3})
    trial.produce("own", [b"3"], partition=2)
    trial.produce("own", [b"4"], partition=0)
    return first, trial.drain(trial.stream(subscribe="<own>"))


def _new_topic_of_a_pattern(trial: Trial) -> Any:
    trial.topic("own")
    trial.produce("own", [b"1"])
    stem = trial.topics["own"]
    pattern = f"^{stem}|{stem}-later"
    first = trial.drain(trial.stream(subscribePattern=pattern, **EARLIEST))
    from harness.topics import create_topic, delete_topics

    create_topic(trial.servers, f"{stem}-later")
    trial.topics["later"] = f"{stem}-later"
    trial.produce("later", [b"2"])
    try:
        return first, trial.drain(trial.stream(subscribePattern=pattern))
    finally:
        delete_topics(trial.servers, [f"{stem}-later"])


def _other_topics_later(trial: Trial) -> Any:
    """A query whose list of topics grows between two runs."""
    first = trial.drain(trial.stream(subscribe="<one>", **EARLIEST))
    return first, trial.drain(trial.stream(subscribe="<one>,<skewed>"))


def _counts(trial: Trial, mode: str) -> Any:
    trial.topic("own")
    found = []
    for start in (0, 4):
        trial.produce("own", [b"%d" % (n % 3) for n in range(start, start + 4)])
        counts = trial.stream(subscribe="<own>", **EARLIEST).groupBy("value").count()
        found.append(trial.drain(counts, mode=mode))
    return found


def _windows(trial: Trial) -> Any:
    stream = trial.stream(subscribe="<three>", maxOffsetsPerTrigger="20", **EARLIEST)
    counts = stream.withWatermark("timestamp", "5 seconds").selectExpr("window(timestamp, '10 seconds') w").groupBy("w")
    return [rows for _, rows in trial.drain(counts.count())]


def _without_duplicates(trial: Trial) -> Any:
    stream = trial.stream(subscribe="<three>", maxOffsetsPerTrigger="30", **EARLIEST)
    return trial.drain(stream.select("key").dropDuplicates(["key"]))


def _joined(trial: Trial) -> Any:
    left = trial.stream(subscribe="<three>", **EARLIEST).selectExpr("value as v")
    right = trial.stream(subscribe="<one>", **EARLIEST).selectExpr("value as w")
    return trial.drain(left.join(right, left.v == right.w))


def _joined_with_a_batch(trial: Trial) -> Any:
    left = trial.stream(subscribe="<three>", **EARLIEST).select("value", "offset")
    right = trial.frame(subscribe="<one>").selectExpr("value", "offset as at")
    return trial.drain(left.join(right, "value"))


def _united(trial: Trial) -> Any:
    one = trial.stream(subscribe="<one>", **EARLIEST)
    return trial.drain(one.union(trial.stream(subscribe="<three>", **EARLIEST)))


def _once(trial: Trial) -> Any:
    return trial.drain(trial.stream(subscribe="<three>", maxOffsetsPerTrigger="5", **EARLIEST), once=True)


def _while_records_come(trial: Trial) -> Any:
    """A query that runs on: its rows, whatever its batches."""
    trial.topic("own", 2)
    name = f"running_{trial.format}"
    query = trial.stream(subscribe="<own>", **EARLIEST).writeStream.format("memory").queryName(name).start()
    try:
        for start in (0, 5):
            trial.produce("own", [b"%d" % n for n in range(start, start + 5)], partition=start // 5)
            trial.wait(lambda start=start: trial.spark.table(name).count() >= start + 5)  # type: ignore[misc]
        return trial.rows(trial.spark.table(name))
    finally:
        query.stop()
        query.awaitTermination(int(PATIENCE_S))


def _stopped_and_started(trial: Trial) -> Any:
    trial.topic("own")
    rows = []
    for start in (0, 5):
        trial.produce("own", [b"%d" % n for n in range(start, start + 5)])
        seen: list[Any] = []
        stream = trial.stream(subscribe="<own>", maxOffsetsPerTrigger="2", **EARLIEST)
        writer = stream.writeStream.option("checkpointLocation", str(trial.folder / "q"))
        query = writer.foreachBatch(lambda frame, number, seen=seen: seen.extend(trial.rows(frame))).start()
        query.processAllAvailable()  # rows of a batch that is stopped before Spark knows it is done come again
        query.stop()
        rows.append(sorted(seen))
    return rows


def programs() -> Iterator[Program]:
    """The list."""
    for name, given in TABLE.items():
        run = functools.partial(_drain, **given)
        differs = DIFFERS.get(name, "")
        yield Program(f"stream: {name}", run, differs, fails=name in FAILS, quick=name in QUICK)
    for given in ({"minPartitions": "21"}, {"maxRecordsPerPartition": "60"}, {"maxRecordsPerPartition": "7"}):
        text = " and ".join(f"{name}={each}" for name, each in given.items())
        # Spark's connector gives each partition a task; ours lets small ones share one, unless minPartitions says so.
        yield Program(f"stream: a hot partition split by {text}", functools.partial(_ranges, **given))
    yield Program("stream: three runs", _goes_on)
    yield Program("stream: three runs with a limit", functools.partial(_goes_on, maxOffsetsPerTrigger="4"))
    yield Program("stream: from the end, and on", _goes_on_from_the_end)
    yield Program("stream: partitions that appear", _more_partitions)
    yield Program("stream: topics that appear", _new_topic_of_a_pattern)
    yield Program("stream: another topic in the list", _other_topics_later)
    yield Program("stream: counts in complete mode", functools.partial(_counts, mode="complete"))
    yield Program("stream: counts in update mode", functools.partial(_counts, mode="update"))
    yield Program("stream: windows with a watermark", _windows)
    yield Program("stream: without duplicates", _without_duplicates)
    yield Program("stream: a join of two streams", _joined)
    yield Program("stream: a join with a batch", _joined_with_a_batch)
    yield Program("stream: a union", _united)
    yield Program("stream: one batch with Trigger.Once", _once)
    yield Program("stream: while records come", _while_records_come)
    yield Program("stream: stopped and started", _stopped_and_started)
