"""A program with pipelines in Python, for spark-submit on a cluster and for Spark Connect.

Its session is the one that spark-submit or `SPARK_REMOTE` chooses. It prints a line of JSON for each event, and one
with the result. To add a kind of pipeline, add a case to `declared`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

START_MS = 1_764_288_000_000
"""Timestamp of record 0; each record is a minute later than the one before."""
KINDS = ("rows", "unique", "delta", "function", "windows")


def declared(
    kind: str,
    servers: str,
    topics: tuple[str, str, str],
    folder: str,
    offsets: int,
    missing: str,
    max_bad: float | None,
) -> Any:
    """Return a pipeline.

    Arguments:
        kind: one of `KINDS`.
        servers: the brokers.
        topics: the topics of the source, of the sink and of the dead letters.
        folder: for what it writes.
        offsets: most offsets of a micro-batch.
        missing: the outcome of the rule that a carrier must be known.
        max_bad: the largest fraction of rejected rows in a micro-batch; None for no limit.
    """
    from kafka.pipelines import Pipeline, delta_sink, foreach_batch_sink, kafka_sink, kafka_source, parquet_sink, rule

    source, sink, dead = topics
    more: dict[str, Any] = {}
    if kind == "unique":
        more["dedupe"] = {"by": ["id"], "within": "30 days", "time": "kafka.timestamp"}
    if kind == "windows":
        more["watermark"] = {"time": "kafka.timestamp", "delay": "10 minutes"}

    def write(rows: Any, number: int, run: str) -> None:
        ids = sorted(row["id"] for row in rows.select("id").collect())
        name = run.replace("/", "-")
        (Path(folder) / "function" / f"{name}-{number}.json").write_text(json.dumps(ids))

    pipeline = Pipeline(
        f"trial-{kind}",
        kafka={"bootstrap.servers": servers},
        dead_letters=dead,
        checkpoint=f"{folder}/{kind}",
        flush_at_end=kind == "windows",
        max_bad=max_bad,
    )
    schema = "id int, carrier string, delay double"
    pipeline.source(
        kafka_source(source, value_format="json", value_schema=schema, max_offsets_per_trigger=offsets, **more),
        name="flights",
    ).rules(rule("carrier is known", "carrier is not null", otherwise=missing))
    sinks = {
        "rows": kafka_sink(sink, key="id"),
        "unique": parquet_sink(f"{folder}/unique.parquet"),
        "delta": delta_sink(f"{folder}/table.delta"),
        "function": foreach_batch_sink(write),
        "windows": kafka_sink(sink),
    }
    if kind == "rows":
        pipeline.sink(sinks[kind], "select id, delay from flights where delay > 0")
        return pipeline

    @pipeline.sink(sinks[kind])
    def rows(flights: Any) -> Any:
        from pyspark.sql import functions as f

        if kind == "windows":
            hours = flights.groupBy(f.window("kafka_timestamp", "1 hour"))
            return hours.agg(f.count("*").alias("flights")).select(
                f.unix_millis("window.start").alias("hour"), "flights"
            )
        return flights.where("delay > 0").select("id", "delay")

    return pipeline


def carry_out(work: dict[str, Any], spark: Any) -> dict[str, Any]:
    """Do some work, and return what came of it.

    Arguments:
        work: ``what`` (``run``, ``replay``, ``backfill`` or ``audit``) and the arguments of `declared`.
        spark: the session.
    """
    from kafka.errors import KafkaError

    what = work["what"]
    topics: Any = tuple(work["topics"])
    arguments = (work["kind"], work["servers"], topics, work["folder"], work["offsets"])
    pipeline = declared(*arguments, work.get("missing", "dead_letter"), work.get("max_bad"))

    def say(event: Any) -> None:
        print(json.dumps({"event": event.kind, "batch": event.batch}), flush=True)

    try:
        if what == "audit":
            from kafka.pipelines.audit import audit_pipeline

            found = audit_pipeline(pipeline.declaration, spark, function=pipeline.function)
            return {"faults": [str(each) for each in found.faults], "notes": list(found.notes)}
        options = {"to": work["to"]} if "to" in work else {}
        result = getattr(pipeline, what)(spark, on_event=say, **options)
    except KafkaError as error:
        return {"error": type(error).__name__, "text": str(error)}
    late = sum(each.late or 0 for each in result.events)
    return {"rows": result.rows, "out": result.out, "dead": result.dead, "late": late, "rules": result.by_rule()}


def main(*works: str) -> None:
    from kafka.spark import session

    spark = session("pipeline-trial")
    print(json.dumps({"event": "session", "master": spark.conf.get("spark.master")}), flush=True)
    for work in works:
        print(json.dumps(carry_out(json.loads(work), spark)), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
