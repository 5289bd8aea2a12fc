"""Restarting a query after Spark gave up on its Python process."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from kafka.errors import IllegalArgumentError
from kafka.spark import start
from kafka.spark.queries import GAVE_UP

pytestmark = pytest.mark.once


@dataclasses.dataclass
class Query:
    """A query that reports several statuses in turn, and then has ended (with or without an error) or keeps running."""

    statuses: list[str]
    error: str | None = None
    goes_on: bool = False
    id: str = "some-id"
    isActive: bool = True  # noqa: N815  # Spark's name
    stopped: bool = False

    def stop(self) -> None:
        self.stopped = True

    @property
    def status(self) -> dict[str, str]:
        return {"message": self.statuses[0]}

    def move(self, _: float) -> None:
        if len(self.statuses) > 1:
            del self.statuses[0]
        else:
            self.isActive = self.goes_on

    def exception(self) -> str | None:
        return self.error


class Writer:
    def __init__(self, *queries: Query | Exception) -> None:
        self.left = list(queries)
        self.query: Query

    def start(self) -> Query:
        query = self.left.pop(0)
        if isinstance(query, Exception):
            raise query
        self.query = query
        return self.query

    def run(self, **given: Any) -> Query:
        query: Query = start(self, sleep=lambda seconds: self.query.move(seconds), **given)  # type: ignore[arg-type, assignment]  # fakes
        return query


def gave_up() -> Query:
    return Query(["Initializing sources", "Getting offsets from x"], f"[STREAM_FAILED] {GAVE_UP}.")


def test_a_query_whose_sources_run_is_returned() -> None:
    running = Query(["Initializing StreamExecution", "Getting offsets from x", "Processing new data"], goes_on=True)
    assert Writer(running).run() is running
    assert running.statuses == ["Processing new data"]


def test_a_query_is_restarted_if_spark_gave_up(caplog: pytest.LogCaptureFixture) -> None:
    running = Query(["Waiting for data to arrive"], goes_on=True)
    assert Writer(gave_up(), gave_up(), running).run() is running
    assert [each.levelname for each in caplog.records] == ["WARNING"] * 2


def test_a_query_is_started_at_most_as_often_as_requested() -> None:
    writer = Writer(*(gave_up() for _ in range(3)))
    assert GAVE_UP in str(writer.run(tries=2).exception())
    assert len(writer.left) == 1
    with pytest.raises(IllegalArgumentError, match="tries of at least 1"):
        writer.run(tries=0)


def test_a_query_is_started_again_if_spark_gave_up_on_its_sink() -> None:
    running = Query(["Waiting for data to arrive"], goes_on=True)
    assert Writer(RuntimeError(GAVE_UP), running).run() is running
    with pytest.raises(RuntimeError, match=GAVE_UP):
        Writer(RuntimeError(GAVE_UP), RuntimeError(GAVE_UP), running).run(tries=2)
    with pytest.raises(RuntimeError, match="another"):
        Writer(RuntimeError("another"), running).run()


@pytest.mark.parametrize("error", [None, "[STREAM_FAILED] no such topic"])
def test_a_query_that_ended_for_another_reason_is_returned(error: str | None) -> None:
    ended = Query(["Initializing sources"], error)
    assert Writer(ended, gave_up()).run() is ended


def test_a_query_is_stopped_if_the_wait_for_its_start_is_interrupted() -> None:
    """The caller does not have the query yet, and could not stop it."""

    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    query = Query(["Initializing sources"])
    with pytest.raises(KeyboardInterrupt):
        start(Writer(query), sleep=interrupt)  # type: ignore[arg-type]  # a fake
    assert query.stopped
