"""Running a query that Spark ends after one micro-batch until it has read everything available at the start."""

from __future__ import annotations

import dataclasses
import json
import logging
from typing import Any

import pytest

from kafka.spark import pyspark_versions, queries, run_available
from kafka.spark.queries import Goal

pytestmark = pytest.mark.once

BEGAN = "2026-01-02T03:04:05.678Z"
BEGAN_MS = 1_767_323_045_678
OLD, NEW = BEGAN_MS - 1, BEGAN_MS + 900


def end(offset: int, *, waits: int | None = None, planned: int | None = NEW, topic: str = "t") -> dict[str, Any]:
    marks = {} if waits is None else {f"{topic} waits up to 0:{waits}": {}}
    return {topic: {"0": offset}, **marks, **({} if planned is None else {f"planned at {planned}": {}})}


def source(start: dict[str, Any] | None, stop: dict[str, Any]) -> dict[str, Any]:
    return {"startOffset": start, "endOffset": stop}


def batch(*sources: dict[str, Any], timestamp: str = BEGAN) -> dict[str, Any]:
    return {"timestamp": timestamp, "durationMs": {"addBatch": 7}, "sources": list(sources)}


IDLE = {"timestamp": BEGAN, "durationMs": {"latestOffset": 3}, "sources": [source(end(5), end(5))]}


@pytest.mark.parametrize("reports", [[], [IDLE]])
def test_a_query_without_a_batch_has_read_everything(reports: list[Any]) -> None:
    assert Goal().is_reached(reports)


def test_a_batch_that_read_everything_is_enough() -> None:
    assert Goal().is_reached([batch(source(None, end(5)))])


def test_the_backlog_is_read_by_further_queries_despite_new_records() -> None:
    goal = Goal()
    assert not goal.is_reached([batch(source(None, end(5, waits=12)))])
    later = "2026-01-02T03:05:00.000Z"
    assert not goal.is_reached([batch(source(end(5), end(10, waits=12)), timestamp=later)])
    assert goal.is_reached([batch(source(end(10, waits=12), end(12)), timestamp=later)])


@pytest.mark.parametrize("planned", [OLD, None])
def test_a_repeated_unfinished_batch_is_not_the_end(planned: int | None) -> None:
    goal = Goal()
    assert not goal.is_reached([batch(source(end(1), end(5, planned=planned)))])
    assert goal.is_reached([batch(source(end(5), end(9)))])


def test_the_backlog_of_an_earlier_run_is_not_the_end() -> None:
    goal = Goal()
    assert not goal.is_reached([batch(source(end(1, waits=5, planned=OLD), end(5, planned=OLD)))])
    assert goal.is_reached([IDLE])


def test_a_source_without_new_records_is_not_waited_for() -> None:
    idle = source(end(5, planned=OLD), end(5, planned=OLD))
    assert Goal().is_reached([batch(idle, source(end(1, topic="u"), end(2, topic="u")))])


def test_sources_of_other_kinds_are_done_after_a_batch() -> None:
    assert Goal().is_reached([batch(source({"logOffset": 0}, {"logOffset": 1}))])
    goal = Goal()
    files = source({"logOffset": 0}, {"logOffset": 1})
    assert not goal.is_reached([batch(files, source(end(5), end(5)))])
    assert goal.is_reached([batch(files, source(end(5), end(5)))])


def test_queries_without_progress_end() -> None:
    """Spark runs micro-batches without rows to close windows, for example, while a limit delays other rows."""
    waits = end(5, waits=12, planned=OLD)
    goal = Goal()
    assert not goal.is_reached([batch(source(waits, waits))])
    assert goal.is_reached([batch(source(waits, waits))])


@dataclasses.dataclass
class Report:
    report: dict[str, Any]

    @property
    def json(self) -> str:
        return json.dumps(self.report)


@dataclasses.dataclass
class Query:
    reports: list[dict[str, Any]]
    error: Exception | None = None
    isActive: bool = False  # noqa: N815  # Spark's name
    stopped: bool = False
    id: str = "the-id"
    runId: str = "the-run"  # noqa: N815  # Spark's name

    def awaitTermination(self) -> None:  # noqa: N802  # Spark's name
        if self.error is not None:
            raise self.error

    @property
    def recentProgress(self) -> list[Report]:  # noqa: N802  # Spark's name
        return [Report(each) for each in self.reports]

    def stop(self) -> None:
        self.stopped = True


class Writer:
    def __init__(self, *queries: Query) -> None:
        self.left = list(queries)
        self.triggers: list[dict[str, Any]] = []

    def trigger(self, **given: Any) -> Writer:
        self.triggers.append(given)
        return self


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(queries, "start", lambda writer: writer.left.pop(0))

    def run(writer: Writer, *, told: bool) -> Any:
        monkeypatch.setattr(pyspark_versions, "TELLS_TRIGGER", told)
        return run_available(writer)  # type: ignore[arg-type]  # a fake

    return run


def test_queries_run_one_after_the_other_to_the_end(run: Any) -> None:
    last = Query([batch(source(end(5, waits=12), end(12)))])
    writer = Writer(Query([batch(source(None, end(5, waits=12)))]), last, Query([]))
    assert run(writer, told=False) is last
    assert writer.triggers == [{"availableNow": True}] * 2


def test_the_log_reports_each_query(run: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "kafka.spark.queries")
    numbers = [{"batchId": 7, "numInputRows": 5}, {"batchId": 8, "numInputRows": 7}]
    run(
        Writer(
            Query([batch(source(None, end(5, waits=12))) | numbers[0], IDLE]),
            Query([batch(source(end(5, waits=12), end(12))) | numbers[1]]),
        ),
        told=False,
    )
    assert [each.getMessage() for each in caplog.records] == [
        "query the-id runs until it has read what is available now (start 1, run the-run)",
        "query the-id has ended: micro-batches 7 to 7, 5 row(s), 7 offset(s) unread; starting it again",
        "query the-id runs until it has read what is available now (start 2, run the-run)",
        (
            "query the-id has ended: micro-batches 8 to 8, 7 row(s), 0 offset(s) unread; it has read everything that "
            "was available at the start"
        ),
    ]
    caplog.clear()
    run(Writer(Query([])), told=True)
    assert "micro-batches none, 0 row(s)" in caplog.text


def test_ending_with_a_backlog_causes_a_warning(run: Any, caplog: pytest.LogCaptureFixture) -> None:
    waits = end(5, waits=12, planned=OLD)
    run(Writer(*[Query([batch(source(waits, waits))]) for _ in range(2)]), told=False)
    assert [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING] == [
        (
            "query the-id ends although 7 offset(s) that were available at its start are unread: its last micro-batch "
            "read nothing"
        )
    ]


def test_one_query_is_enough_if_spark_supports_the_trigger(run: Any) -> None:
    only = Query([batch(source(None, end(5, planned=None)))])
    assert run(Writer(only), told=True) is only


def test_the_error_of_a_query_is_raised(run: Any) -> None:
    writer = Writer(Query([batch(source(None, end(5, waits=12)))]), Query([], ValueError("no such topic")), Query([]))
    with pytest.raises(ValueError, match="no such topic"):
        run(writer, told=False)
    assert len(writer.left) == 1


def test_a_query_is_stopped_if_the_wait_for_it_is_interrupted(run: Any) -> None:
    interrupted = Query([], KeyboardInterrupt(), isActive=True)  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        run(Writer(interrupted), told=True)
    assert interrupted.stopped
