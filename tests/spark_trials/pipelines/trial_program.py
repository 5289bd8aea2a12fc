"""A driver that works for a pipeline while it, or what it needs, is killed; it carries out each `Work` of its input.

A line is JSON: the fields of `Work`. What became of it is printed as a line of JSON.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import threading
from typing import Any

from harness.kill_points import stop, stopping_source


@dataclasses.dataclass(frozen=True)
class Work:
    """What to do.

    Arguments:
        what: ``run``, ``replay``, ``beside`` (a backfill beside the stream) or ``audit``.
        declaration: the pipeline as YAML.
        points: the folder of the point at which a process stops.
        rule: for a replay, the rule whose dead letters to replay; None for all.
        ranges: start and end (exclusive) by partition, for a replay of the dead letters, for a backfill of the source;
            None for all.
        slice_offsets: most offsets of a slice of a replay or backfill.
        to: topic to which a backfill writes.
        rows: number of rows after which the stream beside a backfill is stopped; a run of what is left follows.
    """

    what: str
    declaration: str
    points: str
    rule: str | None = None
    ranges: dict[int, list[int]] | None = None
    slice_offsets: int = 1_000
    to: str | None = None
    rows: int = 0


def _run(work: Work, declaration: Any, spark: Any) -> dict[str, Any]:
    from kafka.pipelines.run import run

    result = run(declaration, spark, on_event=lambda event: _stop_after_batch(work, event))
    return {"rows": result.rows}


def _replay(work: Work, declaration: Any, spark: Any) -> dict[str, Any]:
    from kafka.pipelines.replay import replay

    ranges = None if work.ranges is None else {number: tuple(ends) for number, ends in work.ranges.items()}
    result = replay(
        declaration,
        spark,
        rule=work.rule,
        offsets=ranges,
        slice_offsets=work.slice_offsets,
        on_event=lambda event: _stop_after_batch(work, event),
    )
    return {"rows": result.rows}


def _beside(work: Work, declaration: Any, spark: Any) -> dict[str, Any]:
    from kafka.pipelines.backfill import backfill
    from kafka.pipelines.run import run, start
    from kafka.structs import TopicPartition

    rows, has_all = [0], threading.Event()

    def add(event: Any) -> None:
        rows[0] += event.rows
        if rows[0] >= work.rows:
            has_all.set()

    stream = start(declaration, spark, on_event=add)
    (source,) = declaration.all_sources.values()
    ranges = {TopicPartition(source.topic, number): tuple(ends) for number, ends in (work.ranges or {}).items()}
    result = backfill(declaration, spark, offsets=ranges, to=work.to, slice_offsets=work.slice_offsets)
    while work.rows and stream.query.isActive and not has_all.wait(1):
        pass
    stream.stop()
    streamed = stream.result().rows
    return {"rows": result.rows, "streamed": streamed, "left": run(declaration, spark).rows}


def _audit(work: Work, declaration: Any, spark: Any) -> dict[str, Any]:
    from kafka.pipelines.audit import audit_pipeline

    result = audit_pipeline(declaration, spark)
    return {"faults": [str(each) for each in result.faults], "total": dataclasses.asdict(result.total)}


WORKS = {"run": _run, "replay": _replay, "beside": _beside, "audit": _audit}


def _stop_after_batch(work: Work, event: Any) -> None:
    """Stop where a batch is complete and recorded, if the test wants that."""
    if event.kind == "batch":
        stop(work.points, "recorded")


def carry_out(spark: Any, work: Work) -> dict[str, Any]:
    """Do it to its end, or to its failure; tells what became of it."""
    from kafka.pipelines.yaml_file import parse
    from pyspark_kafka_columnar import DefaultSource

    spark.dataSource.register(stopping_source(work.points, DefaultSource, DefaultSource.name()))
    try:
        return {"error": None, **WORKS[work.what](work, parse(work.declaration), spark)}
    except Exception as error:  # whatever a kill brings about is told
        return {"error": f"{type(error).__name__}: {error}"}


def work_of(line: str) -> Work:
    """Parse a line of input. JSON has no numbers as names."""
    given = json.loads(line)
    if given["ranges"] is not None:
        given["ranges"] = {int(number): ends for number, ends in given["ranges"].items()}
    return Work(**given)


def main(settings: str) -> None:
    from kafka.pipelines.rules import SETTINGS
    from kafka.spark import session

    spark = session("pipeline-trial", **SETTINGS | json.loads(settings))
    print(json.dumps({"application": spark.sparkContext.applicationId}), flush=True)
    for line in sys.stdin:
        print(json.dumps(carry_out(spark, work_of(line))), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
