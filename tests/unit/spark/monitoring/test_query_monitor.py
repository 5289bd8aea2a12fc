"""A watch knows all events before it answers, although Spark notifies its listeners with a delay."""

import contextlib
import json
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka.spark import watch
from kafka.spark.monitoring import query_monitor

pytestmark = pytest.mark.once

REPORT = {
    "id": "an-id",
    "runId": "a-run",
    "name": "flights",
    "timestamp": "2026-01-31T12:00:00.000Z",
    "batchId": 0,
    "durationMs": {"triggerExecution": 500},
    "sources": [],
}


class FakeSession:
    """A session whose bus notifies the listener in a separate thread, and only while something waits for it."""

    def __init__(self, thread: str = "Thread-4", trouble: Exception | None = None) -> None:
        self.streams, self.trouble = self, trouble
        self.listener: Any = None
        self.posted: list[int] = []
        self.waits: list[int] = []
        current = SimpleNamespace(getName=lambda: thread)
        threads = SimpleNamespace(currentThread=lambda: current)
        self._jvm = SimpleNamespace(java=SimpleNamespace(lang=SimpleNamespace(Thread=threads)))
        self._jsc = SimpleNamespace(sc=lambda: SimpleNamespace(listenerBus=lambda: self))

    @property
    def sparkContext(self) -> "FakeSession":  # noqa: N802  # Spark's name
        if self.trouble is not None:
            raise self.trouble
        return self

    def addListener(self, listener: Any) -> None:  # noqa: N802  # Spark's name
        self.listener = listener

    def removeListener(self, listener: Any) -> None:  # noqa: N802  # Spark's name
        assert listener is self.listener
        self.listener = None

    def waitUntilEmpty(self, timeout_ms: int) -> None:  # noqa: N802  # Spark's name
        self.waits.append(timeout_ms)
        telling = threading.Thread(target=self.tell, daemon=True)
        telling.start()
        telling.join(60)
        assert not telling.is_alive(), "the listener waits for whoever waits for it"

    def tell(self) -> None:
        posted, self.posted = self.posted, []
        for batch in posted:
            report = json.dumps({**REPORT, "batchId": batch})
            self.listener.onQueryProgress(SimpleNamespace(progress=SimpleNamespace(json=report)))


ASKED = {
    "progress": lambda watched: [each.batch for each in watched.progress],
    "lag": lambda watched: list(watched.lag()),
    "prometheus": lambda watched: ["kafka_spark_batches_total{" in watched.prometheus()],
    "repr": lambda watched: ["1 micro-batches" in repr(watched)],
}
WANTED = {"progress": [7], "lag": ["flights"], "prometheus": [True], "repr": [True]}


@pytest.mark.parametrize("asked", ASKED)
def test_a_watch_waits_for_posted_events(asked, tmp_path):
    spark = FakeSession()
    with watch(spark, prometheus=tmp_path / "queries.prom") as watched:
        spark.posted = [7]
        assert ASKED[asked](watched) == WANTED[asked]
        assert len(spark.waits) == 1  # not again for the listener, which writes the file


def test_events_before_the_end_are_seen_and_later_ones_are_not_awaited(tmp_path):
    spark, lines = FakeSession(), tmp_path / "lines.jsonl"
    with watch(spark, json_lines=lines) as watched:
        spark.posted = [7]
    assert spark.listener is None
    assert [json.loads(line)["batch"] for line in lines.read_text().splitlines()] == [7]
    assert [each.batch for each in watched.progress] == [7]
    assert len(spark.waits) == 1
    assert 1_000 <= spark.waits[0] <= 10_000


def test_a_listener_does_not_wait_for_itself():
    spark = FakeSession(thread="spark-listener-group-streams")
    watched = watch(spark)
    spark.posted = [7]
    assert watched.progress == []
    assert spark.waits == []


@pytest.mark.parametrize("trouble", [AttributeError("'NoneType' object has no attribute 'sc'"), TimeoutError("busy")])
def test_without_a_listener_bus_a_watch_does_not_wait(trouble):
    spark = FakeSession()
    watched = watch(spark)
    spark.posted = [7]
    spark.tell()
    spark.trouble = trouble
    assert [each.batch for each in watched.progress] == [7]
    watched.close()


def test_queries_that_start_during_reports_leave_a_complete_file(tmp_path, monkeypatch):
    target, session = tmp_path / "spark.prom", FakeSession()
    watched = watch(session, prometheus=target)
    both, again = threading.Barrier(2), threading.Barrier(2)
    write_text, replace, overlaps = Path.write_text, Path.replace, []

    def write_slowly(self, *arguments, **named):
        written = write_text(self, *arguments, **named)
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(0.2)
            overlaps.append(self)
        return written

    def replace_slowly(self, other):
        with contextlib.suppress(threading.BrokenBarrierError):
            again.wait(0.2)
            overlaps.append(self)
        return replace(self, other)

    monkeypatch.setattr(Path, "write_text", write_slowly)
    monkeypatch.setattr(Path, "replace", replace_slowly)
    starting = threading.Thread(
        target=session.listener.onQueryStarted, args=(SimpleNamespace(id="another-id", name="trips"),)
    )
    starting.start()
    session.posted = [0]
    session.tell()
    starting.join(60)
    assert overlaps == []
    assert watched._troubles == set()
    assert target.read_text() == watched._text()
    assert {each.name for each in tmp_path.iterdir()} == {target.name}


@pytest.mark.parametrize(("most", "kept"), [(3, [0, 6, 7, 8]), (12, list(range(9)))])
def test_only_the_newest_ended_queries_are_kept(monkeypatch, most, kept):
    monkeypatch.setattr(query_monitor, "MOST_ENDED", most)
    session = FakeSession()
    watched = watch(session)
    for number in range(9):
        session.listener.onQueryStarted(SimpleNamespace(id=f"id {number}", name=f"query {number}"))
        if number:  # the first query keeps running
            session.listener.onQueryTerminated(SimpleNamespace(id=f"id {number}", exception=None))
    assert list(watched._standing) == [f"id {number}" for number in kept]
