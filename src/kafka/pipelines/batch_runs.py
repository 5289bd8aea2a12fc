"""Processes slices of offsets as batches, for replays and backfills."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaError
from kafka.pipelines.batch_writes import BatchWrite
from kafka.pipelines.bounded_runs import (
    OnPlan,
    Ranges,
    RunDirectory,
    RunPlan,
    SliceRecords,
    commit_progress,
    run_slices,
)
from kafka.pipelines.combined_rows import Form
from kafka.pipelines.declaration import Declaration, Sink
from kafka.pipelines.directories import directory_of
from kafka.pipelines.events import Run
from kafka.pipelines.failing_records import FailedPart
from kafka.pipelines.observations import BatchCounts
from kafka.pipelines.planning import observed_source, plan, result_count
from kafka.pipelines.rule_counts import read_counts
from kafka.pipelines.rules import all_rules
from kafka.pipelines.run_events import OnEvent, RunEvents, now
from kafka.pipelines.run_results import RunResult, recorded_run, result_of
from kafka.pipelines.source_rows import by_topic
from kafka.pipelines.topic_ids import topic_ids

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclasses.dataclass(frozen=True, slots=True)
class BoundedRun:
    """A replay or backfill, as its caller wants it.

    Arguments:
        declaration: the pipeline, with the sink to write to.
        function: the query if it is a Python function.
        runs: the directory of the plans.
        on_event: called with each event.
        on_plan: called with the plan before its first slice, or before the slice with which it is continued.
        stop: set this event to stop after the current slice.
    """

    declaration: Declaration
    function: Callable[..., Any] | None
    runs: RunDirectory
    on_event: OnEvent | None = None
    on_plan: OnPlan | None = None
    stop: threading.Event | None = None

    def process(self, run_plan: RunPlan, records: SliceRecords) -> RunResult:
        """Process the remaining slices of a plan, and return what was done. Raises `PipelineFailedError`."""
        declaration = self.declaration
        run: Run = "replay" if run_plan.kind == "replay" else "backfill"
        if self.on_plan is not None:
            self.on_plan(run_plan)
        directory = directory_of(declaration)
        number = 0 if run_plan.kind == "first" else run_plan.number  # so that events tell it from other backfills
        events = RunEvents(declaration, directory, run, number, self.on_event)
        runner = SliceRunner(declaration, self.function, run_plan, records, events)
        group = f"{declaration.pipeline}-{run}"
        with recorded_run(declaration, events):
            run_plan = run_slices(
                self.runs, run_plan, runner.process, lambda part: commit_progress(declaration, group, part), self.stop
            )
        return result_of(events, directory, is_complete=run_plan.is_finished)


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
        """Process a slice exactly once, and record it as a batch.

        Raises `PipelineFailedError`, with the record that causes it if the query fails for one.
        """
        try:
            self._process(number, part)
        except KafkaError:
            raise
        except Exception as error:
            raise FailedPart(self._declaration, self._function, self._records, part).named(error) from None

    def _process(self, number: int, part: Ranges) -> None:
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
        readers = {topic: by_topic(sources, topic) for topic, _ in part}  # None: dead letters
        self._events.add_batch(
            time=time_text,
            batch=number,
            seconds=round(time.monotonic() - began, 3),
            sources={
                name: dataclasses.replace(
                    read_counts(all_rules(self._declaration, source), found.get(observed_source(name))),
                    ranges={
                        f"{at.topic}-{at.partition}": each
                        for at, each in part.items()
                        if readers[at.topic] in (name, None)
                    },
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
