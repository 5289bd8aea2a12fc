"""A client of Spark Connect that has PySpark and not this package; prints what it saw as a line of JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

for package in ("kafka", "pyspark_kafka_columnar"):
    sys.modules[package] = None  # type: ignore[assignment]  # what is None cannot be imported


def main(remote: str, bootstrap_servers: str, topic: str, folder: str) -> None:
    from pyspark.sql import SparkSession

    sys.path.insert(0, str(Path(__file__).parent))
    from spark_program import run

    spark = SparkSession.builder.remote(remote).getOrCreate()
    print(json.dumps(run(spark, bootstrap_servers, topic, folder)), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
