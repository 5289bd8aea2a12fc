"""The target Iceberg: each row once, or the latest row for each key, also after an interruption at any step."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.transforms import DayTransform

from harness.durable_steps import Steps, steps_of
from kafka.pipelines.targets import RejectedRowError, TargetError, iceberg, iceberg_sink
from kafka.pipelines.targets.iceberg import IcebergSink

from .pipeline_targets import RUN, batches, kill_again_and_again, kill_everywhere
from .spark_support import WAIT_S, spark

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
TABLE = "flights.delays"
KEYED = {"key": "id", "order": "ts"}


def properties(path: Path) -> dict[str, str]:
    return {"type": "sql", "uri": f"sqlite:///{path}/catalog.db", "warehouse": f"file://{path}"}


def catalog_of(path: Path) -> Catalog:
    return load_catalog("default", **properties(path))


def sink_of(path: Path, **options: Any) -> IcebergSink:
    return iceberg_sink(TABLE, catalog=properties(path), **options)


def steps_of_iceberg(monkeypatch: pytest.MonkeyPatch) -> Steps:
    return Steps(monkeypatch.setattr, steps_of("iceberg"))


def read(path: Path, *names: str) -> list[tuple[Any, ...]]:
    rows = catalog_of(path).load_table(TABLE).scan().to_arrow().to_pylist()
    return sorted((tuple(row[name] for name in names or row) for row in rows), key=repr)


def rows_of(path: Path) -> list[tuple[Any, ...]]:
    """The rows in the form of `batches`: Spark's times are in the local time zone."""
    return sorted(
        (row[0], row[1], row[2].astimezone().replace(tzinfo=None), row[3])
        for row in read(path, "id", "day", "ts", "name")
    )


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, KEYED])
def test_each_row_is_there_once_after_a_kill_at_any_step(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, str]
) -> None:
    counts: list[int] = []

    def no_batch_is_there_in_part() -> None:
        if catalog_of(tmp_path).table_exists(TABLE):
            counts.append(len(read(tmp_path)))

    steps = steps_of_iceberg(monkeypatch)
    sink = sink_of(tmp_path, **options)
    names = kill_everywhere(spark, sink, steps, lambda: rows_of(tmp_path), no_batch_is_there_in_part)
    assert {"before write_files", "after write_files", "before commit_table", "after commit_table"} < set(names)
    assert counts
    assert not any(count % 5 for count in counts)
    table = catalog_of(tmp_path).load_table(TABLE)
    snapshot = table.current_snapshot()
    assert snapshot is not None
    assert snapshot.summary is not None
    assert snapshot.summary["kafka.run"] == RUN
    assert snapshot.summary["kafka.batch"] == table.properties[f"kafka.batch.{RUN}"]


@pytest.mark.parametrize("options", [{}, KEYED])
def test_each_row_is_there_once_after_many_kills_of_a_batch(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, str]
) -> None:
    kill_again_and_again(spark, sink_of(tmp_path, **options), steps_of_iceberg(monkeypatch), lambda: rows_of(tmp_path))


@pytest.mark.parametrize("options", [{}, KEYED])
@pytest.mark.parametrize("run", [RUN, "flights/replay/3"])
def test_another_process_commits_at_the_same_time(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, str], run: str
) -> None:
    """Of the same batch, only one is committed; of batches of different runs, both are."""
    sink = sink_of(tmp_path, **options)
    numbered = batches(spark)
    _, rows, frame, other_frame = next(numbered)
    if run != RUN:
        _, other_rows, other_frame, _ = next(numbered)
        rows = rows + other_rows
    write_files = iceberg.write_files

    def write_while_another_process_does(*arguments: Any) -> Any:
        monkeypatch.undo()
        files = write_files(*arguments)
        sink.write(other_frame, run, 0)
        return files

    monkeypatch.setattr(iceberg, "write_files", write_while_another_process_does)
    sink.write(frame, RUN, 0)
    assert rows_of(tmp_path) == sorted(rows)


def test_the_number_of_the_batch_survives_the_expiry_of_snapshots(spark: Any, tmp_path: Path) -> None:
    sink = sink_of(tmp_path)
    numbered = batches(spark)
    _, rows, frame, _ = next(numbered)
    _, other_rows, other_frame, _ = next(numbered)
    sink.write(frame, RUN, 0)
    sink.write(other_frame, "flights/replay/3", 0)
    table = catalog_of(tmp_path).load_table(TABLE)
    table.maintenance.expire_snapshots().by_id(table.history()[0].snapshot_id).commit()
    sink.write(frame, RUN, 0)
    assert rows_of(tmp_path) == sorted(rows + other_rows)


def test_the_latest_row_for_each_key_wins(spark: Any, tmp_path: Path) -> None:
    sink = sink_of(tmp_path, key=["a", "B c"], order="At")

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
    with pytest.raises(RejectedRowError, match=r"expected a value in each column of key \(a, B c\).*B c=None"):
        write(4, "(1, 'x', 99, 'v'), (7, null, 99, 'v')")
    assert len(read(tmp_path)) == 3


def test_files_without_keys_of_the_batch_are_not_rewritten(spark: Any, tmp_path: Path) -> None:
    sink = sink_of(tmp_path, **KEYED)
    sink.write(spark.sql("select 1L id, timestamp'2026-01-01' ts"), RUN, 0)
    sink.write(spark.sql("select id, timestamp'2026-01-01' ts from values (3L), (9L) as rows(id)"), RUN, 1)
    table = catalog_of(tmp_path).load_table(TABLE)
    before = {each.file.file_path for each in table.scan().plan_files()}
    sink.write(spark.sql("select id, timestamp'2026-01-02' ts from values (1L), (7L) as rows(id)"), RUN, 2)
    after = {each.file.file_path for each in table.refresh().scan().plan_files()}
    assert len(before) == 2
    assert len(before & after) == 1, "7 is between 3 and 9, but not in the file"
    assert [row[0] for row in read(tmp_path, "id")] == [1, 3, 7, 9]


@pytest.mark.parametrize("options", [{}, KEYED])
def test_an_existing_table_with_rows_more_columns_and_wider_types(
    spark: Any, tmp_path: Path, options: dict[str, str]
) -> None:
    kind = pa.schema([("more", pa.string()), ("id", pa.int64()), ("ts", pa.timestamp("us"))])
    catalog = catalog_of(tmp_path)
    catalog.create_namespace("flights")
    day = datetime.datetime(2026, 11, 27)
    catalog.create_table(TABLE, schema=kind).append(
        pa.table({"more": ["x", "y"], "id": [1, 2], "ts": pa.array([day, day])}, schema=kind)
    )
    sink = sink_of(tmp_path, **options)
    assert sink.check(WAIT_S) == []
    sink.write(spark.sql("select 2 id, timestamp_ntz'2026-11-28 00:00:00' ts"), RUN, 0)
    sink.write(spark.sql("select 3 id, timestamp_ntz'2026-11-29 00:00:00' ts"), RUN, 1)
    kept = [] if options else [(2, day, "y")]
    assert read(tmp_path, "id", "ts", "more") == sorted(
        [
            (1, day, "x"),
            *kept,
            (2, datetime.datetime(2026, 11, 28), None),
            (3, datetime.datetime(2026, 11, 29), None),
        ],
        key=repr,
    )


@pytest.mark.parametrize("options", [{}, {"key": "c", "order": "d"}])
def test_types(spark: Any, tmp_path: Path, options: dict[str, str]) -> None:
    frame = spark.sql(
        "select tinyint(1) a, smallint(2) b, 3 c, 4L d, float(0.5) e, double(0.25) f, true g, binary('x') h, "
        "cast(1.25 as decimal(10, 2)) i, date'2026-11-27' j, timestamp'2026-11-27 12:00:00.123456' k, "
        "timestamp_ntz'2026-11-27 12:00:00' l, array('a', null) m, map('k', array(1)) n, "
        "named_struct('x', 1, 'y', named_struct('z', date'2026-01-01')) o"
    )
    sink = sink_of(tmp_path, **options)
    sink.write(frame, RUN, 0)
    sink.write(frame, RUN, 1)  # with a key, the row is read and rewritten
    found = catalog_of(tmp_path).load_table(TABLE).scan().to_arrow().to_pylist()
    assert len(found) == (1 if options else 2)
    assert found[0]["k"].astimezone().replace(tzinfo=None) == datetime.datetime(2026, 11, 27, 12, 0, 0, 123456)
    expected = frame.drop("k").collect()[0].asDict(recursive=True)
    expected["n"] = [("k", [1])]
    assert {name: value for name, value in found[0].items() if name != "k"} == expected


def test_tables_that_do_not_fit(spark: Any, tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path)
    catalog.create_namespace("flights")
    table = catalog.create_table(TABLE, schema=pa.schema([("id", pa.int64()), ("day", pa.date32())]))
    with pytest.raises(TargetError, match="the query has a column 'name', which the table does not have"):
        sink_of(tmp_path).write(spark.sql("select 1 id, 'a' name"), RUN, 0)
    with pytest.raises(TargetError, match=r"column 'id': the table has .*int64, the query string"):
        sink_of(tmp_path).write(spark.sql("select '1' id"), RUN, 0)
    (problem,) = sink_of(tmp_path, key="id", order="at").check(WAIT_S)
    assert problem == f"sink iceberg {TABLE}: expected a column 'at', but the table has id, day"
    with table.update_spec() as update:
        update.add_field("day", DayTransform())
    (problem,) = sink_of(tmp_path).check(WAIT_S)
    assert "expected a table without partitions" in problem
    with pytest.raises(TargetError, match="expected a table without partitions"):
        sink_of(tmp_path).write(spark.sql("select 1 id"), RUN, 0)


def test_the_properties_of_the_catalog_are_secret() -> None:
    sink = iceberg_sink(TABLE, catalog={"type": "sql", "uri": "postgresql+nothing://user:wrong-secret@nowhere/x"})
    (problem,) = sink.check(WAIT_S)
    assert problem.startswith(f"sink iceberg {TABLE}: the catalog 'default' cannot be opened")
    assert "wrong-secret" not in problem + repr(sink) + str(sink.model_dump())
