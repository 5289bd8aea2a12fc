"""The target PostgreSQL: each row once, or the latest row for each key, also after an interruption at any step."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from harness.durable_steps import Steps, steps_of
from harness.postgresql import PASSWORD, USER, NoServerError, PostgresqlServer, postgresql_server
from kafka.pipelines.targets import RejectedRowError, TargetError, postgresql, postgresql_sink
from kafka.pipelines.targets.postgresql import PostgresqlSink

from .pipeline_targets import RUN, batches, kill_again_and_again, kill_everywhere
from .spark_support import WAIT_S, spark

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresqlServer]:
    try:
        with postgresql_server() as running:
            yield running
    except NoServerError as error:
        pytest.skip(f"PostgreSQL: {error}")


@pytest.fixture
def connection(server: PostgresqlServer) -> Iterator[psycopg.Connection[Any]]:
    """A connection to the database, from which other tests' tables are deleted."""
    with psycopg.connect(server.with_password, autocommit=True) as opened:
        opened.execute("drop schema public cascade; create schema public; drop schema if exists raw cascade")
        opened.execute("set timezone to 'UTC'")
        yield opened


@pytest.fixture
def utc(spark: Any) -> Iterator[Any]:
    """The session, with the time zone in which the tests write times."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    yield spark
    spark.conf.set("spark.sql.session.timeZone", before)


def sink_of(server: PostgresqlServer, table: str = "flights", **options: Any) -> PostgresqlSink:
    return postgresql_sink(table, url=server.url, user=USER, password=PASSWORD, **options)


def steps_of_postgresql(monkeypatch: pytest.MonkeyPatch) -> Steps:
    return Steps(monkeypatch.setattr, steps_of("postgresql"))


def rows_of(connection: psycopg.Connection[Any], columns: str = "*", table: str = "flights") -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:  # Connection.execute is a step
        return sorted(cursor.execute(f"select {columns} from {table}").fetchall())  # type: ignore[arg-type]


def tables(connection: psycopg.Connection[Any]) -> list[str]:
    with connection.cursor() as cursor:
        found = cursor.execute(
            "select relname::text from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace"
        )
        return sorted(name for (name,) in found.fetchall())


COLUMNS = "id, day, ts at time zone current_setting('timezone'), name"


@pytest.mark.slow
def test_each_row_is_there_once_after_a_kill_at_any_step(
    utc: Any, server: PostgresqlServer, connection: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier: list[int] = []

    def no_batch_is_there_in_part() -> None:
        if "flights" in tables(connection):
            earlier.append(len(rows_of(connection)))

    read = lambda: rows_of(connection, COLUMNS)  # noqa: E731
    kill_everywhere(utc, sink_of(server), steps_of_postgresql(monkeypatch), read, no_batch_is_there_in_part)
    assert earlier
    assert not any(count % 5 for count in earlier)
    assert tables(connection) == ["flights", "kafka_batches"], "no staging table is left"
    assert rows_of(connection, "target, run, rows", "kafka_batches") == [("flights", RUN, 5)]


def test_each_row_is_there_once_after_many_kills_of_a_batch(
    utc: Any, server: PostgresqlServer, connection: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = sink_of(server, key="id", order="ts")
    kill_again_and_again(utc, sink, steps_of_postgresql(monkeypatch), lambda: rows_of(connection, COLUMNS))
    assert tables(connection) == ["flights", "kafka_batches"]


def test_rows_of_another_attempt_do_not_count(
    utc: Any, server: PostgresqlServer, connection: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = postgresql.copy_rows

    def copy_twice(*arguments: Any, **options: Any) -> Any:
        copy(*arguments, **options)
        return copy(*arguments, **options)

    monkeypatch.setattr(postgresql, "copy_rows", copy_twice)
    _, rows, frame, _ = next(batches(utc))
    sink_of(server).write(frame, RUN, 0)
    assert rows_of(connection, COLUMNS) == sorted(rows)


def test_a_server_that_lost_staged_rows_is_noticed(
    utc: Any, server: PostgresqlServer, connection: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = postgresql.copy_rows

    def copy_and_lose(frame: Any, conninfo: str, table: str, **options: Any) -> Any:
        staged = copy(frame, conninfo, table, **options)
        connection.execute(f"delete from {table} where id = 2")  # type: ignore[arg-type]
        return staged

    _, rows, frame, _ = next(batches(utc))
    with monkeypatch.context() as patch:
        patch.setattr(postgresql, "copy_rows", copy_and_lose)
        with pytest.raises(TargetError, match="expected 5 staged rows, found 4"):
            sink_of(server).write(frame, RUN, 0)
    assert rows_of(connection) == []
    sink_of(server).write(frame, RUN, 0)
    assert rows_of(connection, COLUMNS) == sorted(rows)


def test_the_latest_row_for_each_key_wins(
    utc: Any, server: PostgresqlServer, connection: psycopg.Connection[Any]
) -> None:
    sink = sink_of(server, "raw.latest", key=["a", "b"], order="at")
    connection.execute("create schema raw")

    def write(batch: int, rows: str) -> list[tuple[Any, ...]]:
        sink.write(utc.sql(f"select * from values {rows} as rows(a, b, at, v)"), RUN, batch)
        return rows_of(connection, table="raw.latest")

    assert write(0, "(1, 'x', 10, 'first'), (1, 'x', 30, 'third'), (1, 'x', 20, 'second'), (1, 'y', 5, 'y')") == [
        (1, "x", 30, "third"),
        (1, "y", 5, "y"),
    ]
    assert write(1, "(1, 'x', 25, 'older'), (1, 'y', 5, 'equal: later')") == [
        (1, "x", 30, "third"),
        (1, "y", 5, "equal: later"),
    ]
    assert write(2, "(1, 'x', cast(null as int), 'oldest'), (2, 'z', null, 'new')") == [
        (1, "x", 30, "third"),
        (1, "y", 5, "equal: later"),
        (2, "z", None, "new"),
    ]
    assert write(3, "(2, 'z', 1, 'newer')")[-1] == (2, "z", 1, "newer")
    assert write(3, "(2, 'z', 2, 'ignored: the batch is complete')")[-1] == (2, "z", 1, "newer")
    with pytest.raises(RejectedRowError, match=r"expected a value in each column of key \(a, b\).*b=None"):
        write(4, "(1, 'x', 99, 'v'), (7, null, 99, 'v')")
    assert len(rows_of(connection, table="raw.latest")) == 3


def test_types(utc: Any, server: PostgresqlServer, connection: psycopg.Connection[Any]) -> None:
    frame = utc.sql(
        "select tinyint(1) a, smallint(2) b, 3 c, 4L d, float('nan') e, double('-infinity') f, true g, "
        "binary('x,\"') h, cast(1.25 as decimal(10, 2)) i, date'2026-11-27' j, "
        "timestamp'2026-11-27 12:00:00.123456' k, timestamp_ntz'2026-11-27 12:00:00' l, array('a', null) m, "
        "map('k', array(1)) n, named_struct('x', 1, 'y', cast(null as int)) o, '' p, cast(null as string) q, "
        "'\\\\N' r, 'a\\tb\\r\\nc' `s with \" and .`"
    )
    sink_of(server).write(frame, RUN, 0)
    (found,) = rows_of(connection)
    assert repr(found[4]) == "nan"
    assert found[:4] == (1, 2, 3, 4)
    assert found[5:] == (
        float("-inf"),
        True,
        b'x,"',
        decimal.Decimal("1.25"),
        datetime.date(2026, 11, 27),
        datetime.datetime(2026, 11, 27, 12, 0, 0, 123456, datetime.UTC),
        datetime.datetime(2026, 11, 27, 12),
        ["a", None],
        {"k": [1]},
        {"x": 1, "y": None},
        "",
        None,
        "\\N",
        "a\tb\r\nc",
    )
    kinds = connection.execute(
        "select format_type(atttypid, atttypmod) from pg_attribute where attrelid = 'flights'::regclass and attnum > 0 "
        "order by attnum"
    ).fetchall()
    assert [kind for (kind,) in kinds][8:12] == [
        "numeric(10,2)",
        "date",
        "timestamp with time zone",
        "timestamp without time zone",
    ]


def test_times_do_not_depend_on_the_time_zone_of_the_session(
    utc: Any, server: PostgresqlServer, connection: psycopg.Connection[Any]
) -> None:
    utc.conf.set("spark.sql.session.timeZone", "America/New_York")
    sink_of(server).write(utc.sql("select timestamp'2026-07-01 12:00:00' ts"), RUN, 0)
    assert rows_of(connection) == [(datetime.datetime(2026, 7, 1, 16, tzinfo=datetime.UTC),)]


@pytest.mark.parametrize(
    ("table", "options", "problem"),
    [
        ("id bigint", {}, "the query has a column 'name', which the table does not have"),
        ("id smallint, name text", {}, "column 'id': the table has smallint, but bigint needs bigint or numeric"),
        (
            "id bigint, name text, more int not null",
            {},
            "the table needs a column 'more', which the query does not have",
        ),
        ("id bigint, name text", {"key": "id", "order": "name"}, r"expected a primary key or a unique index on \(id\)"),
        ("id bigint, name uuid", {}, 'invalid input syntax for type uuid: "a"'),
        ("id bigint, name text check (name > 'b')", {}, "violates check constraint"),
    ],
)
def test_tables_that_do_not_fit(
    utc: Any, server: PostgresqlServer, connection: psycopg.Connection[Any], table: str, options: Any, problem: str
) -> None:
    connection.execute(f"create table flights ({table})")  # type: ignore[arg-type]
    with pytest.raises(TargetError, match=problem):
        sink_of(server, **options).write(utc.sql("select 1L id, 'a' name"), RUN, 0)
    assert rows_of(connection) == []


def test_an_existing_table_with_more_columns_and_other_types(
    utc: Any, server: PostgresqlServer, connection: psycopg.Connection[Any]
) -> None:
    connection.execute(
        "create table flights (more int default 7, id numeric not null, name varchar(3), number serial, unique (id))"
    )
    sink = sink_of(server, key="id", order="name")
    assert sink.check(WAIT_S) == []
    sink.write(utc.sql("select 1 id, 'a' name"), RUN, 0)
    assert rows_of(connection) == [(7, 1, "a", 1)]


def test_checks(server: PostgresqlServer, connection: psycopg.Connection[Any]) -> None:
    assert sink_of(server).check(WAIT_S) == []
    connection.execute("create table flights (id int, ts text)")
    (problem,) = sink_of(server, key="id", order="ts").check(WAIT_S)
    assert "expected a primary key or a unique index on (id)" in problem
    (problem,) = sink_of(server, key="id", order="at").check(WAIT_S)
    assert problem == "sink postgresql flights: expected a column 'at', but the table has id, ts"
    wrong = postgresql_sink("flights", url=server.url, user=USER, password="wrong-secret")
    (problem,) = wrong.check(WAIT_S)
    assert "no connection" in problem
    assert "wrong-secret" not in problem
    (problem,) = postgresql_sink("flights", url="host=/nowhere password=wrong-secret").check(WAIT_S)
    assert problem.startswith("sink postgresql flights: no connection")


def test_secrets_are_in_no_plan(utc: Any, server: PostgresqlServer, connection: psycopg.Connection[Any]) -> None:
    frame = utc.sql("select 1 id")
    sink = sink_of(server)
    sink.write(frame, RUN, 0)
    assert PASSWORD not in repr(sink) + str(sink.model_dump()) + sink.model_dump_json()
    assert PASSWORD not in frame._jdf.queryExecution().toString()
