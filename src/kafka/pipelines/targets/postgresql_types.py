"""PostgreSQL types for Spark's types: to create a table, and to find out whether rows fit an existing table.

To support another type of Spark, add it to `_TYPES`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka.pipelines.targets.target import TargetError, quoted

if TYPE_CHECKING:
    import psycopg
    from psycopg import sql
    from pyspark.sql import DataFrame

_ANY_NUMBER = ("smallint", "integer", "bigint", "numeric", "real", "double precision")
_TYPES: Mapping[str, tuple[str, ...]] = {
    "boolean": ("boolean",),
    "tinyint": ("smallint", *_ANY_NUMBER[1:]),
    "smallint": ("smallint", *_ANY_NUMBER[1:]),
    "int": ("integer", "bigint", "numeric", "double precision"),
    "bigint": ("bigint", "numeric"),
    "float": ("real", "double precision"),
    "double": ("double precision",),
    "decimal": ("numeric",),
    "string": ("text",),
    "char": ("text",),
    "varchar": ("text",),
    "binary": ("bytea",),
    "date": ("date",),
    "timestamp": ("timestamp with time zone",),
    "timestamp_ntz": ("timestamp without time zone",),
    "array": ("jsonb", "json"),
    "map": ("jsonb", "json"),
    "struct": ("jsonb", "json"),
}
"""PostgreSQL's types that have all values of a Spark type. The first one is the type in a table that is created."""
_NESTED = ("array", "map", "struct")
_TEXTS = ("text", "character varying")
"""Types that accept any value."""


def _name(kind: Any) -> str:
    """Return the name of a Spark type without its parameters."""
    return str(kind.simpleString()).partition("(")[0].partition("<")[0]


def create_columns(table: sql.Identifier, struct: Any, key: Sequence[str], what: str) -> sql.Composed:
    """Return the statement that creates a table for rows.

    Arguments:
        table: the table.
        struct: the `StructType` of the rows.
        key: the columns of the primary key; empty for a table without one.
        what: the target, for errors.

    Raises `TargetError` for a type without an equivalent.
    """
    from psycopg import sql

    columns: list[sql.Composable] = []
    for field in struct.fields:
        name = _name(field.dataType)
        if name not in _TYPES:
            raise TargetError(
                f"{what}: column {field.name!r} has the type {field.dataType.simpleString()}, which cannot be written; "
                "convert the column in the query, for example with cast or to_json"
            )
        kind = _TYPES[name][0]
        if name == "decimal":
            kind = f"numeric({field.dataType.precision},{field.dataType.scale})"
        columns.append(sql.SQL("{} {}").format(sql.Identifier(field.name), sql.SQL(kind)))
    if key:
        columns.append(sql.SQL("primary key ({})").format(sql.SQL(", ").join([sql.Identifier(each) for each in key])))
    return sql.SQL("create table {} ({})").format(table, sql.SQL(", ").join(columns))


def table_types(connection: psycopg.Connection[Any], table: Sequence[str]) -> dict[str, tuple[str, bool]]:
    """Return the columns of a table: the type, and whether rows need a value. Empty if the table does not exist."""
    from psycopg import sql

    rows = connection.execute(
        "select attname, format_type(atttypid, atttypmod), "
        "attnotnull and not atthasdef and attidentity = '' from pg_attribute "
        "where attrelid = to_regclass(%s) and attnum > 0 and not attisdropped order by attnum",
        (sql.Identifier(*table).as_string(None),),
    ).fetchall()
    return {name: (kind, needed) for name, kind, needed in rows}


def table_problems(struct: Any, table: Mapping[str, tuple[str, bool]]) -> list[str]:
    """Return a text for each column that does not fit a table.

    Columns of the type string fit all types, because PostgreSQL parses the text: use them for uuid, inet and so on.
    """
    problems = []
    names = [field.name for field in struct.fields]
    for field in struct.fields:
        if field.name not in table:
            problems.append(f"the query has a column {field.name!r}, which the table does not have")
            continue
        found, _ = table[field.name]
        spark = _name(field.dataType)
        expected = _TYPES.get(spark, ())
        without_length = found.partition("(")[0] + found.partition(")")[2]  # such as timestamp(3) with time zone
        if spark not in ("string", "char", "varchar") and without_length not in (*expected, *_TEXTS):
            wanted = f"needs {' or '.join(expected)}" if expected else "cannot be written"
            problems.append(f"column {field.name!r}: the table has {found}, but {spark} {wanted}")
    needed = [name for name, (_, is_needed) in table.items() if is_needed and name not in names]
    return problems + [f"the table needs a column {name!r}, which the query does not have" for name in needed]


def json_columns(frame: DataFrame) -> DataFrame:
    """Return the frame with arrays, maps and structs as JSON text, and binary values as PostgreSQL's hex text."""
    from pyspark.sql import functions as f

    converted = []
    for field in frame.schema.fields:
        column, name = f.col(quoted(field.name)), _name(field.dataType)
        if name in _NESTED:
            column = f.to_json(column, {"ignoreNullFields": "false"})
        elif name == "binary":
            column = f.concat(f.lit("\\x"), f.hex(column))
        converted.append(column.alias(field.name))
    return frame.select(*converted)
