"""A driver that reads a topic in Spark, as far and as often as its input says; prints what each read gave.

A line of the input is JSON: the options of the read. A line of the output is JSON: its rows, and those of a count.
"""

from __future__ import annotations

import json
import sys
from typing import Any

FORMAT = "kafka_columnar"


def read(spark: Any, options: dict[str, str]) -> dict[str, int]:
    """Read to a sink that throws all columns away, and then to count the rows."""
    frame = spark.read.format(FORMAT).options(**options).load()
    frame.write.format("noop").mode("overwrite").save()
    return {"rows": frame.count()}


def main(settings: str) -> None:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for name, value in json.loads(settings).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    for line in sys.stdin:
        print(json.dumps(read(spark, json.loads(line))), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
