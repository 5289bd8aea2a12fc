"""JSON to Parquet by date, without kafka.pipelines."""

from pyspark.sql import functions as f

from kafka.spark import run_available, session

spark = session("flights-by-day")
brokers = {"kafka.bootstrap.servers": "localhost:9092"}
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
    # A repeated batch replaces its own directories: each has the rows of one date and one batch.
    good = batch.where("cause is null").selectExpr("value.*", "to_date(value.ts) as date", f"{number} as batch")
    good.write.mode("overwrite").option("partitionOverwriteMode", "dynamic").partitionBy("date", "batch").parquet(
        "/tmp/flights_by_day"
    )
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
        "transactionalIdPrefix", "flights-by-day"
    ).mode("append").save()
    batch.unpersist()


run_available(
    records.withColumn("cause", cause)
    .writeStream.foreachBatch(write)
    .option("checkpointLocation", "/tmp/checkpoints/flights-by-day")
)
