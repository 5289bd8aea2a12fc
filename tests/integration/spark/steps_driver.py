"""A driver that a test kills: removes duplicates, or counts by window, exactly once, and ends when all is written."""

from __future__ import annotations

import sys
from typing import Any

from pyspark.sql import functions as f

from kafka.pipelines.steps import dedupe, watermark
from kafka.pipelines.window_flush import Markers, flush
from kafka.spark import run_available, session

SCHEMA = "id long, ts timestamp"
OFFSETS_A_BATCH = 40


def unique(rows: Any) -> Any:
    """The rows, each id once."""
    return dedupe(rows, "id", within="10 minutes").select(f.col("id").cast("string").alias("value"))


def counts(rows: Any, markers: Markers | None = None) -> Any:
    """The number of rows in each window of five minutes."""
    counted = watermark(rows, "ts", "2 minutes", markers=markers).groupBy(f.window("ts", "5 minutes")).count()
    return counted.select(f.format_string("%d %d", f.unix_seconds("window.start"), "count").alias("value"))


def typed(frame: Any) -> Any:
    """The rows of a frame with records."""
    return frame.select(f.from_json(f.col("value").cast("string"), SCHEMA).alias("row")).select("row.*")


def main(bootstrap_servers: str, kind: str, topic: str, target: str, folder: str, jvm_options: str) -> None:
    settings = {
        "spark.driver.memory": "512m",
        "spark.log.level": "ERROR",
        "spark.driver.extraJavaOptions": jvm_options,
        "spark.sql.shuffle.partitions": "2",
    }
    spark = session("killed", **settings)
    brokers = {"kafka.bootstrap.servers": bootstrap_servers}
    source = {"subscribe": topic, "startingOffsets": "earliest", "maxOffsetsPerTrigger": str(OFFSETS_A_BATCH)}
    rows = typed(spark.readStream.format("kafka_columnar").options(**brokers, **source).load())
    markers = Markers(f"{folder}/markers")
    result = unique(rows) if kind == "dedupe" else counts(rows, markers)
    sink = {"topic": target, "exactlyOnce": "true", "transactionalIdPrefix": f"of-{target}"}
    writer = result.writeStream.format("kafka_columnar").options(**brokers, **sink)
    writer = writer.option("checkpointLocation", f"{folder}/checkpoint")
    run_available(writer)
    if kind == "windows":
        flush(spark, f"{folder}/checkpoint", markers, lambda: run_available(writer))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
