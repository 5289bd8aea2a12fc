"""A process of Spark is killed while it writes exactly once; tests/spark_trials/cluster kills many more, on a cluster.

Spark tries a task again only on a cluster: here the query fails each time, and is started again.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

from harness.kill_points import FORMAT, KillPoint, stopping_source
from kafka.spark import run_available

from .spark_support import GAVE_UP, load_stream, numbered, options, produce, spark
from .test_exactly_once import PARTITIONS, committed

__all__ = ["spark"]

pytestmark = pytest.mark.timeout(900)
ROWS = 90
ROWS_A_BATCH = 30
PATIENCE_S = 300.0
"""A deadline ends a hang; a busy machine takes a tenth of it."""
CHANGED = {"spark.sql.shuffle.partitions": "3", "spark.sql.adaptive.coalescePartitions.enabled": "false"}
"""Of the session: a batch has three tasks, however few its rows are."""


@pytest.fixture
def session(spark: Any) -> Iterator[Any]:
    """The session of the tests, whose settings a test may change."""
    before = {name: spark.conf.get(name) for name in CHANGED}
    for name, value in CHANGED.items():
        spark.conf.set(name, value)
    yield spark
    for name, value in before.items():
        spark.conf.set(name, value)


@pytest.fixture
def kill_point(tmp_path: Path) -> Iterator[Callable[[str, int], KillPoint]]:
    """Gives the point at which a process stops; whatever happens, it does not stay there."""
    made = []

    def make(point: str, time_number: int) -> KillPoint:
        made.append(KillPoint(tmp_path / "points", point, time_number))
        return made[-1]

    yield make
    for each in made:
        each.release()


def stopped_at(point: KillPoint, start: Callable[[], Any]) -> tuple[Any, int]:
    """Start a query and wait until a process has stopped at the point; gives both."""
    deadline = time.monotonic() + PATIENCE_S
    query = start()
    while point.stopped is None:
        assert time.monotonic() < deadline, f"nothing has stopped: {query.status}"
        if not query.isActive:
            error = query.exception()  # None: with PySpark before 4.2 it ends after each micro-batch
            assert error is None or GAVE_UP in str(error), f"it has ended though nothing was killed: {error}"
            query = start()
        time.sleep(0.05)
    return query, point.stopped


def run_to_the_end(writer: Any) -> None:
    """Run a query; again where Spark has given up on a Python process that was slow to start."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            run_available(writer)
            return
        except StreamingQueryException as error:
            if GAVE_UP not in str(error) or time.monotonic() > deadline:
                raise


@pytest.mark.parametrize(("point", "time_number"), [("writing", 2), ("committing", 2)])
def test_each_row_is_seen_once_when_a_process_is_killed(
    session, broker, make_topic, tmp_path, kill_point, point, time_number
):
    source, target = make_topic(partitions=PARTITIONS), make_topic(partitions=PARTITIONS)
    produce(broker.bootstrap_servers, source, numbered(ROWS, PARTITIONS))
    at = kill_point(point, time_number)
    session.dataSource.register(stopping_source(str(at.folder)))
    sink = options(broker, topic=target, exactlyOnce="true", transactionalIdPrefix=f"of-{target}")

    def writer() -> Any:
        rows = load_stream(
            session, broker, source, startingOffsets="earliest", maxOffsetsPerTrigger=str(ROWS_A_BATCH)
        ).selectExpr("value")
        made = rows.repartition("value").writeStream.format(FORMAT).options(**sink)
        return made.option("checkpointLocation", str(tmp_path / "checkpoint"))

    query, stopped = stopped_at(at, lambda: writer().trigger(availableNow=True).start())
    os.kill(stopped, signal.SIGKILL)
    at.release()
    with pytest.raises(StreamingQueryException):
        assert query.awaitTermination(PATIENCE_S), "the query has not noticed that a process was killed"
    session.conf.set("spark.sql.shuffle.partitions", "2")  # the batch that was cut short is split otherwise
    run_to_the_end(writer())
    assert committed(broker, target) == list(range(ROWS))
