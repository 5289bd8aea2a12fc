"""Lines of progress: their text, replacement in a terminal, and the rate at which they are appended."""

from __future__ import annotations

import io
import re

import pytest

from kafka.pipelines.events import Event, SourceCounts
from kafka.pipelines.progress import Progress, batch_text, failures_text, totals_text
from kafka.pipelines.run_history import Totals
from unit.pipelines.sample_events import NAME, Sample

pytestmark = pytest.mark.once


def batch(number: int, rows: int = 1000, **rules: int) -> Event:
    """A micro-batch of half a second."""
    dead = sum(rules.values())
    names = {name.replace("_", " "): failed for name, failed in rules.items()}
    counts = SourceCounts(rows, rows - dead, 0, dead, names, {"t-0": (number * rows, (number + 1) * rows)}, lag=1200)
    return Event(
        "batch", f"2026-11-27T14:00:{number % 60:02}Z", NAME, batch=number, seconds=0.5, sources={"s": counts}, out=rows
    )


class Clock:
    """A clock that stands still."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_line_for_a_batch() -> None:
    totals = Totals()
    totals.add(batch(12, 10_000, carrier_is_known=3, decodes=40))
    event = batch(12, 10_000)
    assert batch_text(event, event, totals) == (
        "batch 12, 10,000 rows, 20,000 rows/s, lag 1,200, 43 dead letters (decodes 40, carrier is known 3)"
    )
    assert batch_text(batch(3), event, totals).startswith("batches 3 to 12, ")
    empty = Totals()
    empty.add(batch(0, 0))
    assert batch_text(batch(0, 0), batch(0, 0), empty) == "batches 0 to 0, 0 rows, lag 1,200"


def test_rules_are_named_up_to_a_limit_and_without_control_characters() -> None:
    totals = Totals()
    totals.add(batch(0, 100, a=1, b=2, c=3, d=4))
    assert failures_text(totals) == "10 dead letters (d 4, c 3, b 2, and 1 more)"
    odd = Totals()
    odd.add(Event("batch", "2026-11-27T14:00:00Z", NAME, sources={"s": SourceCounts(5, 5, 0, 0, {"\x1b[2J\n": 5})}))
    assert failures_text(odd) == "kept (␛[2J  5)"
    assert totals_text(totals) == (
        "total: 1 batch, 100 rows in, 100 out, 200 rows/s in 500 ms of processing, 10 dead letters (d 4, c 3, b 2, a 1)"
    )


def test_in_a_log_lines_are_appended_at_a_bounded_rate_and_lose_nothing() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = Progress(stream, is_terminal=False, interval_s=5.0, clock=clock)
    progress.add(Event("start", "2026-11-27T14:00:00Z", NAME))
    for number in range(100):
        progress.add(batch(number, 10, bad=1))
        clock.now += 1.0
    progress.add(Event("stop", "2026-11-27T14:02:00Z", NAME))
    first, *lines, last = stream.getvalue().splitlines()
    assert first == f"{NAME}: stream started"
    assert [line.split(",")[0] for line in lines[:3]] == ["batch 0", "batches 1 to 5", "batches 6 to 10"]
    assert len(lines) == 21
    assert sum(int(re.findall(r"(\d+) rows,", line)[0]) for line in lines) == 1000
    assert (
        last
        == "total: 100 batches, 1,000 rows in, 1,000 out, 20 rows/s in 50 s of processing, 100 dead letters (bad 100)"
    )
    progress.end()
    assert stream.getvalue().splitlines()[-1] == last, "the totals are printed once"


def test_in_a_terminal_the_line_is_replaced_and_fits() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = Progress(stream, is_terminal=True, clock=clock, width=lambda: 40)
    for number in range(3):
        progress.add(batch(number, 10))
        clock.now += 1.0
    progress.add(batch(3))
    clock.now += 0.01
    progress.add(batch(4))
    shown = stream.getvalue()
    assert "\n" not in shown
    pieces = shown.split("\r")[1:]
    assert len(pieces) == 4, "the fifth came too soon"
    assert all(piece.endswith("\x1b[K") and len(piece) <= 39 + 3 for piece in pieces)
    progress.end()
    lines = stream.getvalue().split("\n")
    assert lines[0].split("\r")[-1].startswith("batch 4, 1,000 rows")
    assert lines[1].startswith("total: 5 batches, 2,030 rows in")


def test_in_a_terminal_a_summary_begins_on_a_line_of_its_own() -> None:
    stream = io.StringIO()
    progress = Progress(stream, is_terminal=True, clock=Clock())
    progress.add(batch(0, 10))
    progress.totals = Totals()
    progress.end()
    assert stream.getvalue().endswith("\x1b[K\n")
    progress.end()
    assert stream.getvalue().count("\n") == 1


def test_a_failure_is_reported_with_its_first_line() -> None:
    stream = io.StringIO()
    progress = Progress(stream, clock=Clock())
    for event in Sample().run(3, ending="failure", cause="Job aborted\nat line 1").events:
        progress.add(event)
    lines = stream.getvalue().splitlines()
    assert lines[-2] == f"{NAME}: failed: Job aborted"
    assert lines[-1].startswith("total: 3 batches")
    assert not progress.totals.batches


def test_replays_are_named() -> None:
    stream = io.StringIO()
    progress = Progress(stream, clock=Clock())
    for event in Sample().run(1, run="replay", number=3).events:
        progress.add(event)
    assert stream.getvalue().splitlines()[:2][0] == f"{NAME}: replay 3 started"
    assert stream.getvalue().splitlines()[1].startswith("replay 3 batch 0, ")
