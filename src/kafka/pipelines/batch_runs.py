"""Processes slices of offsets as batches, for replays and backfills."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from kafka.pipelines.batch_writes import BatchWrite
from kafka.pipelines.bounded_runs import Ranges, RunPlan
from kafka.pipelines.combined_rows import Form
from kafka.pipelines.declaration import Declaration, Sink, Source
from kafka.pipelines.observations import BatchCounts
from kafka.pipelines.planning import observed_source, plan, result_count
from kafka.pipelines.rule_counts import read_counts
from kafka.pipelines.rules import all_rules
from kafka.pipelines.run_events import RunEvents, now
from kafka.pipelines.source_rows import Origin
from kafka.pipelines.topic_ids import topic_ids

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class SliceRecords(Protocol):
    """The records that a bounded run processes."""

    def read(self, name: str, source: Source, part: Ranges) -> DataFrame:
        """Return the records of a source in a slice.

        Arguments:
            name: the name of the source.
            source: the source.
            part: the ranges of the slice.
        """

    def origin(self) -> Origin | None:
        """Return where the records come from; None if they are read from the sources."""

    def check(self, form: Form) -> None:
        """Raise `InvalidDeclaration` if the records cannot be processed by a query of this form."""


class SliceRunner:
    """Processes the slices of a bounded run.

    Arguments:
        declaration: the pipeline.
        function: the query if it is a Python function.
        run_plan: the plan of the run.
        records: the records to process.
        events: the events of the run.
    """

    def __init__(
        self,
        declaration: Declaration,
        function: Callable[..., Any] | None,
        run_plan: RunPlan,
        records: SliceRecords,
        events: RunEvents,
    ) -> None:
        self._declaration = declaration
        self._function = function
        self._records = records
        self._events = events
        parts = (declaration.pipeline, run_plan.kind, str(run_plan.number), run_plan.id)
        self._prefix, self._run = "-".join(parts), "/".join(parts)
        self._ids = topic_ids(declaration)

    def process(self, number: int, part: Ranges) -> None:
        """Process a slice exactly once, and record it as a batch."""
        began, time_text = time.monotonic(), now()
        sources = self._declaration.all_sources
        observations = _Observations()
        records = {name: self._records.read(name, source, part) for name, source in sources.items()}
        origin = self._records.origin()
        planned = plan(self._declaration, records, self._function, observations.observe, origin)
        self._records.check(planned.form)
        is_batch = planned.form is Form.BATCH
        out = self._events.out if is_batch else None
        write = BatchWrite(self._declaration, planned.combine, self._ids, self._prefix, lambda: self._run, out)
        options = {"transactionalBatchId": str(number)}
        if is_batch or not isinstance(self._declaration.sink, Sink):
            write(planned.count(planned.frame), number, options)
        else:
            write.write(planned.frame, number, options, planned.count)
        found = observations.values()
        ranges = {f"{topic}-{partition}": ends for (topic, partition), ends in part.items()}
        self._events.add_batch(
            time=time_text,
            batch=number,
            seconds=round(time.monotonic() - began, 3),
            sources={
                name: dataclasses.replace(
                    read_counts(all_rules(self._declaration, source), found.get(observed_source(name))), ranges=ranges
                )
                for name, source in sources.items()
            },
            out=self._events.out.pop(number, result_count(found)),
        )


class _Observations:
    """Observes frames of a batch."""

    def __init__(self) -> None:
        self._given: dict[str, BatchCounts] = {}

    def observe(self, frame: DataFrame, name: str, counts: Any) -> DataFrame:
        self._given[name] = BatchCounts(name)
        return self._given[name].on(frame, counts)

    def values(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the observed values by name, after the write."""
        return {name: each.values() for name, each in self._given.items()}
