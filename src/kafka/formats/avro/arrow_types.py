"""Maps Avro types to Arrow types and their column builders, and Arrow types to Avro.

A union of null and one other type becomes that type, nullable. Unions of int and long become long, and unions of float
and double become double. Any other union becomes a struct with a field `member0`, `member1`, ... for each branch except
null; one of these fields is not null. Spark's `from_avro` does the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

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
from kafka.formats.avro.size_limits import check_columns, too_deep
from kafka.formats.column_builders import (
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
"""Maximum precision of Arrow's decimals."""


@dataclass(slots=True)
class Target:
    """The destination of decoded values: the reader's type, its Arrow type, the column, and its parts' targets."""

    schema: Schema
    arrow: pa.DataType
    column: Column
    nullable: bool = False
    parts: tuple[Target, ...] = ()
    """Fields of a record, items of an array, keys and values of a map, or branches of a union."""


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
        AvroSchemaError: the type is recursive or too large, or a decimal has more digits than Arrow supports.
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


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_TIMESTAMPS = {"s": "millis", "ms": "millis", "us": "micros", "ns": "nanos"}
_SIMPLE: tuple[tuple[Any, Any], ...] = (
    (pa.types.is_null, "null"),
    (pa.types.is_boolean, "boolean"),
    (lambda type_: type_ in (pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint16()), "int"),
    (pa.types.is_integer, "long"),
    (pa.types.is_float64, "double"),
    (pa.types.is_floating, "float"),
    (pa.types.is_string, "string"),
    (pa.types.is_large_string, "string"),
    (pa.types.is_string_view, "string"),
    (pa.types.is_binary, "bytes"),
    (pa.types.is_large_binary, "bytes"),
    (pa.types.is_binary_view, "bytes"),
    (pa.types.is_date, {"type": "int", "logicalType": "date"}),
    (pa.types.is_time32, {"type": "int", "logicalType": "time-millis"}),
    (pa.types.is_time64, {"type": "long", "logicalType": "time-micros"}),
)


def avro_schema_of(columns: pa.Schema | pa.DataType, name: str) -> Any:
    """Make an Avro schema for Arrow columns, as JSON values.

    Nullable fields become unions with null, and their default is null. Nested records are named after the outer record
    and the field: `Order_customer`.

    Args:
        columns: an Arrow schema, or the type of one column.
        name: the full name of the record, or the prefix for the names of nested records and fixed types.

    Raises:
        AvroSchemaError: a type or name has no counterpart in Avro.
    """
    if isinstance(columns, pa.Schema):
        return _record_of(list(columns), name, "")
    return _type(columns, name, "")


def _record_of(fields: list[Any], name: str, path: str) -> Any:
    made = []
    for field in fields:
        where = f"{path}.{field.name}"
        if not _NAME.match(field.name):
            raise AvroSchemaError(f"Expected names of letters, digits and _, got the column {where[1:]!r}: rename it")
        type_ = _nullable(field, f"{name}_{field.name}", where)
        made.append({"name": field.name, "type": type_, **({"default": None} if isinstance(type_, list) else {})})
    return {"type": "record", "name": name, "fields": made}


def _nullable(field: Any, name: str, path: str) -> Any:
    """Return the type of a field, or of items or values, as a union with null if it is nullable."""
    made = _type(field.type, name, path)
    return ["null", made] if field.nullable and made != "null" else made


def _type(type_: pa.DataType, name: str, path: str) -> Any:
    if isinstance(type_, pa.UuidType):
        return {"type": "fixed", "name": name, "size": 16, "logicalType": "uuid"}
    if isinstance(type_, pa.BaseExtensionType):
        return _type(type_.storage_type, name, path)
    if pa.types.is_dictionary(type_) or pa.types.is_run_end_encoded(type_):
        return _type(type_.value_type, name, path)
    for is_kind, made in _SIMPLE:
        if is_kind(type_):
            return made
    if pa.types.is_timestamp(type_):
        kind = "timestamp" if type_.tz is not None else "local-timestamp"
        return {"type": "long", "logicalType": f"{kind}-{_TIMESTAMPS[type_.unit]}"}
    if pa.types.is_decimal(type_) and 0 <= type_.scale <= type_.precision:
        return {"type": "bytes", "logicalType": "decimal", "precision": type_.precision, "scale": type_.scale}
    if pa.types.is_fixed_size_binary(type_):
        return {"type": "fixed", "name": name, "size": type_.byte_width}
    if type_ == pa.month_day_nano_interval():
        return {"type": "fixed", "name": name, "size": 12, "logicalType": "duration"}
    if pa.types.is_struct(type_):
        return _record_of(list(type_), name, path)
    if pa.types.is_map(type_) and (pa.types.is_string(type_.key_type) or pa.types.is_large_string(type_.key_type)):
        return {"type": "map", "values": _nullable(type_.item_field, name, f"{path}{{}}")}
    if hasattr(type_, "value_field"):
        return {"type": "array", "items": _nullable(type_.value_field, name, f"{path}[]")}
    raise AvroSchemaError(f"{path[1:] or 'The column'}: Avro has no type for {type_}")
