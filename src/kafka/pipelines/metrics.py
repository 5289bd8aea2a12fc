"""The metrics of a pipeline in Prometheus' text format, computed from its events. Pure.

The names are stable. To add a metric: a row in `METRICS`, its sample in `_samples`, and a row in the table of
docs/MONITORING.md, which a test compares with `METRICS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafka.pipelines.events import Event, Run
from kafka.pipelines.run_history import Totals, batch_identity, exclusive
from kafka.spark.monitoring.prometheus_text import Sample, exposition

METRICS = (
    ("kafka_pipeline_running", "gauge", "1 if the newest run has not recorded its end: it is running, or was killed."),
    ("kafka_pipeline_runs_total", "counter", "Number of runs."),
    ("kafka_pipeline_failures_total", "counter", "Number of runs that ended with an error."),
    ("kafka_pipeline_kills_total", "counter", "Number of runs that were killed."),
    ("kafka_pipeline_batches_total", "counter", "Number of completed micro-batches."),
    ("kafka_pipeline_out_rows_total", "counter", "Number of rows that the query returned."),
    ("kafka_pipeline_late_rows_total", "counter", "Number of rows dropped because they were older than the watermark."),
    ("kafka_pipeline_batch_id", "gauge", "Number of the last micro-batch."),
    ("kafka_pipeline_batch_seconds", "gauge", "Duration of the last micro-batch."),
    ("kafka_pipeline_batch_rows", "gauge", "Number of rows in the last micro-batch."),
    ("kafka_pipeline_last_batch_timestamp_seconds", "gauge", "Start of the last micro-batch, in seconds since 1970."),
    ("kafka_pipeline_state_rows", "gauge", "Number of rows in the state of stateful operators."),
    ("kafka_pipeline_rows_total", "counter", "Number of rows read."),
    ("kafka_pipeline_processed_rows_total", "counter", "Number of rows that the query processed."),
    ("kafka_pipeline_dead_letters_total", "counter", "Number of dead letters."),
    ("kafka_pipeline_dropped_rows_total", "counter", "Number of rows that a rule dropped."),
    ("kafka_pipeline_lag_records", "gauge", "Number of offsets that the last micro-batch left unread."),
    ("kafka_pipeline_rule_failures_total", "counter", "Number of rows that fail the rule."),
)
"""Name, type and help text of each metric."""

LABELS = {
    **{name: ("pipeline", "run") for name, _, _ in METRICS},
    **dict.fromkeys(
        (
            "kafka_pipeline_rows_total",
            "kafka_pipeline_processed_rows_total",
            "kafka_pipeline_dead_letters_total",
            "kafka_pipeline_dropped_rows_total",
            "kafka_pipeline_lag_records",
        ),
        ("pipeline", "run", "source"),
    ),
    "kafka_pipeline_rule_failures_total": ("pipeline", "run", "source", "rule"),
}
"""Labels of each metric. The label ``run`` is ``stream``, ``replay`` or ``backfill``."""


def prometheus_text(events: Iterable[Event]) -> str:
    """Return the metrics of pipelines in Prometheus' text format.

    Arguments:
        events: the events of one or several pipelines, in any order.
    """
    metrics = PipelineMetrics()
    for event in sorted(events, key=lambda each: each.moment):
        metrics.add(event)
    return metrics.text()


class PipelineMetrics:
    """The metrics of pipelines while they run. It keeps sums, not the events. Not thread-safe."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, Run], _RunsOfOneKind] = {}

    def add(self, event: Event) -> None:
        """Count an event. Events are added in the order of their times."""
        self._kinds.setdefault((event.pipeline, event.run), _RunsOfOneKind()).add(event)

    def text(self) -> str:
        """Return the metrics in Prometheus' text format."""
        samples: dict[str, list[Sample]] = {}
        for (pipeline, run), runs in sorted(self._kinds.items(), key=lambda each: each[0]):
            for name, labels, value in _samples(runs):
                samples.setdefault(name, []).append(({"pipeline": pipeline, "run": run, **labels}, value))
        return exposition(METRICS, samples)


class _RunsOfOneKind:
    """The streams, the replays or the backfills of a pipeline.

    Attributes:
        runs, failures, kills: number of runs, and of those that failed or were killed.
        last: the newest micro-batch.
    """

    def __init__(self) -> None:
        self.runs = self.failures = self.kills = 0
        self.last: Event | None = None
        self._current: dict[tuple[Run, bool], tuple[str, bool]] = {}
        self._newest: tuple[Run, bool] | None = None
        self._totals = Totals()
        """Of the micro-batches before the newest one, which a later run repeats if Spark did not commit it."""

    @property
    def is_running(self) -> bool:
        """Whether the newest run has no event at its end."""
        return self._newest is not None and self._current[self._newest][1]

    @property
    def totals(self) -> Totals:
        """The sums of all micro-batches."""
        found = self._totals + Totals()
        if self.last is not None:
            found.add(self.last)
        return found

    def add(self, event: Event) -> None:
        """Count an event."""
        kind = exclusive(event.run, event.number)
        run_id, is_open = self._current.get(kind, ("", False))
        if event.kind == "start" or run_id != event.run_id:
            self.runs += 1
            self.kills += is_open
            if event.earlier is not None:
                self.runs += event.earlier.runs
                self.failures += event.earlier.failures
                self.kills += event.earlier.kills
            self._newest = kind
            self._current[kind] = (event.run_id, True)
        if event.kind == "batch":
            if self.last is not None and batch_identity(self.last) != batch_identity(event):
                self._totals.add(self.last)
            self.last = event
        elif event.kind != "start":
            self._current[kind] = (event.run_id, False)
            self.failures += event.kind == "failure"


def _samples(runs: _RunsOfOneKind) -> Iterator[tuple[str, dict[str, str], float]]:
    none: dict[str, str] = {}
    totals = runs.totals
    yield "kafka_pipeline_running", none, runs.is_running
    yield "kafka_pipeline_runs_total", none, runs.runs
    yield "kafka_pipeline_failures_total", none, runs.failures
    yield "kafka_pipeline_kills_total", none, runs.kills
    yield "kafka_pipeline_batches_total", none, totals.batches
    yield "kafka_pipeline_late_rows_total", none, totals.late
    if totals.out is not None:
        yield "kafka_pipeline_out_rows_total", none, totals.out
    last = runs.last
    if last is not None:
        yield "kafka_pipeline_batch_id", none, last.batch or 0
        yield "kafka_pipeline_batch_seconds", none, last.seconds or 0.0
        yield "kafka_pipeline_batch_rows", none, last.rows
        yield "kafka_pipeline_last_batch_timestamp_seconds", none, last.moment.timestamp()
        yield "kafka_pipeline_state_rows", none, last.state_rows
    for name, source in totals.sources.items():
        labels = {"source": name}
        yield "kafka_pipeline_rows_total", labels, source.rows
        yield "kafka_pipeline_processed_rows_total", labels, source.processed
        yield "kafka_pipeline_dead_letters_total", labels, source.dead
        yield "kafka_pipeline_dropped_rows_total", labels, source.dropped
        if source.lag is not None:
            yield "kafka_pipeline_lag_records", labels, source.lag
        for rule, failed in source.rules.items():
            yield "kafka_pipeline_rule_failures_total", {**labels, "rule": rule}, failed
