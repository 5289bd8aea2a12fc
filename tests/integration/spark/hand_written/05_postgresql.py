"""Upserts into PostgreSQL, without kafka.pipelines."""

import psycopg
from pyspark.sql import functions as f

from kafka.spark import run_available, session

spark = session("customers-table")
brokers = {"kafka.bootstrap.servers": "localhost:9092"}
records = (
    spark.readStream.format("kafka_columnar")
    .options(**brokers, subscribe="customers", startingOffsets="earliest", includeHeaders="true")
    .options(valueFormat="json", valueSchema="id int, ts timestamp, city string", valueErrors="column")
    .option("originalBytes", "true")
    .load()
)
cause = (
    f.when(f.col("value_error").isNotNull(), f.col("value_error.cause"))
    .when(f.col("value.id").isNull(), f.lit("id is null"))
    .when(f.col("value.ts").isNull(), f.lit("ts is null"))
)


def header(name, text):
    return f.struct(f.lit(name).alias("key"), text.cast("binary").alias("value"))


def write(batch, number):
    batch.persist()
    with psycopg.connect("postgresql://localhost:5432/shop", user="app") as connection:
        connection.execute("create table if not exists customers (id int primary key, ts timestamptz, city text)")
        connection.execute("create table if not exists batches (pipeline text primary key, batch bigint)")
        stored = connection.execute("select batch from batches where pipeline = 'customers-table'").fetchone()
        if stored is None or stored[0] < number:
            connection.execute("create temporary table staged (like customers) on commit drop")
            with connection.cursor().copy("copy staged from stdin") as copied:
                rows = batch.where("cause is null").selectExpr("value.id", "string(value.ts)", "value.city")
                for row in rows.toLocalIterator():
                    copied.write_row(row)
            connection.execute(
                "insert into customers select distinct on (id) * from staged order by id, ts desc "
                "on conflict (id) do update set ts = excluded.ts, city = excluded.city where excluded.ts > customers.ts"
            )
            connection.execute(
                "insert into batches values ('customers-table', %s) on conflict (pipeline) do update "
                "set batch = excluded.batch",
                [number],
            )
    position = f.concat_ws("/", "topic", f.col("partition").cast("string"), f.col("offset").cast("string"))
    dead = batch.where("cause is not null").select(
        f.lit("customers.dead").alias("topic"),
        "key",
        f.col("value_bytes").alias("value"),
        f.concat(
            f.coalesce("headers", f.array().cast("array<struct<key:string,value:binary>>")),
            f.array(header("cause", f.col("cause")), header("source", position)),
        ).alias("headers"),
    )
    dead.write.format("kafka_columnar").options(**brokers, exactlyOnce="true").option(
        "transactionalIdPrefix", "customers-table"
    ).mode("append").save()
    batch.unpersist()


run_available(
    records.withColumn("cause", cause)
    .writeStream.foreachBatch(write)
    .option("checkpointLocation", "/tmp/checkpoints/customers-table")
)
