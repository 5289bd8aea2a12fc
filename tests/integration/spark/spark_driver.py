"""A driver that a test kills: copies a topic to Parquet batch by batch until it is told to end."""

from __future__ import annotations

import sys

from kafka.spark import session


def main(bootstrap_servers: str, topic: str, folder: str, jvm_options: str) -> None:
    spark = session(
        "killed",
        **{"spark.driver.memory": "512m", "spark.log.level": "ERROR", "spark.driver.extraJavaOptions": jvm_options},
    )
    stream = (
        spark.readStream.format("kafka_columnar")
        .option("kafka.bootstrap.servers", bootstrap_servers)
        .option("subscribe", topic)
        .option("maxOffsetsPerTrigger", "20")
        .load()
    )
    query = (
        stream.writeStream.format("parquet")
        .option("checkpointLocation", f"{folder}/checkpoint")
        .trigger(processingTime="0 seconds")
        .start(f"{folder}/rows")
    )
    query.awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
