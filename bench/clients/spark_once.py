"""This package as a sink of Spark that delivers exactly once."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from bench import spark_jobs
from bench.clients.spark_ours import SOURCE, VERSION

__all__ = ["VERSION", "spark_copy", "spark_write_once"]

ONCE = replace(SOURCE, exactly_once=True)

spark_write_once = partial(spark_jobs.write, ONCE)
spark_copy = partial(spark_jobs.copied, ONCE)
