"""A join of two streams, without kafka.pipelines."""

from pyspark.sql import functions as f

from kafka.spark import run_available, session

spark = session("ad-clicks")
brokers = {"kafka.bootstrap.servers": "localhost:9092"}


def header(name, text):
    return f.struct(f.lit(name).alias("key"), text.cast("binary").alias("value"))


def checked(topic, schema):
    records = (
        spark.readStream.format("kafka_columnar")
        .options(**brokers, subscribe=topic, startingOffsets="earliest", includeHeaders="true", originalBytes="true")
        .options(valueFormat="json", valueSchema=schema, valueErrors="column")
        .load()
    )
    cause = (
        f.when(f.col("value_error").isNotNull(), f.col("value_error.cause"))
        .when(f.col("value.ad").isNull(), f.lit("ad is null"))
        .when(f.col("value.ts").isNull(), f.lit("ts is null"))
    )
    return records.withColumn("cause", cause)


def good(rows):
    return rows.where("cause is null").select("value.*").withWatermark("ts", "5 minutes")


def dead(rows):
    position = f.concat_ws("/", "topic", f.col("partition").cast("string"), f.col("offset").cast("string"))
    return rows.where("cause is not null").select(
        f.lit("ads.dead").alias("topic"),
        "key",
        "value_bytes",
        f.concat(
            f.coalesce("headers", f.array().cast("array<struct<key:string,value:binary>>")),
            f.array(header("cause", f.col("cause")), header("source", position)),
        ).alias("headers"),
    )


shown = checked("shown", "ad int, ts timestamp, page string")
clicked = checked("clicked", "ad int, ts timestamp")
pairs = (
    good(shown)
    .alias("s")
    .join(
        good(clicked).withColumnRenamed("ts", "clicked_at").alias("c"),
        f.expr("s.ad = c.ad and clicked_at between ts - interval 5 minutes and ts + interval 5 minutes"),
    )
    .selectExpr("s.ad", "page", "ts", "clicked_at")
)
output = pairs.select(
    f.lit("ads.clicked").alias("topic"),
    f.col("ad").cast("string").cast("binary").alias("key"),
    f.struct("ad", "page", "ts", "clicked_at").alias("value"),
)
rejected = dead(shown).unionByName(dead(clicked))
run_available(
    output.unionByName(rejected, allowMissingColumns=True)
    .writeStream.format("kafka_columnar")
    .options(**brokers, valueFormat="json", originalBytes="true", exactlyOnce="true")
    .option("transactionalIdPrefix", "ad-clicks")
    .option("checkpointLocation", "/tmp/checkpoints/ad-clicks")
)
