"""The events of micro-batches whose driver was killed between Spark's commit and its event."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kafka.pipelines import ended_runs
from kafka.pipelines.audit.micro_batches import MicroBatch, micro_batches, without_event
from kafka.pipelines.declaration import Declaration
from kafka.pipelines.directories import PipelineDirectory
from kafka.pipelines.event_folding import Limits, fold
from kafka.pipelines.events import Event, SourceCounts, read_events
from kafka.pipelines.metrics import prometheus_text
from kafka.pipelines.recovered_counts import recover
from kafka.pipelines.run_events import RunEvents
from kafka.pipelines.run_history import history
from kafka.pipelines.yaml_file import parse

pytestmark = pytest.mark.once

TEXT = """
pipeline: delays
kafka: {bootstrap.servers: "localhost:9092"}
source: {topic: flights, start: START, value: {format: bytes}}
query: QUERY
sink: {topic: out, value: {format: bytes}}
"""
SESSION: Any = None
BEGIN_MS = 4_000_000_000_000
"""The time of the first micro-batch: later than the start of a run in a test."""


def declaration(query: str = "select value from source", start: str = "earliest") -> Declaration:
    return parse(TEXT.replace("QUERY", query).replace("START", start))


class Killed:
    """A stream whose driver was killed after Spark's commit: a checkpoint with more micro-batches than events.

    Arguments:
        base: the directory of the pipeline.
        number: number of complete micro-batches of ten rows each.
        written: the numbers of those with an event.
        declared: the pipeline.
    """

    def __init__(self, base: Path, number: int, written: set[int], declared: Declaration) -> None:
        self.directory = PipelineDirectory(base)
        self.counted: list[tuple[Declaration, int, datetime.datetime]] = []
        events = RunEvents(declared, self.directory)
        events.start()
        self.run_id = events.run_id
        self.plan(range(number))
        for batch in sorted(written):
            time = datetime.datetime.fromtimestamp(BEGIN_MS / 1000 + batch, datetime.UTC)
            events.add_batch(
                time=time.isoformat(), batch=batch, seconds=0.5, sources={"source": self.counts(batch)}, out=7
            )

    def plan(self, numbers: range, committed: bool = True) -> None:
        """Write Spark's files for micro-batches."""
        for folder in ("offsets", "commits"):
            (self.directory.stream / folder).mkdir(parents=True, exist_ok=True)
        for batch in numbers:
            metadata = {"batchWatermarkMs": 0, "batchTimestampMs": BEGIN_MS + 1000 * batch}
            lines = ["v1", json.dumps(metadata), json.dumps({"flights": {"0": 10 * batch + 10}})]
            (self.directory.stream / "offsets" / str(batch)).write_text("\n".join(lines))
            if committed:
                (self.directory.stream / "commits" / str(batch)).write_text('v1\n{"nextBatchWatermarkMs":0}')

    @staticmethod
    def counts(batch: int) -> SourceCounts:
        return SourceCounts(10, 9, 0, 1, {"decodes": 1}, {"flights-0": (10 * batch, 10 * batch + 10)}, lag=0)

    def count(
        self, declared: Declaration, batch: MicroBatch, moment: datetime.datetime
    ) -> tuple[Mapping[str, SourceCounts], int | None]:
        """Count as Spark would."""
        assert {tp.topic: tuple(each) for tp, each in batch.ranges.items()} == {
            "flights": (10 * batch.number, 10 * batch.number + 10)
        }
        self.counted.append((declared, batch.number, moment))
        return {"source": self.counts(batch.number)}, 7

    def recover(self, declared: Declaration) -> list[int | None]:
        return [each.batch for each in recover(declared, self.directory, SESSION, None, self.count)]


@pytest.mark.parametrize("written", [{0, 1}, {0}, set(), {0, 2}, {1, 2}], ids=str)
def test_the_totals_are_those_of_a_run_that_was_not_killed(tmp_path: Path, written: set[int]) -> None:
    declared = declaration()
    whole = Killed(tmp_path / "whole", 3, {0, 1, 2}, declared)
    killed = Killed(tmp_path / "killed", 3, written, declared)
    missing = sorted({0, 1, 2} - written)
    assert without_event(micro_batches(killed.directory)) == missing
    assert killed.recover(declared) == missing
    assert without_event(micro_batches(killed.directory)) == []
    events = read_events(killed.directory.events)
    found, expected = history(events), history(read_events(whole.directory.events))
    totals, wanted = found.totals["stream"], expected.totals["stream"]
    assert (totals.sources, totals.out, totals.batches) == (wanted.sources, wanted.out, wanted.batches)
    assert len(found.runs) == 1, "the events are those of the killed run"
    recovered = [each for each in events if each.recovered]
    assert [each.run_id for each in recovered] == [killed.run_id] * len(missing)
    assert [each.moment.timestamp() * 1000 for each in recovered] == [BEGIN_MS + 1000 * each for each in missing]
    assert [moment.timestamp() * 1000 for _, _, moment in killed.counted] == [
        BEGIN_MS + 1000 * each for each in missing
    ]
    assert killed.recover(declared) == [], "a second time, nothing is missing"
    assert 'kafka_pipeline_rows_total{pipeline="delays",run="stream",source="source"} 30' in prometheus_text(events)
    assert history(fold(events, Limits(0, 0, 100, 1))).totals["stream"].sources["source"].rows == 30


def test_a_micro_batch_that_spark_has_not_committed_is_not_counted(tmp_path: Path) -> None:
    """The next run repeats it, and writes its event."""
    killed = Killed(tmp_path, 2, {0, 1}, declaration())
    killed.plan(range(2, 3), committed=False)
    assert killed.recover(declaration()) == []


def test_an_incomplete_line_of_the_killed_run_does_not_break_the_file(tmp_path: Path) -> None:
    killed = Killed(tmp_path, 2, {0}, declaration())
    (path,) = killed.directory.events.glob("*.jsonl")
    with path.open("a") as file:
        file.write('{"kind": "batch", "time": "20')
    assert killed.recover(declaration()) == [1]
    assert [each.batch for each in read_events(killed.directory.events)] == [None, 0, 1]


def test_counts_are_those_of_the_declaration_of_the_killed_run(tmp_path: Path, caplog: Any) -> None:
    killed = Killed(tmp_path / "sql", 2, {0}, declaration("select key, value from source"))
    current = declaration("select value from source where value is not null")
    assert killed.recover(current) == [1]
    assert [each.query for each, _, _ in killed.counted] == ["select key, value from source"]
    text = TEXT.replace("query: QUERY\n", "").replace("START", "earliest")
    other = Killed(tmp_path / "function", 2, {0}, parse(text))
    assert other.recover(current) == []
    assert "the declaration has changed since, and its query was not SQL" in caplog.text
    assert without_event(micro_batches(other.directory)) == [1], "the audit names it"


def test_a_micro_batch_that_a_later_run_repeated_belongs_to_that_run(tmp_path: Path) -> None:
    """Spark keeps the time of the plan, which is that of the run before."""
    first, second = declaration("select key, value from source"), declaration()
    killed = Killed(tmp_path, 2, {0}, first)
    killed.plan(range(2, 3), committed=False)
    again = RunEvents(second, killed.directory)
    later_ms = BEGIN_MS + 60_000
    start = Event("start", _text(later_ms), "delays", run_id=again.run_id, declaration=second.shown())
    again.add(start)
    again.add_batch(time=_text(later_ms), batch=1, sources={"source": killed.counts(1)}, out=7)
    killed.plan(range(2, 3))
    commit = killed.directory.stream / "commits" / "2"
    os.utime(commit, (later_ms / 1000 + 5, later_ms / 1000 + 5))
    assert killed.recover(second) == [2]
    assert [(each.query, moment.timestamp() * 1000) for each, _, moment in killed.counted] == [
        (second.query, BEGIN_MS + 2000)
    ]
    (found,) = [each for each in read_events(killed.directory.events) if each.recovered]
    assert found.run_id == again.run_id


def _text(time_ms: float) -> str:
    return datetime.datetime.fromtimestamp(time_ms / 1000, datetime.UTC).isoformat(timespec="milliseconds")


def test_a_micro_batch_whose_run_has_been_folded_gets_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed = Killed(tmp_path, 2, {0}, declaration())
    monkeypatch.setattr(ended_runs, "MOST", 0)
    monkeypatch.setattr(ended_runs, "KEPT", -1)
    RunEvents(declaration(), killed.directory).add_batch(time=_text(BEGIN_MS + 9_000), batch=2, sources={}, out=0)
    monkeypatch.setattr(ended_runs, "_removed", lambda directory, names: list(names))  # as on Windows, or after a kill
    ended_runs.fold_ended_runs(killed.directory)
    assert killed.recover(declaration()) == [1]
    assert [each.batch for each in read_events(killed.directory.events)] == [None, 0, 1, 2]
    assert killed.recover(declaration()) == []


def test_a_first_micro_batch_of_unknown_start_is_not_counted(tmp_path: Path) -> None:
    latest = declaration(start="latest")
    killed = Killed(tmp_path, 2, set(), latest)
    assert killed.recover(latest) == [1]


def test_a_micro_batch_begins_where_the_one_before_it_ends_although_that_has_no_event(tmp_path: Path) -> None:
    """Spark keeps the last hundred files: the begin of the first one of these is unknown, unless it has an event."""
    killed = Killed(tmp_path, 4, set(), declaration())
    for folder in ("offsets", "commits"):
        (killed.directory.stream / folder / "0").unlink()
    assert killed.recover(declaration()) == [2, 3]


def test_records_that_cannot_be_read_leave_the_micro_batch_without_an_event(tmp_path: Path, caplog: Any) -> None:
    killed = Killed(tmp_path, 3, {0}, declaration())
    count = killed.count

    def fail_once(*given: Any) -> Any:
        if given[1].number == 1:
            raise RuntimeError("offset 10 is deleted\nat line 2")
        return count(*given)

    killed.count = fail_once  # type: ignore[method-assign]
    assert killed.recover(declaration()) == [2]
    assert "could not recover the counts of micro-batch 1, which reports will lack: offset 10 is deleted" in caplog.text
    assert without_event(micro_batches(killed.directory)) == [1]


def test_a_result_that_depends_on_state_is_left_out_of_the_sum(tmp_path: Path) -> None:
    killed = Killed(tmp_path, 3, {0, 1}, declaration())
    killed.count = lambda declared, batch, moment: ({"source": killed.counts(batch.number)}, None)  # type: ignore[method-assign]
    assert killed.recover(declaration()) == [2]
    events = read_events(killed.directory.events)
    totals = history(events).totals["stream"]
    assert (totals.rows, totals.out) == (30, 14)
    assert history(fold(events, Limits(0, 0, 100, 1))).totals["stream"].out == 14
