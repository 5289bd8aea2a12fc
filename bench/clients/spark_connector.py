"""Spark's own Kafka connector."""

from __future__ import annotations

import importlib.metadata
from functools import partial

from bench import spark_jobs, spark_typed
from bench.job import BATCH_RECORDS
from harness.fetch import fetch_spark_avro, fetch_spark_connector

SPARK = importlib.metadata.version("pyspark")
VERSION = f"{SPARK}, kafka-clients 3.9.1"
JARS = [*fetch_spark_connector().glob("*.jar"), *fetch_spark_avro().glob("*.jar")]
SOURCE = spark_jobs.Source(
    "kafka",
    read_options={"kafka.max.poll.records": str(BATCH_RECORDS)},
    settings={"spark.jars": ",".join(sorted(map(str, JARS)))},
)

spark_noop = partial(spark_jobs.noop, SOURCE)
spark_parquet = partial(spark_jobs.parquet, SOURCE)
spark_write = partial(spark_jobs.write, SOURCE)
spark_stream = partial(spark_jobs.stream, SOURCE)
spark_json = partial(spark_typed.json_parquet, SOURCE)
spark_avro = partial(spark_typed.avro_parquet, SOURCE)
spark_start = partial(spark_typed.start, SOURCE)
