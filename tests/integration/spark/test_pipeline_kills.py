"""A Python process of Spark is killed while a pipeline runs, and while it replays its dead letters.

`make pipeline-trials` kills many more processes, and drivers and brokers, too.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.kill_points import FORMAT, KillPoint, stopping_source
from harness.topics import create_topic, new_topic_name
from kafka.pipelines import backfill as backfill_module
from kafka.pipelines import batch_writes
from kafka.pipelines import replay as replay_module
from kafka.pipelines import run as run_module
from kafka.pipelines.run import PipelineFailedError
from kafka.pipelines.yaml_file import parse
from pyspark_kafka_columnar import DefaultSource
from spark_trials.pipelines.expected_letters import Expected
from spark_trials.pipelines.planted_records import PARTITIONS, Version, declaration, plant, produce
from spark_trials.pipelines.readers import letters, originals, sink_numbers

from .spark_support import GAVE_UP, spark

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(900)]
RECORDS = 4_000
BATCH = 1_500
PATIENCE_S = 300.0
"""A deadline ends a hang; a busy machine takes a tenth of it."""


@pytest.fixture
def kill_point(tmp_path: Path) -> Iterator[Callable[[str, int], KillPoint]]:
    """Gives the point at which a process stops; whatever happens, it does not stay there."""
    made: list[KillPoint] = []

    def make(point: str, time_number: int) -> KillPoint:
        made.append(KillPoint(tmp_path / f"points-{len(made)}", point, time_number))
        return made[-1]

    yield make
    for each in made:
        each.release()


def repeat_until_done(work: Callable[[], Any]) -> None:
    """Do some work, again where Spark has given up on a Python process that was slow to start."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            work()
            return
        except PipelineFailedError as error:
            if GAVE_UP not in str(error) or time.monotonic() > deadline:
                raise


def kill_during(session: Any, point: KillPoint, work: Callable[[], Any]) -> None:
    """Do some work, kill the process that stops at a point, and do it again to its end."""
    session.dataSource.register(stopping_source(str(point.folder), DefaultSource, FORMAT))
    has_ended = threading.Event()

    def kill() -> None:
        while point.stopped is None and not has_ended.wait(0.05):
            pass
        if point.stopped is not None:
            os.kill(point.stopped, signal.SIGKILL)
        point.release()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        with pytest.raises(PipelineFailedError):
            repeat_until_done(work)
    finally:
        has_ended.set()
        killer.join()
    assert point.stopped is not None, "the work has ended, and nothing has stopped"
    repeat_until_done(work)


@pytest.mark.parametrize(("run_point", "replay_point"), [("writing", "decided")])
def test_each_record_is_good_or_dead_once_when_a_process_is_killed(
    spark, broker, tmp_path, kill_point, monkeypatch, run_point, replay_point
):
    for module in (run_module, batch_writes, replay_module, backfill_module):
        monkeypatch.setattr(module, "FORMAT", FORMAT)
    servers = broker.bootstrap_servers
    source, sink, dead = topics = tuple(new_topic_name(stem) for stem in ("source", "sink", "dead"))
    for topic in (sink, dead):
        create_topic(servers, topic, PARTITIONS)
    records = plant(0, RECORDS, seed=1)
    produce(servers, source, records)
    expected = Expected(records.kinds)
    good = set(range(RECORDS)) - set(records.kinds) - records.dropped()

    def pipeline(version: Version) -> Any:
        return parse(declaration(source, servers, str(tmp_path / "pipeline"), topics, BATCH, version))

    def check() -> None:
        count, bytes_of = originals(servers, source, set(expected.kinds))
        assert count == RECORDS
        assert expected.faults(letters(servers, dead, source), bytes_of) == []
        wanted = sorted(good | expected.good)
        assert np.array_equal(sink_numbers(servers, sink, source), wanted)

    first, corrected = pipeline(Version()), Version(largest=10_000)
    kill_during(spark, kill_point(run_point, 2), lambda: run_module.run(first, spark))
    check()
    pending = expected.pending(letters(servers, dead, source))
    kill_during(
        spark,
        kill_point(replay_point, 1),
        lambda: replay_module.replay(pipeline(corrected), spark, slice_offsets=25),
    )
    assert expected.replay([each.number for each in pending], corrected) == RECORDS // 100
    check()
