"""Rules, dead letters and their replay, without kafka.pipelines."""

from pyspark.sql import functions as f

from kafka.spark import run_available, session

spark = session("late-flights")
brokers = {"kafka.bootstrap.servers": "localhost:9092"}
typed = {
    "valueFormat": "json",
    "valueSchema": "origin string, dep_delay double",
    "valueErrors": "column",
    "includeHeaders": "true",
    "originalBytes": "true",
}
sink = {"valueFormat": "json", "originalBytes": "true", "exactlyOnce": "true"}


def header(name, text):
    return f.struct(f.lit(name).alias("key"), text.cast("binary").alias("value"))


def text_of(name):
    return f.expr(f"string(get(filter(headers, each -> each.key = '{name}'), 0).value)")


def output(records, longest):
    rules = {
        "decodes": "value_error is null",
        "origin is known": "value.origin is not null",
        "delay is plausible": f"value.dep_delay between -120 and {longest}",
    }
    failed = f.filter(
        f.array(*[f.when(~f.expr(f"coalesce({rule}, false)"), name) for name, rule in rules.items()]), f.isnotnull
    )
    failed = f.when(f.col("value_error").isNull(), failed).otherwise(f.array(f.lit("decodes")))
    is_good = f.size(failed) == 0
    added = ("rule", "source", "attempt")
    given = f.coalesce("headers", f.array().cast("array<struct<key:string,value:binary>>"))
    position = f.concat_ws("/", "topic", f.col("partition").cast("string"), f.col("offset").cast("string"))
    headers = f.concat(
        f.filter(given, lambda each: ~each["key"].isin(*added)),
        f.transform(failed, lambda name: header("rule", name)),
        f.array(
            header("source", f.coalesce(text_of("source"), position)),
            header("attempt", (f.coalesce(text_of("attempt").cast("int"), f.lit(0)) + 1).cast("string")),
        ),
    )
    rows = records.where(~is_good | f.expr("value.dep_delay > 0"))
    return rows.select(
        f.when(is_good, "delays").otherwise("flights.dead").alias("topic"),
        f.when(is_good, f.col("value.origin").cast("binary")).otherwise(f.col("key")).alias("key"),
        f.when(is_good, f.col("value")).alias("value"),
        f.when(~is_good, f.col("value_bytes")).alias("value_bytes"),
        f.when(~is_good, headers).alias("headers"),
    )


flights = spark.readStream.format("kafka_columnar").options(**brokers, **typed, subscribe="flights")
run_available(
    output(flights.option("startingOffsets", "earliest").load(), 300)
    .writeStream.format("kafka_columnar")
    .options(**brokers, **sink, transactionalIdPrefix="late-flights")
    .option("checkpointLocation", "/tmp/checkpoints/late-flights")
)
# The replay is a stream, too: its checkpoint knows which dead letters were replayed. It ends at the current end of the
# topic, so it does not read what it rejects again; but the next replay does, and cannot select one rule.
dead = spark.readStream.format("kafka_columnar").options(**brokers, **typed, subscribe="flights.dead")
dead = dead.options(startingOffsets="earliest", **{"kafka.isolation.level": "read_committed"}).load()
run_available(
    output(dead.where("exists(headers, each -> each.key = 'rule' and string(each.value) = 'delay is plausible')"), 1500)
    .writeStream.format("kafka_columnar")
    .options(**brokers, **sink, transactionalIdPrefix="late-flights-replay")
    .option("checkpointLocation", "/tmp/checkpoints/late-flights-replay")
)
