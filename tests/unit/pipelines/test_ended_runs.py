"""Folding the files of ended runs into one: sums, audits and metrics stay as they were, at each step, after kills."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka.pipelines import ended_runs, events
from kafka.pipelines.audit.micro_batches import joined
from kafka.pipelines.directories import PipelineDirectory
from kafka.pipelines.ended_runs import fold_ended_runs, folded_runs
from kafka.pipelines.event_folding import Limits, fold_ended
from kafka.pipelines.events import ENDED_RUNS, Event, EventFile, last_start, read_events, to_json
from kafka.pipelines.metrics import prometheus_text
from kafka.pipelines.report import html
from kafka.pipelines.run_history import Totals, history
from kafka.pipelines.start_checks import BOUNDED_LOCK, run_lock
from kafka.ui.pipeline_logs import PipelineLog
from unit.pipelines.sample_events import Sample, declaration
from unit.pipelines.test_event_folding import NOTHING, Steps, audited, sums

pytestmark = pytest.mark.once

SMALL = Limits(newest=6, excess=0, each=4, folds=5)
DOCUMENTED = {"KEPT": ended_runs.KEPT, "MOST": ended_runs.MOST}
KINDS = ("stop", "stop", "stop", "failure", None)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ended_runs, "KEPT", 3)
    monkeypatch.setattr(ended_runs, "MOST", 6)
    monkeypatch.setattr(ended_runs, "_AT_ONCE", 4)
    monkeypatch.setattr(folded_runs, "__defaults__", (SMALL, SMALL))


def test_up_to_forty_files_remain_and_then_the_newest_twenty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As docs/PIPELINES.md says."""
    for name, value in DOCUMENTED.items():
        monkeypatch.setattr(ended_runs, name, value)
    directory = PipelineDirectory(tmp_path)
    runs = [Sample(number).run(1).events for number in range(41)]
    names = [f"{number:04}" for number in range(41)]
    for number, run in enumerate(runs):
        file = EventFile(directory.events, names[number])
        for event in run:
            file.append(dataclasses.replace(event, run_id=names[number]))
        fold_ended_runs(directory)
        if number < 40:
            assert len(list(directory.events.iterdir())) == number + 1
    left = sorted(path.stem for path in directory.events.iterdir())
    assert left == [ENDED_RUNS.removesuffix(".jsonl"), *names[21:]]
    assert history(read_events(directory.events)).totals["stream"].batches == 41


def short_runs(seed: int, number: int) -> list[list[Event]]:
    """The events of runs with few micro-batches or none, some of them killed, repeated, or with another declaration."""
    chance = random.Random(seed)
    sample = Sample(seed)
    found: list[list[Event]] = []
    declared = json.loads(json.dumps(declaration()))
    repeated: Event | None = None
    unfinished: Event | None = None
    replays = 0
    for at in range(number):
        begin = len(sample.events)
        if chance.random() < 0.1:
            sample.run(2, run="backfill", number=at, rows=30)
        elif chance.random() < 0.3:
            replays += unfinished is None
            killed = chance.random() < 0.3
            sample.run(chance.randrange(4), run="replay", number=replays, ending=None if killed else "stop", rows=30)
            run = sample.events[begin:]
            if unfinished is not None and len(run) > 1:  # the slice that the killed run had not stored
                run[1] = sample.events[begin + 1] = dataclasses.replace(
                    unfinished, run_id=run[0].run_id, time=run[1].time
                )
            unfinished = run[-1] if killed and run[-1].kind == "batch" else unfinished if killed else None
        else:
            sample.run(chance.randrange(4), ending=chance.choice(KINDS), rows=100)  # type: ignore[arg-type]
        sample.pause(300)
        run = sample.events[begin:]
        declared = {**declared, "description": str(at)} if chance.random() < 0.1 else declared
        run[0] = dataclasses.replace(run[0], declaration=declared)
        if run[0].run == "stream" and repeated is not None:
            again = dataclasses.replace(repeated, run_id=run[0].run_id, time=run[0].time, late=3)
            run.insert(1, again)
        killed = run[0].run == "stream" and run[-1].kind == "batch"
        repeated = run[-1] if killed and chance.random() < 0.5 else repeated if run[0].run != "stream" else None
        found.append(run)
    return found


def write(directory: Path, runs: list[list[Event]], first: int = 0) -> None:
    for number, run in enumerate(runs, first):
        file = EventFile(directory, f"{number:06}-{run[0].run_id[:8]}")
        for event in run:
            file.append(event)


def facts(given: list[Event]) -> Any:
    """What status, audits, metrics and reports say about events."""
    found = history(given)
    others = [each for each in given if each.run == "backfill"]
    replayed = found.totals.get("replay", Totals())
    counted = [
        sum(value) for value in zip(*((each.count, each.failed, each.killed) for each in found.runs), strict=True)
    ]
    replayed = dataclasses.replace(replayed, busy=round(replayed.busy, 6))
    replays = {json.dumps(each.declaration) for each in given if each.kind == "start" and each.run == "replay"}
    declared = json.dumps(found.declaration)
    return sums(given), replayed, audited(given), prometheus_text(given), others, counted, replays, declared


@pytest.mark.parametrize("seed", range(5))
def test_sums_audits_metrics_and_runs_are_those_of_all_files(tmp_path: Path, seed: int) -> None:
    runs = short_runs(seed, 24)
    log = PipelineLog(tmp_path)
    directory = PipelineDirectory(tmp_path).events
    for at, run in enumerate(runs):
        write(directory, [run], at)
        fold_ended_runs(PipelineDirectory(directory.parent))
        whole = [event for each in runs[: at + 1] for event in each]
        assert facts(read_events(directory)) == facts(sorted(whole, key=lambda each: each.time))
        state = log.read()
        assert state.history == history(read_events(directory))
        assert state.is_complete
        assert last_start(directory) == run[0]
        assert len(list(directory.iterdir())) <= 6 + 1
    kept = read_events(directory)
    assert all(json.loads(to_json(each)).get("covers", ["absent"]) for each in kept)
    newest = [
        [dataclasses.replace(each, run_id="") for run in history(given).runs_of("stream") for each in run.batches][-6:]
        for given in (kept, whole)
    ]
    assert newest[0] == newest[1]


def test_files_and_events_are_bounded(tmp_path: Path) -> None:
    """However many runs there are. Runs with the same declaration become one, with folds of their micro-batches."""
    directory = PipelineDirectory(tmp_path).events
    sample = Sample()
    runs = []
    for _ in range(120):
        begin = len(sample.events)
        runs.append(sample.run(1).pause(300).events[begin:])
    sizes = []
    for number in range(2):
        write(directory, runs[60 * number : 60 * number + 60], 60 * number)
        fold_ended_runs(PipelineDirectory(tmp_path))
        assert len(list(directory.iterdir())) == 1 + 3
        sizes.append((directory / ENDED_RUNS).stat().st_size)
        assert len(read_events(directory)) <= 2 + 5 + 6 + 3 * 3
    assert sizes[1] < 1.2 * sizes[0]
    kept = read_events(directory)
    (group, *rest) = history(kept).runs
    assert (group.count, group.batch_count, len(rest)) == (117, 117, 3)
    assert "117 runs" in html(kept, [])
    assert "120 of the stream" in html(kept, [])


def test_few_files_remain(tmp_path: Path) -> None:
    directory = PipelineDirectory(tmp_path)
    write(directory.events, [Sample(at).run(1).events for at in range(6)])
    fold_ended_runs(directory)
    assert not (directory.events / ENDED_RUNS).exists()
    assert len(list(directory.events.iterdir())) == 6


def next_runs(sample: Sample, number: int, /, **given: Any) -> list[list[Event]]:
    """The events of the next runs of a sample, with one micro-batch each."""
    found = []
    for _ in range(number):
        begin = len(sample.events)
        found.append(sample.run(1, **given).pause(9).events[begin:])
    return found


@pytest.mark.parametrize("kind", ["replay", "backfill", "first backfill"])
def test_a_replay_or_a_backfill_that_may_go_on_keeps_its_file(tmp_path: Path, kind: str) -> None:
    """It was killed if nobody holds its lock."""
    directory = PipelineDirectory(tmp_path)
    events = directory.events
    folder = {"replay": directory.replays, "backfill": directory.backfills}.get(kind, directory.first_backfill)
    sample = Sample()
    killed, other = ("replay", "backfill") if kind == "replay" else ("backfill", "replay")
    write(events, next_runs(sample, 1, run=killed, number=1, ending=None), -1)
    write(events, next_runs(sample, 1, run=other, number=1, ending=None))
    (events / "-00002.jsonl").write_text('{"kind": "sta')
    (events / "-00003.jsonl").write_text("wrong\n")
    write(events, next_runs(sample, 6), 1)
    before = facts(read_events_without(events, "-00003.jsonl"))
    lock = folder / BOUNDED_LOCK
    with run_lock(lock, "replay"):
        fold_ended_runs(directory)
    names = sorted(each.name for each in events.iterdir())
    assert names[:3] == ["-00001-00000001.jsonl", "-00002.jsonl", "-00003.jsonl"], "whether these have ended is unknown"
    assert (names[3], len(names)) == (ENDED_RUNS, 4 + 3), "the other one was killed"
    assert facts(read_events_without(events, "-00003.jsonl")) == before
    lock.unlink()
    lock.symlink_to(lock)  # it cannot be read
    write(events, next_runs(sample, 6), 20)
    fold_ended_runs(directory)
    assert {*names[:4]} <= {each.name for each in events.iterdir()}
    lock.unlink()
    write(events, next_runs(sample, 6), 30)
    before = facts(read_events_without(events, "-00003.jsonl"))
    fold_ended_runs(directory)
    names = sorted(each.name for each in events.iterdir())
    assert (names[:2], len(names)) == (["-00003.jsonl", ENDED_RUNS], 2 + 3), "only the invalid file remains"
    assert facts(read_events_without(events, "-00003.jsonl")) == before


def read_events_without(directory: Path, invalid: str) -> list[Event]:
    """The events of all other files than an invalid one."""
    path = directory / invalid
    content = path.read_text()
    path.unlink()
    try:
        return read_events(directory)
    finally:
        path.write_text(content)


def test_files_of_killed_runs_without_any_event_are_removed(tmp_path: Path) -> None:
    directory = PipelineDirectory(tmp_path)
    write(directory.events, next_runs(Sample(), 3), 10)
    before = read_events(directory.events)
    for at in range(9):
        (directory.events / f"00000{at}.jsonl").write_text('{"kind": "sta' if at % 2 else "")
    fold_ended_runs(directory)
    assert len(list(directory.events.iterdir())) == 3
    assert read_events(directory.events) == before


def test_events_of_replays_are_bounded(tmp_path: Path) -> None:
    """The slices of all replays but the last one are folded, although replays read the same offsets again."""
    directory = PipelineDirectory(tmp_path)
    sample = Sample()
    sizes = []
    written: list[Event] = []
    for number in range(1, 121):
        begin = len(sample.events)
        sample._offsets = {"source": 0} if number % 3 else sample._offsets  # another rule of the same dead letters
        sample.run(2, run="replay", number=number, ending=None if number % 10 == 0 else "stop", rows=10).pause(300)
        run = sample.events[begin:]
        written += run
        write(directory.events, [run], number)
        if number % 20 == 0:
            fold_ended_runs(directory)
            assert facts(read_events(directory.events)) == facts(written)
            assert len(list(directory.events.iterdir())) == 1 + 3
            assert len(read_events(directory.events)) <= 2 + 5 + 6 + 2 + 3 * 4
            sizes.append((directory.events / ENDED_RUNS).stat().st_size)
    assert sizes[-1] < 1.2 * sizes[1]
    kept = read_events(directory.events)
    (group, *rest) = history(kept).runs
    assert (group.name, group.count, group.killed, group.batch_count, len(rest)) == ("replay 117", 117, 11, 234, 3)
    assert "117 runs, 11 killed" in html(kept, [])
    batches = [each for each in kept if each.kind == "batch"]
    assert [each.number for each in batches[-14:-6]] == [114, 114, 115, 115, 116, 116, 117, 117], "each has a number"


def test_the_last_replay_that_is_folded_can_be_continued(tmp_path: Path) -> None:
    """A killed replay repeats its last slice, which must not be part of a fold."""
    directory = PipelineDirectory(tmp_path)
    sample = Sample()
    sample.run(3, run="replay", number=1).pause(9).run(12, run="replay", number=2, ending=None).pause(9)
    killed = sample.events[-1]
    runs = [sample.events[:5], sample.events[5:], *next_runs(sample, 9)]
    write(directory.events, runs)
    fold_ended_runs(directory)
    assert not list(directory.events.glob("000001-*")), "the killed run has been folded"
    (again,) = next_runs(sample, 1, run="replay", number=2)
    again[1] = dataclasses.replace(killed, run_id=again[0].run_id, time=again[1].time)
    runs.append(again)
    write(directory.events, [again], 50)
    for at in range(60, 90, 10):
        whole = sorted((each for run in runs for each in run), key=lambda each: each.time)
        assert facts(read_events(directory.events)) == facts(whole)
        later = next_runs(sample, 9, run="replay", number=at)
        runs += later
        write(directory.events, later, at)
        fold_ended_runs(directory)


def test_a_pipeline_of_another_time_or_declaration_is_a_run_of_its_own() -> None:
    first, second = Sample(1).run(2).events, Sample(2, batch=2).run(2).events
    second = [dataclasses.replace(each, run_id="second") for each in second]
    assert [each.kind for each in folded_runs([*first, *second], SMALL)].count("start") == 1
    other = [dataclasses.replace(second[0], declaration={"pipeline": "x"}), *second[1:]]
    assert [each.kind for each in folded_runs([*first, *other], SMALL)] == [each.kind for each in [*first, *other]]
    without = folded_runs([*first, *second[1:]], SMALL)
    assert without == [*first, *second[1:]], "without a start, the declaration is unknown"


def test_a_recovered_micro_batch_of_a_folded_run_finds_its_place(tmp_path: Path) -> None:
    """Its run has no file any more, so it came in a new one."""
    directory = PipelineDirectory(tmp_path).events
    sample = Sample()
    runs = []
    for _ in range(9):
        begin = len(sample.events)
        runs.append(sample.run(2).pause(300).events[begin:])
    lost = runs[2].pop()
    lost = dataclasses.replace(runs[2].pop(), recovered=True, out=None)
    runs[2].append(dataclasses.replace(runs[2][0], kind="stop", declaration=None, time=lost.time))
    write(directory, runs)
    fold_ended_runs(PipelineDirectory(tmp_path))
    start = next(each for each in read_events(directory) if each.kind == "start")
    EventFile(directory, "000004-new").append(dataclasses.replace(lost, run_id=start.run_id))
    write(directory, [Sample(9 + at, batch=18 + at).run(1).events for at in range(5)], 100)
    before = read_events(directory)
    fold_ended_runs(PipelineDirectory(tmp_path))
    kept = read_events(directory)
    assert sums(kept) == sums(before)
    assert audited(kept) == audited(before)
    assert [each.number for each in joined(kept, NOTHING)] == sorted(each.number for each in joined(kept, NOTHING))
    assert not (directory / "000004-new.jsonl").exists()


def test_a_recovered_micro_batch_belongs_to_its_group_although_more_runs_were_added_to_it(tmp_path: Path) -> None:
    """A clock that was set back makes its file one of the newest, so that it is not folded with the next runs."""
    directory = PipelineDirectory(tmp_path)
    sample = Sample()
    runs = next_runs(sample, 9, ending=None)
    lost = dataclasses.replace(runs[2].pop(), recovered=True, out=None)
    write(directory.events, runs)
    fold_ended_runs(directory)
    start = next(each for each in read_events(directory.events) if each.kind == "start")
    EventFile(directory.events, "999999-new").append(dataclasses.replace(lost, run_id=start.run_id))
    for at in range(100, 140, 20):
        write(directory.events, next_runs(sample, 9, ending=None), at)
        before = facts(read_events(directory.events))
        fold_ended_runs(directory)
        assert facts(read_events(directory.events)) == before
        assert (directory.events / "999999-new.jsonl").exists()
        found = history(read_events(directory.events))
        assert sum(each.count for each in found.runs) == at // 20 * 9 - 27
        assert found.totals["stream"].batches == at // 20 * 9 - 27
        assert lost.batch in [each.batch for each in found.runs[0].batches], "it is one of the first group"
    (directory.events / "999999-new.jsonl").rename(directory.events / "000000-new.jsonl")
    write(directory.events, next_runs(sample, 9, ending=None), 200)
    before = facts(read_events(directory.events))
    fold_ended_runs(directory)
    assert facts(read_events(directory.events)) == before
    assert not (directory.events / "000000-new.jsonl").exists()


def test_readers_see_each_run_once_at_each_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = PipelineDirectory(tmp_path).events
    runs = short_runs(3, 9)
    write(directory, runs)
    expected = facts(read_events(directory))
    log = PipelineLog(tmp_path)
    assert log.read().history == history(read_events(directory))
    steps = []

    def check(step: int) -> None:
        assert facts(read_events(directory)) == expected
        assert log.read().history == history(read_events(directory))
        assert PipelineLog(tmp_path).read().history == history(read_events(directory))
        steps.append(step)

    with monkeypatch.context() as patch:
        Steps(patch, check, ("write", "fsync", "replace", "unlink"))
        fold_ended_runs(PipelineDirectory(directory.parent))
    assert len(steps) > 25
    assert len(list(directory.iterdir())) == 1 + 3


class Interleaved:
    """Folds runs between two reads of a reader, once for each place at which it opens a file or lists the directory.

    Arguments:
        directory: the directory of the events.
        at: the number of the read before which runs are folded.
    """

    def __init__(self, directory: Path, at: int, patch: pytest.MonkeyPatch) -> None:
        self.number, self._at, self._directory, self._patch = 0, at, directory, patch
        for owner, name in (
            (Path, "glob"),
            (Path, "read_bytes"),
            (Path, "open"),
            (Path, "stat"),
            (events, "events_of"),
        ):
            patch.setattr(owner, name, self._wrapped(getattr(owner, name)))

    def _wrapped(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*given: Any, **named: Any) -> Any:
            self.number += 1
            if self.number == self._at:
                self._patch.undo()
                fold_ended_runs(PipelineDirectory(self._directory.parent))
            return call(*given, **named)

        return wrapped


@pytest.mark.parametrize("reader", ["events", "page", "new page", "last start"])
def test_runs_that_are_folded_while_somebody_reads_are_neither_missing_nor_counted_twice(
    tmp_path: Path, reader: str
) -> None:
    runs = short_runs(5, 14)
    places, at = 0, 1
    while True:
        base = tmp_path / str(at)
        directory = PipelineDirectory(base).events
        write(directory, runs[:7])
        log = PipelineLog(base)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ended_runs, "KEPT", 1)
            fold_ended_runs(PipelineDirectory(directory.parent))
            log.read()
            write(directory, runs[7:], 7)
            whole = history(read_events(directory))
        with pytest.MonkeyPatch.context() as patch:
            step = Interleaved(directory, at, patch)
            if reader == "last start":
                assert last_start(directory, "stream") == next(run[0] for run in runs[::-1] if run[0].run == "stream")
            else:
                page = log if reader == "page" else PipelineLog(base)
                found = history(read_events(directory)) if reader == "events" else page.read().history
                assert {name: each.rows for name, each in found.totals.items()} == {
                    name: each.rows for name, each in whole.totals.items()
                }
                assert sum(each.count for each in found.runs) == len(runs)
        if step.number < at:
            break
        places, at = places + 1, at + 1
    assert places > (5 if reader == "last start" else 12)


def killed_at(directory: Path, step: int) -> bool:
    """Fold runs in another process, which is killed at a step. Returns whether it was killed."""
    child = os.fork()
    if child == 0:
        try:
            with pytest.MonkeyPatch.context() as patch:
                kill = lambda number: os.kill(os.getpid(), signal.SIGKILL) if number == step else None  # noqa: E731
                Steps(patch, kill, ("write", "fsync", "replace", "unlink"))
                fold_ended_runs(PipelineDirectory(directory.parent))
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def test_a_kill_at_any_step_loses_nothing(tmp_path: Path) -> None:
    runs = short_runs(8, 9)
    whole = sorted((event for run in runs for event in run), key=lambda each: each.time)
    step = 0
    killed = True
    while killed:
        step += 1
        directory = PipelineDirectory(tmp_path / str(step)).events
        write(directory, runs[:7])
        before = facts(read_events(directory))
        killed = killed_at(directory, step)
        assert facts(read_events(directory)) == before
        fold_ended(directory)  # the next start of the stream
        fold_ended_runs(PipelineDirectory(directory.parent))
        assert facts(read_events(directory)) == before
        write(directory, runs[7:], 7)
        fold_ended_runs(PipelineDirectory(directory.parent))
        assert facts(read_events(directory)) == facts(whole)
        names = {each.name for each in directory.iterdir()}
        assert len(names) <= 6 + 1
        assert not any(each.startswith(".") for each in names), "no leftovers"
    assert step > 25


def test_files_that_cannot_be_removed_are_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows, a file that somebody reads cannot be removed."""
    directory = PipelineDirectory(tmp_path).events
    runs = short_runs(2, 18)
    write(directory, runs[:12])
    before = facts(read_events(directory))
    unlink = os.unlink

    def refuse(path: Any, **named: Any) -> None:
        if "000002" in str(path):
            raise PermissionError(13, "Permission denied", str(path))
        unlink(path, **named)

    monkeypatch.setattr(os, "unlink", refuse)
    fold_ended_runs(PipelineDirectory(tmp_path))
    assert facts(read_events(directory)) == before
    write(directory, runs[12:], 12)
    before = facts(read_events(directory))
    fold_ended_runs(PipelineDirectory(tmp_path))
    assert facts(read_events(directory)) == before
    (left,) = directory.glob("000002-*")
    monkeypatch.undo()
    fold_ended_runs(PipelineDirectory(tmp_path))
    assert not left.exists()
    assert facts(read_events(directory)) == before


@pytest.mark.parametrize("name", ["../secret.jsonl", "/secret.jsonl", "..", "notes.txt", ENDED_RUNS, "sub/1.jsonl"])
def test_only_files_of_events_are_removed_whatever_a_file_says(tmp_path: Path, name: str) -> None:
    directory = PipelineDirectory(tmp_path / "pipeline")
    folder = directory.events
    folder.mkdir(parents=True)
    name = name.replace("/secret", f"{tmp_path}/secret") if name.startswith("/") else name
    start = dataclasses.replace(Sample().run(1).events[0], covers=(name, "0001.jsonl"))
    for path in (folder / name, folder / "0001.jsonl"):
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            path.write_text(to_json(start) + "\n")
    (folder / ENDED_RUNS).write_text(to_json(start) + "\n")
    fold_ended_runs(directory)
    assert (folder / name).exists()
    assert not (folder / "0001.jsonl").exists()


def test_runs_of_a_kind_that_a_later_version_has_remain(tmp_path: Path) -> None:
    """Only streams and replays are folded, so nothing else is lost."""
    directory = PipelineDirectory(tmp_path)
    for number in range(8):
        file = EventFile(directory.events, f"{number:04}")
        for event in Sample(number).run(1).events:
            file.append(dataclasses.replace(event, run_id=f"{number}", run="later" if number == 1 else "stream"))  # type: ignore[arg-type]
    expected = [each for each in read_events(directory.events) if each.run == "later"]
    fold_ended_runs(directory)
    assert not (directory.events / "0001.jsonl").exists()
    found = [each for each in read_events(directory.events) if each.run == "later"]
    assert [dataclasses.replace(each, covers=()) for each in found] == expected != []


def test_runs_remain_in_their_files_if_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    directory = PipelineDirectory(tmp_path).events
    write(directory, short_runs(2, 12))
    before = {each.name: each.read_bytes() for each in directory.iterdir()}

    def full(*given: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        fold_ended_runs(PipelineDirectory(tmp_path))
    assert {each.name: each.read_bytes() for each in directory.iterdir()} == before
    assert "could not fold the events of older runs" in caplog.text


def test_a_file_that_cannot_be_found_but_was_not_removed_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "nowhere")
    for read in (read_events, last_start):
        with pytest.raises(FileNotFoundError, match=r"a\.jsonl"):
            read(tmp_path)
