"""This package as a source and a sink of Spark."""

from __future__ import annotations

import importlib.metadata

import kafka
from bench import spark_jobs
from bench.job import Job, Watch
from kafka import _variant

SPARK = importlib.metadata.version("pyspark")
VERSION = f"{kafka.__version__} ({_variant.variant()}), PySpark {SPARK}"
SOURCE = spark_jobs.Source("kafka_columnar")


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
