"""A Delta table for each topic of a pattern, without kafka.pipelines."""

from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from pyspark.sql import functions as f

from kafka.spark import run_available, session

spark = session("raw-clicks")
brokers = {"kafka.bootstrap.servers": "localhost:9092"}
records = (
    spark.readStream.format("kafka_columnar")
    .options(**brokers, subscribePattern=r"clicks\..*", startingOffsets="earliest", includeHeaders="true")
    .options(valueFormat="json", valueSchema="id int, page string", valueErrors="column", originalBytes="true")
    .load()
)
cause = f.when(f.col("value_error").isNotNull(), f.col("value_error.cause")).when(
    f.col("value.id").isNull(), f.lit("id is null")
)


def header(name, text):
    return f.struct(f.lit(name).alias("key"), text.cast("binary").alias("value"))


def write(batch, number):
    batch.persist()
    good = batch.where("cause is null")
    for (topic,) in good.select("topic").distinct().collect():
        rows = good.where(f.col("topic") == topic).select("value.*").toArrow()  # in the driver's memory
        path = f"/tmp/raw/{topic}"
        exists = DeltaTable.is_deltatable(path)
        written = DeltaTable(path).transaction_version("raw-clicks") if exists else None
        if written is None or written < number:
            commit = CommitProperties(app_transactions=[Transaction("raw-clicks", number)])
            write_deltalake(path, rows, mode="append", commit_properties=commit)
    position = f.concat_ws("/", "topic", f.col("partition").cast("string"), f.col("offset").cast("string"))
    dead = batch.where("cause is not null").select(
        f.lit("clicks-dead").alias("topic"),
        "key",
        f.col("value_bytes").alias("value"),
        f.concat(
            f.coalesce("headers", f.array().cast("array<struct<key:string,value:binary>>")),
            f.array(header("cause", f.col("cause")), header("source", position)),
        ).alias("headers"),
    )
    dead.write.format("kafka_columnar").options(**brokers, exactlyOnce="true").option(
        "transactionalIdPrefix", "raw-clicks"
    ).mode("append").save()
    batch.unpersist()


run_available(
    records.withColumn("cause", cause)
    .writeStream.foreachBatch(write)
    .option("checkpointLocation", "/tmp/checkpoints/raw-clicks")
)
