"""The Avro schema of Arrow columns."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

from kafka.formats.avro.schema import AvroSchemaError

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
    """Make the schema that columns are written with, as JSON's values.

    Fields that may be null are unions with null, and null is their default. Records inside are named after the record
    and the field: `Order_customer`.

    Args:
        columns: an Arrow schema, or the type of one column.
        name: the full name of the record, or what records and fixed types inside are named after.

    Raises:
        AvroSchemaError: a type or name has no counterpart in Avro.
    """
    if isinstance(columns, pa.Schema):
        return _record(list(columns), name, "")
    return _type(columns, name, "")


def _record(fields: list[Any], name: str, path: str) -> Any:
    made = []
    for field in fields:
        where = f"{path}.{field.name}"
        if not _NAME.match(field.name):
            raise AvroSchemaError(f"Expected names of letters, digits and _, got the column {where[1:]!r}: rename it")
        type_ = _nullable(field, f"{name}_{field.name}", where)
        made.append({"name": field.name, "type": type_, **({"default": None} if isinstance(type_, list) else {})})
    return {"type": "record", "name": name, "fields": made}


def _nullable(field: Any, name: str, path: str) -> Any:
    """Return the type of a field, of items or values, as a union with null if it is nullable."""
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
        return _record(list(type_), name, path)
    if pa.types.is_map(type_) and (pa.types.is_string(type_.key_type) or pa.types.is_large_string(type_.key_type)):
        return {"type": "map", "values": _nullable(type_.item_field, name, f"{path}{{}}")}
    if hasattr(type_, "value_field"):
        return {"type": "array", "items": _nullable(type_.value_field, name, f"{path}[]")}
    raise AvroSchemaError(f"{path[1:] or 'The column'}: Avro has no type for {type_}")
