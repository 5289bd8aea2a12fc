"""Batch reads."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from spark_trials.comparison.trial import FIRST_MS, Program, Trial

_ALL = {"startingOffsets": "earliest"}


def _read(trial: Trial, **given: Any) -> Any:
    frame = trial.frame(**given)
    return frame.dtypes, trial.rows(frame)


def offsets(*values: int, topic: str = "<three>") -> dict[str, dict[str, int]]:
    return {topic: {str(number): each for number, each in enumerate(values)}}


def _times(*values: int | None) -> dict[str, dict[str, int]]:
    return {"<three>": {str(n): FIRST_MS + 1_000 * each for n, each in enumerate(values) if each is not None}}


TABLE: dict[str, dict[str, Any]] = {
    "a topic": {"subscribe": "<three>"},
    "a topic with headers": {"subscribe": "<three>", "includeHeaders": "true"},
    "a topic without headers": {"subscribe": "<three>", "includeHeaders": "false"},
    "two topics": {"subscribe": "<three>,<one>"},
    "names in any case": {"SUBSCRIBE": "<one>", "STARTINGOFFSETS": "earliest"},
    "an empty topic": {"subscribe": "<empty>"},
    "a topic that does not exist": {"subscribe": "there-is-none"},
    "a topic that does not exist, with loss allowed": {"subscribe": "there-is-none", "failOnDataLoss": "false"},
    "a pattern found at the start": {"subscribePattern": "^<three>$"},
    "a pattern found anywhere": {"subscribePattern": "<three>|<one>"},
    "a pattern with a class of Java's": {"subscribePattern": "^<one>$|^<one>\\p{Digit}+x$"},
    "a pattern with a quotation": {"subscribePattern": "\\Q<one>\\E$"},
    "a pattern that finds nothing": {"subscribePattern": "no-topic-has-this-name"},
    "a pattern for internal topics": {"subscribePattern": "^__transaction_state$"},
    "a pattern that is none": {"subscribePattern": "("},
    "one partition": {"assign": {"<three>": [1]}},
    "partitions of two topics": {"assign": {"<three>": [0, 2], "<one>": [0]}},
    "a partition that does not exist": {"assign": {"<one>": [0, 5]}},
    "an assignment that is none": {"assign": "0"},
    "from earliest to latest": {"subscribe": "<three>", "startingOffsets": "earliest", "endingOffsets": "latest"},
    "from offsets": {"subscribe": "<three>", "startingOffsets": offsets(3, 10, 19)},
    "from offsets and earliest": {"subscribe": "<three>", "startingOffsets": offsets(-2, 10, -2)},
    "from latest": {"subscribe": "<three>", "startingOffsets": "latest"},
    "from latest in one partition": {"subscribe": "<three>", "startingOffsets": offsets(-1, 0, 0)},
    "to offsets": {"subscribe": "<three>", "endingOffsets": offsets(3, 10, 0)},
    "to offsets and latest": {"subscribe": "<three>", "endingOffsets": offsets(3, -1, 7)},
    "to earliest": {"subscribe": "<three>", "endingOffsets": "earliest"},
    "to earliest in one partition": {"subscribe": "<three>", "endingOffsets": offsets(-2, 1, 1)},
    "between offsets": {"subscribe": "<three>", "startingOffsets": offsets(1, 2, 3), "endingOffsets": offsets(9, 2, 4)},
    "from offsets to where they are": {
        "subscribe": "<three>",
        "startingOffsets": offsets(5, 5, 5),
        "endingOffsets": offsets(5, 5, 5),
    },
    "to before the beginning": {
        "subscribe": "<three>",
        "startingOffsets": offsets(9, 9, 9),
        "endingOffsets": offsets(5, 9, 9),
    },
    "from behind the end": {"subscribe": "<three>", "startingOffsets": offsets(0, 0, 99)},
    "from behind the end, with loss allowed": {
        "subscribe": "<three>",
        "startingOffsets": offsets(0, 0, 99),
        "failOnDataLoss": "false",
    },
    "offsets of too few partitions": {"subscribe": "<three>", "startingOffsets": offsets(1, 2)},
    "offsets of too many partitions": {"subscribe": "<three>", "startingOffsets": offsets(1, 2, 3, 4)},
    "offsets of another topic": {"subscribe": "<one>", "startingOffsets": offsets(1, 2, 3)},
    "offsets that are none": {"subscribe": "<three>", "startingOffsets": "beginning"},
    "offsets below -2": {"subscribe": "<three>", "startingOffsets": offsets(-3, 0, 0)},
    "from a time": {"subscribe": "<three>", "startingTimestamp": FIRST_MS + 30_000},
    "from a time between records": {"subscribe": "<three>", "startingTimestamp": FIRST_MS + 30_500},
    "from the beginning of time": {"subscribe": "<three>", "startingTimestamp": 0},
    "from a time that no record has": {"subscribe": "<three>", "startingTimestamp": FIRST_MS + 59_000},
    "from a time that no record has, or latest": {
        "subscribe": "<three>",
        "startingTimestamp": FIRST_MS + 59_000,
        "startingOffsetsByTimestampStrategy": "latest",
    },
    "from times": {"subscribe": "<three>", "startingOffsetsByTimestamp": _times(0, 10, 50)},
    "from times of too few partitions": {"subscribe": "<three>", "startingOffsetsByTimestamp": _times(0, 10)},
    "to a time": {"subscribe": "<three>", "endingTimestamp": FIRST_MS + 30_000},
    "to a time that no record has": {"subscribe": "<three>", "endingTimestamp": FIRST_MS + 99_000},
    "to times": {"subscribe": "<three>", "endingOffsetsByTimestamp": _times(5, 10, 99)},
    "between times": {
        "subscribe": "<three>",
        "startingTimestamp": FIRST_MS + 10_000,
        "endingTimestamp": FIRST_MS + 20_000,
    },
    "a time goes before offsets": {
        "subscribe": "<three>",
        "startingTimestamp": FIRST_MS + 50_000,
        "startingOffsets": "earliest",
        "endingTimestamp": FIRST_MS + 55_000,
        "endingOffsets": offsets(1, 1, 1),
    },
    "a strategy that is none": {"subscribe": "<three>", "startingOffsetsByTimestampStrategy": "earliest", **_ALL},
    "committed transactions": {"subscribe": "<txn>", "kafka.isolation.level": "read_committed"},
    "transactions that were aborted too": {"subscribe": "<txn>"},
    "a compacted topic": {"subscribe": "<compacted>"},
    "a topic whose head is gone": {"subscribe": "<trimmed>"},
    "limits that are for streams": {"subscribe": "<one>", "maxOffsetsPerTrigger": "3", "minOffsetsPerTrigger": "2"},
    "a prefix of groups": {"subscribe": "<one>", "groupIdPrefix": "trials"},
    "a group": {"subscribe": "<one>", "kafka.group.id": "trials", "kafka.session.timeout.ms": "10000"},
    "small fetches": {"subscribe": "<three>", "kafka.max.partition.fetch.bytes": "50", "kafka.max.poll.records": "3"},
    "an option of the producer": {"subscribe": "<one>", "kafka.acks": "all"},
    "times to try again": {"subscribe": "<one>", "fetchOffset.numRetries": "1", "fetchOffset.retryIntervalMs": "5"},
    "a time to wait": {"subscribe": "<one>", "kafkaConsumer.pollTimeoutMs": "60000"},
    "no topic": {},
    "an empty list of topics": {"subscribe": " , "},
    "two kinds of selection": {"subscribe": "<one>", "assign": {"<one>": [0]}},
    "auto.offset.reset": {"subscribe": "<one>", "kafka.auto.offset.reset": "earliest"},
    "key.deserializer": {"subscribe": "<one>", "kafka.key.deserializer": "a.B"},
    "value.deserializer": {"subscribe": "<one>", "kafka.value.deserializer": "a.B"},
    "enable.auto.commit": {"subscribe": "<one>", "kafka.enable.auto.commit": "true"},
    "interceptor.classes": {"subscribe": "<one>", "kafka.interceptor.classes": "a.B"},
    "a truth value that is none": {"subscribe": "<one>", "failOnDataLoss": "maybe"},
    "no tasks": {"subscribe": "<one>", "minPartitions": "0"},
    "tasks without records": {"subscribe": "<one>", "maxRecordsPerPartition": "0"},
}
"""Options of reads whose rows are compared."""

FAILS = {
    "a topic that does not exist",
    "a topic that does not exist, with loss allowed",
    "a pattern that is none",
    "an assignment that is none",
    "from latest",
    "from latest in one partition",
    "to earliest",
    "to earliest in one partition",
    "to before the beginning",
    "from behind the end",
    "from behind the end, with loss allowed",
    "offsets of too few partitions",
    "offsets of too many partitions",
    "offsets of another topic",
    "offsets that are none",
    "offsets below -2",
    "from a time that no record has",
    "from times of too few partitions",
    "a strategy that is none",
    "no topic",
    "an empty list of topics",
    "two kinds of selection",
    "auto.offset.reset",
    "key.deserializer",
    "value.deserializer",
    "enable.auto.commit",
    "interceptor.classes",
    "a truth value that is none",
    "no tasks",
    "tasks without records",
}
DIFFERS = {"a partition that does not exist": "it is refused; Spark's connector reads the others"}
QUICK = {"a topic with headers", "between offsets", "from a time", "committed transactions", "from behind the end"}


def _ranges(trial: Trial, **given: Any) -> Any:
    """The offsets that each task reads, without those that read nothing."""
    from pyspark.sql.functions import max as latest
    from pyspark.sql.functions import min as earliest
    from pyspark.sql.functions import spark_partition_id

    frame = trial.frame(subscribe="<skewed>", **given).withColumn("task", spark_partition_id())
    found = frame.groupBy("task", "partition").agg(earliest("offset"), latest("offset")).collect()
    return sorted(tuple(row)[1:] for row in found), len({row.task for row in found})


def _tasks(trial: Trial, **given: Any) -> Any:
    """How many offsets each task reads at most, and how many tasks there are."""
    return _ranges(trial, **given)[1]


def _twice(trial: Trial) -> Any:
    trial.topic("own")
    trial.produce("own", [b"1", b"2"])
    frame = trial.frame(subscribe="<own>")
    before = frame.count()
    trial.produce("own", [b"3"])
    return before, frame.count()


def _view(trial: Trial) -> Any:
    name = f"trial_{trial.format}"
    trial.spark.sql(
        f"create or replace temporary view {name} using {trial.format} options "
        f"('kafka.bootstrap.servers' '{trial.servers}', 'subscribe' '{trial.topics['three']}')"
    )
    return trial.rows(trial.spark.sql(f"select partition, count(value), max(offset) from {name} group by partition"))


def _join(trial: Trial) -> Any:
    left, right = trial.frame(subscribe="<three>"), trial.frame(subscribe="<one>")
    return trial.rows(left.join(right, "value").selectExpr("cast(value as string)"))


def _filtered(trial: Trial) -> Any:
    frame = trial.frame(subscribe="<three>").where("partition = 1 and offset > 3 and key is not null")
    return trial.rows(frame.select("value", "offset")), frame.limit(2).count()


def _union_of_filters(trial: Trial) -> Any:
    frame = trial.frame(subscribe="<three>")
    return trial.rows(frame.where("partition=1").union(frame.where("partition=2")))


def _schema(trial: Trial) -> Any:
    options = trial.options({"subscribe": "<one>"})
    return trial.rows(trial.spark.read.format(trial.format).schema("value binary").options(**options).load())


def _without_brokers(trial: Trial) -> Any:
    return trial.spark.read.format(trial.format).option("subscribe", "t").load().count()


def _path(trial: Trial) -> Any:
    options = trial.options({"subscribe": "<one>"})
    return trial.spark.read.format(trial.format).options(**options).load("somewhere").count()


def _missing_topic_of_two(trial: Trial) -> Any:
    return _read(trial, subscribe="<one>,there-is-none")


def programs() -> Iterator[Program]:
    """The list."""
    for name, given in TABLE.items():
        run = functools.partial(_read, **given)
        differs = DIFFERS.get(name, "")
        yield Program(f"read: {name}", run, differs, fails=name in FAILS, quick=name in QUICK)
    split = (
        {"minPartitions": "4"},
        {"minPartitions": "21"},
        {"minPartitions": "40", "maxRecordsPerPartition": "50"},
        {"maxRecordsPerPartition": "60"},
        {"maxRecordsPerPartition": "7", "minPartitions": "2"},
    )
    for given in split:
        text = " and ".join(f"{name}={each}" for name, each in given.items())
        yield Program(
            f"read: a hot partition split by {text}",
            functools.partial(_ranges, **given),
            # Its batch reads do not look at it while there are at least minPartitions partitions.
            differs="Spark's connector ignores maxRecordsPerPartition" if text.startswith("maxRec") else "",
            quick="21" in text,
        )
    yield Program(
        "read: small partitions",
        _tasks,
        differs="partitions with few records share a task",
    )
    yield Program("read: two actions on a frame", _twice, differs="a frame is a snapshot of its load()")
    yield Program("read: a temporary view", _view)
    yield Program("read: a join of two topics", _join)
    yield Program("read: filters and a limit", _filtered)
    yield Program("read: a union of filters", _union_of_filters)
    yield Program("read: a topic that exists and one that does not", _missing_topic_of_two, fails=True)
    yield Program("read: no brokers", _without_brokers, fails=True)
    yield Program(
        "read: a schema of the user's",
        _schema,
        differs="it selects columns; Spark's connector refuses it",
        fails=True,
    )
    yield Program("read: a path", _path, differs="it is refused; Spark's connector ignores it")
    yield Program(
        "read: columns",
        functools.partial(_read, subscribe="<one>", columns="value"),
        differs="an option of this package; Spark's connector ignores it",
    )
    yield Program(
        "read: a misspelt option",
        functools.partial(_read, subscribe="<one>", startingOfsets="earliest"),
        differs="it is refused by name; Spark's connector ignores it",
    )
