"""The targets `tables_by_topic` and `foreach_batch`: a table for each topic, and a function for each batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from harness.durable_steps import Killed, Steps
from kafka.pipelines.targets import TargetError, delta, foreach_batch_sink, parquet, table_per_topic_sink
from kafka.pipelines.targets.storage import Directory

from .pipeline_targets import RUN
from .spark_support import WAIT_S, spark

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


def frame_of(spark: Any, *rows: tuple[str | None, int]) -> Any:
    """Rows as (topic, id), with the struct column that a pipeline adds."""
    given = spark.createDataFrame(list(rows), "topic string, id int")
    return given.selectExpr("id", "named_struct('topic', topic, 'partition', 0, 'offset', id) kafka")


def read(spark: Any, path: Path) -> dict[str, list[int]]:
    return {
        each.name: sorted(row[0] for row in spark.read.parquet(str(each)).select("id").collect())
        for each in sorted(path.iterdir())
        if list(each.glob("*.parquet"))
    }


def test_topics_that_appear_get_tables(spark: Any, tmp_path: Path) -> None:
    sink = table_per_topic_sink(f"{tmp_path}/{{topic}}", format="parquet")
    assert sink.check(WAIT_S) == []
    sink.write(frame_of(spark, ("flights.eu", 1), ("flights.us", 2), ("flights.eu", 3)), RUN, 0)
    sink.write(frame_of(spark, ("flights.eu", 4), ("flights.new", 5)), RUN, 1)
    assert read(spark, tmp_path) == {"flights.eu": [1, 3, 4], "flights.new": [5], "flights.us": [2]}
    assert (tmp_path / "flights.new" / "_committed" / "schema.json").exists()


def test_a_killed_batch_is_completed_in_the_other_tables(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = table_per_topic_sink(f"{tmp_path}/{{topic}}", format="parquet")
    steps = Steps(monkeypatch.setattr, [(parquet, "write_files"), (Directory, "move")])
    expected: dict[str, list[int]] = {"a": [], "b": []}
    for batch in range(100):
        frame = frame_of(spark, ("a", 2 * batch), ("b", 2 * batch + 1))
        expected["a"].append(2 * batch)
        expected["b"].append(2 * batch + 1)
        steps.stop_at(batch)
        try:
            sink.write(frame, RUN, batch)
            break
        except Killed:
            steps.stop_at(-1)
            sink.write(frame.repartition(3), RUN, batch)
        assert read(spark, tmp_path) == expected
    assert read(spark, tmp_path) == expected
    assert batch >= 8, "there are two tables with two steps each"
    assert not frame.is_cached


def test_delta_tables_keep_the_latest_rows(spark: Any, tmp_path: Path) -> None:
    sink = table_per_topic_sink(f"{tmp_path}/{{topic}}", format="delta", key="id", order="at")
    frame = frame_of(spark, ("a", 1), ("b", 1)).selectExpr("id", "1 at", "kafka")
    sink.write(frame, RUN, 0)
    sink.write(frame.selectExpr("id", "2 at", "kafka"), RUN, 1)
    assert [DeltaTable(tmp_path / each).to_pyarrow_table().to_pylist() for each in "ab"] == [[{"id": 1, "at": 2}]] * 2
    assert delta.DeltaSink(delta=str(tmp_path / "a")).check(WAIT_S) == []


def test_rows_that_no_table_can_have(spark: Any, tmp_path: Path) -> None:
    sink = table_per_topic_sink(f"{tmp_path}/{{topic}}", format="parquet")
    with pytest.raises(TargetError, match=r"expected kafka\.topic in each row, got NULL"):
        sink.write(frame_of(spark, (None, 1), ("b", 1)), RUN, 0)
    with pytest.raises(TargetError, match="expected the struct column kafka in the result of the query, which has id"):
        sink.write(frame_of(spark, ("b", 1)).drop("kafka"), RUN, 0)
    catalog = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"file://{tmp_path}"}
    sink = table_per_topic_sink("raw.{topic}", format="iceberg", catalog=catalog)
    with pytest.raises(TargetError, match=r"the topics a-b and a\.b have the same table raw\.a_b"):
        sink.write(frame_of(spark, ("a.b", 1), ("a-b", 1)), RUN, 0)
    assert read(spark, tmp_path) == {}


def test_functions_get_rows_and_the_number_of_the_batch(spark: Any) -> None:
    found: list[tuple[int, list[int]]] = []

    def write(frame: Any, batch: int) -> None:
        found.append((batch, [row.id for row in frame.collect()]))

    foreach_batch_sink(write).write(spark.range(2), RUN, 7)
    assert found == [(7, [0, 1])]
