"""A query goes on where it stopped: after a stop, and after its driver was killed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .spark_support import QUICK_START, load_stream, numbered, numbers, produce, spark, wait_until

__all__ = ["spark"]

DRIVER = Path(__file__).with_name("spark_driver.py")


@contextlib.contextmanager
def driver(broker: Any, topic: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A driver in a process group of its own, with its JVM; killed, all of it, in the end."""
    command = [sys.executable, str(DRIVER), broker.bootstrap_servers, topic, str(folder), QUICK_START]
    with (folder / "driver.log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        try:
            yield process
        finally:
            kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def committed(folder: Path) -> int:
    """Up to which offset, over all partitions together, the checkpoint says that the query is done."""
    done = [int(path.name) for path in (folder / "checkpoint" / "commits").glob("[0-9]*")]
    if not done:
        return -1
    layout = json.loads((folder / "checkpoint" / "offsets" / str(max(done))).read_text().splitlines()[-1])
    return sum(sum(offsets.values()) for topic, offsets in layout.items() if " " not in topic)


def offsets_logged(folder: Path) -> int:
    """How many batches the checkpoint says have begun."""
    return sum(1 for path in (folder / "checkpoint" / "offsets").glob("[0-9]*"))


def alive(process: subprocess.Popen[bytes], folder: Path) -> bool:
    assert process.poll() is None, (folder / "driver.log").read_text()[-3_000:]
    return True


def copy(spark: Any, broker: Any, topic: str, folder: Path, **given: Any) -> Any:
    """The query of `spark_driver`, in the session of the tests; it goes on from the checkpoint in the folder."""
    stream = load_stream(spark, broker, topic, maxOffsetsPerTrigger=20, **given)
    writer = stream.writeStream.format("parquet").option("checkpointLocation", f"{folder}/checkpoint")
    return writer.start(f"{folder}/rows")


def finish(query: Any, folder: Path, end: int) -> None:
    """Let a query run until it has committed up to an end, and stop it."""
    try:
        wait_until(lambda: committed(folder) == end, query)
    finally:
        query.stop()


def test_a_query_that_was_stopped_goes_on(spark, broker, make_topic, tmp_path):
    topic = make_topic(partitions=2)
    produce(broker.bootstrap_servers, topic, numbered(50, partitions=2))
    query = copy(spark, broker, topic, tmp_path, startingOffsets="earliest")
    wait_until(lambda: committed(tmp_path) > 0, query)
    query.stop()
    produce(broker.bootstrap_servers, topic, numbered(50, partitions=2, first=50))
    finish(copy(spark, broker, topic, tmp_path, startingOffsets="earliest"), tmp_path, 100)
    assert numbers(spark.read.parquet(f"{tmp_path}/rows")) == list(range(100))


def test_a_query_whose_driver_was_killed_loses_nothing(spark, broker, make_topic, tmp_path):
    topic = make_topic(partitions=2)
    produce(broker.bootstrap_servers, topic, numbered(10, partitions=2))
    with driver(broker, topic, tmp_path) as process:
        wait_until(lambda: alive(process, tmp_path) and committed(tmp_path) == 10)
        produce(broker.bootstrap_servers, topic, numbered(100, partitions=2, first=10))
        wait_until(lambda: alive(process, tmp_path) and committed(tmp_path) >= 30)
    assert committed(tmp_path) < 110, "the driver was to be killed on its way"
    produce(broker.bootstrap_servers, topic, numbered(20, partitions=2, first=110))
    finish(copy(spark, broker, topic, tmp_path), tmp_path, 130)
    assert numbers(spark.read.parquet(f"{tmp_path}/rows")) == list(range(10, 130))


def test_a_query_that_died_in_its_first_batch_begins_where_it_began(spark, broker, make_topic, tmp_path):
    topic = make_topic(partitions=2)
    produce(broker.bootstrap_servers, topic, numbered(10, partitions=2))
    query = copy(spark, broker, topic, tmp_path)
    wait_until(lambda: offsets_logged(tmp_path) >= 1, query)
    query.stop()
    for done in (tmp_path / "checkpoint" / "commits", tmp_path / "rows"):  # as if it had got no further
        shutil.rmtree(done, ignore_errors=True)
    produce(broker.bootstrap_servers, topic, numbered(30, partitions=2, first=10))
    finish(copy(spark, broker, topic, tmp_path), tmp_path, 40)
    assert numbers(spark.read.parquet(f"{tmp_path}/rows")) == list(range(10, 40))
