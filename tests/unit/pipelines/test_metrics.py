"""The metrics of a pipeline in Prometheus' text format, and their table in the docs."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from kafka.pipelines.metrics import LABELS, METRICS, PipelineMetrics, prometheus_text
from kafka.pipelines.run_history import history
from unit.pipelines.sample_events import NAME, Sample, several_runs

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[3]


def samples(text: str) -> dict[tuple[str, ...], float]:
    """The samples: name and values of the labels, with the value."""
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, labels, value = re.fullmatch(r"(\w+)\{(.*)\} (\S+)", line).groups()  # type: ignore[union-attr]
            found[(name, *(each for _, each in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)))] = float(value)
    return found


def test_totals_over_all_runs_by_kind() -> None:
    events = several_runs(stateful=True)
    stream = [each for each in events if each.kind == "batch" and each.run == "stream"]
    found = samples(prometheus_text(events))
    where = (NAME, "stream")
    assert found["kafka_pipeline_rows_total", *where, "source"] == sum(each.rows for each in stream)
    assert found["kafka_pipeline_dead_letters_total", *where, "source"] == sum(each.dead for each in stream)
    assert found["kafka_pipeline_out_rows_total", *where] == sum(each.out or 0 for each in stream)
    assert found["kafka_pipeline_late_rows_total", *where] == sum(each.late for each in stream)
    assert found["kafka_pipeline_rule_failures_total", *where, "source", "decodes"] == sum(
        each.sources["source"].rules.get("decodes", 0) for each in stream
    )
    last = stream[-1]
    assert found["kafka_pipeline_batch_id", *where] == last.batch
    assert found["kafka_pipeline_batch_seconds", *where] == last.seconds
    assert found["kafka_pipeline_lag_records", *where, "source"] == last.sources["source"].lag
    assert found["kafka_pipeline_last_batch_timestamp_seconds", *where] == pytest.approx(last.moment.timestamp())
    assert found["kafka_pipeline_state_rows", *where] == last.state_rows
    assert [found[f"kafka_pipeline_{name}", *where] for name in ("runs_total", "kills_total", "failures_total")] == [
        3,
        1,
        1,
    ]
    assert found["kafka_pipeline_running", *where] == 0
    assert found["kafka_pipeline_batches_total", NAME, "replay"] == 8


def test_metrics_of_a_running_pipeline_equal_those_of_its_history() -> None:
    """Event by event, with kills, failures, and micro-batches that a later run repeats."""
    events = sorted(several_runs(stateful=True), key=lambda each: each.moment)
    metrics = PipelineMetrics()
    for number, event in enumerate(events):
        metrics.add(event)
        found, past = samples(metrics.text()), history(events[: number + 1])
        for run, totals in past.totals.items():
            runs = past.runs_of(run)
            if not runs:
                continue
            where = (NAME, run)
            assert found.get(("kafka_pipeline_rows_total", *where, "source"), 0) == totals.rows
            assert found["kafka_pipeline_batches_total", *where] == totals.batches
            assert found["kafka_pipeline_late_rows_total", *where] == totals.late
            assert found["kafka_pipeline_runs_total", *where] == len(runs)
            assert found["kafka_pipeline_kills_total", *where] == sum(each.ending == "killed" for each in runs)
            assert found["kafka_pipeline_failures_total", *where] == sum(each.ending == "failed" for each in runs)
            assert found["kafka_pipeline_running", *where] == (runs[-1].ending == "open")


def test_a_micro_batch_that_a_later_run_repeats_is_counted_once() -> None:
    first, second = Sample().run(2, ending=None).events, Sample().run(1).events
    killed = next(each for each in first if each.kind == "batch")
    again = [dataclasses.replace(each, run_id="later") for each in second]
    again = [dataclasses.replace(killed, run_id="later") if each.kind == "batch" else each for each in again]
    metrics = PipelineMetrics()
    for event in [first[0], killed, *again]:
        metrics.add(event)
    found = samples(metrics.text())
    assert found["kafka_pipeline_batches_total", NAME, "stream"] == 1
    assert found["kafka_pipeline_rows_total", NAME, "stream", "source"] == killed.rows
    assert found["kafka_pipeline_kills_total", NAME, "stream"] == 1


def test_several_pipelines_and_hostile_labels() -> None:
    other = [
        dataclasses.replace(each, pipeline='a"\\\nb') for each in Sample(rules=('r"\n',)).run(2, ending=None).events
    ]
    text = prometheus_text([*Sample().run(1).events, *other])
    assert len(re.findall(r"^# TYPE kafka_pipeline_rows_total counter$", text, re.MULTILINE)) == 1
    found = samples(text)
    assert found["kafka_pipeline_running", 'a\\"\\\\\\nb', "stream"] == 1
    assert found["kafka_pipeline_running", NAME, "stream"] == 0
    assert ("kafka_pipeline_rule_failures_total", 'a\\"\\\\\\nb', "stream", "source", 'r\\"\\n') in found
    assert prometheus_text([]) == ""


def test_unknown_values_are_left_out() -> None:
    events = [dataclasses.replace(each, out=None, sources={}) for each in Sample().run(2).events]
    text = prometheus_text(events)
    assert "out_rows" not in text
    assert "lag" not in text
    assert "kafka_pipeline_batches_total" in text


def test_all_metrics_are_samples_and_are_documented() -> None:
    found = prometheus_text(several_runs(stateful=True))
    labels = dict(re.findall(r"^(\w+)\{(.*)\} \S+$", found, re.MULTILINE))
    names = {name: tuple(re.findall(r'(\w+)="', each)) for name, each in labels.items()}
    assert names == LABELS
    guide = (ROOT / "docs" / "MONITORING.md").read_text()
    rows = re.findall(r"^\| `(kafka_pipeline_\w+)` \| (\w+) \| (.*?) \| (.*?) \|$", guide, re.MULTILINE)
    assert [(name, kind, text) for name, kind, _, text in rows] == [
        (name, kind, text.rstrip(".")) for name, kind, text in METRICS
    ]
    assert {name: tuple(re.findall(r"`(\w+)`", each)) for name, _, each, _ in rows} == LABELS
