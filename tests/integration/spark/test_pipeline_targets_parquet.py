"""The target Parquet: each row once, also after an interruption at any step."""

from __future__ import annotations

import datetime
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import functions as f

from harness.durable_steps import Steps, steps_of
from kafka.pipelines.targets import RejectedRowError, TargetError, parquet_sink

from .pipeline_targets import RUN, batches, kill_again_and_again, kill_everywhere
from .spark_support import spark

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


def steps_of_parquet(monkeypatch: pytest.MonkeyPatch) -> Steps:
    return Steps(monkeypatch.setattr, steps_of("parquet"))


def read(spark: Any, path: Path) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in spark.read.parquet(str(path)).select("id", "day", "ts", "name").collect())


def visible(path: Path) -> list[str]:
    return sorted(str(each.relative_to(path)) for each in path.rglob("*.parquet"))


@pytest.mark.slow
def test_each_row_is_there_once_after_a_kill_at_any_step(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "flights"
    sink = parquet_sink(str(path), partition_by="to_date(ts)")

    def no_row_is_there_twice() -> None:
        if visible(path):
            ids = [row[0] for row in read(spark, path)]
            assert len(ids) == len(set(ids))
        assert set(sink.committed_files()) <= set(visible(path))

    steps = steps_of_parquet(monkeypatch)
    names = kill_everywhere(spark, sink, steps, lambda: read(spark, path), no_row_is_there_twice)
    assert {"before write_files", "after write_files", "before write", "after write", "before move"} < set(names)
    assert sink.committed_files() == visible(path)
    assert not [each for each in path.glob("_staging/*/*/*") if each.is_file()]
    assert {each.split("/")[0] for each in visible(path)} == {"date=2026-11-27"}
    assert len(pd.read_parquet(path)) == len(read(spark, path)), "pandas sees the same rows as Spark"


def test_each_row_is_there_once_after_many_kills_of_a_batch(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = parquet_sink(str(tmp_path))
    kill_again_and_again(spark, sink, steps_of_parquet(monkeypatch), lambda: read(spark, tmp_path))
    assert all(
        re.fullmatch(r"flights-stream-[0-9a-f]{10}-000000000000-0000\d\.parquet", each) for each in visible(tmp_path)
    )


def test_runs_do_not_disturb_each_other(spark: Any, tmp_path: Path) -> None:
    sink = parquet_sink(str(tmp_path), partition_by="day as on_day")
    numbered = batches(spark)
    _, rows, frame, _ = next(numbered)
    _, other_rows, other_frame, _ = next(numbered)
    for _ in range(2):
        sink.write(frame, RUN, 0)
        sink.write(other_frame, "flights/replay/3", 0)
    assert read(spark, tmp_path) == sorted(rows + other_rows)
    assert {each.split("/")[0] for each in visible(tmp_path)} == {f"on_day=2026-11-{day}" for day in (20, 21, 22)}


def test_a_row_without_a_date_is_an_error_that_shows_the_row(spark: Any, tmp_path: Path) -> None:
    frame = spark.createDataFrame([(1, "2026-11-27"), (2, None)], "id int, ts string")
    sink = parquet_sink(str(tmp_path), partition_by="to_date(ts)")
    with pytest.raises(RejectedRowError, match=r"expected a value of partition_by \(to_date\(ts\)\).*id=2, ts=None"):
        sink.write(frame, RUN, 0)
    assert not [each for each in tmp_path.rglob("*") if each.is_file() and each.name != "schema.json"]
    sink.write(frame.where("ts is not null"), RUN, 0)
    assert visible(tmp_path)
    assert all(each.startswith("date=2026-11-27/") for each in visible(tmp_path))


def test_values_of_partitions_are_escaped_as_in_spark(spark: Any, tmp_path: Path) -> None:
    values = ["a/b", "c=d", "100%", "née", "x y", "q:r"]
    frame = spark.createDataFrame([(each, index) for index, each in enumerate(values)], "name string, id int")
    parquet_sink(str(tmp_path), partition_by="name as part").write(frame, RUN, 0)
    found = spark.read.parquet(str(tmp_path)).where(f.col("part") == f.col("name"))
    assert found.count() == len(values)
    with pytest.raises(RejectedRowError):
        parquet_sink(str(tmp_path), partition_by="name as part").write(frame.withColumn("name", f.lit("")), RUN, 1)


def test_other_types_than_before_are_an_error(spark: Any, tmp_path: Path) -> None:
    sink = parquet_sink(str(tmp_path))
    sink.write(spark.sql("select 1 id, 'a' name"), RUN, 0)
    with pytest.raises(TargetError, match="column 'id': earlier batches have int32, the query string"):
        sink.write(spark.sql("select 'x' id"), RUN, 1)
    sink.write(spark.sql("select 2 id, 'b' name, date'2026-11-27' day"), RUN, 1)
    found = spark.read.option("mergeSchema", "true").parquet(str(tmp_path)).orderBy("id")
    assert [tuple(row) for row in found.collect()] == [(1, "a", None), (2, "b", datetime.date(2026, 11, 27))]


@pytest.mark.parametrize(
    ("partition_by", "problem"),
    [
        ("day", "creates the column 'date', but the query has a column of this name"),
        ("double(1) as part", "expected partition_by to be a date, string, .*, got double"),
    ],
)
def test_partitions_that_cannot_be(spark: Any, tmp_path: Path, partition_by: str, problem: str) -> None:
    frame = spark.sql("select date'2026-11-27' day, 1 date")
    with pytest.raises(TargetError, match=problem):
        parquet_sink(str(tmp_path), partition_by=partition_by).write(frame, RUN, 0)


def test_types(spark: Any, tmp_path: Path) -> None:
    frame = spark.sql(
        "select tinyint(1) a, smallint(2) b, 3 c, 4L d, float(0.5) e, double(0.25) f, true g, binary('x') h, "
        "cast(1.25 as decimal(10, 2)) i, date'2026-11-27' j, timestamp'2026-11-27 12:00:00.123456' k, "
        "timestamp_ntz'2026-11-27 12:00:00' l, array('a', null) m, map('k', array(1)) n, "
        "named_struct('x', 1, 'y', named_struct('z', date'2026-01-01')) o"
    )
    parquet_sink(str(tmp_path)).write(frame, RUN, 0)
    found = spark.read.parquet(str(tmp_path))
    assert found.collect() == frame.collect()
    assert [(each.name, each.dataType.simpleString()) for each in found.schema] == [
        (each.name, each.dataType.simpleString()) for each in frame.schema
    ]
    with pytest.raises(TargetError, match="column 'p' has the type interval day"):
        parquet_sink(str(tmp_path)).write(spark.sql("select interval 1 day p"), RUN, 1)
