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
from kafka.pipelines.run_history import history
from kafka.ui.pipeline_logs import PipelineLog
from unit.pipelines.sample_events import Sample, declaration
from unit.pipelines.test_event_folding import NOTHING, Steps, audited, sums

pytestmark = pytest.mark.once

SMALL = Limits(newest=6, excess=0, each=4, folds=5)
KINDS = ("stop", "stop", "stop", "failure", None)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ended_runs, "KEPT", 3)
    monkeypatch.setattr(ended_runs, "MOST", 6)
    monkeypatch.setattr(ended_runs, "_AT_ONCE", 4)
    monkeypatch.setattr(folded_runs, "__defaults__", (SMALL,))


def short_runs(seed: int, number: int) -> list[list[Event]]:
    """The events of runs with few micro-batches or none, some of them killed, repeated, or with another declaration."""
    chance = random.Random(seed)
    sample = Sample(seed)
    found: list[list[Event]] = []
    declared = json.loads(json.dumps(declaration()))
    repeated: Event | None = None
    for at in range(number):
        begin = len(sample.events)
        if chance.random() < 0.1:
            sample.run(2, run="replay", number=at, rows=30)
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
    others = [each for each in given if each.run != "stream"]
    counted = [
        sum(value) for value in zip(*((each.count, each.failed, each.killed) for each in found.runs), strict=True)
    ]
    return sums(given), audited(given), prometheus_text(given), others, counted, found.declaration


@pytest.mark.parametrize("seed", range(5))
def test_sums_audits_metrics_and_runs_are_those_of_all_files(tmp_path: Path, seed: int) -> None:
    runs = short_runs(seed, 24)
    log = PipelineLog(tmp_path)
    directory = PipelineDirectory(tmp_path).events
    for at, run in enumerate(runs):
        write(directory, [run], at)
        fold_ended_runs(directory)
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
    sample = Sample()
    runs = []
    for _ in range(120):
        begin = len(sample.events)
        runs.append(sample.run(1).pause(300).events[begin:])
    sizes = []
    for number in range(2):
        write(tmp_path, runs[60 * number : 60 * number + 60], 60 * number)
        fold_ended_runs(tmp_path)
        assert len(list(tmp_path.iterdir())) == 1 + 3
        sizes.append((tmp_path / ENDED_RUNS).stat().st_size)
        assert len(read_events(tmp_path)) <= 2 + 5 + 6 + 3 * 3
    assert sizes[1] < 1.2 * sizes[0]
    kept = read_events(tmp_path)
    (group, *rest) = history(kept).runs
    assert (group.count, group.batch_count, len(rest)) == (117, 117, 3)
    assert "117 runs" in html(kept, [])
    assert "120 of the stream" in html(kept, [])


def test_few_files_and_runs_that_may_go_on_remain(tmp_path: Path) -> None:
    runs = [Sample(at).run(1).events for at in range(6)]
    write(tmp_path, runs)
    fold_ended_runs(tmp_path)
    assert not (tmp_path / ENDED_RUNS).exists()
    replay = Sample(7).run(2, run="replay", number=1, ending=None).events
    write(tmp_path, [replay], -1)
    (tmp_path / "-00002.jsonl").write_text('{"kind": "sta')
    (tmp_path / "-00003.jsonl").write_text("wrong\n")
    fold_ended_runs(tmp_path)
    names = sorted(each.name for each in tmp_path.iterdir())
    assert names[:3] == ["-00001-00000001.jsonl", "-00002.jsonl", "-00003.jsonl"], "whether these have ended is unknown"
    assert names[3] == ENDED_RUNS
    assert len(names) == 4 + 3


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
    sample = Sample()
    runs = []
    for _ in range(9):
        begin = len(sample.events)
        runs.append(sample.run(2).pause(300).events[begin:])
    lost = runs[2].pop()
    lost = dataclasses.replace(runs[2].pop(), recovered=True, out=None)
    runs[2].append(dataclasses.replace(runs[2][0], kind="stop", declaration=None, time=lost.time))
    write(tmp_path, runs)
    fold_ended_runs(tmp_path)
    start = next(each for each in read_events(tmp_path) if each.kind == "start")
    EventFile(tmp_path, "000004-new").append(dataclasses.replace(lost, run_id=start.run_id))
    write(tmp_path, [Sample(9 + at, batch=18 + at).run(1).events for at in range(5)], 100)
    before = read_events(tmp_path)
    fold_ended_runs(tmp_path)
    kept = read_events(tmp_path)
    assert sums(kept) == sums(before)
    assert audited(kept) == audited(before)
    assert [each.number for each in joined(kept, NOTHING)] == sorted(each.number for each in joined(kept, NOTHING))
    assert not (tmp_path / "000004-new.jsonl").exists()


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
        fold_ended_runs(directory)
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
        for owner, name in ((Path, "glob"), (Path, "read_text"), (Path, "open"), (Path, "stat"), (events, "events_of")):
            patch.setattr(owner, name, self._wrapped(getattr(owner, name)))

    def _wrapped(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*given: Any, **named: Any) -> Any:
            self.number += 1
            if self.number == self._at:
                self._patch.undo()
                fold_ended_runs(self._directory)
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
            fold_ended_runs(directory)
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
                fold_ended_runs(directory)
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
        directory = tmp_path / str(step)
        write(directory, runs[:7])
        before = facts(read_events(directory))
        killed = killed_at(directory, step)
        assert facts(read_events(directory)) == before
        fold_ended(directory)  # the next start of the stream
        fold_ended_runs(directory)
        assert facts(read_events(directory)) == before
        write(directory, runs[7:], 7)
        fold_ended_runs(directory)
        assert facts(read_events(directory)) == facts(whole)
        names = {each.name for each in directory.iterdir()}
        assert len(names) <= 6 + 1
        assert not any(each.startswith(".") for each in names), "no leftovers"
    assert step > 25


def test_files_that_cannot_be_removed_are_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows, a file that somebody reads cannot be removed."""
    runs = short_runs(2, 18)
    write(tmp_path, runs[:12])
    before = facts(read_events(tmp_path))
    unlink = os.unlink

    def refuse(path: Any, **named: Any) -> None:
        if "000002" in str(path):
            raise PermissionError(13, "Permission denied", str(path))
        unlink(path, **named)

    monkeypatch.setattr(os, "unlink", refuse)
    fold_ended_runs(tmp_path)
    assert facts(read_events(tmp_path)) == before
    write(tmp_path, runs[12:], 12)
    before = facts(read_events(tmp_path))
    fold_ended_runs(tmp_path)
    assert facts(read_events(tmp_path)) == before
    (left,) = tmp_path.glob("000002-*")
    monkeypatch.undo()
    fold_ended_runs(tmp_path)
    assert not left.exists()
    assert facts(read_events(tmp_path)) == before


def test_runs_remain_in_their_files_if_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path, short_runs(2, 12))
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}

    def full(*given: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        fold_ended_runs(tmp_path)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before
    assert "could not fold the events of older runs" in caplog.text


def test_a_file_that_cannot_be_found_but_was_not_removed_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "nowhere")
    for read in (read_events, last_start):
        with pytest.raises(FileNotFoundError, match=r"a\.jsonl"):
            read(tmp_path)
