"""A driver that writes exactly once while it, or what it needs, is killed: runs a query for each line of its input.

A line is JSON: the fields of `Run`. What became of the query is printed as a line of JSON.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import Any

from harness.kill_points import FORMAT, stopping_source

IDS_TOGETHER = 25
"""How many rows Spark hands to a task at a time: so that a part of them can be written."""


@dataclasses.dataclass(frozen=True)
class Run:
    """A query, from where its checkpoint stands to the end of its source.

    Arguments:
        kind: a key of `QUERIES`.
        servers: the brokers.
        source, target: topics.
        checkpoint: its folder.
        points: the folder of the point at which a process stops.
        shuffle_partitions: spark.sql.shuffle.partitions.
        rows_a_batch: at most.
        options: of the sink, beyond what it needs.
    """

    kind: str
    servers: str
    source: str
    target: str
    checkpoint: str
    points: str
    shuffle_partitions: int
    rows_a_batch: int
    options: dict[str, str] = dataclasses.field(default_factory=dict)

    def sink(self) -> dict[str, str]:
        given = {"kafka.bootstrap.servers": self.servers, "topic": self.target}
        return given | {"exactlyOnce": "true", "transactionalIdPrefix": f"of-{self.target}"} | self.options


def stateless(frame: Any, run: Run) -> Any:
    """Copy rows, in tasks that a shuffle makes."""
    return frame.selectExpr("key", "value").repartition("key").writeStream.format(FORMAT).options(**run.sink())


def stateful(frame: Any, run: Run) -> Any:
    """Copy each row once, though the source has some twice: the state of a key is its highest row."""
    named = frame.selectExpr("cast(key as string) as key", "cast(cast(value as string) as bigint) as id")

    def newer(key: tuple[str], frames: Any, state: Any) -> Any:
        import pandas as pd

        highest = state.get[0] if state.exists else -1
        ids = sorted({number for some in frames for number in some["id"] if number > highest})
        if ids:
            state.update((ids[-1],))
        yield pd.DataFrame({"key": [key[0]] * len(ids), "value": [str(number) for number in ids]})

    grouped = named.groupBy("key")
    rows = grouped.applyInPandasWithState(newer, "key string, value string", "highest bigint", "append", "NoTimeout")
    return rows.writeStream.format(FORMAT).options(**run.sink())


def foreach(frame: Any, run: Run) -> Any:
    """The same by dropDuplicates, written by a foreachBatch function, in other tasks than those of the state."""
    rows = frame.selectExpr("key", "cast(cast(value as string) as bigint) as id").dropDuplicates(["key", "id"])

    def write(batch: Any, _: int) -> None:
        parted = batch.repartition("key").sortWithinPartitions("id").selectExpr("key", "cast(id as string) as value")
        parted.write.format(FORMAT).options(**run.sink()).mode("append").save()

    return rows.writeStream.foreachBatch(write)


QUERIES = {"stateless": stateless, "stateful": stateful, "foreach": foreach}


def carry_out(spark: Any, run: Run) -> dict[str, Any]:
    """Run a query to its end, or to its failure; tells what became of it."""
    spark.dataSource.register(stopping_source(run.points))
    spark.conf.set("spark.sql.shuffle.partitions", str(run.shuffle_partitions))
    source = {"kafka.bootstrap.servers": run.servers, "subscribe": run.source, "startingOffsets": "earliest"}
    stream = spark.readStream.format("kafka_columnar").options(**source, maxOffsetsPerTrigger=str(run.rows_a_batch))
    query = QUERIES[run.kind](stream.load(), run).option("checkpointLocation", run.checkpoint)
    started = query.trigger(availableNow=True).start()
    try:
        started.awaitTermination()
    except Exception as error:  # whatever a kill brings about is told
        return {"error": str(error)}
    return {"error": None, "batches": [each["batchId"] for each in started.recentProgress]}


def main(settings: str) -> None:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for name, value in json.loads(settings).items():
        builder = builder.config(name, value)
    spark = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", str(IDS_TOGETHER)).getOrCreate()
    print(json.dumps({"application": spark.sparkContext.applicationId}), flush=True)
    for line in sys.stdin:
        print(json.dumps(carry_out(spark, Run(**json.loads(line)))), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
