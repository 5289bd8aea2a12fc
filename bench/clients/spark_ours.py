"""This package as a source and a sink of Spark."""

from __future__ import annotations

import importlib.metadata
from functools import partial

from bench import spark_jobs, spark_typed
from bench import spark_rules as judged
from kafka import _variant, version

SPARK = importlib.metadata.version("pyspark")
VERSION = f"{getattr(version, 'DISTRIBUTION_VERSION', version.__version__)} ({_variant.variant()}), PySpark {SPARK}"
UNSIZED = {"spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1)}
"""Rows of a known size need no limit in bytes in addition to 10,000 rows; with one, Spark computes each row's size."""
WITHOUT_NULLS = (
    "key binary, value binary, topic string not null, partition int not null, offset bigint not null, "
    "timestamp timestamp not null, timestampType int not null"
)
"""All columns. Those without nulls are declared so; otherwise, Spark checks each column of each row."""
SOURCE = spark_jobs.Source("kafka_columnar", settings=UNSIZED, schema=WITHOUT_NULLS, decodes=True)

spark_noop = partial(spark_jobs.noop, SOURCE)
spark_parquet = partial(spark_jobs.parquet, SOURCE)
spark_write = partial(spark_jobs.write, SOURCE)
spark_stream = partial(spark_jobs.stream, SOURCE)
spark_json = partial(spark_typed.json_parquet, SOURCE)
spark_avro = partial(spark_typed.avro_parquet, SOURCE)
spark_start = partial(spark_typed.start, SOURCE)
spark_rules = partial(judged.rules, SOURCE, with_rules=False)
spark_write_once = spark_write
spark_copy = partial(spark_jobs.copied, SOURCE)
