"""Windows with late data whose last windows are written at the end, without kafka.pipelines."""

from pathlib import Path

from pyspark.sql import functions as f

from kafka.spark import run_available, session

spark = session("sales-per-hour")
brokers = {"kafka.bootstrap.servers": "localhost:9092"}
markers = Path("/tmp/sales-markers")
markers.mkdir(exist_ok=True)
records = (
    spark.readStream.format("kafka_columnar")
    .options(**brokers, subscribe="sales", startingOffsets="earliest", includeHeaders="true", originalBytes="true")
    .options(valueFormat="json", valueSchema="shop string, ts timestamp, amount double", valueErrors="column")
    .load()
)
cause = (
    f.when(f.col("value_error").isNotNull(), f.col("value_error.cause"))
    .when(f.col("value.shop").isNull(), f.lit("shop is null"))
    .when(f.col("value.ts").isNull(), f.lit("ts is null"))
    .when(f.col("value.amount").isNull(), f.lit("amount is null"))
)
checked = records.withColumn("cause", cause)
# Spark writes a window when the watermark passes its end. At the end, a row without a shop moves the watermark.
last = spark.readStream.schema("ts timestamp").json(str(markers))
rows = checked.where("cause is null").select("value.*").unionByName(last, allowMissingColumns=True)
hours = (
    rows.withWatermark("ts", "10 minutes")
    .groupBy("shop", f.window("ts", "1 hour").alias("window"))
    .agg(f.count("shop").alias("sales"), f.sum("amount").alias("total"))
    .where("sales > 0")  # a condition on the shop would remove the row below the watermark
    .selectExpr("shop", "window.start as hour", "sales", "total")
)


def header(name, text):
    return f.struct(f.lit(name).alias("key"), text.cast("binary").alias("value"))


position = f.concat_ws("/", "topic", f.col("partition").cast("string"), f.col("offset").cast("string"))
output = hours.select(
    f.lit("sales.hourly").alias("topic"),
    f.col("shop").cast("binary").alias("key"),
    f.struct("shop", "hour", "sales", "total").alias("value"),
)
dead = checked.where("cause is not null").select(
    f.lit("sales.dead").alias("topic"),
    "key",
    "value_bytes",
    f.concat(
        f.coalesce("headers", f.array().cast("array<struct<key:string,value:binary>>")),
        f.array(header("cause", f.col("cause")), header("source", position)),
    ).alias("headers"),
)
writer = (
    output.unionByName(dead, allowMissingColumns=True)
    .writeStream.format("kafka_columnar")
    .options(**brokers, valueFormat="json", originalBytes="true", exactlyOnce="true")
    .option("transactionalIdPrefix", "sales-per-hour")
    .option("checkpointLocation", "/tmp/checkpoints/sales-per-hour")
)
run_available(writer)
batch = spark.read.format("kafka_columnar").options(**brokers, subscribe="sales", valueFormat="json")
latest = batch.options(valueSchema="ts timestamp", valueErrors="null").load().selectExpr("max(value.ts) as ts")
moment = latest.selectExpr("date_format(ts + interval 70 minutes, 'yyyy-MM-dd HH:mm:ss') as ts").first().ts
(markers / f"{moment}.json".replace(":", "-").replace(" ", "T")).write_text(f'{{"ts": "{moment}"}}')
run_available(writer)
