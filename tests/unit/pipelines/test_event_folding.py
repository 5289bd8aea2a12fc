"""Folding old micro-batches: sums, audits and metrics stay as they were, at each step and after each kill."""

from __future__ import annotations

import dataclasses
import os
import random
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kafka.pipelines import event_folding
from kafka.pipelines.audit.batch_counts import BatchComparison
from kafka.pipelines.audit.groups import NotCompared, late_bounds
from kafka.pipelines.audit.ledger import Ledger
from kafka.pipelines.audit.micro_batches import gaps, joined, overlaps, whole, without_event
from kafka.pipelines.audit.scope import scope_of
from kafka.pipelines.directories import PipelineDirectory
from kafka.pipelines.ended_runs import folded_runs
from kafka.pipelines.event_folding import FoldingEventFile, Limits, adjoin, fold, fold_ended, in_order
from kafka.pipelines.events import (
    ENDED_RUNS,
    Event,
    EventFile,
    SourceCounts,
    from_json,
    last_start,
    read_events,
    to_json,
)
from kafka.pipelines.metrics import prometheus_text
from kafka.pipelines.report import html
from kafka.pipelines.run_history import history
from kafka.pipelines.stream_checkpoint import StreamCheckpoint
from kafka.ui.pipeline_logs import PipelineLog
from unit.pipelines.sample_events import Sample, several_runs

pytestmark = pytest.mark.once

SMALL = Limits(newest=5, excess=4, each=3, folds=4)
NOTHING = StreamCheckpoint({}, {}, None)


def random_run(seed: int, batches: int = 60) -> list[Event]:
    """A run whose micro-batches have gaps, repeats, new partitions, and rows that are late or unknown."""
    chance = random.Random(seed)
    sample = Sample(seed, sources=("a", "b") if seed % 2 else ("a",))
    events = sample.run(batches, stateful=seed % 3 == 0, ending=chance.choice(["stop", "failure", None])).events
    found: list[Event] = []
    moved = 0
    for event in events:
        if event.kind == "batch":
            moved += chance.choice([0] * 19 + [7])  # offsets that no micro-batch has read
            counts = event.sources["a"]
            ranges = {name: (start + moved, end + moved) for name, (start, end) in counts.ranges.items()}
            if chance.random() < 0.3:
                ranges["a-1"] = (5, 6 + chance.randrange(9))
            sources = {**event.sources, "a": dataclasses.replace(counts, ranges=ranges)}
            event = dataclasses.replace(event, sources=sources, untimed=chance.randrange(3))
            if chance.random() < 0.02:
                event = dataclasses.replace(event, out=None)
            if chance.random() < 0.1:
                event = dataclasses.replace(event, out=chance.choice([3, None]), recovered=True)
            if chance.random() < 0.1:
                found.append(dataclasses.replace(event, out=0))  # repeated
        if event.kind != "batch" or chance.random() > 0.02:  # an event that was not written
            found.append(event)
    return found


def audited(events: list[Event]) -> Any:
    """What an audit finds out about micro-batches."""
    batches = joined(events, NOTHING)
    places = [[(tp, each) for tp, each, _ in find(batches)] for find in (gaps, overlaps)]
    return whole(batches), places, without_event(batches), sum(each.event.late for each in batches if each.event)


def sums(events: list[Event]) -> Any:
    totals = history(events).totals["stream"]
    return dataclasses.replace(totals, busy=round(totals.busy, 6))


@pytest.mark.parametrize("seed", range(12))
def test_sums_audits_and_metrics_are_those_of_the_whole_history(seed: int) -> None:
    whole_run = random_run(seed)
    kept: list[Event] = []
    for at, event in enumerate(whole_run):
        kept.append(event)
        if at % 7 == seed % 7:
            kept = fold(kept, SMALL)
    kept = fold(kept, SMALL)
    assert sums(kept) == sums(whole_run)
    assert audited(kept) == audited(whole_run)
    assert prometheus_text(kept) == prometheus_text(whole_run)
    assert [each for each in kept if each.kind != "batch"] == [each for each in whole_run if each.kind != "batch"]
    batches = {each.batch: each for each in whole_run if each.kind == "batch"}
    assert [each for each in kept if each.kind == "batch"][-5:] == list(batches.values())[-5:]
    assert [to_json(from_json(to_json(each))) for each in kept] == [to_json(each) for each in kept]
    (run,) = history(kept).runs
    (before,) = history(whole_run).runs
    assert run.ending == before.ending
    assert run.end == pytest.approx(before.end, abs=0.01)
    assert run.batch_count == before.batch_count


def test_the_number_of_events_is_bounded() -> None:
    kept: list[Event] = []
    for event in Sample().run(1_000).events:
        kept.append(event)
        if len(kept) % 9 == 0:
            kept = fold(kept, SMALL)
            assert len(kept) <= 1 + 1 + 4 + 5 + 1
    kept = fold(kept, SMALL)
    folded = [each for each in kept if each.folded is not None]
    assert [each.first for each in folded] == [1, *[(each.batch or 0) + 1 for each in folded[:-1]]]
    assert sum(each.batches for each in kept if each.kind == "batch") == 1_000


def test_an_unknown_number_of_result_rows_stays_unknown() -> None:
    """Totals only leave it out if it was recovered."""
    events = [each for each in Sample().run(9).events if each.kind == "batch"]
    for recovered in (0, 4, 8):
        given = [dataclasses.replace(each, out=None, recovered=each.batch == recovered) for each in events]
        assert sums(fold(given, Limits(0, 0, 100, 1))).out is None
    known = [
        dataclasses.replace(each, out=None if each.batch == 4 else 2, recovered=each.batch == 4) for each in events
    ]
    assert sums(fold(known, Limits(0, 0, 100, 1))).out == 16


def test_a_clock_that_is_set_back_keeps_the_newest_micro_batches() -> None:
    """The next run may repeat the last one, so that must not be part of a fold."""
    sample = Sample()
    sample.run(20, ending=None).pause(-3600)
    sample._runs -= 1
    events = [each for each in sample.run(20, ending=None).events if each.kind == "batch"]
    kept = fold(events, SMALL)
    assert [each.batch for each in kept][-5:] == [35, 36, 37, 38, 39]
    assert len(kept) <= 4 + 5
    found, expected = sums(kept), sums(events)
    assert (found.rows, found.out, found.batches, found.rules) == (
        expected.rows,
        expected.out,
        expected.batches,
        expected.rules,
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("0@0 1@1 3@3 2@2", "0@0 1@1 2@2 3@3"),
        ("1@1 0@0", "0@0 1@1"),
        ("0@0 3@3 4@4 1@1 2@2", "0@0 1@1 2@2 3@3 4@4"),
        ("5@5 6@6 0@7 1@8", "5@5 6@6 0@7 1@8"),
        ("5@5 6@6 7@2 8@3", "5@5 6@6 7@2 8@3"),
        ("5@9 0@1 6@8 2@7", "0@1 2@7 5@9 6@8"),
        ("0@0 2@1 1@1", "0@0 2@1 1@1"),
        ("4@4 4@2", "4@4 4@2"),
    ],
    ids=["recovered", "first", "two", "new checkpoint", "clock set back", "both", "same time", "same number"],
)
def test_a_micro_batch_that_was_recovered_too_late_takes_its_place(given: str, expected: str) -> None:
    """It stands before those with higher numbers and later times. NUMBER@SECOND."""
    times = [tuple(map(int, each.split("@"))) for each in given.split()]
    events = [
        Event("batch", f"2026-11-28T00:00:{second:02}.000+00:00", "p", batch=number, sources={})
        for number, second in times
    ]
    assert " ".join(f"{each.batch}@{each.moment.second}" for each in in_order(events)) == expected


def test_a_micro_batch_that_the_killed_run_before_has_recorded_counts_once_after_the_run_is_folded() -> None:
    batches = [each for each in random_run(1) if each.kind == "batch"][:40]
    start = Sample().run(1).events[0]
    killed = [dataclasses.replace(each, run_id="killed") for each in (start, *batches[:11])]
    again = [dataclasses.replace(each, run_id="again") for each in (start, *batches[10:])]
    folded = fold(again, Limits(newest=5, excess=0, each=4, folds=3))
    assert len(folded) < len(again)
    assert sums([*killed, *folded]) == sums([*killed, *again])
    both = folded_runs([*killed, *folded], Limits(newest=5, excess=0, each=4, folds=3))
    assert sums(both) == sums([*killed, *again])


def test_a_time_without_a_zone_is_in_utc() -> None:
    """As another program may write it."""
    first, second = Sample().run(2).events[:2]
    naive = dataclasses.replace(second, time=second.time.removesuffix("+00:00"))
    assert naive.moment == second.moment
    assert prometheus_text([first, naive]) == prometheus_text([first, second])


def test_the_order_of_partitions_does_not_matter_for_a_repeated_micro_batch() -> None:
    ranges = {"a-0": (0, 5), "a-1": (0, 5)}
    events = [
        Event("batch", f"2026-11-27T14:00:0{at}Z", "p", batch=0, sources={"s": SourceCounts(10, 10, 0, 0, {}, each)})
        for at, each in enumerate((ranges, dict(reversed(ranges.items()))))
    ]
    assert history(events).totals["stream"].rows == 10


def test_only_micro_batches_that_adjoin_are_merged() -> None:
    first, second, third = (each for each in Sample().run(3).events if each.kind == "batch")
    assert adjoin(first, second)
    assert not adjoin(first, third), "another one is between them"
    assert not adjoin(second, first)
    assert not adjoin(first, dataclasses.replace(second, run_id="another"))
    counts = second.sources["source"]
    start, end = counts.ranges["source-0"]
    for moved in (-1, 1):
        ranges = {"source-0": (start + moved, end)}
        assert not adjoin(
            first, dataclasses.replace(second, sources={"source": dataclasses.replace(counts, ranges=ranges)})
        )
    assert adjoin(first, dataclasses.replace(second, sources={"other": counts}))


def test_a_wrong_count_in_a_folded_micro_batch_is_found() -> None:
    """The audit compares the sums of a fold with the records in all of its offsets."""

    def differences(wrong: int) -> list[str]:
        events = []
        for at in range(12):
            counts = SourceCounts(
                10 + (wrong if at == 3 else 0),
                10 + (wrong if at == 3 else 0),
                0,
                0,
                {},
                {"t-0": (10 * at, 10 * at + 10)},
            )
            events.append(Event("batch", f"2026-11-27T14:00:{at:02}Z", "p", batch=at, sources={"s": counts}))
        scope = scope_of("p", joined(fold(events, Limits(4, 0, 100, 4)), NOTHING))
        comparison = BatchComparison(scope, exact=True, compacted=set(), positions=False)
        (tp,) = scope.ranges
        ledger = Ledger(tp, 0, 120, positions=False)
        ledger.add_log(np.arange(120))
        ledger.evaluated()
        comparison.add(tp, ledger)
        return [each for each in comparison.differences() if "rows" in each]

    assert [each.split(";")[0] for each in differences(1)] == [
        "micro-batches 1-7, source s, t-0 offsets 10-79: rows: 71 in the event, 70 in the audit"
    ]
    assert not any("rows:" in each for each in differences(0))


def test_the_window_comparison_says_that_late_rows_are_folded() -> None:
    events = [
        dataclasses.replace(each, late=1, watermark_ms=1) if each.batch is not None else each
        for each in Sample().run(9).events
    ]
    scope = scope_of("p", joined(fold(events, Limits(3, 0, 100, 4)), NOTHING))
    with pytest.raises(NotCompared, match="micro-batches 1-5 have late rows, and have been folded"):
        late_bounds(scope, {})


def test_micro_batches_of_a_new_checkpoint_take_the_place_of_older_folds() -> None:
    old = fold(Sample().run(40).events, SMALL)
    new = Sample(2).pause(9_999).run(40).events
    batches = joined(sorted([*old, *new], key=lambda each: each.time), NOTHING)
    assert [each.event for each in batches] == [each for each in new if each.kind == "batch"]
    committed = joined([*old, *new[:4]], StreamCheckpoint({}, {}, 2))
    assert [each.number for each in committed] == [0, 1, 2]


class Steps:
    """Calls a function between any two changes of files by `event_folding`; a write is one of many parts."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        at_step: Callable[[int], object],
        names: Sequence[str] = ("write", "fsync", "replace"),
    ) -> None:
        self.number = 0
        self._at_step = at_step
        for name in names:
            monkeypatch.setattr(event_folding.os, name, self._wrapped(getattr(os, name), name))

    def _wrapped(self, call: Any, name: str) -> Any:
        def wrapped(*given: Any, **named: Any) -> Any:
            self._step()
            if name == "write":
                given = (given[0], bytes(given[1][:700]))
            result = call(*given, **named)
            self._step()
            return result

        return wrapped

    def _step(self) -> None:
        self.number += 1
        self._at_step(self.number)


def append_all(directory: Path, events: list[Event], after: Callable[[int], object] = lambda number: None) -> None:
    file = FoldingEventFile(directory, "0001", SMALL)
    for number, event in enumerate(events, 1):
        file.append(event)
        after(number)


def test_readers_see_the_whole_history_at_each_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events = Sample().run(40).events
    directory = PipelineDirectory(tmp_path)
    log = PipelineLog(tmp_path)
    written = 0
    checked = []

    def check(step: int) -> None:
        # While the file is being folded, `written` does not contain the event that has just been appended.
        for found in (history(read_events(directory.events)), log.read().history):
            assert dataclasses.replace(found.totals["stream"], busy=0.0) in [
                dataclasses.replace(history(events[:number]).totals["stream"], busy=0.0)
                for number in (written, written + 1)
            ]
        assert log.read().is_complete
        checked.append(step)

    def after(number: int) -> None:
        nonlocal written
        written = number

    with monkeypatch.context() as patch:
        Steps(patch, check)
        append_all(directory.events, events, after)
    assert len(checked) > 100
    assert sums(read_events(directory.events)) == sums(events)
    assert len(read_events(directory.events)) < 20


def killed_at(directory: Path, events: list[Event], step: int) -> int:
    """Append events in another process, which is killed at a step. Returns the number of events before the kill."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            with pytest.MonkeyPatch.context() as patch:
                write = os.write
                Steps(patch, lambda number: os.kill(os.getpid(), signal.SIGKILL) if number == step else None)
                append_all(directory, events, lambda number: write(writer, b"."))
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        number = len(pipe.read())
    os.waitpid(child, 0)
    return number


@pytest.mark.parametrize("seed", range(2))
def test_a_kill_at_any_step_loses_nothing(tmp_path: Path, seed: int) -> None:
    events = random_run(seed, 40)
    chance = random.Random(seed)
    kills = 0
    for step in [*range(1, 12), *(chance.randrange(12, 250) for _ in range(12))]:
        directory = tmp_path / str(step)
        number = killed_at(directory, events, step)
        kills += number < len(events)
        kept = read_events(directory)
        # The kill may have come after the next event was appended, while the file was being folded.
        assert sums(kept) in (sums(events[:number]), sums(events[: number + 1]))
        assert audited(kept) in (audited(events[:number]), audited(events[: number + 1]))
        fold_ended(directory)
        assert [each.name for each in directory.iterdir()] == ["0001.jsonl"], "nothing of the killed run remains"
        file = EventFile(directory, "0002")
        rest = [dataclasses.replace(each, run_id="later") for each in events[number:]]
        for event in rest:
            file.append(event)
        assert audited(read_events(directory)) == audited(events)
    assert kills > 12


def test_the_files_of_ended_streams_are_shortened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_folding, "_LONG", 10_000)
    for name, run in (("1", "stream"), ("2", "replay"), ("3", "stream")):
        file = EventFile(tmp_path, name)
        first = 400 if name == "3" else 0
        for event in Sample(int(name), batch=first).run(3 if name == "3" else 400, run=run).events:
            file.append(dataclasses.replace(event, run_id=name))
    before = read_events(tmp_path)
    sizes = {name: (tmp_path / f"{name}.jsonl").stat().st_size for name in "123"}
    fold_ended(tmp_path)
    after = read_events(tmp_path)
    assert history(after).totals["replay"] == history(before).totals["replay"]
    assert sums(after) == sums(before)
    assert (tmp_path / "1.jsonl").stat().st_size < sizes["1"] / 2
    assert [(tmp_path / f"{name}.jsonl").stat().st_size for name in "23"] == [sizes["2"], sizes["3"]]
    again = (tmp_path / "1.jsonl").read_bytes()
    fold_ended(tmp_path)
    assert (tmp_path / "1.jsonl").read_bytes() == again


def test_short_files_and_the_file_of_ended_runs_remain_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("1", ENDED_RUNS.removesuffix(".jsonl")):
        file = EventFile(tmp_path, name)
        for event in Sample().run(200).events:
            file.append(event)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    fold_ended(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    monkeypatch.setattr(event_folding, "_LONG", len(before["1.jsonl"]))
    fold_ended(tmp_path)
    assert (tmp_path / ENDED_RUNS).read_bytes() == before[ENDED_RUNS]
    assert len((tmp_path / "1.jsonl").read_bytes()) < len(before["1.jsonl"]), "it is long now"


def test_a_file_that_cannot_be_shortened_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    def full(*given: Any) -> None:
        raise OSError(28, "No space left on device")

    events = [from_json(to_json(each)) for each in Sample().run(20).events]
    with monkeypatch.context() as patch:
        patch.setattr(event_folding.os, "fsync", full)
        append_all(tmp_path, events)
    assert read_events(tmp_path) == events
    assert "could not shorten the file of events" in caplog.text
    assert len(list(tmp_path.iterdir())) == 1, "the new file is gone"
    (tmp_path / "0.jsonl").write_text("wrong\n" * 100_000)
    fold_ended(tmp_path)
    assert (tmp_path / "0.jsonl").exists()


def test_the_next_stream_removes_the_new_file_of_a_killed_run(tmp_path: Path) -> None:
    append_all(tmp_path, Sample().run(20).events)
    before = read_events(tmp_path)
    (tmp_path / ".old.new").write_text("left behind")
    fold_ended(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["0001.jsonl"]
    assert read_events(tmp_path) == before


def test_the_report_draws_folds(tmp_path: Path) -> None:
    events = several_runs()
    kept = [each for each in events if each.run != "stream"]
    streams: dict[str, list[Event]] = {}
    for each in events:
        if each.run == "stream":
            streams.setdefault(each.run_id, []).append(each)
    for run in streams.values():
        kept += fold(run, Limits(5, 0, 10, 10))
    assert len(kept) < len(events) / 2

    def shown(given: list[Event]) -> Iterator[str]:
        page = html(given, [])
        for text in ("Rate", "Duration of micro-batches", "Size of micro-batches", "Lag after each micro-batch"):
            assert text in page
            yield text

    assert list(shown(kept)) == list(shown(events))
    assert history(kept).totals["stream"].rows == history(events).totals["stream"].rows


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (b"\xff\xfe\x00binary", "can't decode byte 0xff"),
        (b"wrong", "not an event of a pipeline: 'wrong'"),
        (b"[" * 100_000, "not an event of a pipeline"),
        (b'{"kind": "batch", "pipeline": "p", "time": 5}', "time: 5"),
        (b'{"kind": "batch", "pipeline": "p", "time": "soon"}', "Invalid isoformat string: 'soon'"),
        (b'{"kind": "batch", "pipeline": "p"}', "missing 1 required positional argument: 'time'"),
        (
            b'{"kind": "batch", "pipeline": "p", "time": "2026-11-28", "sources": {"s": {"ranges": {"t-0": [1]}}}}',
            "not enough values to unpack",
        ),
        *(
            (f'{{"kind": "batch", "pipeline": "p", "time": "2026-11-28", {wrong}}}'.encode(), cause)
            for wrong, cause in (
                ('"batch": "5"', "batch: '5'"),
                ('"late": null', "late: None"),
                ('"late": true', "late: True"),
                ('"late": 1e999', "late: inf"),
                ('"seconds": NaN', "seconds: nan"),
                ('"number": 9223372036854775808', "number: 9223372036854775808"),
                ('"run_id": ["a"]', r"run_id: \['a'\]"),
                ('"covers": [5]', "covers: 5"),
                ('"sources": {"s": {"rows": 1, "processed": 1, "dropped": 0, "dead": "0"}}', "dead: '0'"),
                ('"sources": {"s": {"rules": {"r": "1"}}}', "missing 4 required"),
                ('"sources": {"s": {"ranges": {"t-0": ["0", "1"]}}}', "ranges: '0'"),
                ('"folded": {"first": 0, "batches": [], "busy": 0, "span": 0, "largest": 0}', r"batches: \[\]"),
                ('"earlier": {"runs": -1e300}', "runs: -1e.300"),
            )
        ),
        (b"null", "'NoneType' object"),
    ],
)
def test_an_invalid_line_is_an_error_that_names_its_place(tmp_path: Path, line: bytes, cause: str) -> None:
    path = tmp_path / "1.jsonl"
    first = Sample().run(1).events[0]
    path.write_bytes(to_json(first).encode() + b"\n\n" + line)
    assert [each.kind for each in read_events(tmp_path)] == ["start"], "an incomplete line is ignored"
    path.write_bytes(to_json(first).encode() + b"\n\n" + line + b"\n")
    with pytest.raises(ValueError, match=rf"^{path}:3: (.|\n)*{cause}(.|\n)*; correct or remove this line$"):
        read_events(tmp_path)
    path.write_bytes(line + b"\n")
    with pytest.raises(ValueError, match=rf"^{path}:1: "):
        last_start(tmp_path)
    before = path.read_bytes()
    fold_ended(tmp_path)
    assert path.read_bytes() == before
