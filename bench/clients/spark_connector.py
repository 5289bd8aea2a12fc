"""Spark's own Kafka connector."""

from __future__ import annotations

import importlib.metadata
from functools import partial

from bench import spark_jobs
from bench.job import BATCH_RECORDS
from harness.fetch import fetch_spark_connector

SPARK = importlib.metadata.version("pyspark")
VERSION = f"{SPARK}, kafka-clients 3.9.1"
SOURCE = spark_jobs.Source(
    "kafka",
    read_options={"kafka.max.poll.records": str(BATCH_RECORDS)},
    settings={"spark.jars": ",".join(str(jar) for jar in sorted(fetch_spark_connector().glob("*.jar")))},
)

spark_noop = partial(spark_jobs.noop, SOURCE)
spark_parquet = partial(spark_jobs.parquet, SOURCE)
spark_write = partial(spark_jobs.write, SOURCE)
spark_stream = partial(spark_jobs.stream, SOURCE)
