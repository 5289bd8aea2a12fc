"""A Spark driver of the demo, in its own process: ``python -m kafka.cli.demo.spark_driver PLAN``.

It reads the plan, runs both queries until they have read the whole topic, and exits. It also exits when its standard
input ends, because then the demo has died.
"""

import json
import os
import pathlib
import signal
import sys
import threading
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from kafka.cli.demo.ingest import RESULT_TOPIC, SOURCE_TOPIC
from kafka.cli.demo.plan import PARQUET_QUERY, TOPIC_QUERY, Plan, read_plan
from kafka.spark import session, watch

SCHEMA = (
    "departure timestamp, carrier string, flight int, origin string, dest string, dep_delay double, arr_delay double"
)
WATERMARK = "10 days"
"""Allows for partitions that differ in event time, because keys are not spread evenly over the year."""


def delays(spark: SparkSession, plan: Plan, query: str) -> DataFrame:
    """Return the stream of delays for one query, with one row per origin and hour.

    A row is emitted once the watermark has passed its hour. The closing records have no origin. They are not filtered
    out, because Spark would do that before it updates the watermark. They never appear in the result, because their
    window, the last one, never closes.
    """
    airlines = f.broadcast(spark.createDataFrame(plan.airlines, "carrier string, airline string"))
    airports = spark.createDataFrame(plan.airports, "faa string, name string")
    destinations = f.broadcast(airports.select(f.col("faa").alias("dest"), f.col("name").alias("destination")))
    origins = f.broadcast(airports.select(f.col("faa").alias("origin"), f.col("name").alias("airport")))
    starting = {str(partition): offset for partition, offset in plan.starting.items()}
    raw = (
        spark.readStream.format("kafka_columnar")
        .option("kafka.bootstrap.servers", plan.bootstrap_servers)
        .option("subscribe", SOURCE_TOPIC)
        .option("startingOffsets", json.dumps({SOURCE_TOPIC: starting}))
        .option("maxOffsetsPerTrigger", plan.records_per_trigger)
        .option("commitGroup", plan.groups[query])
        .option("columns", "value")
        .load()
    )
    flights = (
        raw.select(f.from_json(f.col("value").cast("string"), SCHEMA).alias("flight"))
        .select("flight.*")
        .withWatermark("departure", WATERMARK)
        .join(airlines, "carrier", "left")
        .join(destinations, "dest", "left")
        .join(origins, "origin", "left")
    )
    worst = f.struct("dep_delay", "airline", f.coalesce("destination", "dest").alias("destination"))
    return (
        flights.groupBy(f.window("departure", "1 hour"), "origin", "airport")
        .agg(
            f.count("flight").alias("flights"),
            f.count(f.when(f.col("dep_delay").isNull(), f.col("flight"))).alias("cancelled"),
            f.avg("dep_delay").alias("dep_delay"),
            f.avg("arr_delay").alias("arr_delay"),
            f.max(f.when(f.col("dep_delay").isNotNull(), worst)).alias("worst"),
        )
        .select(f.col("window.start").alias("hour"), "*")
        .drop("window")
    )


def start(spark: SparkSession, plan: Plan) -> list[Any]:
    """Start both queries, or resume them from their checkpoints. Each ends when it has read the whole topic."""
    to_topic = (
        delays(spark, plan, TOPIC_QUERY)
        .select(f.col("origin").alias("key"), f.to_json(f.struct("*")).alias("value"))
        .writeStream.format("kafka_columnar")
        .queryName(TOPIC_QUERY)
        .option("kafka.bootstrap.servers", plan.bootstrap_servers)
        .option("topic", RESULT_TOPIC)
        .option("exactlyOnce", "true")
        .option("transactionalIdPrefix", plan.transactional_id_prefix)
        .option("checkpointLocation", str(plan.checkpoint(TOPIC_QUERY)))
        .trigger(availableNow=True)
        .start()
    )
    to_parquet = (
        delays(spark, plan, PARQUET_QUERY)
        .writeStream.format("parquet")
        .queryName(PARQUET_QUERY)
        .option("path", plan.parquet)
        .option("checkpointLocation", str(plan.checkpoint(PARQUET_QUERY)))
        .trigger(availableNow=True)
        .start()
    )
    return [to_topic, to_parquet]


SPARK = {
    "spark.log.level": "WARN",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.showConsoleProgress": "false",
}
"""Settings of the demo's session, in addition to those of `kafka.spark.session`."""


def run(plan: Plan) -> None:
    """Run the queries to their end. Raises the error of a failed query."""
    spark = session("kafka demo", **SPARK)
    try:
        with watch(spark, json_lines=plan.progress):
            for query in start(spark, plan):
                query.awaitTermination()
    except Exception as error:
        plan.failure.write_text(" ".join(str(error).split()), encoding="utf-8")
        raise
    finally:
        spark.stop()


def _end_with_standard_input() -> None:
    os.read(sys.stdin.fileno(), 1)  # takes no lock that could block the interpreter at exit
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=_end_with_standard_input, daemon=True).start()
    run(read_plan(pathlib.Path(sys.argv[1])))
