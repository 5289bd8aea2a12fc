"""The metrics of a pipeline in Prometheus' text format, computed from its events. Pure.

The names are stable. To add a metric: a row in `METRICS`, its sample in `_samples`, and a row in the table of
docs/MONITORING.md, which a test compares with `METRICS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafka.pipelines.events import Event
from kafka.pipelines.run_history import RunHistory, Totals, history
from kafka.spark.monitoring.prometheus_text import Sample, exposition

METRICS = (
    ("kafka_pipeline_running", "gauge", "1 if the newest run has no event at its end."),
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
    by_pipeline: dict[str, list[Event]] = {}
    for event in events:
        by_pipeline.setdefault(event.pipeline, []).append(event)
    samples: dict[str, list[Sample]] = {}
    for pipeline, those in sorted(by_pipeline.items()):
        found = history(those)
        for run, totals in found.totals.items():
            runs = found.runs_of(run)
            if runs:
                for name, labels, value in _samples(runs, totals):
                    samples.setdefault(name, []).append(({"pipeline": pipeline, "run": run, **labels}, value))
    return exposition(METRICS, samples)


def _samples(runs: list[RunHistory], totals: Totals) -> Iterator[tuple[str, dict[str, str], float]]:
    none: dict[str, str] = {}
    yield "kafka_pipeline_running", none, runs[-1].ending == "open"
    yield "kafka_pipeline_runs_total", none, len(runs)
    yield "kafka_pipeline_failures_total", none, sum(each.ending == "failed" for each in runs)
    yield "kafka_pipeline_kills_total", none, sum(each.ending == "killed" for each in runs)
    yield "kafka_pipeline_batches_total", none, totals.batches
    yield "kafka_pipeline_late_rows_total", none, totals.late
    if totals.out is not None:
        yield "kafka_pipeline_out_rows_total", none, totals.out
    last = next((each.batches[-1] for each in reversed(runs) if each.batches), None)
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
