"""Backfills: process a range of time or offsets of the sources, next to the running query.

The rows go to the pipeline's sink, or to another topic.
"""

from __future__ import annotations

import datetime
import logging
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kafka.errors import IllegalStateError
from kafka.pipelines.batch_runs import BoundedRun
from kafka.pipelines.bounded_runs import (
    OnPlan,
    Ranges,
    RunDirectory,
    RunPlan,
    batch_options,
    consumer_of,
    log_ranges,
    sliced,
    within_times,
)
from kafka.pipelines.combined_rows import Form
from kafka.pipelines.declaration import Declaration, InvalidDeclaration, Sink, Source, check_not_read
from kafka.pipelines.directories import directory_of
from kafka.pipelines.rules import SETTINGS
from kafka.pipelines.run_events import OnEvent
from kafka.pipelines.run_results import RunResult
from kafka.pipelines.slice_size import SLICE
from kafka.pipelines.source_rows import by_topic, read_options, topic_options
from kafka.pipelines.start_checks import check_owner
from kafka.pipelines.topic_ids import topic_ids
from kafka.spark.queries import FORMAT
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from kafka import KafkaConsumer

log = logging.getLogger(__name__)

Moment = datetime.datetime


def backfill(
    declaration: Declaration,
    spark: SparkSession | None = None,
    *,
    since: Moment | None = None,
    until: Moment | None = None,
    offsets: Mapping[TopicPartition, tuple[int, int]] | None = None,
    to: str | None = None,
    function: Callable[..., Any] | None = None,
    on_event: OnEvent | None = None,
    on_plan: OnPlan | None = None,
    stop: threading.Event | None = None,
    slice_offsets: int = SLICE,
) -> RunResult:
    """Process records of the sources again, or for the first time, and wait for the end.

    Each call is a new backfill, whose rows are written exactly once. If a backfill with the same selection did not
    finish, it is continued instead.

    Arguments:
        declaration: the pipeline.
        spark: the session; None for a new one.
        since, until: the timestamps of the records, with time zones; until is exclusive. None for the beginning of the
            logs, and for their end at the time of the call.
        offsets: process only these ranges: start and end (exclusive) by partition.
        to: topic to write to; None for the pipeline's sink.
        function: the query if it is a Python function.
        on_event: called with each event.
        on_plan: called with the plan before the first slice, or before the slice with which a backfill is continued.
        stop: set this event to stop after the current slice; the same call then continues the backfill.
        slice_offsets: maximum number of offsets to process together. A stateful query processes all of them together.

    Returns the counts of the backfill, without events if there is nothing to process. Raises `IllegalStateError` if
    another backfill of the pipeline is running, or if a topic or partition does not exist, and `PipelineFailedError`.
    """
    from kafka.spark import session

    given = {
        "since": since and since.isoformat(),
        "until": until and until.isoformat(),
        "offsets": offsets and ",".join(f"{each[0]}-{each[1]}:{start}-{end}" for each, (start, end) in offsets.items()),
        "to": to,
    }
    selection = {name: str(value) for name, value in given.items() if value is not None}
    directory = directory_of(declaration)
    check_owner(declaration, directory)
    runs = RunDirectory(directory.backfills, "backfill")
    target = _with_topic(declaration, to)
    bounded = BoundedRun(target, function, runs, on_event, on_plan, stop)
    spark = spark or session(declaration.pipeline, **SETTINGS)
    with runs.lock():
        ids = topic_ids(declaration)
        same = [each for each in runs.plans() if each.selection == selection and each.has_same_topics(ids)]
        unfinished = [each for each in same if not each.is_finished]
        if unfinished:
            log.info("backfill %d is not finished; continuing with slice %d", unfinished[0].number, unfinished[0].done)
            return process_plan(bounded, spark, unfinished[0])
        with consumer_of(declaration) as consumer:
            ranges = selected_ranges(consumer, declaration, since, until, offsets)
        if not ranges:
            return RunResult((), directory)
        whole = sum(end - start for start, end in ranges.values())
        parts = sliced(ranges, slice_offsets if is_by_row(target, spark, function, ranges) else max(whole, 1))
        return process_plan(bounded, spark, runs.add(selection, parts, topic_ids=ids))


def _with_topic(declaration: Declaration, to: str | None) -> Declaration:
    if to is None:
        return declaration
    if not isinstance(declaration.sink, Sink):
        raise InvalidDeclaration("backfill: another topic is possible only if the pipeline's sink is a topic")
    for source in declaration.all_sources.values():
        try:
            check_not_read("to", to, source)
        except ValueError as error:
            raise InvalidDeclaration(f"backfill: {error}") from None
    return declaration.model_copy(update={"sink": declaration.sink.model_copy(update={"topic": to})})


def selected_ranges(
    consumer: KafkaConsumer,
    declaration: Declaration,
    since: Moment | None,
    until: Moment | None,
    offsets: Mapping[TopicPartition, tuple[int, int]] | None = None,
) -> Ranges:
    """Return the offsets of the sources' topics in a range of time; empty ranges are left out.

    Raises `IllegalStateError` if a topic, or a partition in `offsets`, does not exist.
    """
    ranges = log_ranges(consumer, source_topics(consumer, declaration))
    if offsets is not None:
        for missing in set(offsets) - set(ranges):
            raise IllegalStateError(f"partition {missing.topic}-{missing.partition} is not in the pipeline's sources")
        ranges = {
            each: (max(ranges[each][0], start), min(ranges[each][1], end)) for each, (start, end) in offsets.items()
        }
    return within_times(consumer, ranges, since, until)


def source_topics(consumer: KafkaConsumer, declaration: Declaration) -> list[str]:
    """Return the topics of all sources, with those that match a pattern now."""
    sources = declaration.all_sources
    named = [topic for each in sources.values() for topic in (each.topics or (each.topic,)) if topic is not None]
    if any(each.pattern is not None for each in sources.values()):
        named += [topic for topic in sorted(consumer.topics()) if by_topic(sources, topic) is not None]
    return list(dict.fromkeys(named))


def records_of(declaration: Declaration, spark: SparkSession, name: str, source: Source, part: Ranges) -> DataFrame:
    """Return the records of a source in ranges of offsets; those of other sources' topics are left out."""
    own = {each: ends for each, ends in part.items() if by_topic(declaration.all_sources, each.topic) == name}
    options = read_options(declaration, source)
    options.pop("maxOffsetsPerTrigger", None)
    if own:
        return spark.read.format(FORMAT).options(**options, **batch_options(own)).load()
    options |= topic_options(source) | {"startingOffsets": "earliest"}
    return spark.read.format(FORMAT).options(**options).load().limit(0)


class SourceRecords:
    """The records of the sources; see `bounded_runs.SliceRecords`."""

    def __init__(self, declaration: Declaration, spark: SparkSession) -> None:
        self._declaration = declaration
        self._spark = spark

    def read(self, name: str, source: Source, part: Ranges) -> DataFrame:
        """Return the records of a source in a slice."""
        return records_of(self._declaration, self._spark, name, source, part)

    def origin(self) -> None:
        """Return None, because the records are read from the sources."""

    def check(self, form: Form) -> None:
        """Accept each form of query."""


def is_by_row(
    declaration: Declaration, spark: SparkSession, function: Callable[..., Any] | None, ranges: Ranges
) -> bool:
    """Return whether ranges can be processed in slices, because the query keeps no state."""
    from kafka.pipelines.planning import plan

    records = {
        name: records_of(declaration, spark, name, source, ranges) for name, source in declaration.all_sources.items()
    }
    return plan(declaration, records, function, lambda frame, name, counts: frame).form is not Form.UNION


def process_plan(bounded: BoundedRun, spark: SparkSession, plan: RunPlan) -> RunResult:
    """Process the remaining slices of a backfill's plan, and return what was done."""
    return bounded.process(plan, SourceRecords(bounded.declaration, spark))
