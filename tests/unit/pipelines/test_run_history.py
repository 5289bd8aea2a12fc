"""Events grouped by run: how runs end, repeated micro-batches, and totals."""

from __future__ import annotations

import random

import pytest

from kafka.pipelines.events import Event, SourceCounts
from kafka.pipelines.metrics import prometheus_text
from kafka.pipelines.run_history import history
from unit.pipelines.sample_events import NAME, Sample, several_runs

pytestmark = pytest.mark.once


def batch(run_id: str, second: int, number: int, start: int, rows: int = 10) -> Event:
    """A micro-batch that reads the offsets from `start`."""
    counts = SourceCounts(rows, rows - 1, 0, 1, {"r": 1}, {"t-0": (start, start + rows)}, lag=0)
    return Event(
        "batch", f"2026-11-27T14:00:{second:02}Z", "p", run_id=run_id, batch=number, seconds=1.0,
        sources={"s": counts}, out=rows - 1,
    )  # fmt: skip


def test_a_run_without_an_end_was_killed_if_there_is_a_later_one() -> None:
    events = several_runs()
    random.Random(1).shuffle(events)
    found = history(events)
    assert [(each.name, each.ending) for each in found.runs] == [
        ("stream", "killed"),
        ("stream", "failed"),
        ("stream", "stopped"),
        ("replay 1", "stopped"),
        ("replay 2", "stopped"),
    ]
    assert found.runs[1].cause.startswith("Job aborted")
    assert found.newest is found.runs[2]
    assert history(Sample().run(3, ending=None).events).runs[0].ending == "open"


def test_a_resumed_replay_was_killed_before_but_another_kind_of_run_says_nothing() -> None:
    sample = Sample().run(2, ending=None, run="replay", number=1).run(2, ending=None)
    assert [each.ending for each in history(sample.events).runs] == ["open", "open"]
    sample.run(2, run="replay", number=1)
    assert [each.ending for each in history(sample.events).runs] == ["killed", "open", "stopped"]


def test_a_replay_without_an_end_was_killed_if_another_replay_ran_later() -> None:
    """Only one can run at a time. The backfill before the stream, whose number is 0, can run beside others."""
    sample = Sample().run(2, ending=None, run="replay", number=1).run(1, run="replay", number=2)
    sample.run(1, ending=None, run="backfill", number=0).run(1, ending=None, run="backfill", number=1)
    assert [each.ending for each in history(sample.events).runs] == ["killed", "stopped", "open", "open"]
    text = prometheus_text(sample.events)
    for run, kills in (("replay", 1), ("backfill", 0)):
        assert f'kafka_pipeline_kills_total{{pipeline="{NAME}",run="{run}"}} {kills}\n' in text
    sample.run(1, run="backfill", number=2)
    assert [each.ending for each in history(sample.events).runs][2:] == ["open", "killed", "stopped"]
    assert f'kafka_pipeline_kills_total{{pipeline="{NAME}",run="backfill"}} 1\n' in prometheus_text(sample.events)


def test_a_repeated_batch_counts_once_for_the_run_that_repeated_it() -> None:
    events = [batch("a", 0, 0, 0), batch("a", 2, 1, 10), batch("b", 5, 1, 10), batch("b", 7, 2, 20)]
    found = history(events)
    assert [len(each.batches) for each in found.runs] == [1, 2]
    assert (found.totals["stream"].rows, found.totals["stream"].out, found.totals["stream"].dead) == (30, 27, 3)
    anew = history([batch("a", 0, 0, 0), batch("b", 5, 0, 99)])
    assert anew.totals["stream"].rows == 20, "other offsets are not a repetition"


def test_totals_per_kind_and_source() -> None:
    events = several_runs(sources=("a", "b"))
    found = history(events)
    batches = [each for each in events if each.kind == "batch"]
    assert list(found.totals) == ["stream", "replay"]
    for run, totals in found.totals.items():
        those = [each for each in batches if each.run == run]
        assert totals.rows == sum(each.rows for each in those)
        assert totals.dead == sum(each.dead for each in those)
        assert totals.batches == len(those)
        assert totals.difference == 0
        assert totals.sources["a"].rules["decodes"] == sum(each.sources["a"].rules.get("decodes", 0) for each in those)
    assert found.declaration is not None
    assert found.declaration["pipeline"] == found.pipeline


def test_unknown_output_stays_unknown_and_empty_batches_take_no_time() -> None:
    unknown = Event("batch", "2026-11-27T14:00:00Z", "p", batch=0, seconds=2.0)
    totals = history([unknown]).totals["stream"]
    assert (totals.out, totals.rate, totals.busy) == (None, None, 0.0)
    assert history([]).runs == []
