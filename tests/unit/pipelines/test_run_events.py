"""The events of a run, from the reports of Spark."""

from __future__ import annotations

import dataclasses
import json
import resource
import shutil
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from kafka.pipelines import run_events
from kafka.pipelines.declaration import Declaration
from kafka.pipelines.directories import PipelineDirectory
from kafka.pipelines.events import Event, EventFile, SourceCounts, last_start, read_events
from kafka.pipelines.planning import RESULT
from kafka.pipelines.run_events import ReportListener, RunEvents
from kafka.pipelines.run_results import result_of
from kafka.pipelines.steps import UNTIMED
from kafka.pipelines.yaml_file import parse

pytestmark = pytest.mark.once

DECLARATION = parse(
    """
pipeline: delays
kafka: {bootstrap.servers: "localhost:9092"}
source: {topic: flights, value: {format: bytes}}
sink: {topic: out, value: {format: bytes}}
"""
)

EVENT = Event(kind="stop", time="2026-11-28T00:00:00.000+00:00", pipeline="delays")


def report(batch: int, run: str = "r1", *, executed: bool = True) -> dict[str, Any]:
    """The report of a micro-batch with ten rows."""
    offsets = {"flights": {"0": 10 * batch}}, {"flights": {"0": 10 * batch + 10}}
    return {
        "id": "q",
        "runId": run,
        "name": "delays",
        "timestamp": f"2026-11-28T00:00:{batch:02}.000Z",
        "batchId": batch,
        "batchDuration": 500,
        "numInputRows": 10,
        "durationMs": {"addBatch": 400, "triggerExecution": 500} if executed else {"triggerExecution": 1},
        "stateOperators": [],
        "observedMetrics": {RESULT: {"out": 7}},
        "sources": [
            {
                "description": "kafka_columnar",
                "startOffset": json.dumps(offsets[0]),
                "endOffset": json.dumps(offsets[1]),
                "latestOffset": json.dumps(offsets[1]),
                "numInputRows": 10,
            }
        ],
        "sink": {"description": "sink", "numOutputRows": -1},
    }


@pytest.mark.parametrize(
    "earlier",
    [
        *("29991231T235959.999999Z-a", "29991231T235959.000000Z-a", "0-ended-runs", "named"),
        "99991231T235959.999999Z-a",
    ],
)
def test_a_run_is_the_newest_one_also_if_the_clock_was_set_back(earlier: str, tmp_path: Path) -> None:
    """Readers sort runs by the names of their files."""
    directory = PipelineDirectory(tmp_path)
    EventFile(directory.events, earlier).append(dataclasses.replace(EVENT, kind="start", run_id="a"))
    events = RunEvents(DECLARATION, directory)
    events.start()
    names = sorted(path.stem for path in directory.events.iterdir())
    if earlier == "named" or earlier.startswith("9"):
        assert names[0].startswith("20"), "by the clock, if names of earlier files have no time, or the last one of all"
    else:
        assert names[0] == earlier
        newest = last_start(directory.events)
        assert newest is not None
        assert newest.run_id == events.run_id
    if earlier.startswith("2"):
        following = {"9999": "30000101T000000.000000Z-", "0000": "29991231T235959.000001Z-"}
        assert names[1] == following[earlier[18:22]] + events.run_id[:8]


def test_a_micro_batch_is_recorded_once(tmp_path: Path) -> None:
    """Its report may come from the listener and from the query itself."""
    passed: list[Event] = []
    events = RunEvents(DECLARATION, PipelineDirectory(tmp_path), on_event=passed.append)
    first = events.add_report(report(0))
    assert first is not None
    assert (first.batch, first.out) == (0, 7)
    assert events.add_report(report(0)) is None
    assert events.add_report(report(1, executed=False)) is None, "an idle query"
    assert events.add_report(report(1)) is not None
    assert events.add_report(report(1, run="r2")) is not None, "a restarted query repeats it"
    assert [each.batch for each in passed] == [0, 1, 1]
    assert read_events(PipelineDirectory(tmp_path).events) == list(events.newest) == passed


def test_a_long_run_keeps_the_newest_events_and_all_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_events, "NEWEST", 5)
    monkeypatch.setattr(run_events, "_REMEMBERED", 3)
    directory = PipelineDirectory(tmp_path)
    events = RunEvents(DECLARATION, directory)
    for number in range(40):
        assert events.add_report(report(number)) is not None
        assert events.add_report(report(number)) is None
    result = result_of(events, directory)
    assert [each.batch for each in result.events] == [35, 36, 37, 38, 39]
    assert (result.out, result.totals.batches) == (40 * 7, 40)
    assert len(read_events(directory.events)) == 40
    assert len(events._recorded) == 3


def test_the_results_of_two_runs_are_added(tmp_path: Path) -> None:
    directory = PipelineDirectory(tmp_path)
    results = []
    for first in (0, 10):
        events = RunEvents(DECLARATION, directory)
        for number in range(first, first + 3):
            counts = SourceCounts(rows=10, processed=6, dropped=1, dead=3, rules={"a": 3, f"b{first}": 1})
            events.add_batch(time=EVENT.time, batch=number, seconds=0.5, sources={"source": counts}, out=6)
        results.append(result_of(events, directory, is_complete=first == 0))
    both = results[0].followed_by(results[1])
    assert (both.rows, both.out, both.dead, both.dropped) == (60, 36, 18, 6)
    assert both.by_rule() == {"a": 18, "b0": 3, "b10": 3}
    assert [each.batch for each in both.events] == [0, 1, 2, 10, 11, 12]
    assert not both.is_complete
    assert results[0].by_rule() == {"a": 9, "b0": 3}, "the earlier result is unchanged"


def first_report(end: int = 10, **changes: Any) -> dict[str, Any]:
    """The report of the first micro-batch of a query, which does not say where the query started."""
    found = report(0) | changes
    found["sources"][0] |= {"startOffset": None, "endOffset": json.dumps({"flights": {"0": end}})}
    return found


def ranges(declaration: Declaration, directory: Path, given: dict[str, Any], starts: str | None = None) -> Any:
    """Return the ranges in the event for a report."""
    events = RunEvents(declaration, PipelineDirectory(directory))
    events.add_start(starts)
    event = events.add_report(given)
    assert event is not None
    return dict(event.sources["source"].ranges)


def test_the_first_micro_batch_begins_where_the_stream_starts(tmp_path: Path) -> None:
    """From the earliest offset, from those of a backfill before it, or from those in the report; or it is unknown."""
    assert ranges(DECLARATION, tmp_path, first_report()) == {"flights-0": (0, 10)}
    assert ranges(DECLARATION, tmp_path, first_report(), '{"flights": {"0": 4}}') == {"flights-0": (4, 10)}
    assert ranges(DECLARATION, tmp_path, first_report(), '{"flights": {"1": 4}}') == {"flights-0": (0, 10)}
    assert ranges(DECLARATION, tmp_path, first_report(4), '{"flights": {"0": 4}}') == {}, "nothing was read"
    source = DECLARATION.all_sources["source"].model_copy(update={"start": "latest"})
    latest = DECLARATION.model_copy(update={"sources": {"source": source}})
    assert ranges(latest, tmp_path, first_report()) == {}
    assert ranges(latest, tmp_path, report(2)) == {"flights-0": (20, 30)}
    assert ranges(DECLARATION, tmp_path, report(2), '{"flights": {"0": 4}}') == {"flights-0": (20, 30)}


def test_lag_late_rows_and_counts_of_the_result(tmp_path: Path) -> None:
    given = report(1)
    given["sources"][0]["latestOffset"] = json.dumps({"flights": {"0": 27}})
    given["stateOperators"] = [{"numRowsDroppedByWatermark": 3}, {}, {"numRowsDroppedByWatermark": 4}]
    events = RunEvents(DECLARATION, PipelineDirectory(tmp_path))
    events.out = {1: 5, 2: 6}
    event = events.add_report(given)
    assert event is not None
    assert (event.out, event.late, event.sources["source"].lag) == (5, 7, 7)
    assert events.out == {2: 6}
    unknown = report(3) | {"observedMetrics": None, "stateOperators": None}
    unknown["sources"][0]["latestOffset"] = None
    event = events.add_report(unknown)
    assert event is not None
    assert (event.out, event.late, event.rows) == (None, 0, 0)


def test_a_report_that_cannot_be_read_can_come_again(tmp_path: Path) -> None:
    events = RunEvents(DECLARATION, PipelineDirectory(tmp_path))
    wrong = report(0) | {"observedMetrics": {"kafka_pipelines_source_source": {}}}
    with pytest.raises(KeyError):
        events.add_report(wrong)
    assert events.add_report(report(0)) is not None


def test_the_end_of_a_run_has_the_first_line_of_its_error(tmp_path: Path) -> None:
    events = RunEvents(DECLARATION, PipelineDirectory(tmp_path), "replay", 7)
    events.end()
    events.end(ValueError("wrong\nin line 2"))
    events.end(KeyError())
    found = [(each.kind, each.cause, each.run, each.number) for each in read_events(PipelineDirectory(tmp_path).events)]
    causes = ["wrong", "KeyError"]
    assert found == [("stop", None, "replay", 7), *(("failure", cause, "replay", 7) for cause in causes)]


def test_the_watermark_and_the_rows_without_a_time(tmp_path: Path) -> None:
    events = RunEvents(DECLARATION, PipelineDirectory(tmp_path))
    given = report(0) | {"eventTime": {"max": "x", "watermark": "2026-11-28T00:00:01.500Z"}}
    given["observedMetrics"] |= {f"{UNTIMED}_a": {UNTIMED: 2}, f"{UNTIMED}_b": {UNTIMED: 3}}
    found = events.add_report(given)
    assert found is not None
    assert (found.watermark_ms, found.untimed) == (1_795_824_001_500, 5)
    without = events.add_report(report(1))
    assert without is not None
    assert (without.watermark_ms, without.untimed) == (None, 0)
    assert read_events(PipelineDirectory(tmp_path).events) == [found, without]


def test_threads_record_a_micro_batch_once(tmp_path: Path) -> None:
    events = RunEvents(DECLARATION, PipelineDirectory(tmp_path))
    barrier = threading.Barrier(4)

    def add() -> None:
        barrier.wait(60)
        for batch in range(20):
            events.add_report(report(batch))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(each.batch or 0 for each in events.newest) == list(range(20))


def test_a_run_goes_on_if_an_event_cannot_be_written_or_passed_on(tmp_path: Path, caplog: Any) -> None:
    def fail(event: Event) -> None:
        raise ValueError("of the caller")

    directory = PipelineDirectory(tmp_path)
    events = RunEvents(DECLARATION, directory, on_event=fail)
    events.start()
    shutil.rmtree(directory.events)
    assert events.add_report(report(0)) is not None
    assert [each.kind for each in events.newest] == ["start", "batch"]
    directory.events.mkdir()
    assert events.add_report(report(1)) is not None
    assert [each.batch for each in read_events(directory.events)] == [1]
    assert "could not write the event 'batch'" in caplog.text
    assert "on_event failed for the event 'start'" in caplog.text


def test_the_start_of_a_run_must_be_recorded(tmp_path: Path) -> None:
    directory = PipelineDirectory(tmp_path)
    events = RunEvents(DECLARATION, directory)
    directory.events.rmdir()
    with pytest.raises(FileNotFoundError):
        events.start()


def test_a_line_that_does_not_fit_on_the_disk_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file = EventFile(tmp_path, "run")
    file.append(EVENT)
    before = (tmp_path / "run.jsonl").read_bytes()
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, limit[1]))
    try:
        with pytest.raises(OSError, match=r"run\.jsonl|File too large"):
            file.append(EVENT)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)
    assert (tmp_path / "run.jsonl").read_bytes() == before
    file.append(EVENT)
    assert read_events(tmp_path) == [EVENT, EVENT]


class _ConnectSession:
    """A session of Spark Connect that keeps what happens to its listener."""

    def __init__(self) -> None:
        self.happened: list[str] = []
        self.streams = self

    def addListener(self, listener: Any) -> None:  # noqa: N802  # Spark's name
        self.listener = listener

    def removeListener(self, listener: Any) -> None:  # noqa: N802  # Spark's name
        self.happened.append("removed")


def query_event(**fields: Any) -> Any:
    return type("QueryEvent", (), fields)()


@pytest.mark.parametrize("name", ["delays", "another"])
def test_with_spark_connect_a_listener_is_removed_after_the_last_event_of_its_query(name: str) -> None:
    """Its `removeListener` holds a lock that the delivery of an event needs, and waits for the delivery."""
    session: Any = _ConnectSession()
    reports = ReportListener(session, "delays", lambda report: None)
    condition = reports._changed

    class Waiting:
        """The condition of the listener; the last event is delivered while it is waited for."""

        __enter__, __exit__ = condition.__enter__, condition.__exit__
        notify_all = staticmethod(condition.notify_all)

        def wait_for(self, is_over: Any, timeout: float) -> bool:
            if not is_over():
                session.happened.append("waited")
                session.listener.onQueryTerminated(query_event(runId="r1"))
            assert is_over()
            return True

    reports._changed = Waiting()  # type: ignore[assignment]
    with reports:
        session.listener.onQueryStarted(query_event(name=name, runId="r1"))
    assert session.happened == (["waited", "removed"] if name == "delays" else ["removed"])
