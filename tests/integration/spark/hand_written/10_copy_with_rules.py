"""A copy of a topic that leaves bad records out, without kafka.pipelines."""

from pyspark.sql import functions as f

from kafka.spark import run_available, session

spark = session("orders-copy")
brokers = {"kafka.bootstrap.servers": "localhost:9092"}
records = (
    spark.readStream.format("kafka_columnar")
    .options(**brokers, subscribe="orders", startingOffsets="earliest", includeHeaders="true")
    .load()
)
failed = f.concat_ws(
    "; ",
    f.when(~f.expr("coalesce(length(value) < 1000, false)"), "too long"),
    f.when(~f.expr("coalesce(get_json_object(string(value), '$.id') is not null, false)"), "no id"),
)


def header(name, text):
    return f.struct(f.lit(name).alias("key"), text.cast("binary").alias("value"))


position = f.concat_ws("/", "topic", f.col("partition").cast("string"), f.col("offset").cast("string"))
headers = f.concat(
    f.coalesce("headers", f.array().cast("array<struct<key:string,value:binary>>")),
    f.array(header("cause", failed), header("source", position)),
)
run_available(
    records.select(
        f.when(failed == "", "orders.copy").otherwise("orders.dead").alias("topic"),
        "key",
        "value",
        f.when(failed != "", headers).alias("headers"),
    )
    .writeStream.format("kafka_columnar")
    .options(**brokers, exactlyOnce="true", transactionalIdPrefix="orders-copy")
    .option("checkpointLocation", "/tmp/checkpoints/orders-copy")
)
