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
from kafka.pipelines.run_events import RunEvents
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
