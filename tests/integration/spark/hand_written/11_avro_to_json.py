"""Avro with a registry to JSON, without kafka.pipelines."""

from pyspark.sql import functions as f

from kafka.spark import run_available, session

spark = session("orders-json")
brokers = {"kafka.bootstrap.servers": "localhost:9092"}
records = (
    spark.readStream.format("kafka_columnar")
    .options(**brokers, subscribe="orders", startingOffsets="earliest", includeHeaders="true", originalBytes="true")
    .options(valueFormat="avro", valueErrors="column", schemaRegistryUrl="http://localhost:8081")
    .load()
)


def header(name, text):
    return f.struct(f.lit(name).alias("key"), text.cast("binary").alias("value"))


cause = f.when(f.col("value_error").isNotNull(), f.col("value_error.cause")).when(
    ~f.expr("coalesce(value.amount > 0, false)"), "amount is not positive"
)
position = f.concat_ws("/", "topic", f.col("partition").cast("string"), f.col("offset").cast("string"))
headers = f.concat(
    f.coalesce("headers", f.array().cast("array<struct<key:string,value:binary>>")),
    f.array(header("cause", cause), header("source", position)),
)
is_good = cause.isNull()
run_available(
    records.select(
        f.when(is_good, "orders.json").otherwise("orders.dead").alias("topic"),
        f.when(is_good, f.col("value.id").cast("string").cast("binary")).otherwise(f.col("key")).alias("key"),
        f.when(is_good, f.col("value")).alias("value"),
        f.when(~is_good, f.col("value_bytes")).alias("value_bytes"),
        f.when(~is_good, headers).alias("headers"),
    )
    .writeStream.format("kafka_columnar")
    .options(**brokers, valueFormat="json", originalBytes="true", exactlyOnce="true")
    .option("transactionalIdPrefix", "orders-json")
    .option("checkpointLocation", "/tmp/checkpoints/orders-json")
)
