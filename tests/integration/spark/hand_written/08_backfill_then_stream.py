"""A backfill and then the stream, without kafka.pipelines."""

import json
from datetime import UTC, datetime
from pathlib import Path

from pyspark.sql import functions as f

import kafka
from kafka.spark import run_available, session

spark = session("orders-history")
brokers = {"kafka.bootstrap.servers": "localhost:9092"}
typed = {
    "valueFormat": "json",
    "valueSchema": "id int, item string",
    "valueErrors": "column",
    "includeHeaders": "true",
    "originalBytes": "true",
}
# The offsets where the backfill ends and the stream starts must survive a restart.
plan = Path("/tmp/orders-history.json")
if not plan.exists():
    since = kafka.read("orders", start=datetime(2024, 1, 31, tzinfo=UTC), bootstrap_servers="localhost:9092")
    with since as read:
        ranges = {str(tp.partition): (each.start, each.end) for tp, each in read.ranges.items()}
    plan.write_text(json.dumps(ranges))
ranges = json.loads(plan.read_text())
starts = json.dumps({"orders": {partition: start for partition, (start, _) in ranges.items()}})
ends = json.dumps({"orders": {partition: end for partition, (_, end) in ranges.items()}})


def header(name, text):
    return f.struct(f.lit(name).alias("key"), text.cast("binary").alias("value"))


def output(records):
    cause = f.when(f.col("value_error").isNotNull(), f.col("value_error.cause")).when(
        f.col("value.id").isNull(), f.lit("id is null")
    )
    position = f.concat_ws("/", "topic", f.col("partition").cast("string"), f.col("offset").cast("string"))
    headers = f.concat(
        f.coalesce("headers", f.array().cast("array<struct<key:string,value:binary>>")),
        f.array(header("cause", cause), header("source", position)),
    )
    is_good = cause.isNull()
    return records.select(
        f.when(is_good, "orders.items").otherwise("orders.dead").alias("topic"),
        f.when(is_good, f.col("value.id").cast("string").cast("binary")).otherwise(f.col("key")).alias("key"),
        f.when(is_good, f.col("value")).alias("value"),
        f.when(~is_good, f.col("value_bytes")).alias("value_bytes"),
        f.when(~is_good, headers).alias("headers"),
    )


def written(writer, prefix):
    return (
        writer.format("kafka_columnar")
        .options(**brokers, valueFormat="json", originalBytes="true", exactlyOnce="true")
        .option("transactionalIdPrefix", prefix)
    )


old = spark.read.format("kafka_columnar").options(**brokers, **typed, subscribe="orders")
old = old.options(startingOffsets=starts, endingOffsets=ends).load()
first = written(output(old).write, "orders-history-backfill").option("transactionalBatchId", "1")
first.mode("append").save()
new = spark.readStream.format("kafka_columnar").options(**brokers, **typed, subscribe="orders", startingOffsets=ends)
stream = written(output(new.load()).writeStream, "orders-history")
run_available(stream.option("checkpointLocation", "/tmp/checkpoints/orders-history"))
