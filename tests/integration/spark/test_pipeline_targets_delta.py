"""The target Delta: each row once, or the latest row for each key, also after an interruption at any step."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest
from deltalake import CommitProperties, DeltaTable, write_deltalake

from harness.durable_steps import Steps, steps_of
from kafka.pipelines.targets import RejectedRowError, TargetError, delta, delta_sink

from .pipeline_targets import RUN, batches, kill_again_and_again, kill_everywhere
from .spark_support import WAIT_S, spark

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


def steps_of_delta(monkeypatch: pytest.MonkeyPatch) -> Steps:
    return Steps(monkeypatch.setattr, steps_of("delta"))


def read(path: Path, *names: str) -> list[tuple[Any, ...]]:
    rows = DeltaTable(path).to_pyarrow_table().to_pylist()
    return sorted((tuple(row[name] for name in names or row) for row in rows), key=repr)


def rows_of(path: Path) -> list[tuple[Any, ...]]:
    """The rows in the form of `batches`: Spark's times are in the local time zone."""
    return sorted(
        (row["id"], row["day"], row["ts"].astimezone().replace(tzinfo=None), row["name"])
        for row in DeltaTable(path).to_pyarrow_table().to_pylist()
    )


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"partition_by": "day"}, {"key": "id", "order": "ts"}])
def test_each_row_is_there_once_after_a_kill_at_any_step(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, str]
) -> None:
    counts: list[int] = []

    def no_batch_is_there_in_part() -> None:
        if (tmp_path / "table" / "_delta_log").exists():
            counts.append(len(read(tmp_path / "table")))

    sink = delta_sink(str(tmp_path / "table"), **options)
    steps = steps_of_delta(monkeypatch)
    names = kill_everywhere(spark, sink, steps, lambda: rows_of(tmp_path / "table"), no_batch_is_there_in_part)
    assert {"before write_files", "after write_files", "before _commit", "after _commit"} < set(names)
    assert not any(count % 5 for count in counts)
    (last, *_) = DeltaTable(tmp_path / "table").history(1)
    assert last["kafka.run"] == RUN
    assert int(last["kafka.batch"]) == DeltaTable(tmp_path / "table").transaction_version(RUN)
    assert not list(tmp_path.glob("table/_staging/*/*"))


@pytest.mark.parametrize("options", [{}, {"key": "id", "order": "ts"}])
def test_each_row_is_there_once_after_many_kills_of_a_batch(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, str]
) -> None:
    sink = delta_sink(str(tmp_path), **options)
    kill_again_and_again(spark, sink, steps_of_delta(monkeypatch), lambda: rows_of(tmp_path))


def test_only_one_of_two_processes_commits_a_batch(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = delta_sink(str(tmp_path))
    _, rows, frame, other_frame = next(batches(spark))
    write_files = delta.write_files

    def write_while_another_process_does(*arguments: Any) -> Any:
        monkeypatch.undo()
        files = write_files(*arguments)
        sink.write(other_frame, RUN, 0)
        return files

    monkeypatch.setattr(delta, "write_files", write_while_another_process_does)
    sink.write(frame, RUN, 0)
    assert rows_of(tmp_path) == sorted(rows)


@pytest.mark.parametrize("options", [{}, {"key": "id", "order": "ts"}])
def test_other_writers_do_not_disturb(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, str]
) -> None:
    sink = delta_sink(str(tmp_path), **options)
    numbered = batches(spark)
    _, rows, frame, _ = next(numbered)
    _, other_rows, other_frame, _ = next(numbered)
    write_files = delta.write_files

    def write_while_another_run_does(*arguments: Any) -> Any:
        monkeypatch.undo()
        files = write_files(*arguments)
        sink.write(other_frame, "flights/replay/3", 0)
        return files

    monkeypatch.setattr(delta, "write_files", write_while_another_run_does)
    sink.write(frame, RUN, 0)
    assert rows_of(tmp_path) == sorted(rows + other_rows)


def test_the_number_of_the_batch_survives_a_cleanup(spark: Any, tmp_path: Path) -> None:
    sink = delta_sink(str(tmp_path))
    _, rows, frame, _ = next(batches(spark))
    sink.write(frame, RUN, 0)
    table = DeltaTable(tmp_path)
    table.optimize.compact(commit_properties=CommitProperties())
    table.create_checkpoint()
    table.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
    sink.write(frame, RUN, 0)
    assert rows_of(tmp_path) == sorted(rows)


def test_the_latest_row_for_each_key_wins(spark: Any, tmp_path: Path) -> None:
    sink = delta_sink(str(tmp_path), key=["a", "B c"], order="At")

    def write(batch: int, rows: str) -> list[tuple[Any, ...]]:
        sink.write(spark.sql(f"select * from values {rows} as rows(a, `B c`, At, v)"), RUN, batch)
        return read(tmp_path, "a", "B c", "At", "v")

    assert write(0, "(1, 'x', 10, 'first'), (1, 'x', 30, 'third'), (1, 'x', 20, 'second'), (1, 'y', 5, 'y')") == [
        (1, "x", 30, "third"),
        (1, "y", 5, "y"),
    ]
    assert write(1, "(1, 'x', 25, 'older'), (1, 'y', 5, 'later')") == [(1, "x", 30, "third"), (1, "y", 5, "later")]
    assert write(2, "(1, 'x', cast(null as int), 'oldest'), (2, 'z', null, 'new')") == [
        (1, "x", 30, "third"),
        (1, "y", 5, "later"),
        (2, "z", None, "new"),
    ]
    assert write(3, "(2, 'z', 1, 'newer')")[-1] == (2, "z", 1, "newer")
    assert write(3, "(2, 'z', 2, 'ignored: the batch is complete')")[-1] == (2, "z", 1, "newer")
    with pytest.raises(RejectedRowError, match=r"expected a value in each column of key \(a, B c\).*'?B c'?=None"):
        write(4, "(1, 'x', 99, 'v'), (7, null, 99, 'v')")
    assert len(read(tmp_path)) == 3


def test_types(spark: Any, tmp_path: Path) -> None:
    frame = spark.sql(
        "select tinyint(1) a, smallint(2) b, 3 c, 4L d, float(0.5) e, double(0.25) f, true g, binary('x') h, "
        "cast(1.25 as decimal(10, 2)) i, date'2026-11-27' j, timestamp'2026-11-27 12:00:00.123456' k, "
        "timestamp_ntz'2026-11-27 12:00:00' l, array('a', null) m, map('k', array(1)) n, "
        "named_struct('x', 1, 'y', named_struct('z', date'2026-01-01')) o, 'dots' `p.q`"
    )
    delta_sink(str(tmp_path)).write(frame, RUN, 0)
    (found,) = DeltaTable(tmp_path).to_pyarrow_table().to_pylist()
    assert found["k"].astimezone().replace(tzinfo=None) == datetime.datetime(2026, 11, 27, 12, 0, 0, 123456)
    expected = frame.drop("k").collect()[0].asDict(recursive=True)
    expected["n"] = [("k", [1])]
    assert {name: value for name, value in found.items() if name != "k"} == expected


def test_tables_that_do_not_fit(spark: Any, tmp_path: Path) -> None:
    import pyarrow as pa

    write_deltalake(tmp_path, pa.table({"id": pa.array([1], pa.int64()), "more": ["x"]}))
    sink = delta_sink(str(tmp_path))
    with pytest.raises(TargetError, match="the query has a column 'name', which the table does not have"):
        sink.write(spark.sql("select 1 id, 'a' name"), RUN, 0)
    with pytest.raises(TargetError, match="column 'id': the table has int64, the query string"):
        sink.write(spark.sql("select '1' id"), RUN, 0)
    sink.write(spark.sql("select 2 id"), RUN, 0)
    assert read(tmp_path, "id", "more") == [(1, "x"), (2, None)]
    assert delta_sink(str(tmp_path), key="id", order="at").check(WAIT_S) == [
        f"sink delta {tmp_path}: expected a column 'at', but the table has id, more"
    ]
    with pytest.raises(TargetError, match="expected a column 'at', but the query has id"):
        delta_sink(str(tmp_path), key="id", order="at").write(spark.sql("select 2 id"), RUN, 1)
