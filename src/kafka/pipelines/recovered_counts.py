"""Recovers the counts of micro-batches whose driver was killed after Spark's commit, before it wrote their events.

Spark's checkpoint says which offsets such a micro-batch read, and when. `recover` reads these records again, counts
what the declaration of the killed run makes of them, and adds the event to the file of that run. Nothing is written to
the sink. What depends on state, late rows and result rows of such queries, cannot be computed again; the audit says so.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaConfigurationError
from kafka.pipelines.audit.micro_batches import MicroBatch, joined
from kafka.pipelines.backfill import records_of
from kafka.pipelines.combined_rows import Form, result_counts
from kafka.pipelines.declaration import Declaration, InvalidDeclaration, declare, with_current_options
from kafka.pipelines.directories import PipelineDirectory
from kafka.pipelines.events import Event, EventFile, SourceCounts, event_files, read_events
from kafka.pipelines.outcomes import moment_sql
from kafka.pipelines.planning import observed_source, plan
from kafka.pipelines.rule_counts import read_counts
from kafka.pipelines.rules import all_rules
from kafka.pipelines.source_rows import by_topic
from kafka.pipelines.stream_checkpoint import StreamCheckpoint, read_checkpoint

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

log = logging.getLogger(__name__)

Count = Callable[[Declaration, MicroBatch, datetime.datetime], tuple[Mapping[str, SourceCounts], int | None]]
"""Counts the rows of a micro-batch by source, and those that the query returns; None if this is unknown."""


def recover(
    declaration: Declaration,
    directory: PipelineDirectory,
    spark: SparkSession,
    function: Callable[..., Any] | None,
    count: Count | None = None,
) -> list[Event]:
    """Write the missing events of complete micro-batches. Call it while no stream runs.

    A micro-batch whose records cannot be read again remains without an event, with a warning: audits name it.

    Arguments:
        declaration: the pipeline.
        directory: its directory.
        spark: the session with which records are read again.
        function: the query if it is a Python function, which must still be that of the killed run.
        count: counts rows instead of Spark, for tests.

    Returns the events that were written, oldest first. Raises `ValueError` for an invalid file of events.
    """
    events = read_events(directory.events)
    try:
        checkpoint = read_checkpoint(directory.stream)
    except KafkaConfigurationError as error:
        log.warning("pipeline %s: could not look for micro-batches without an event: %s", declaration.pipeline, error)
        return []
    counted = count or _Recount(spark, function)
    found = []
    for batch, start in missing(declaration, events, checkpoint):
        log.info("pipeline %s: micro-batch %d has no event; counting its records", declaration.pipeline, batch.number)
        moment = datetime.datetime.fromtimestamp(checkpoint.times_ms[batch.number] / 1000, datetime.UTC)
        try:
            event = _recovered(declaration, batch, start, moment, counted)
            _add(directory.events, event)
        except Exception as error:
            text = "pipeline %s: could not recover the counts of micro-batch %d, which reports will lack: %s"
            log.warning(text, declaration.pipeline, batch.number, str(error).strip().partition("\n")[0])
        else:
            found.append(event)
    return found


def missing(
    declaration: Declaration, events: Sequence[Event], checkpoint: StreamCheckpoint
) -> Iterator[tuple[MicroBatch, Event]]:
    """Yield each complete micro-batch that has no event but known offsets, and the start of the run that processed it.

    Arguments:
        declaration: the pipeline.
        events: its events, oldest first.
        checkpoint: the checkpoint of its stream.
    """
    starts = [event for event in events if event.kind == "start" and event.run == "stream"]
    batches = joined(events, checkpoint)
    for before, batch in zip([None, *batches], batches, strict=False):
        time = checkpoint.times_ms.get(batch.number)
        follows = (before is not None and before.number == batch.number - 1) or batch.number - 1 in checkpoint.ends
        if (
            batch.event is not None
            or time is None
            or not (follows or _starts_are_known(declaration, batch, checkpoint))
        ):
            continue
        # A run that repeats a micro-batch keeps its time, so the commit tells which run processed it.
        committed = max(time, checkpoint.commits_ms.get(batch.number, time))
        earlier = [event for event in starts if event.moment.timestamp() * 1000 <= committed]
        if earlier:
            yield batch, earlier[-1]


def _starts_are_known(declaration: Declaration, batch: MicroBatch, checkpoint: StreamCheckpoint) -> bool:
    """Return whether it is known where the first micro-batch began: in the checkpoint, or at the earliest offset."""
    if batch.number != 0:
        return False
    sources = declaration.all_sources
    if all(each.start == "earliest" and each.backfill is None for each in sources.values()):
        return True
    return set(batch.ranges) <= set(checkpoint.initial)


def _recovered(
    declaration: Declaration, batch: MicroBatch, start: Event, moment: datetime.datetime, count: Count
) -> Event:
    processed = _of_run(start, declaration)
    sources, out = count(processed, batch, moment)
    return Event(
        kind="batch",
        time=moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        pipeline=declaration.pipeline,
        run_id=start.run_id,
        batch=batch.number,
        sources=sources,
        out=out,
        recovered=True,
    )


def _of_run(start: Event, current: Declaration) -> Declaration:
    """Return the declaration of a run. Raises `InvalidDeclaration` if it is unknown."""
    if start.declaration is None or start.declaration == json.loads(json.dumps(current.shown())):
        return current
    earlier = declare(start.declaration)
    if earlier.fingerprint() == current.fingerprint():
        return current
    if earlier.query is None:  # it may have had a Python function, which events do not contain
        raise InvalidDeclaration("the declaration has changed since, and its query was not SQL")
    return with_current_options(earlier, current)


def _add(directory: Path, event: Event) -> None:
    """Append an event to the file of its run, or to a new one if that file has been folded. Raises `OSError`."""
    ending = f"-{event.run_id[:8]}"
    _, paths = event_files(directory)
    names = [path.stem for path in paths if path.stem.endswith(ending)]
    file = EventFile(directory, names[-1] if names else f"{event.moment:%Y%m%dT%H%M%S.%fZ}{ending}")
    if names:
        file.drop_incomplete_line()
    file.append(event)


class _Recount:
    """Counts the rows of micro-batches with Spark, without writing them.

    Arguments:
        spark: the session.
        function: the query if it is a Python function.
    """

    def __init__(self, spark: SparkSession, function: Callable[..., Any] | None) -> None:
        self._spark = spark
        self._function = function

    def __call__(
        self, declaration: Declaration, batch: MicroBatch, moment: datetime.datetime
    ) -> tuple[Mapping[str, SourceCounts], int | None]:
        sources = declaration.all_sources
        part = {tp: (each.start, each.end) for tp, each in batch.ranges.items() if each.start < each.end}
        records = {name: records_of(declaration, self._spark, name, each, part) for name, each in sources.items()}
        counters: dict[str, tuple[DataFrame, Sequence[Column]]] = {}

        def observe(frame: DataFrame, name: str, counts: Sequence[Column]) -> DataFrame:
            counters[name] = frame, counts
            return frame

        function = self._function if declaration.query is None else None
        planned = plan(declaration, records, function, observe, now=moment_sql(moment))
        frame = planned.count(planned.frame)
        if planned.form is Form.BATCH:
            counters["result"] = planned.combine(frame), result_counts()
        values = {}
        for name in [*(observed_source(each) for each in sources), "result"]:
            if name in counters:
                rows, counts = counters[name]
                values[name] = rows.agg(*counts).collect()[0].asDict()
        found = {}
        for name, source in sources.items():
            counted = read_counts(all_rules(declaration, source), values.get(observed_source(name)))
            ranges = {
                f"{tp.topic}-{tp.partition}": at for tp, at in part.items() if by_topic(sources, tp.topic) == name
            }
            found[name] = dataclasses.replace(counted, ranges=ranges)
        out = next((int(each["out"]) for each in values.values() if "out" in each), None)
        return found, out
