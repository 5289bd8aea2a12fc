"""The Spark query: JSON flights from the topic, joined and aggregated, to the second topic and to Parquet."""

import json
import pathlib
import time
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from kafka.cli.demo.flights import Flights
from kafka.cli.demo.ingest import RESULT_TOPIC, SOURCE_TOPIC
from kafka.errors import KafkaError

SCHEMA = (
    "departure timestamp, carrier string, flight int, origin string, dest string, dep_delay double, arr_delay double"
)
WATERMARK = "10 days"
"""How far the partitions may be apart in event time: keys do not spread evenly over the year."""
RECORDS_PER_TRIGGER = 60_000


def delays(spark: SparkSession, bootstrap_servers: str, starting: dict[int, int], data: Flights) -> DataFrame:
    """The stream of delays: a row for each origin and hour, once the watermark has passed the hour.

    The closing records have no origin. They are not filtered out: Spark would do that before it takes the watermark,
    and their own window, the last one, never closes.
    """
    airlines = f.broadcast(spark.createDataFrame(data.airlines).withColumnRenamed("name", "airline"))
    airports = spark.createDataFrame(data.airports)
    destinations = f.broadcast(airports.select(f.col("faa").alias("dest"), f.col("name").alias("destination")))
    origins = f.broadcast(airports.select(f.col("faa").alias("origin"), f.col("name").alias("airport")))
    raw = (
        spark.readStream.format("kafka_columnar")
        .option("kafka.bootstrap.servers", bootstrap_servers)
        .option("subscribe", SOURCE_TOPIC)
        .option("startingOffsets", json.dumps({SOURCE_TOPIC: {str(p): offset for p, offset in starting.items()}}))
        .option("maxOffsetsPerTrigger", RECORDS_PER_TRIGGER)
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


def start(stream: DataFrame, bootstrap_servers: str, parquet: pathlib.Path, checkpoints: pathlib.Path) -> list[Any]:
    """Start both queries on the stream; each ends when it has read what was there."""
    to_topic = (
        stream.select(f.col("origin").alias("key"), f.to_json(f.struct("*")).alias("value"))
        .writeStream.format("kafka_columnar")
        .queryName("flight delays to the topic")
        .option("kafka.bootstrap.servers", bootstrap_servers)
        .option("topic", RESULT_TOPIC)
        .option("checkpointLocation", str(checkpoints / "topic"))
        .trigger(availableNow=True)
        .start()
    )
    to_parquet = (
        stream.writeStream.format("parquet")
        .queryName("flight delays to Parquet")
        .option("path", str(parquet))
        .option("checkpointLocation", str(checkpoints / "parquet"))
        .trigger(availableNow=True)
        .start()
    )
    return [to_topic, to_parquet]


def await_all(queries: list[Any], expected: int) -> tuple[list[int], int]:
    """Wait until the queries end, with a bar for each; returns the rows each read, and the rows dropped as late."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns) as bar:
        tasks = [bar.add_task(query.name, total=expected) for query in queries]
        while any(query.isActive for query in queries):
            for task, query in zip(tasks, queries, strict=True):
                bar.update(task, completed=_rows(query)[0])
            time.sleep(0.2)
        for task, query in zip(tasks, queries, strict=True):
            error = query.exception()
            if error is not None:
                raise KafkaError(f"the query {query.name!r} failed: {str(error).strip()[:2000]}")
            bar.update(task, completed=_rows(query)[0])
    found = [_rows(query) for query in queries]
    return [rows for rows, _ in found], sum(late for _, late in found)


def _rows(query: Any) -> tuple[int, int]:
    progress = query.recentProgress
    late = sum(state["numRowsDroppedByWatermark"] for each in progress for state in each["stateOperators"])
    return sum(each["numInputRows"] for each in progress), late
