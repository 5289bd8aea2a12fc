"""Maps Avro's types to Arrow's, and makes the columns that hold them.

A union with null is its other branch, nullable. Unions of int and long are long, of float and double double; any other
union is a struct with a field `member0`, `member1`, ... for each branch but null, of which one is not null. This is
what Spark's `from_avro` makes of unions.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from kafka.formats.avro.extent import check_columns, too_deep
from kafka.formats.avro.schema import (
    Array,
    AvroSchemaError,
    Enum,
    Fixed,
    Logical,
    Map,
    Primitive,
    Record,
    Schema,
    Union,
)
from kafka.formats.columns import (
    BooleanColumn,
    BytesColumn,
    Column,
    DoubleColumn,
    FixedColumn,
    FloatColumn,
    Int32Column,
    Int64Column,
    ListColumn,
    NullColumn,
    StructColumn,
)

MAX_DECIMAL = 76
"""Precision of Arrow's largest decimals."""


@dataclass(slots=True)
class Target:
    """A place for values: the reader's type, its Arrow type, and the column; for a union, its branches."""

    schema: Schema
    arrow: pa.DataType
    column: Column
    nullable: bool = False
    parts: tuple[Target, ...] = ()
    """Fields of a record, items of an array, keys and values of a map, branches of a union."""


_PRIMITIVES: dict[str, tuple[pa.DataType, type[Column]]] = {
    "boolean": (pa.bool_(), BooleanColumn),
    "int": (pa.int32(), Int32Column),
    "long": (pa.int64(), Int64Column),
    "float": (pa.float32(), FloatColumn),
    "double": (pa.float64(), DoubleColumn),
    "bytes": (pa.binary(), BytesColumn),
    "string": (pa.string(), BytesColumn),
    "null": (pa.null(), NullColumn),
}
_LOGICAL: dict[str, pa.DataType] = {
    "date": pa.date32(),
    "time-millis": pa.time32("ms"),
    "time-micros": pa.time64("us"),
    "timestamp-millis": pa.timestamp("ms", "UTC"),
    "timestamp-micros": pa.timestamp("us", "UTC"),
    "timestamp-nanos": pa.timestamp("ns", "UTC"),
    "local-timestamp-millis": pa.timestamp("ms"),
    "local-timestamp-micros": pa.timestamp("us"),
    "local-timestamp-nanos": pa.timestamp("ns"),
}


def target_of(schema: Schema) -> Target:
    """Make the columns for values of a type.

    Raises:
        AvroSchemaError: the type contains itself or has too many parts, or a decimal has more digits than Arrow's.
    """
    try:
        check_columns(schema)
        return _target(schema)
    except RecursionError:
        raise too_deep() from None


def _target(schema: Schema, path: str = "", inside: tuple[str, ...] = ()) -> Target:
    if isinstance(schema, Primitive):
        if schema.logical is not None and schema.logical.name == "decimal":
            return _decimal(schema, schema.logical, path)
        arrow, column = _PRIMITIVES[schema.kind]
        if schema.logical is not None:
            arrow = _LOGICAL.get(schema.logical.name, arrow)
        return Target(schema, arrow, column(), nullable=schema.kind == "null")
    if isinstance(schema, Fixed):
        return _fixed(schema, path)
    if isinstance(schema, Enum):
        return Target(schema, pa.string(), BytesColumn())
    if isinstance(schema, Array):
        items = _target(schema.items, f"{path}[]", inside)
        arrow = pa.list_(pa.field("item", items.arrow, items.nullable))
        return Target(schema, arrow, ListColumn(items.column), parts=(items,))
    if isinstance(schema, Map):
        keys, values = _target(Primitive("string")), _target(schema.values, f"{path}{{}}", inside)
        arrow = pa.map_(pa.string(), pa.field("value", values.arrow, values.nullable))  # type: ignore[call-overload]
        entries = StructColumn([keys.column, values.column])
        return Target(schema, arrow, ListColumn(entries), parts=(keys, values))
    if isinstance(schema, Record):
        return _record(schema, path, inside)
    return _union(schema, path, inside)


def _decimal(schema: Schema, logical: Logical, path: str) -> Target:
    if logical.precision > MAX_DECIMAL:
        raise AvroSchemaError(
            f"{path.strip('.') or 'The schema'} is a decimal of {logical.precision} digits, and columns have at most "
            f"{MAX_DECIMAL}: read it as bytes, with a reader's schema without the logical type"
        )
    if logical.precision <= 38:
        return Target(schema, pa.decimal128(logical.precision, logical.scale), FixedColumn(16))
    return Target(schema, pa.decimal256(logical.precision, logical.scale), FixedColumn(32))


def _fixed(schema: Fixed, path: str) -> Target:
    logical = schema.logical
    if logical is None:
        return Target(schema, pa.binary(schema.size), FixedColumn(schema.size))
    if logical.name == "decimal":
        return _decimal(schema, logical, path)
    if logical.name == "uuid":
        return Target(schema, pa.string(), BytesColumn())
    return Target(schema, pa.month_day_nano_interval(), FixedColumn(16))


def _record(schema: Record, path: str, inside: tuple[str, ...]) -> Target:
    if schema.name in inside:
        raise AvroSchemaError(
            f"Record {schema.name} contains itself at {path.strip('.')}: columns cannot hold that. Leave the field out "
            "of the reader's schema, or deserialize to objects"
        )
    within = (*inside, schema.name)
    parts = tuple(_target(field.type, f"{path}.{field.name}", within) for field in schema.fields)
    fields = [pa.field(field.name, part.arrow, part.nullable) for field, part in zip(schema.fields, parts, strict=True)]
    return Target(schema, pa.struct(fields), StructColumn([part.column for part in parts]), parts=parts)


def _union(schema: Union, path: str, inside: tuple[str, ...]) -> Target:
    kinds = [branch.kind for branch in schema.branches]
    nullable = "null" in kinds
    plain = {branch.kind for branch in schema.branches if isinstance(branch, Primitive) and branch.logical is None}
    others = [branch for branch in schema.branches if branch.kind != "null"]
    if len(others) <= 1:
        inner = _target(others[0] if others else Primitive("null"), path, inside)
        parts = tuple(inner if kind != "null" else _target(Primitive("null")) for kind in kinds)
        return Target(schema, inner.arrow, inner.column, nullable or inner.nullable, parts)
    for narrow, wide in (("int", "long"), ("float", "double")):
        if len(others) == 2 and {narrow, wide} <= plain:
            inner = _target(Primitive(wide))
            parts = tuple(inner if kind != "null" else _target(Primitive("null")) for kind in kinds)
            return Target(schema, inner.arrow, inner.column, nullable, parts)
    members = [_target(branch, f"{path}.member{number}", inside) for number, branch in enumerate(others)]
    column = StructColumn([member.column for member in members])
    arrow = pa.struct([pa.field(f"member{number}", member.arrow) for number, member in enumerate(members)])
    left = iter(members)
    parts = tuple(next(left) if kind != "null" else _target(Primitive("null")) for kind in kinds)
    return Target(schema, arrow, column, nullable, parts)
