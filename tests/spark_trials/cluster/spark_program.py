"""A program that writes, reads and streams through Spark, wherever that runs; prints what it saw as a line of JSON.

It then waits for the end of its input, so that its processes can be looked at.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROWS = 1_000
FORMAT = "kafka_columnar"


def run(spark: Any, bootstrap_servers: str, topic: str, folder: str, **login: str) -> dict[str, Any]:
    """Write rows to a topic, read them in a batch, and copy them in a stream, batch by batch."""
    brokers = {"kafka.bootstrap.servers": bootstrap_servers, **login}
    rows = spark.range(ROWS).selectExpr("cast(id as string) as key", "cast(id as string) as value")
    rows.repartition(2).write.format(FORMAT).options(**brokers, topic=topic).mode("append").save()
    frame = spark.read.format(FORMAT).options(**brokers, subscribe=topic, minPartitions="2").load()
    batch = frame.selectExpr("count(*) as rows", "count(distinct cast(value as string)) as ids").first()
    stream = spark.readStream.format(FORMAT).options(
        **brokers, subscribe=topic, startingOffsets="earliest", maxOffsetsPerTrigger="400", commitGroup=f"{topic}-group"
    )
    writer = stream.load().selectExpr("key", "value").writeStream.format(FORMAT)
    writer = writer.options(**brokers, topic=f"{topic}-copy", checkpointLocation=f"{folder}/checkpoint")
    run_to_the_end(writer)
    copied = spark.read.format(FORMAT).options(**brokers, subscribe=f"{topic}-copy").load()
    again = copied.selectExpr("count(*) as rows", "count(distinct cast(value as string)) as ids").first()
    batches = len(list(Path(folder, "checkpoint", "commits").glob("[0-9]*")))
    return {"batch": list(batch), "stream": list(again), "batches": batches}


def run_to_the_end(writer: Any) -> None:
    try:
        from kafka.spark import run_available
    except ImportError:  # a client of Spark Connect, which has PySpark alone
        writer.trigger(availableNow=True).start().awaitTermination()
    else:
        run_available(writer)


def main(bootstrap_servers: str, topic: str, folder: str, settings: str, login: str) -> None:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for name, value in json.loads(settings).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    seen = run(spark, bootstrap_servers, topic, folder, **json.loads(login))
    print(json.dumps(seen), flush=True)
    sys.stdin.read()
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
