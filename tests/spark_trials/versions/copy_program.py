"""Copies what a topic has to another one, exactly once and in bounded micro-batches, and counts it by its last digit.

It runs in the environment of one PySpark after the other, on the same checkpoints.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyspark

from harness.tools import JVM
from kafka.spark import run_available, session


def main(servers: str, source: str, target: str, folder: str) -> None:
    settings = {"spark.driver.memory": "512m", "spark.log.level": "ERROR", "spark.sql.shuffle.partitions": "2"}
    spark = session("copy", **settings, **{"spark.driver.extraJavaOptions": " ".join(JVM)})
    brokers = {"kafka.bootstrap.servers": servers}
    reader = spark.readStream.format("kafka_columnar").options(**brokers, subscribe=source)
    rows = reader.options(startingOffsets="earliest", maxOffsetsPerTrigger="40").load()
    sink = {**brokers, "topic": target, "exactlyOnce": "true", "transactionalIdPrefix": target}
    writer = rows.selectExpr("value").writeStream.format("kafka_columnar").options(**sink)
    run_available(writer.option("checkpointLocation", f"{folder}/copied"))

    counts: dict[str, int] = {}

    def keep(frame: pyspark.sql.DataFrame, _: int) -> None:
        counts.update({row.digit: row["count"] for row in frame.collect()})

    digits = rows.selectExpr("right(cast(value as string), 1) as digit").groupBy("digit").count()
    counting = digits.writeStream.outputMode("complete").foreachBatch(keep)
    run_available(counting.option("checkpointLocation", f"{folder}/counted"))
    Path(folder, "seen.json").write_text(json.dumps({"version": pyspark.__version__, "counts": counts}))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
