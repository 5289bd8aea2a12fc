"""Processes older records in a bounded run before a new stream starts (`Source.backfill`).

The plan of this run contains the offsets at which the run ends and the stream starts, so that no record is processed
twice or left out, even if the process is killed between the two. A stateful query processes the older records in the
stream itself, because its state must contain them: the stream then starts at the beginning of the backfill.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kafka.pipelines.backfill import is_by_row, process_plan, source_topics
from kafka.pipelines.batch_runs import BoundedRun
from kafka.pipelines.bounded_runs import Ranges, RunDirectory, RunPlan, consumer_of, log_ranges, sliced
from kafka.pipelines.declaration import Declaration
from kafka.pipelines.directories import directory_of
from kafka.pipelines.run_events import OnEvent
from kafka.pipelines.run_results import StartStoppedError
from kafka.pipelines.slice_size import SLICE
from kafka.pipelines.source_rows import by_topic
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafka import KafkaConsumer

log = logging.getLogger(__name__)

_STARTS = "stream_starts"
"""The key in the plan for the offsets at which the stream starts."""


def stream_starts(
    declaration: Declaration,
    spark: SparkSession,
    function: Callable[..., Any] | None,
    on_event: OnEvent | None = None,
    stop: threading.Event | None = None,
) -> dict[str, dict[str, str]]:
    """Run the declared backfills unless they are complete, and return the options with which the streams start.

    Arguments:
        declaration: the pipeline.
        spark: the session.
        function: the query if it is a Python function.
        on_event: called with each event of the run.
        stop: set this event to stop after the current slice; the next start continues the backfill.

    Returns the options by the name of the source, for sources with a backfill. Raises `PipelineFailedError`,
    `StartStoppedError` if it was stopped, and `IllegalStateError` if a topic does not exist.
    """
    if all(source.backfill is None for source in declaration.all_sources.values()):
        return {}
    directory = directory_of(declaration)
    runs = RunDirectory(directory.first_backfill, "first")
    with runs.lock():
        plans = runs.plans()
        if plans:
            plan = plans[0]
        else:
            with consumer_of(declaration) as consumer:
                ranges = backfilled_ranges(consumer, declaration)
            by_row = is_by_row(declaration, spark, function, ranges)
            starts = {each: end if by_row else start for each, (start, end) in ranges.items()}
            parts = sliced(ranges, SLICE) if by_row else []
            plan = runs.add({_STARTS: _to_text(declaration, starts)}, parts)
        if not plan.is_finished:
            log.info("backfill before the stream: slice %d of %d", plan.done + 1, len(plan.slices))
            bounded = BoundedRun(declaration, function, runs, on_event, stop=stop)
            if not process_plan(bounded, spark, plan).is_complete:
                raise StartStoppedError(f"pipeline {declaration.pipeline}: stopped in the backfill before the stream")
    found: dict[str, str] = json.loads(plan.selection[_STARTS])
    return {name: {"startingOffsets": offsets} for name, offsets in found.items()}


def planned_starts(plan: RunPlan) -> dict[TopicPartition, int]:
    """Return the offsets at which the stream starts, from the plan of the run before it."""
    found: dict[str, str] = json.loads(plan.selection[_STARTS])
    return {
        TopicPartition(topic, int(partition)): offset
        for offsets in found.values()
        for topic, partitions in json.loads(offsets).items()
        for partition, offset in partitions.items()
    }


def backfilled_ranges(consumer: KafkaConsumer, declaration: Declaration) -> Ranges:
    """Return the offsets of the sources with a backfill, from its beginning to the current end of each log.

    Ranges can be empty: the stream must know where to start in each partition.
    """
    sources = declaration.all_sources
    found: Ranges = {}
    for partition, (start, end) in log_ranges(consumer, source_topics(consumer, declaration)).items():
        name = by_topic(sources, partition.topic)
        backfill = sources[name].backfill if name is not None else None
        if backfill is None:
            continue
        if backfill.since_ms is not None:
            at = consumer.offsets_for_times({partition: backfill.since_ms})[partition]
            start = end if at is None else max(start, min(at.offset, end))
        found[partition] = (start, end)
    return found


def _to_text(declaration: Declaration, starts: Mapping[Any, int]) -> str:
    """Return the value of the option ``startingOffsets`` for each source with a backfill, as JSON."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for (topic, partition), offset in sorted(starts.items()):
        name = by_topic(declaration.all_sources, topic)
        if name is not None:
            found.setdefault(name, {}).setdefault(topic, {})[str(partition)] = offset
    return json.dumps({name: json.dumps(offsets) for name, offsets in found.items()})
