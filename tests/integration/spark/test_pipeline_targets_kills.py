"""A driver that writes to a target is killed; another one repeats the batch, and each row is there once."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from deltalake import DeltaTable
from pyiceberg.catalog import load_catalog

from harness.postgresql import PASSWORD, USER, NoServerError, postgresql_server
from kafka.pipelines.targets.choice import TARGETS

from .spark_support import QUICK_START, spark
from .targets_driver import ROWS, RUN

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(600)]
DRIVER = Path(__file__).with_name("targets_driver.py")
TESTS = Path(__file__).parents[2]
START_S = 300


def kill_and_repeat(
    spark: Any, folder: Path, given: dict[str, Any], point: str, ids: Callable[[], list[int]], visible: set[int]
) -> None:
    """Let a driver be killed at a point, and repeat its batch, in other partitions.

    Arguments:
        folder: where the driver's output goes.
        given: the target.
        point: the point, such as "after move".
        ids: returns the column id of the rows in the target.
        visible: the numbers of rows that may be visible after the kill.
    """
    (target, *_) = given
    command = [sys.executable, str(DRIVER), target, json.dumps(given), point, QUICK_START]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    log = folder / "driver.log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True, env=environment)
        try:
            code = process.wait(START_S)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert code == -signal.SIGKILL, log.read_text()[-3000:]
    assert f"killed {point}" in log.read_text()
    assert len(ids()) in visible
    frame = spark.range(20).selectExpr(*ROWS.split(", ")).repartition(5, "name")
    for _ in range(2):
        TARGETS[target].model_validate(given).write(frame, RUN, 0)
        assert sorted(ids()) == list(range(20))


def test_parquet(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "flights"

    def ids() -> list[int]:
        return [row.id for row in spark.read.parquet(str(path)).select("id").collect()]

    kill_and_repeat(spark, tmp_path, {"parquet": str(path)}, "after move", ids, set(range(1, 20)))


@pytest.mark.parametrize("point", ["after write_files", "after create_write_transaction"])
def test_delta(spark: Any, tmp_path: Path, point: str) -> None:
    def ids() -> list[int]:
        return list(DeltaTable(tmp_path / "flights").to_pyarrow_table()["id"].to_pylist())

    visible = {0} if point == "after write_files" else {20}
    kill_and_repeat(spark, tmp_path, {"delta": str(tmp_path / "flights")}, point, ids, visible)


def test_iceberg(spark: Any, tmp_path: Path) -> None:
    catalog = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"file://{tmp_path}"}

    def ids() -> list[int]:
        return list(load_catalog("default", **catalog).load_table("a.flights").scan().to_arrow()["id"].to_pylist())

    given = {"iceberg": "a.flights", "key": ["id"], "order": "ts", "catalog": catalog}
    kill_and_repeat(spark, tmp_path, given, "after commit_table", ids, {20})


def test_postgresql(spark: Any, tmp_path: Path) -> None:
    try:
        with postgresql_server() as server:

            def ids() -> list[int]:
                with psycopg.connect(server.with_password) as connection:
                    return [row[0] for row in connection.execute("select id from flights").fetchall()]

            given = {"postgresql": "flights", "url": server.url, "user": USER, "password": PASSWORD}
            kill_and_repeat(spark, tmp_path, given, "after copy_rows", ids, {0})
    except NoServerError as error:
        pytest.skip(f"PostgreSQL: {error}")
