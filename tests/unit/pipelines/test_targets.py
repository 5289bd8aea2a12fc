"""The models of targets: what a declaration may say, and what `check` finds without Spark."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from kafka.pipelines.declaration import InvalidDeclaration
from kafka.pipelines.targets import (
    Target,
    TargetError,
    delta_sink,
    foreach_batch_sink,
    iceberg_sink,
    parquet_sink,
    postgresql_sink,
    table_per_topic_sink,
)
from kafka.pipelines.targets.choice import TARGETS, kind_of
from kafka.pipelines.targets.constructors import _created
from kafka.pipelines.targets.postgresql import PostgresqlSink
from kafka.pipelines.targets.tables_by_topic import TablesByTopicSink
from kafka.pipelines.targets.target import file_name, in_time

PATIENCE_S = 60.0
"""The usual limit is for busy servers, not for a busy machine."""
SECRET = "hunter-2"


def write_nothing(frame: Any, batch: int) -> None:
    """A function for `foreach_batch`."""


def takes_one(frame: Any) -> None:
    """A function that cannot be called."""


def test_each_target_is_told_by_its_key() -> None:
    sinks = {
        "parquet": parquet_sink("/data"),
        "delta": delta_sink("/data", key=["id"], order="ts"),
        "iceberg": iceberg_sink("a.b"),
        "postgresql": postgresql_sink("flights", url="postgresql://localhost/x"),
        "tables_by_topic": table_per_topic_sink("/data/{topic}", format="parquet"),
        "foreach_batch": foreach_batch_sink(write_nothing),
    }
    assert list(sinks) == list(TARGETS)
    for name, sink in sinks.items():
        assert isinstance(sink, Target)
        assert kind_of(sink) == name
        given = {key: value for key, value in dict(sink).items() if value is not None}
        assert kind_of(given) == name
        assert TARGETS[name].model_validate(given) == sink
    assert kind_of({"topic": "delays"}) == "topic"


@pytest.mark.parametrize(
    ("create", "problem"),
    [
        (lambda: delta_sink("/data", key="id"), "expected key and order together, or neither; got key without order"),
        (lambda: delta_sink("/data", order="ts"), "got order without key"),
        (lambda: delta_sink("/data", key=["id", "id"], order="ts"), "expected each column once, got 'id' twice"),
        (lambda: delta_sink("/data", key="id", order="id"), "expected a column that is not in key, got 'id'"),
        (lambda: iceberg_sink("flights"), "expected NAMESPACE.TABLE, got 'flights'"),
        (lambda: postgresql_sink("a.b.c", url="x"), "expected TABLE or SCHEMA.TABLE, got 'a.b.c'"),
        (lambda: table_per_topic_sink("/data", format="parquet"), "expected {topic} in the name, got '/data'"),
        (lambda: table_per_topic_sink("{topic}", format="postgresql"), "format postgresql needs url"),
        (lambda: table_per_topic_sink("{topic}", format="parquet", key="id"), "key does not apply to format parquet"),
        (
            lambda: table_per_topic_sink("{topic}", format="csv"),
            "expected parquet, delta, iceberg or postgresql",
        ),
        (lambda: table_per_topic_sink("d/{topic}", format="delta", key="id"), "got key without order"),
        (lambda: foreach_batch_sink("write"), "expected a function, or its address as module:function, got 'write'"),
    ],
)
def test_what_is_wrong_is_said(create: Any, problem: str) -> None:
    with pytest.raises(InvalidDeclaration) as caught:
        create()
    assert problem in str(caught.value)


def test_a_password_of_digits_is_text() -> None:
    sink = _created(PostgresqlSink, "sink", postgresql="t", url="postgresql://localhost/x", password=12345)
    assert sink.password is not None
    assert sink.password.get_secret_value() == "12345"


@pytest.mark.parametrize(
    "sink",
    [
        postgresql_sink("t", url=f"postgresql://user:{SECRET}@localhost/x", password=SECRET),
        postgresql_sink("t", url=f"postgresql://user:{SECRET}@local host:x/y"),
        delta_sink("/data", options={"AWS_SECRET_ACCESS_KEY": SECRET}),
        parquet_sink("/data", options={"AWS_SECRET_ACCESS_KEY": SECRET}),
        iceberg_sink("a.b", catalog={"type": SECRET, "uri": SECRET}),
        table_per_topic_sink(
            "{topic}", format="postgresql", url=f"postgresql://u:{SECRET}@127.0.0.1:1/x", password=SECRET
        ),
    ],
)
def test_secrets_are_not_shown(sink: BaseModel) -> None:
    assert isinstance(sink, Target)
    shown = [repr(sink), str(sink), str(sink.model_dump()), sink.model_dump_json(), *sink.check(PATIENCE_S)]
    assert SECRET not in "\n".join(shown)


def test_errors_do_not_show_secrets() -> None:
    with pytest.raises(InvalidDeclaration) as caught:
        table_per_topic_sink("{topic}", format="parquet", url=SECRET, password=SECRET)
    assert SECRET not in str(caught.value)
    sink = postgresql_sink("t", url=f"nonsense {SECRET}")
    with pytest.raises(TargetError) as failed:
        sink._conninfo()
    assert SECRET not in str(failed.value) + str(failed.value.__cause__)


def test_checks_of_directories(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for sink in (parquet_sink(str(file / "data")), delta_sink(str(file / "data"))):
        assert len(sink.check(PATIENCE_S)) == 1
    assert parquet_sink(str(file)).check(PATIENCE_S) == [f"{file}: expected a directory, but {file} is a file"]
    assert parquet_sink(str(tmp_path / "new" / "data")).check(PATIENCE_S) == []
    assert delta_sink(str(tmp_path / "new")).check(PATIENCE_S) == []
    assert not (tmp_path / "new").exists(), "a check creates nothing"
    (problem,) = parquet_sink("nowhere://data").check(PATIENCE_S)
    assert "expected a path or a URI that PyArrow supports" in problem


def test_checks_of_servers() -> None:
    (problem,) = postgresql_sink("flights", url="postgresql://127.0.0.1:1/x").check(PATIENCE_S)
    assert problem.startswith("sink postgresql flights: no connection: ")


def test_a_check_does_not_wait() -> None:
    end = threading.Event()

    def look() -> list[str]:
        end.wait(60)
        return []

    assert in_time("server", look, 0.9) == ["server: no answer within 0.9 s"]
    assert in_time("server", look, 0.9, may_take_longer=True) == []
    end.set()


def test_an_error_of_a_check_is_a_problem() -> None:
    def look() -> list[str]:
        raise ZeroDivisionError("division by zero\nand more")

    assert in_time("server", look, 0.9) == ["server: ZeroDivisionError: division by zero"]


def test_a_function_gets_the_run_if_it_has_a_parameter_for_it() -> None:
    calls: list[tuple[object, ...]] = []

    def write(rows: object, number: int, run: str) -> None:
        calls.append((rows, number, run))

    def write_with_a_path(rows: object, number: int, path: str = "/data") -> None:
        calls.append((rows, number, path))

    frame: Any = "rows"
    for function in (write, write_with_a_path):
        assert foreach_batch_sink(function).check() == []
        foreach_batch_sink(function).write(frame, "flights/replay/1", 0)
    assert calls == [("rows", 0, "flights/replay/1"), ("rows", 0, "/data")]


def test_functions() -> None:
    assert foreach_batch_sink(write_nothing).check() == []
    assert foreach_batch_sink("os.path:join").check() == []
    (problem,) = foreach_batch_sink(takes_one).check()
    assert "expected a function with two parameters, the rows and the number of the batch" in problem
    (problem,) = foreach_batch_sink("os:nothing").check()
    assert "expected module:function that Python can import" in problem
    (problem,) = foreach_batch_sink("no_such_module:f").check()
    assert "expected module:function that Python can import" in problem


def test_names_of_tables_by_topic() -> None:
    sink = table_per_topic_sink("raw.{topic}", format="iceberg", catalog={"type": "sql"})
    assert isinstance(sink, TablesByTopicSink)
    assert sink.table("flights.2026-eu").model_dump()["iceberg"] == "raw.flights_2026_eu"
    sink = table_per_topic_sink("/data/{topic}/rows", format="parquet", partition_by="to_date(ts)")
    table = sink.table("flights.eu")
    assert (table.model_dump()["parquet"], table.model_dump()["partition_by"]) == (
        "/data/flights.eu/rows",
        "to_date(ts)",
    )


def test_names_of_runs_are_different() -> None:
    names = [file_name(run) for run in ("flights/stream", "flights-stream", "flights/stream ", "ü" * 99)]
    assert len(set(names)) == 4
    assert all(name.isascii() and len(name) <= 51 for name in names)
