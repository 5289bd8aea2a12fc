"""Batches into SQLite, without kafka.pipelines."""

import sqlite3

from pyspark.sql import functions as f

from kafka.spark import run_available, session

spark = session("orders-sqlite")
brokers = {"kafka.bootstrap.servers": "localhost:9092"}
records = (
    spark.readStream.format("kafka_columnar")
    .options(**brokers, subscribe="orders", startingOffsets="earliest", includeHeaders="true", originalBytes="true")
    .options(valueFormat="json", valueSchema="id int, item string", valueErrors="column")
    .load()
)
cause = f.when(f.col("value_error").isNotNull(), f.col("value_error.cause")).when(
    f.col("value.id").isNull(), f.lit("id is null")
)


def header(name, text):
    return f.struct(f.lit(name).alias("key"), text.cast("binary").alias("value"))


def write(batch, number):
    batch.persist()
    rows = batch.where("cause is null").select("value.*")
    database = sqlite3.connect("/tmp/orders.db")
    with database:  # one transaction
        database.execute("create table if not exists orders (id int, item text)")
        database.execute("create table if not exists batches (number int primary key)")
        if not database.execute("select 1 from batches where number = ?", [number]).fetchone():
            database.executemany("insert into orders values (?, ?)", rows.toLocalIterator())
            database.execute("insert into batches values (?)", [number])
    database.close()
    position = f.concat_ws("/", "topic", f.col("partition").cast("string"), f.col("offset").cast("string"))
    dead = batch.where("cause is not null").select(
        f.lit("orders.dead").alias("topic"),
        "key",
        f.col("value_bytes").alias("value"),
        f.concat(
            f.coalesce("headers", f.array().cast("array<struct<key:string,value:binary>>")),
            f.array(header("cause", f.col("cause")), header("source", position)),
        ).alias("headers"),
    )
    dead.write.format("kafka_columnar").options(**brokers, exactlyOnce="true").option(
        "transactionalIdPrefix", "orders-sqlite"
    ).mode("append").save()
    batch.unpersist()


run_available(
    records.withColumn("cause", cause)
    .writeStream.foreachBatch(write)
    .option("checkpointLocation", "/tmp/checkpoints/orders-sqlite")
)
