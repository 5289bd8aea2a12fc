"""Arrow schemas for Spark's columns, and whether rows with a schema fit a table.

Parquet, Delta and Iceberg files are written from Arrow. To support another type of Spark, add it to `arrow_type`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka.pipelines.targets.target import TargetError

if TYPE_CHECKING:
    import pyarrow as pa

_WIDENS = {
    "int8": ("int16", "int32", "int64"),
    "int16": ("int32", "int64"),
    "int32": ("int64",),
    "float": ("double",),
    "halffloat": ("float", "double"),
}
"""For each Arrow type, the types that contain all its values and may be in the table instead."""


def arrow_schema(struct: Any, what: str, narrow: bool = True) -> pa.Schema:
    """Return the Arrow schema for the columns of a frame.

    Arguments:
        struct: the `StructType` of the frame.
        what: the target, for errors.
        narrow: whether the target has 8-bit and 16-bit integers; otherwise, they become 32-bit integers.

    Raises `TargetError` for a type without an equivalent in Arrow.
    """
    import pyarrow as pa

    names = [field.name for field in struct.fields]
    if repeated := [name for name in names if [each.lower() for each in names].count(name.lower()) > 1]:
        raise TargetError(f"{what}: expected columns with different names, got {', '.join(repeated)}")
    fields = []
    for field in struct.fields:
        found = arrow_type(field.dataType, narrow)
        if found is None:
            raise TargetError(
                f"{what}: column {field.name!r} has the type {field.dataType.simpleString()}, which cannot be written; "
                "convert the column in the query, for example with cast or to_json"
            )
        fields.append(pa.field(field.name, found))
    return pa.schema(fields)


def arrow_type(kind: Any, narrow: bool = True) -> pa.DataType | None:
    """Return the Arrow type for a Spark type, or None if there is none. Timestamps are in UTC, in microseconds."""
    import pyarrow as pa

    simple: dict[str, pa.DataType] = {
        "boolean": pa.bool_(),
        "tinyint": pa.int8() if narrow else pa.int32(),
        "smallint": pa.int16() if narrow else pa.int32(),
        "int": pa.int32(),
        "bigint": pa.int64(),
        "float": pa.float32(),
        "double": pa.float64(),
        "string": pa.string(),
        "binary": pa.binary(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us", "UTC"),
        "timestamp_ntz": pa.timestamp("us"),
    }
    name = kind.simpleString()
    if name in simple:
        return simple[name]
    match kind.typeName():
        case "decimal":
            return pa.decimal128(kind.precision, kind.scale)
        case "string" | "char" | "varchar":
            return pa.string()
        case "array":
            element = arrow_type(kind.elementType, narrow)
            return None if element is None else pa.list_(element)
        case "map":
            key, value = arrow_type(kind.keyType, narrow), arrow_type(kind.valueType, narrow)
            return None if key is None or value is None else pa.map_(key, value)
        case "struct":
            inner: list[Any] = [(field.name, arrow_type(field.dataType, narrow)) for field in kind.fields]
            return None if any(each is None for _, each in inner) else pa.struct(inner)
    return None


def misfits(rows: pa.Schema, table: pa.Schema) -> list[str]:
    """Return a text for each column of rows that cannot be written to a table.

    A table may have more columns, which become NULL, and wider numbers.
    """
    problems = []
    for field in rows:
        if field.name not in table.names:
            problems.append(f"the query has a column {field.name!r}, which the table does not have")
            continue
        expected = table.field(field.name).type
        if not fits(field.type, expected):
            problems.append(f"column {field.name!r}: the table has {expected}, the query {field.type}")
    for field in table:
        if not field.nullable and field.name not in rows.names:
            problems.append(f"the table needs a column {field.name!r}, which the query does not have")
    return problems


def fits(rows: pa.DataType, table: pa.DataType) -> bool:
    """Return whether values of one Arrow type can be written to a column of another one without loss."""
    import pyarrow as pa

    types = pa.types
    if _text(rows) == _text(table) or _text(table) in _WIDENS.get(_text(rows), ()):
        return True
    if (types.is_list(table) or types.is_large_list(table)) and types.is_list(rows):
        return fits(rows.value_type, table.value_type)
    if types.is_map(table) and types.is_map(rows):
        return fits(rows.key_type, table.key_type) and fits(rows.item_type, table.item_type)
    if types.is_struct(table) and types.is_struct(rows):
        mine, theirs = list(rows), list(table)
        return [each.name for each in mine] == [each.name for each in theirs] and all(
            fits(one.type, other.type) for one, other in zip(mine, theirs, strict=True)
        )
    if types.is_decimal(rows) and types.is_decimal(table):
        integers = table.precision - table.scale >= rows.precision - rows.scale
        return bool(integers and table.scale >= rows.scale)
    return False


def _text(kind: pa.DataType) -> str:
    """Return the name of a type; the variants for large values and views are equal."""
    text = str(kind)
    for variant in ("large_", "_view"):
        text = text.replace(variant, "")
    return text


def restricted(table: pa.Schema, names: Sequence[str]) -> pa.Schema:
    """Return the schema of a table with only the named columns, in the order of the names."""
    import pyarrow as pa

    return pa.schema([table.field(name) for name in names])


def raise_misfits(what: str, problems: Sequence[str], remedy: str) -> None:
    """Raise a `TargetError` that lists the problems, if there are any."""
    if problems:
        raise TargetError(f"{what}: the query's columns do not fit: {'; '.join(problems)}; {remedy}")


def by_name(schema: pa.Schema) -> Mapping[str, pa.DataType]:
    """Return the types of columns by name."""
    return {field.name: field.type for field in schema}
