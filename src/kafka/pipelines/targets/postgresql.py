"""The target PostgreSQL: a table that has each row once, or the latest row for each key.

Spark's tasks copy their rows into a staging table of the batch (`postgresql_staging`), each in its own transaction. The
driver then moves the rows to the table in one transaction, which also stores the number of the batch in the table
`BATCHES`. If the number is stored already, the batch is complete, and nothing is written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from kafka.pipelines.targets.postgresql_staging import Staged, copy_rows
from kafka.pipelines.targets.postgresql_types import (
    create_columns,
    json_columns,
    table_problems,
    table_types,
)
from kafka.pipelines.targets.target import (
    CHECK_S,
    Columns,
    Secret,
    TargetError,
    TargetModel,
    Text,
    check_key,
    file_name,
    first_line,
    in_time,
    missing_columns,
    needs,
)

if TYPE_CHECKING:
    import psycopg
    from psycopg import sql
    from pyspark.sql import DataFrame

BATCHES = "kafka_batches"
"""The table with the last complete batch of each run and table, in the schema of the table."""
_MAX_NAME_BYTES = 63


class PostgresqlSink(TargetModel):
    """A table in PostgreSQL."""

    postgresql: Text = Field(description="Table, with its schema if it is not the default one: TABLE or SCHEMA.TABLE.")
    url: Secret = Field(
        repr=False,
        description="Connection, as a URI (postgresql://HOST:PORT/DATABASE) or as keywords (host=... dbname=...).",
    )
    user: Text | None = Field(default=None, description="User; by default, from the URL or the environment.")
    password: Secret | None = Field(
        default=None, repr=False, description="Password; by default, from the environment or ~/.pgpass."
    )
    key: Columns = Field(
        default=(), description="Columns that identify a row; the table then contains the latest row for each key."
    )
    order: Text | None = Field(
        default=None,
        description="Column that determines which of the rows with a key is the latest; an older row never replaces "
        "a newer one.",
    )

    @model_validator(mode="after")
    def _check(self) -> PostgresqlSink:
        check_key(self.key, self.order)
        parts = self.postgresql.split(".")
        if len(parts) > 2 or not all(parts):
            raise ValueError(f"postgresql: expected TABLE or SCHEMA.TABLE, got {self.postgresql!r}")
        return self

    def write(self, frame: DataFrame, run: str, batch: int) -> None:
        if missing := missing_columns((*self.key, *((self.order,) if self.order else ())), frame.columns, "the query"):
            raise TargetError(f"{self._what}: {missing[0]}")
        columns = list(frame.columns)
        with self._connection() as connection:
            self._prepare(connection, frame.schema)
            if self._is_complete(connection, run, batch):
                self._drop(connection, run, batch)
                return
            self._create_staging(connection, columns, run, batch)
        staged = copy_rows(
            json_columns(frame),
            self._conninfo(),
            self._staging(run, batch).as_string(None),
            present=self.key,
            what=self._what,
        )
        with self._connection() as connection:
            self._commit(connection, columns, staged, run, batch)

    def check(self, limit_s: float = CHECK_S) -> list[str]:
        def look() -> list[str]:
            with self._connection(f"-c statement_timeout={int(limit_s * 1000)}") as connection:
                found = table_types(connection, self._parts)
                if not found:
                    return []
                names = (*self.key, *((self.order,) if self.order else ()))
                problems = missing_columns(names, list(found), "the table")
                problems += [] if problems else self._index_problems(connection)
                return [f"{self._what}: {each}" for each in problems]

        return in_time(self._what, look, limit_s, "psycopg")

    @property
    def _what(self) -> str:
        return f"sink postgresql {self.postgresql}"

    @property
    def _parts(self) -> tuple[str, ...]:
        return tuple(self.postgresql.split("."))

    def _conninfo(self, options: str | None = None) -> str:
        """Return the connection string, with the password and with options for the server."""
        try:
            from psycopg.conninfo import make_conninfo
        except ModuleNotFoundError as error:
            raise needs("psycopg", "postgresql") from error
        import psycopg

        given = {
            "user": self.user,
            "password": self.password.get_secret_value() if self.password is not None else None,
            "application_name": "kafka-columnar",
            "options": options,
        }
        url = self.url.get_secret_value().removeprefix("jdbc:")
        try:
            return make_conninfo(url, **{name: value for name, value in given.items() if value is not None})
        except psycopg.Error:
            pass  # the error contains the URL, and with it perhaps a password
        raise TargetError(
            f"{self._what}: url: expected postgresql://HOST:PORT/DATABASE or keywords such as host=... dbname=..."
        )

    def _connection(self, options: str | None = None) -> psycopg.Connection[Any]:
        info = self._conninfo(options)
        import psycopg

        try:
            return psycopg.connect(info)
        except psycopg.Error as error:
            text = first_line(error)
        raise TargetError(f"{self._what}: no connection: {text}")

    def _prepare(self, connection: psycopg.Connection[Any], struct: Any) -> None:
        """Create the table and the table of batches if missing. Raise a `TargetError` if the columns do not fit."""
        from psycopg import sql

        with connection.transaction():
            # Without the lock, two writers could both find no table, and one of them would fail.
            connection.execute("select pg_advisory_xact_lock(hashtext(%s))", (self.postgresql,))
            if not (found := table_types(connection, self._parts)):
                connection.execute(create_columns(self._table, struct, self.key, self._what))
                found = table_types(connection, self._parts)
            if problems := table_problems(struct, found):
                raise TargetError(
                    f"{self._what}: the query's columns do not fit: {'; '.join(problems)}; alter the table or the query"
                )
            if problems := self._index_problems(connection):
                raise TargetError(f"{self._what}: {problems[0]}")
            connection.execute(
                sql.SQL(
                    "create table if not exists {} (target text not null, run text not null, batch bigint not null, "
                    "rows bigint not null, written timestamptz not null default now(), primary key (target, run))"
                ).format(self._batches)
            )

    def _is_complete(self, connection: psycopg.Connection[Any], run: str, batch: int) -> bool:
        from psycopg import sql

        statement = sql.SQL("select 1 from {} where target = %s and run = %s and batch >= %s").format(self._batches)
        return connection.execute(statement, (self._parts[-1], run, batch)).fetchone() is not None

    def _create_staging(
        self, connection: psycopg.Connection[Any], columns: Sequence[str], run: str, batch: int
    ) -> None:
        """Create the staging table, without the rows of an interrupted attempt."""
        from psycopg import sql

        with connection.transaction():
            self._drop(connection, run, batch)
            connection.execute(
                sql.SQL("create unlogged table {} as select {}, null::text as {} from {} with no data").format(
                    self._staging(run, batch),
                    _list(columns),
                    sql.Identifier(Staged.ATTEMPT),
                    self._table,
                )
            )

    def _commit(
        self, connection: psycopg.Connection[Any], columns: Sequence[str], staged: Staged, run: str, batch: int
    ) -> None:
        """Move the staged rows to the table, and store the number of the batch, in one transaction."""
        import psycopg
        from psycopg import sql

        with connection.transaction():
            stored = connection.execute(
                sql.SQL(
                    "insert into {} as stored (target, run, batch, rows) values (%s, %s, %s, %s) "
                    "on conflict (target, run) do update set batch = excluded.batch, rows = excluded.rows, "
                    "written = excluded.written where stored.batch < excluded.batch returning batch"
                ).format(self._batches),
                (self._parts[-1], run, batch, staged.rows),
            ).fetchone()
            if stored is not None:
                self._check_count(connection, staged, run, batch)
                try:
                    connection.execute(self._insert(columns, run, batch), (list(staged.attempts),))
                except psycopg.DataError as error:
                    raise TargetError(f"{self._what}: {first_line(error)}") from error
                except psycopg.IntegrityError as error:
                    raise TargetError(f"{self._what}: {first_line(error)}; {error.diag.message_detail}") from error
            self._drop(connection, run, batch)

    def _check_count(self, connection: psycopg.Connection[Any], staged: Staged, run: str, batch: int) -> None:
        """Raise a `TargetError` if rows are missing: a server that restarts after a crash empties unlogged tables."""
        from psycopg import sql

        statement = sql.SQL("select count(*) from {} where {} = any(%s)").format(
            self._staging(run, batch), sql.Identifier(Staged.ATTEMPT)
        )
        found = connection.execute(statement, (list(staged.attempts),)).fetchone()
        if found is None or found[0] != staged.rows:
            raise TargetError(
                f"{self._what}: expected {staged.rows} staged rows, found {found[0] if found else 0}: the server has "
                "restarted while the batch was written; repeat the batch"
            )

    def _insert(self, columns: Sequence[str], run: str, batch: int) -> sql.Composed:
        from psycopg import sql

        staging, attempt = self._staging(run, batch), sql.Identifier(Staged.ATTEMPT)
        if self.order is None:
            return sql.SQL("insert into {} ({}) select {} from {} where {} = any(%s)").format(
                self._table, _list(columns), _list(columns), staging, attempt
            )
        order = sql.Identifier(self.order)
        others = [name for name in columns if name not in self.key]
        updates = sql.SQL(", ").join(
            sql.SQL("{} = excluded.{}").format(sql.Identifier(name), sql.Identifier(name)) for name in others
        )
        return sql.SQL(
            "insert into {table} as stored ({columns}) select distinct on ({key}) {columns} from {staging} "
            "where {attempt} = any(%s) order by {key}, {order} desc nulls last "
            "on conflict ({key}) do update set {updates} "
            "where stored.{order} is null or excluded.{order} >= stored.{order}"
        ).format(
            table=self._table,
            columns=_list(columns),
            key=_list(self.key),
            staging=staging,
            attempt=attempt,
            order=order,
            updates=updates,
        )

    def _index_problems(self, connection: psycopg.Connection[Any]) -> list[str]:
        """Return a problem unless the table has a unique index on exactly the key's columns."""
        if not self.key:
            return []
        rows = connection.execute(
            "select array(select attname::text from pg_attribute where attrelid = indrelid and attnum = any(indkey)) "
            "from pg_index where indrelid = to_regclass(%s) and indisunique and indpred is null and indexprs is null",
            (self._table.as_string(None),),
        ).fetchall()
        if any(sorted(row[0]) == sorted(self.key) for row in rows):
            return []
        names = ", ".join(self.key)
        return [f"expected a primary key or a unique index on ({names}); create unique index on the table's ({names})"]

    def _drop(self, connection: psycopg.Connection[Any], run: str, batch: int) -> None:
        from psycopg import sql

        connection.execute(sql.SQL("drop table if exists {}").format(self._staging(run, batch)))

    @property
    def _table(self) -> sql.Identifier:
        from psycopg import sql

        return sql.Identifier(*self._parts)

    @property
    def _batches(self) -> sql.Identifier:
        from psycopg import sql

        return sql.Identifier(*self._parts[:-1], BATCHES)

    def _staging(self, run: str, batch: int) -> sql.Identifier:
        """Return the name of the staging table, which is next to the table and unique for table, run and batch."""
        from psycopg import sql

        unique = hashlib.sha256(f"{self.postgresql}\n{run}\n{batch}".encode()).hexdigest()[:12]
        name = f"kafka_staging_{batch}_{unique}_{file_name(run)}"
        return sql.Identifier(*self._parts[:-1], name[:_MAX_NAME_BYTES])


def _list(names: Sequence[str]) -> sql.Composed:
    from psycopg import sql

    return sql.SQL(", ").join([sql.Identifier(name) for name in names])
