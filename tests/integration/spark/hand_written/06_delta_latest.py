"""The latest row for each key in a Delta table, without kafka.pipelines."""

from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from pyspark.sql import Window
from pyspark.sql import functions as f

from kafka.spark import run_available, session

spark = session("latest-customers")
brokers = {"kafka.bootstrap.servers": "localhost:9092"}
path = "/tmp/latest_customers"
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
    good = batch.where("cause is null").select("value.*")
    rank = f.row_number().over(Window.partitionBy("id").orderBy(f.col("ts").desc()))
    latest = good.withColumn("rank", rank).where("rank = 1").drop("rank").toArrow()  # in the driver's memory
    if not DeltaTable.is_deltatable(path):
        write_deltalake(path, latest.slice(0, 0))
    table = DeltaTable(path)
    written = table.transaction_version("latest-customers")
    if written is None or written < number:
        commit = CommitProperties(app_transactions=[Transaction("latest-customers", number)])
        merge = table.merge(
            latest,
            "target.id = source.id",
            source_alias="source",
            target_alias="target",
            commit_properties=commit,
        )
        merge.when_matched_update_all("source.ts > target.ts").when_not_matched_insert_all().execute()
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
        "transactionalIdPrefix", "latest-customers"
    ).mode("append").save()
    batch.unpersist()


run_available(
    records.withColumn("cause", cause)
    .writeStream.foreachBatch(write)
    .option("checkpointLocation", "/tmp/checkpoints/latest-customers")
)
