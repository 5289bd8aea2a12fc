"""Spark's own Kafka connector."""

from __future__ import annotations

import importlib.metadata

from bench import spark_jobs
from bench.job import BATCH_RECORDS, Job, Watch
from harness.fetch import fetch_spark_connector

SPARK = importlib.metadata.version("pyspark")
VERSION = f"{SPARK}, kafka-clients 3.9.1"
SOURCE = spark_jobs.Source(
    "kafka",
    read_options={"kafka.max.poll.records": str(BATCH_RECORDS)},
    settings={"spark.jars": ",".join(str(jar) for jar in sorted(fetch_spark_connector().glob("*.jar")))},
)


def spark_noop(job: Job, watch: Watch) -> None:
    """Read, and drop the rows."""
    spark_jobs.noop(SOURCE, job, watch)


def spark_parquet(job: Job, watch: Watch) -> None:
    """Read to Parquet files."""
    spark_jobs.parquet(SOURCE, job, watch)


def spark_write(job: Job, watch: Watch) -> None:
    """Write rows from Parquet files."""
    spark_jobs.write(SOURCE, job, watch)


def spark_stream(job: Job, watch: Watch) -> None:
    """Small micro-batches."""
    spark_jobs.stream(SOURCE, job, watch)
