"""Runs a pipeline as a streaming query.

`start` plans and starts the query, and returns a `RunningPipeline`. `run` waits for its end. The plan is made by
`source_rows` (rules), `planning` and `combined_rows` (the query with the rejected rows) and `kafka_rows` (the records
to write).
"""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaConfigurationError
from kafka.pipelines.backfill import SourceRecords
from kafka.pipelines.batch_writes import BatchWrite, StreamRun
from kafka.pipelines.combined_rows import Form
from kafka.pipelines.declaration import Declaration, Sink
from kafka.pipelines.directories import directory_of
from kafka.pipelines.ended_runs import fold_ended_runs
from kafka.pipelines.event_folding import fold_ended
from kafka.pipelines.events import Event
from kafka.pipelines.failing_records import FailedPart
from kafka.pipelines.first_backfill import stream_starts
from kafka.pipelines.kafka_rows import output_rows, write_options
from kafka.pipelines.planning import plan
from kafka.pipelines.recovered_counts import recover
from kafka.pipelines.rules import SETTINGS
from kafka.pipelines.run_events import OnEvent, ReportListener, RunEvents
from kafka.pipelines.run_results import (
    PipelineFailedError,
    RunResult,
    StartStoppedError,
    TooManyRejectedError,
    failure_of,
    result_of,
)
from kafka.pipelines.source_rows import read_options, start_options, topic_options
from kafka.pipelines.start_checks import check_not_running, check_owner, stream_lock
from kafka.pipelines.stream_checkpoint import read_checkpoint
from kafka.pipelines.topic_ids import topic_ids
from kafka.pipelines.window_flush import Markers, flush
from kafka.spark.monitoring.query_monitor import await_delivery
from kafka.spark.queries import FORMAT, Goal, run_available
from kafka.spark.queries import start as start_query

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming import DataStreamWriter, StreamingQuery

__all__ = ["PipelineFailedError", "RunResult", "RunningPipeline", "TooManyRejectedError", "run", "start"]

log = logging.getLogger(__name__)


def start(
    declaration: Declaration,
    spark: SparkSession | None = None,
    *,
    function: Callable[..., Any] | None = None,
    once: bool = False,
    on_event: OnEvent | None = None,
    stop: threading.Event | None = None,
    check: bool = True,
) -> RunningPipeline:
    """Start a pipeline.

    Arguments:
        declaration: the pipeline.
        spark: the session; None for a new one (`kafka.spark.session`).
        function: the query if it is a Python function.
        once: whether to end when everything available at the start has been processed.
        on_event: called with each event, in another thread.
        stop: set this event to stop before the stream starts, for instance while older records are processed; a later
            start continues there.
        check: whether to check first what `kafka.pipelines.checks.check` checks, and to report all problems at once.

    Returns the running pipeline. Raises `InvalidDeclaration` if the query does not fit the sources or the sink, or if
    the directory belongs to another pipeline, `KafkaConnectionError` if a server does not respond, `IllegalStateError`
    if another run of the pipeline is running, and `StartStoppedError` if `stop` was set.
    """
    from kafka.pipelines.checks.before_run import check_before_run
    from kafka.spark import session

    check_not_running(directory_of(declaration))
    if check:
        check_before_run(declaration, spark)
    spark = spark or session(declaration.pipeline, **SETTINGS)
    return RunningPipeline(declaration, spark, function, once=once, on_event=on_event, stop=stop)


def run(
    declaration: Declaration,
    spark: SparkSession | None = None,
    *,
    once: bool = True,
    function: Callable[..., Any] | None = None,
    on_event: OnEvent | None = None,
    check: bool = True,
) -> RunResult:
    """Run a pipeline until it ends; see `start` for the arguments.

    Raises `PipelineFailedError` if it ends with an error.
    """
    return start(declaration, spark, function=function, once=once, on_event=on_event, check=check).result()


def _observe(frame: DataFrame, name: str, counts: Sequence[Column]) -> DataFrame:
    return frame.observe(name, *counts)


class RunningPipeline:
    """A pipeline whose query runs.

    Attributes:
        query: Spark's query.
    """

    def __init__(
        self,
        declaration: Declaration,
        spark: SparkSession,
        function: Callable[..., Any] | None,
        *,
        once: bool,
        on_event: OnEvent | None,
        stop: threading.Event | None = None,
    ) -> None:
        self._declaration = declaration
        self._spark = spark
        self._function = function
        self._once = once
        self._directory = directory_of(declaration)
        self._on_event = on_event
        self._rejected: Event | None = None
        self._is_stopping = threading.Event()
        self._has_query = threading.Event()
        self._events = RunEvents(declaration, self._directory, on_event=on_event)
        self._markers = Markers(self._directory.markers) if declaration.flush_at_end else None
        self._is_awaited = False
        self._ending = threading.Lock()
        self._has_ended = False
        check_owner(declaration, self._directory)
        self._writer = self._planned(function, stop)
        if stop is not None and stop.is_set():
            raise StartStoppedError(f"pipeline {declaration.pipeline}: stopped before the stream")
        with contextlib.ExitStack() as opened:
            opened.enter_context(stream_lock(self._directory))
            fold_ended(self._directory.events)
            for event in recover(declaration, self._directory, spark, function):
                self._events.pass_on(event)
            fold_ended_runs(self._directory)
            listening = opened.enter_context(contextlib.ExitStack())
            listening.enter_context(ReportListener(spark, self._query_name, self._on_report))
            self._events.start()
            self._listening, self._holding = listening, opened.pop_all()
        try:
            self.query: StreamingQuery = start_query(self._writer)
        except Exception as raised:
            error = failure_of(declaration, raised)
            self._end(error)
            raise error from None
        except BaseException:  # an interrupt
            self._end(None)
            raise
        finally:
            self._has_query.set()

    @property
    def _query_name(self) -> str:
        return self._declaration.pipeline

    def _planned(self, function: Callable[..., Any] | None, stop: threading.Event | None) -> DataStreamWriter:
        declaration = self._declaration
        records = {}
        starts = stream_starts(declaration, self._spark, function, self._on_event, stop)
        for name, source in declaration.all_sources.items():
            options = read_options(declaration, source) | topic_options(source)
            options |= starts.get(name) or start_options(source)
            self._events.add_start(starts.get(name, {}).get("startingOffsets"))
            options = {"commitGroup": declaration.pipeline} | options
            if source.max_offsets_per_trigger is not None:
                options.setdefault("maxOffsetsPerTrigger", str(source.max_offsets_per_trigger))
            records[name] = self._spark.readStream.format(FORMAT).options(**options).load()
        planned = plan(declaration, records, function, _observe, markers=self._markers)
        ids = topic_ids(declaration)
        prefix = declaration.pipeline
        sink = declaration.sink
        if planned.form is not Form.BATCH and isinstance(sink, Sink) and declaration.output_mode == "append":
            rows = output_rows(planned.frame, declaration, sink, ids, planned.count)
            writer = rows.writeStream.format(FORMAT).options(**write_options(declaration, sink, prefix))
        else:
            out = self._events.out if planned.form is Form.BATCH else None
            identity = StreamRun(declaration.pipeline, self._directory.stream)
            write = BatchWrite(declaration, planned.combine, ids, prefix, identity, out)
            writer = planned.count(planned.frame).writeStream.foreachBatch(write)
        writer = writer.outputMode(declaration.output_mode)
        writer = writer.option("checkpointLocation", str(self._directory.stream)).queryName(self._query_name)
        if self._once:
            return writer.trigger(availableNow=True)
        return writer.trigger(processingTime=declaration.trigger) if declaration.trigger else writer

    def _on_report(self, report: Mapping[str, Any]) -> None:
        event = self._events.add_report(report)
        if event is None:
            return
        limit = self._declaration.max_bad
        rejected = event.rows - sum(each.processed for each in event.sources.values())
        if limit is not None and event.rows and rejected / event.rows > limit:
            self._rejected = event
            self._is_stopping.set()
        if self._is_stopping.is_set():
            threading.Thread(target=self._stop_query, name="kafka-pipeline-stop", daemon=True).start()

    def _stop_query(self) -> None:
        self._has_query.wait()  # until the query is known, or could not be started
        if self._has_ended:
            return
        try:
            self.query.stop()
        except Exception:
            log.exception("pipeline %s: could not stop the query %s", self._declaration.pipeline, self.query.id)

    def _catch_up(self) -> None:
        """Record the micro-batches of the query that the listener has not reported yet, as on a busy machine."""
        await_delivery(self._spark)
        for each in self.query.recentProgress:
            self._on_report(json.loads(each.json))

    def stop(self, *, now: bool = False) -> None:
        """Stop between two micro-batches, or immediately if none is running. Returns when the query has ended.

        The run has then ended, too, unless another thread waits in `result`, which ends it. A micro-batch that begins
        at the moment of the stop is interrupted; the next run repeats it.

        Arguments:
            now: whether to interrupt the current micro-batch, which the next run repeats.
        """
        self._is_stopping.set()
        while not now and self.query.isActive and self.query.status["isTriggerActive"]:
            self.query.awaitTermination(0.1)
        self.query.stop()
        if not self._is_awaited:
            self._catch_up()
            failure = self.query.exception()
            self._end(None if failure is None else failure_of(self._declaration, failure))

    def result(self) -> RunResult:
        """Wait for the end of the run, and return its result. An interrupt stops the run between micro-batches.

        Raises `PipelineFailedError` if it ended with an error.
        """
        error: BaseException | None = None
        self._is_awaited = True
        try:
            self._await_end()
        except KeyboardInterrupt:
            try:
                self.stop()
            finally:  # at once, after another interrupt
                self.query.stop()
            raise
        except Exception as raised:
            error = failure_of(self._declaration, raised)  # also if the search for the record is interrupted
            error = self._with_record(raised, error)
            raise error from None
        finally:
            self._end(error)
        return result_of(self._events, self._directory)

    def _with_record(self, raised: Exception, failure: PipelineFailedError) -> PipelineFailedError:
        """Return the error of the run, with the record that causes it, if one is found."""
        if raised is failure:
            return failure
        try:
            ranges = read_checkpoint(self._directory.stream).unfinished_ranges
        except KafkaConfigurationError as error:
            log.warning("pipeline %s: cannot look for the record that fails: %s", self._declaration.pipeline, error)
            return failure
        records = SourceRecords(self._declaration, self._spark)
        return FailedPart(self._declaration, self._function, records, ranges).named(raised)

    def _await_end(self) -> None:
        goal = Goal()
        while True:
            try:
                self.query.awaitTermination()
            finally:
                self._catch_up()
            if self._rejected is not None:
                raise TooManyRejectedError(_too_many(self._declaration, self._rejected))
            if not self._once or self._is_stopping.is_set():
                return
            if goal.is_reached_by(self.query):
                break
            self.query = start_query(self._writer)
            if self._is_stopping.is_set():  # since the condition above
                self.query.stop()
        if self._markers is not None:
            flush(self._spark, self._directory.stream, self._markers, self._run_again)

    def _run_again(self) -> None:
        """Run the query with the markers, to write its last windows."""
        self.query = run_available(self._writer)
        self._catch_up()

    def _end(self, error: BaseException | None) -> None:
        with self._ending:
            if self._has_ended:
                return
            self._has_ended = True
        with self._holding:  # until the end is recorded, no other run starts
            self._listening.close()
            self._events.end(error)


def _too_many(declaration: Declaration, event: Event) -> str:
    rejected = event.rows - sum(each.processed for each in event.sources.values())
    rules = ", ".join(f"{name} {count}" for each in event.sources.values() for name, count in each.rules.items())
    return (
        f"pipeline {declaration.pipeline}: micro-batch {event.batch} rejected {rejected} of {event.rows} rows, but "
        f"max_bad is {declaration.max_bad:g} ({rules}). The micro-batch is complete; correct the rules or the data, "
        "then start the pipeline again"
    )
