"""Arrow types from Spark's, as `StructType.json()` and `jsonValue()` write them. Needs no Spark."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from kafka.formats.json.ddl import type_of_ddl
from kafka.formats.json.errors import JsonSchemaError, place


def is_spark_type(schema: dict[str, Any]) -> bool:
    """Return whether a JSON object is a type as Spark writes it, rather than a JSON Schema."""
    kind = schema.get("type")
    return (
        (kind == "struct" and "fields" in schema)
        or (kind == "array" and "elementType" in schema)
        or (kind == "map" and "keyType" in schema)
        or kind == "udt"
    )


def type_of_spark(schema: Any, path: str = "") -> pa.DataType:
    """Return the type that Spark writes so.

    Raises:
        JsonSchemaError: it is not valid, or has an unknown type.
    """
    if isinstance(schema, str):
        try:
            return type_of_ddl(schema)
        except JsonSchemaError as error:
            raise JsonSchemaError(f"{place(path)}{schema!r} is no type that JSON values are read as") from error
    if isinstance(schema, dict):
        try:
            return _nested(schema, path)
        except (KeyError, TypeError) as error:
            raise JsonSchemaError(f"{place(path)}expected a type as Spark writes it, got {schema!r:.200}") from error
    raise JsonSchemaError(f"{place(path)}expected a type as Spark writes it, got {schema!r:.200}")


def _nested(schema: dict[str, Any], path: str) -> pa.DataType:
    kind = schema["type"]
    if kind == "struct":
        fields = [
            pa.field(each["name"], type_of_spark(each["type"], f"{path}.{each['name']}"), each.get("nullable", True))
            for each in schema["fields"]
        ]
        return pa.struct(fields)
    if kind == "array":
        items = type_of_spark(schema["elementType"], f"{path}[]")
        return pa.list_(pa.field("item", items, schema.get("containsNull", True)))
    if kind == "map":
        keys = type_of_spark(schema["keyType"], f"{path}{{}}")
        values = type_of_spark(schema["valueType"], f"{path}{{}}")
        value = pa.field("value", values, schema.get("valueContainsNull", True))
        made: pa.DataType = pa.map_(keys, value)  # type: ignore[call-overload]
        return made
    raise JsonSchemaError(f"{place(path)}JSON values are not read as Spark's type {kind!r}")
