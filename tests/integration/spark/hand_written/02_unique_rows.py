"""Removal of duplicates, without kafka.pipelines."""

from pyspark.sql import functions as f

from kafka.spark import run_available, session

spark = session("unique-payments")
brokers = {"kafka.bootstrap.servers": "localhost:9092"}
records = (
    spark.readStream.format("kafka_columnar")
    .options(**brokers, subscribe="payments", startingOffsets="earliest", includeHeaders="true", originalBytes="true")
    .options(valueFormat="json", valueSchema="id string, ts timestamp, amount double", valueErrors="column")
    .load()
)
cause = (
    f.when(f.col("value_error").isNotNull(), f.col("value_error.cause"))
    .when(f.col("value.id").isNull(), f.lit("id is null"))
    .when(f.col("value.ts").isNull(), f.lit("ts is null"))
)
checked = records.withColumn("cause", cause)


def header(name, text):
    return f.struct(f.lit(name).alias("key"), text.cast("binary").alias("value"))


position = f.concat_ws("/", "topic", f.col("partition").cast("string"), f.col("offset").cast("string"))
good = (
    checked.where("cause is null")
    .select("value.*")
    .withWatermark("ts", "10 minutes")
    .dropDuplicatesWithinWatermark(["id"])
    .select(
        f.lit("payments.unique").alias("topic"),
        f.col("id").cast("binary").alias("key"),
        f.struct("id", "ts", "amount").alias("value"),
    )
)
dead = checked.where("cause is not null").select(
    f.lit("payments.dead").alias("topic"),
    "key",
    "value_bytes",
    f.concat(
        f.coalesce("headers", f.array().cast("array<struct<key:string,value:binary>>")),
        f.array(header("cause", f.col("cause")), header("source", position)),
    ).alias("headers"),
)
run_available(
    good.unionByName(dead, allowMissingColumns=True)
    .writeStream.format("kafka_columnar")
    .options(**brokers, valueFormat="json", originalBytes="true", exactlyOnce="true")
    .option("transactionalIdPrefix", "unique-payments")
    .option("checkpointLocation", "/tmp/checkpoints/unique-payments")
)
