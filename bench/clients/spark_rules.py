"""This package as a source and a sink of Spark, with the rules of a pipeline in between."""

from __future__ import annotations

from functools import partial

from bench import spark_rules as job
from bench.clients.spark_ours import SOURCE, VERSION

__all__ = ["VERSION", "spark_rules"]

spark_rules = partial(job.rules, SOURCE, with_rules=True)
