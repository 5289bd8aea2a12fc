"""The events of a run, from the reports of Spark."""

from __future__ import annotations

import json
import resource
import shutil
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from kafka.pipelines.directories import PipelineDirectory
from kafka.pipelines.events import Event, EventFile, read_events
from kafka.pipelines.planning import RESULT
from kafka.pipelines.run_events import ReportListener, RunEvents
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
    assert read_events(PipelineDirectory(tmp_path).events) == events.events == passed


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
    assert sorted(each.batch or 0 for each in events.events) == list(range(20))


def test_a_run_goes_on_if_an_event_cannot_be_written_or_passed_on(tmp_path: Path, caplog: Any) -> None:
    def fail(event: Event) -> None:
        raise ValueError("of the caller")

    directory = PipelineDirectory(tmp_path)
    events = RunEvents(DECLARATION, directory, on_event=fail)
    events.start()
    shutil.rmtree(directory.events)
    assert events.add_report(report(0)) is not None
    assert [each.kind for each in events.events] == ["start", "batch"]
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
