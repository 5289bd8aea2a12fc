"""Points of the exactly-once sink of `kafka.spark` at which a test stops a process, to kill it or another one there.

`stopping_source` makes a format for Spark whose sink is that of `kafka_columnar` and stops once at a point. Spark's
processes take this module by value, as they cannot import it: whatever a function needs it imports itself. `KillPoint`
is the test's side. Both talk through files in a folder.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

DRIVER_POINTS = ("planned", "undecided", "deciding", "decided", "committing", "committed")
"""Where the driver's processes stop: the batch is planned; all tasks have written, nothing is decided; the decision is
written, but its transaction is open; it is committed; half of the tasks' transactions are; all are, and Spark does not
know it yet."""
TASK_POINTS = ("begun", "writing", "written")
"""Where a task's process stops: its transaction has begun; a part of its rows is in Kafka; all are."""
OLDER_DRIVER_POINTS = ("aborting",)
"""Where a driver stops that was replaced meanwhile: it is about to abort what an earlier one has left open."""
FORMAT = "stopping_kafka_columnar"
LONGEST_S = 600.0
"""Seconds after which a process continues without being told, so that a killed test leaves none behind."""


class KillPoint:
    """The test's side of a point: waits until a process has stopped there, and lets it go on.

    Arguments:
        folder: a new one.
        point: one of `DRIVER_POINTS`, `TASK_POINTS` and `OLDER_DRIVER_POINTS`.
        time_number: which time that a process comes there it stops, from 1.
    """

    def __init__(self, folder: Path, point: str, time_number: int) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / f"stop-{point}").write_text(str(time_number))

    @property
    def stopped(self) -> int | None:
        """The process that has stopped; None: none yet."""
        with contextlib.suppress(FileNotFoundError):
            return int((self.folder / "stopped").read_text())
        return None

    def release(self) -> None:
        """Let the process go on, if it still lives."""
        (self.folder / "released").touch()


def stopping_source(folder: str, base: type | None = None, name: str = FORMAT) -> type:
    """The class of a data source, for `spark.dataSource.register`.

    Arguments:
        folder: of the `KillPoint`; one that does not exist stops nothing. It can be a link, which is resolved each time
            that a process comes to a point.
        base: the class that reads; None for a source that only writes.
        name: of the format.
    """
    import sys

    from pyspark import cloudpickle
    from pyspark.sql.datasource import DataSource, DataSourceArrowWriter

    from kafka.spark.pyspark_versions import DataSourceStreamArrowWriter

    cloudpickle.register_pickle_by_value(sys.modules[__name__])

    class Writer:
        def __init__(self, writer: Any) -> None:
            install(folder)
            self._writer = writer

        def write(self, batches: Any) -> Any:
            install(folder)
            message = self._writer.write(batches)
            stop(folder, "written")
            return message

        def commit(self, messages: Any, *batch: int) -> None:
            install(folder)
            self._writer.commit(messages, *batch)
            stop(folder, "committed")

        def abort(self, messages: Any, *batch: int) -> None:
            self._writer.abort(messages, *batch)

    class BatchWriter(Writer, DataSourceArrowWriter):  # type: ignore[misc]  # PySpark's classes are untyped here
        pass

    class StreamWriter(Writer, DataSourceStreamArrowWriter):  # type: ignore[misc]
        pass

    class StoppingSource(base or DataSource):  # type: ignore[misc]
        @classmethod
        def name(cls) -> str:
            return name

        def writer(self, schema: Any, overwrite: bool) -> Any:
            from kafka.spark.writers import KafkaBatchWriter

            return BatchWriter(KafkaBatchWriter(self.options, schema, overwrite))

        def streamWriter(self, schema: Any, overwrite: bool) -> Any:  # noqa: N802  # Spark's name
            from kafka.spark.writers import KafkaStreamWriter

            return StreamWriter(KafkaStreamWriter(self.options, schema))

    return StoppingSource


def comes_to(folder: str, point: str) -> bool:
    """Whether this process is the one that stops at a point now; it says so to the test."""
    import fcntl
    import os
    from pathlib import Path

    home = Path(folder)
    try:
        wanted = int((home / f"stop-{point}").read_text())
    except FileNotFoundError:
        return False
    with (home / f"times-{point}").open("ab") as times:
        fcntl.flock(times, fcntl.LOCK_EX)
        times.write(b".")
        times.flush()
        number = times.tell()
    if number != wanted:
        return False
    (home / "stopping").write_text(str(os.getpid()))
    (home / "stopping").rename(home / "stopped")
    return True


def stop(folder: str, point: str) -> None:
    """Stop until the test releases this process."""
    import os

    folder = os.path.realpath(folder)
    if comes_to(folder, point):
        deadline = time.monotonic() + LONGEST_S
        while is_held(folder) and time.monotonic() < deadline:
            time.sleep(0.02)


async def stop_on_loop(folder: str, point: str) -> None:
    """As `stop`, on the loop."""
    import asyncio
    import os

    folder = os.path.realpath(folder)
    if comes_to(folder, point):
        deadline = time.monotonic() + LONGEST_S
        while is_held(folder) and time.monotonic() < deadline:
            await asyncio.sleep(0.02)


def is_held(folder: str) -> bool:
    """Whether the test has not released the process that has stopped."""
    from pathlib import Path

    return Path(folder).exists() and not (Path(folder) / "released").exists()


def install(folder: str) -> None:
    """Have the sink of this process stop at the points of a folder, which may be another than before."""
    import importlib

    driver: Any = importlib.import_module("kafka.spark.exactly_once.driver_steps")
    task: Any = importlib.import_module("kafka.spark.exactly_once.task")
    prefix_access: Any = importlib.import_module("kafka.spark.exactly_once.prefix_access")
    prefix_access.LIMIT_MS = LONGEST_S * 1_000  # the time that it stops is not the brokers'
    access: Any = prefix_access.PrefixAccess
    requests: Any = importlib.import_module("kafka.producer.transactions.transaction_requests").TransactionRequests
    is_installed = hasattr(driver, "stops_at")
    driver.stops_at = folder
    if is_installed:
        return
    plan, decide, end_all = driver.plan, access.decide, access.end
    end, deliver, abort_ids = requests.end, task.deliver, access.abort_ids

    def where() -> str:
        return str(driver.stops_at)

    async def stopping_plan(*args: Any) -> Any:
        planned = await plan(*args)
        await stop_on_loop(where(), "planned")
        return planned

    async def stopping_decide(*args: Any) -> None:
        await stop_on_loop(where(), "undecided")
        await decide(*args)
        await stop_on_loop(where(), "decided")

    async def stopping_end(self: Any, transaction: Any, commit: bool) -> Any:
        if commit and transaction.transactional_id.endswith("-driver"):
            await stop_on_loop(where(), "deciding")
        return await end(self, transaction, commit)

    async def stopping_end_all(self: Any, transactions: Any, *, commit: bool) -> Any:
        each = list(transactions)
        if not commit:
            return await end_all(self, each, commit=commit)
        done = await end_all(self, each[: len(each) // 2], commit=commit)
        await stop_on_loop(where(), "committing")
        return done | await end_all(self, each[len(each) // 2 :], commit=commit)

    async def stopping_abort_ids(self: Any, transactional_ids: Any) -> None:
        await stop_on_loop(where(), "aborting")
        await abort_ids(self, transactional_ids)

    def stopping_deliver(producer: Any, options: Any, batches: Any, note: Callable[[Any], object]) -> int:
        stop(where(), "begun")
        rows: int = deliver(producer, options, [next(batches)], note)
        stop(where(), "writing")
        rows += deliver(producer, options, batches, note)
        return rows

    driver.plan = stopping_plan
    access.decide = stopping_decide
    access.end = stopping_end_all
    access.abort_ids = stopping_abort_ids
    requests.end = stopping_end
    task.deliver = stopping_deliver
