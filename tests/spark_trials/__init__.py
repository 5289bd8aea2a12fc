"""Trials of the Spark source and sink; `make spark-trials` runs all of them.

- `comparison`: programs that run on Spark's own Kafka connector and on this one, from
  `tests/integration/spark/test_trials.py`. `make test` runs a part of them.
- `versions`: tests with each PySpark (`scripts/spark_versions.py`).
- `cluster`: programs on a standalone cluster, Spark Connect and pipelines; kills, memory and planning.
"""
