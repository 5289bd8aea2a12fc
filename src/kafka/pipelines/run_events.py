"""Converts Spark's progress reports to the events of a run, and writes them.

Counts come from `DataFrame.observe`: the rules' counts of a source are observed under `planning.observed_source`,
and the number of result rows under `planning.RESULT`.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import datetime
import json
import logging
import threading
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka.pipelines.connect_plans import is_connect
from kafka.pipelines.declaration import Declaration
from kafka.pipelines.directories import PipelineDirectory
from kafka.pipelines.event_folding import FoldingEventFile
from kafka.pipelines.events import Event, EventFile, Run, SourceCounts
from kafka.pipelines.planning import observed_source, result_count
from kafka.pipelines.rule_counts import read_counts
from kafka.pipelines.rules import all_rules
from kafka.pipelines.run_history import Totals
from kafka.pipelines.source_rows import by_topic, start_options
from kafka.pipelines.steps import UNTIMED
from kafka.spark.monitoring.progress_reports import QueryProgress, query_progress, report_layout
from kafka.spark.planning.checkpoint_layout import from_layout
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

OnEvent = Callable[[Event], object]
NEWEST = 1000
"""The number of events that a run keeps in memory, because a stream that runs for months has millions."""
_REMEMBERED = 10_000
"""The number of recorded micro-batches that are recognized when Spark reports them again."""

_STAMP = "%Y%m%dT%H%M%S.%fZ"
"""The time in the name of a file of events, in UTC."""


def now() -> str:
    """Return the current time as events contain it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


class RunEvents:
    """Creates the events of a run, writes them to the pipeline's directory, and passes them on.

    Thread-safe, because Spark reports progress in its own thread.

    Arguments:
        declaration: the pipeline.
        directory: the pipeline's directory.
        run: what runs.
        number: the number of the replay or backfill; 0 for the stream.
        on_event: called with each event.
    """

    def __init__(
        self,
        declaration: Declaration,
        directory: PipelineDirectory,
        run: Run = "stream",
        number: int = 0,
        on_event: OnEvent | None = None,
    ) -> None:
        self.run_id = uuid.uuid4().hex
        self.newest: collections.deque[Event] = collections.deque(maxlen=NEWEST)
        """The newest events, oldest first. The file contains all of them."""
        self.totals = Totals()
        """The sums of all micro-batches."""
        self._starts: dict[TopicPartition, int] = {}
        self.out: dict[int, int] = {}
        """The numbers of result rows that are counted in `foreachBatch`, by batch."""
        self._declaration = declaration
        identity = {"pipeline": declaration.pipeline, "run": run, "run_id": self.run_id, "number": number}
        self._base: dict[str, Any] = identity
        started = datetime.datetime.now(datetime.UTC)
        kind = FoldingEventFile if run == "stream" else EventFile  # an audit needs each slice of a backfill
        self._file = kind(directory.events, f"{_stamp(directory.events, started)}-{self.run_id[:8]}")
        self._on_event = on_event
        self._lock = threading.Lock()
        self._recorded: dict[tuple[Any, Any], None] = {}

    def start(self) -> None:
        """Record the start of the run, with its declaration."""
        self.add(Event(kind="start", time=now(), declaration=self._declaration.shown(), **self._base))

    def add_start(self, offsets: str | None) -> None:
        """Note where a stream starts, if that is known: the option ``startingOffsets``, as JSON."""
        if offsets is not None:
            self._starts |= from_layout(json.loads(offsets))

    def end(self, error: BaseException | None = None) -> None:
        """Record the end of the run."""
        if error is None:
            self.add(Event(kind="stop", time=now(), **self._base))
        else:
            self.add(Event(kind="failure", time=now(), cause=_first_line(error), **self._base))

    def add_report(self, report: Mapping[str, Any]) -> Event | None:
        """Record a micro-batch, unless it has been recorded.

        Arguments:
            report: the parsed JSON of a `StreamingQueryProgress`.

        Returns the event; None if the report is not that of a micro-batch, or if it has been recorded.
        """
        if "addBatch" not in (report.get("durationMs") or {}):
            return None
        batch = (report.get("runId"), report.get("batchId"))
        with self._lock:
            if batch in self._recorded:
                return None
            self._recorded[batch] = None
            if len(self._recorded) > _REMEMBERED:
                del self._recorded[next(iter(self._recorded))]
        try:
            fields = self._fields(report)
        except BaseException:
            with self._lock:
                self._recorded.pop(batch, None)
            raise
        return self.add_batch(**fields)

    def _fields(self, report: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of the event for a report."""
        progress = query_progress(report)
        observed = report.get("observedMetrics") or {}
        late = sum(each.get("numRowsDroppedByWatermark") or 0 for each in report.get("stateOperators") or ())
        return {
            "time": progress.time,
            "batch": progress.batch,
            "seconds": progress.seconds,
            "sources": self._sources(observed, progress, _first_offsets(report)),
            "out": self.out.pop(progress.batch, result_count(observed)),
            "late": late,
            "untimed": sum(each.get(UNTIMED) or 0 for name, each in observed.items() if name.startswith(UNTIMED)),
            "state_rows": progress.state_rows,
            "watermark_ms": _milliseconds((report.get("eventTime") or {}).get("watermark")),
        }

    def add_batch(self, **fields: Any) -> Event:
        """Record a batch, and return its event. The arguments are fields of `Event`."""
        event = Event(kind="batch", **self._base, **fields)
        self.add(event)
        return event

    def add(self, event: Event) -> None:
        """Record an event, and pass it on.

        Neither a full disk nor an error in `on_event` stops a run that has begun.
        """
        with self._lock:
            self.newest.append(event)
            if event.kind == "batch":
                self.totals.add(event)
            try:
                self._file.append(event)
            except OSError as error:
                if event.kind == "start":
                    raise
                text = "pipeline %s: could not write the event '%s', which reports and audits will lack: %s"
                log.error(text, event.pipeline, event.kind, error)
        self.pass_on(event)

    def pass_on(self, event: Event) -> None:
        """Call `on_event`, without an error if it fails."""
        if self._on_event is not None:
            try:
                self._on_event(event)
            except Exception:
                log.exception("pipeline %s: on_event failed for the event '%s'", event.pipeline, event.kind)

    def _sources(
        self, observed: Mapping[str, Any], progress: QueryProgress, first: Mapping[TopicPartition, int]
    ) -> dict[str, SourceCounts]:
        found = {}
        for name, source in self._declaration.all_sources.items():
            counts = observed.get(observed_source(name))
            partitions = {
                place: each
                for reported in progress.sources
                for place, each in reported.partitions.items()
                if by_topic(self._declaration.all_sources, place.topic) == name
            }
            implied = 0 if start_options(source).get("startingOffsets") == "earliest" else None
            starts = {
                place: first.get(place, self._starts.get(place, implied)) if each.start is None else each.start
                for place, each in partitions.items()
            }
            ranges = {
                f"{place.topic}-{place.partition}": (start, partitions[place].end)
                for place, start in starts.items()
                if start is not None and start < partitions[place].end
            }
            lags = [each.lag for each in partitions.values()]
            lag = sum(each or 0 for each in lags) if lags and None not in lags else None
            totals = read_counts(all_rules(self._declaration, source), counts)
            found[name] = dataclasses.replace(totals, ranges=ranges, lag=lag)
        return found


def _stamp(folder: Path, started: datetime.datetime) -> str:
    """Return the time in the name of a new file, which is later than that of earlier runs.

    Readers sort runs by these names. If the clock has been set back since an earlier run, that run would otherwise
    count as the newest one.
    """
    newest = max((path.name for path in folder.glob("*.jsonl")), default="")
    with contextlib.suppress(ValueError, OverflowError):  # a name without a time, or with the last one of all
        last = datetime.datetime.strptime(newest.partition("-")[0], _STAMP).replace(tzinfo=datetime.UTC)
        started = max(started, last + datetime.timedelta(microseconds=1))
    return started.strftime(_STAMP)


def _milliseconds(time: str | None) -> int | None:
    """Return a time in ISO 8601 in ms since 1970."""
    return None if time is None else round(datetime.datetime.fromisoformat(time).timestamp() * 1000)


def _first_offsets(report: Mapping[str, Any]) -> dict[TopicPartition, int]:
    """Return the offsets at which the query started, from the report of its first micro-batch.

    The source leaves them out if they are all 0 or the ends of the logs.
    """
    found: dict[TopicPartition, int] = {}
    for source in report.get("sources") or ():
        layout = report_layout(source.get("endOffset"))
        if layout is not None:
            found |= from_layout(layout, initial=True)
    return found


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n", 1)[0] or type(error).__name__


_LAST_EVENT_S = 10.0
"""Maximum time to wait for the event that a query of Spark Connect has ended."""


class ReportListener:
    """Passes the reports of one query on.

    A context manager that listens to the streaming queries of a session. When it ends, the reports of finished
    micro-batches have been passed on.

    Arguments:
        spark: the session.
        name: the name of the query.
        on_report: called with each parsed report, in Spark's listener thread.
    """

    def __init__(self, spark: SparkSession, name: str, on_report: Callable[[Mapping[str, Any]], object]) -> None:
        self._spark = spark
        self._name = name
        self._on_report = on_report
        self._listener: Any = None
        self._running: set[str] = set()
        self._changed = threading.Condition()

    def __enter__(self) -> ReportListener:
        from pyspark.sql.streaming.listener import QueryIdleEvent as Idle
        from pyspark.sql.streaming.listener import QueryProgressEvent as Progress
        from pyspark.sql.streaming.listener import QueryStartedEvent as Started
        from pyspark.sql.streaming.listener import QueryTerminatedEvent as Terminated
        from pyspark.sql.streaming.listener import StreamingQueryListener

        passed, started, terminated = self._pass_on, self._started, self._terminated

        class Listener(StreamingQueryListener):  # type: ignore[misc]  # PySpark's classes are untyped here
            def onQueryStarted(self, event: Started) -> None:  # noqa: N802  # Spark's name
                started(event.name, str(event.runId))

            def onQueryProgress(self, event: Progress) -> None:  # noqa: N802  # Spark's name
                passed(event.progress.json)

            def onQueryIdle(self, event: Idle) -> None: ...  # noqa: N802  # Spark's name

            def onQueryTerminated(self, event: Terminated) -> None:  # noqa: N802  # Spark's name
                terminated(str(event.runId))

        self._listener = Listener()
        self._spark.streams.addListener(self._listener)
        return self

    def __exit__(self, *_: object) -> None:
        from kafka.spark.monitoring.query_monitor import await_delivery

        await_delivery(self._spark)
        if is_connect(self._spark):
            # Its removeListener waits for the thread that delivers events while it holds a lock that this thread needs
            # for each event. So the last event must have been delivered before.
            with self._changed:
                self._changed.wait_for(lambda: not self._running, _LAST_EVENT_S)
        self._spark.streams.removeListener(self._listener)

    def _started(self, name: str | None, run_id: str) -> None:
        if name == self._name:
            with self._changed:
                self._running.add(run_id)

    def _terminated(self, run_id: str) -> None:
        with self._changed:
            self._running.discard(run_id)
            self._changed.notify_all()

    def _pass_on(self, text: str) -> None:
        try:
            report = json.loads(text)
            if report.get("name") == self._name:
                self._on_report(report)
        except Exception:
            log.warning(
                "could not record a micro-batch of pipeline %s: pages and report lack it; the pipeline continues",
                self._name,
                exc_info=True,
            )
