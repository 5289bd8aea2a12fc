"""Appends to an Iceberg table, without kafka.pipelines."""

from pyiceberg.catalog import load_catalog
from pyspark.sql import functions as f

from kafka.spark import run_available, session

spark = session("flights-iceberg")
brokers = {"kafka.bootstrap.servers": "localhost:9092"}
properties = {"type": "sql", "uri": "sqlite:////tmp/catalog.db", "warehouse": "file:///tmp/warehouse"}
records = (
    spark.readStream.format("kafka_columnar")
    .options(**brokers, subscribe="flights", startingOffsets="earliest", includeHeaders="true", originalBytes="true")
    .options(valueFormat="json", valueSchema="id int, ts timestamp, origin string, delay double", valueErrors="column")
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
    rows = batch.where("cause is null").select("value.*").toArrow()  # in the driver's memory
    catalog = load_catalog("default", **properties)
    catalog.create_namespace_if_not_exists("flights")
    table = catalog.create_table_if_not_exists("flights.delays", rows.schema)
    if int(table.properties.get("flights-iceberg.batch", -1)) < number:
        with table.transaction() as transaction:
            transaction.append(rows)
            transaction.set_properties({"flights-iceberg.batch": str(number)})
    position = f.concat_ws("/", "topic", f.col("partition").cast("string"), f.col("offset").cast("string"))
    dead = batch.where("cause is not null").select(
        f.lit("flights.dead").alias("topic"),
        "key",
        f.col("value_bytes").alias("value"),
        f.concat(
            f.coalesce("headers", f.array().cast("array<struct<key:string,value:binary>>")),
            f.array(header("cause", f.col("cause")), header("source", position)),
        ).alias("headers"),
    )
    dead.write.format("kafka_columnar").options(**brokers, exactlyOnce="true").option(
        "transactionalIdPrefix", "flights-iceberg"
    ).mode("append").save()
    batch.unpersist()


run_available(
    records.withColumn("cause", cause)
    .writeStream.foreachBatch(write)
    .option("checkpointLocation", "/tmp/checkpoints/flights-iceberg")
)
