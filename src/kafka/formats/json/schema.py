"""Makes the Arrow type of a schema of JSON values, in any form that a program may give it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from kafka.formats.json.ddl import type_of_ddl
from kafka.formats.json.errors import JsonSchemaError
from kafka.formats.json.json_schema import type_of_json_schema
from kafka.formats.json.spark_types import is_spark_type, type_of_spark


def arrow_type(schema: Any, references: Mapping[str, Any] | None = None) -> pa.DataType:
    """Return the Arrow type that a schema describes.

    Args:
        schema: a `pyarrow.Schema` or `DataType`; a Spark type, or the JSON of one; columns as in SQL,
            `"id bigint, name string"`; or a JSON Schema, as a text or as objects.
        references: schemas that a JSON Schema refers to, by the names that it has for them; texts or objects.

    Raises:
        JsonSchemaError: it is none of these, or no column can hold it.
    """
    if isinstance(schema, pa.Schema):
        return pa.struct(list(schema))
    if isinstance(schema, pa.DataType):
        return schema
    if callable(getattr(schema, "jsonValue", None)):
        return type_of_spark(schema.jsonValue())
    if isinstance(schema, str):
        if not schema.lstrip().startswith("{"):
            return type_of_ddl(schema)
        schema = _parsed(schema)
    if isinstance(schema, dict):
        if is_spark_type(schema):
            return type_of_spark(schema)
        parsed = {name: _parsed(each) if isinstance(each, str) else each for name, each in (references or {}).items()}
        return type_of_json_schema(schema, parsed)[0]
    raise JsonSchemaError(
        "Expected an Arrow schema or type, a Spark type, columns such as 'id bigint, name string', or a JSON Schema, "
        f"got {type(schema).__name__}"
    )


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise JsonSchemaError(f"The schema is no JSON: {error}") from error


def plain_type(type_: pa.DataType) -> pa.DataType:
    """Return the type of the columns to fill: large and view types differ only in memory."""
    if pa.types.is_large_string(type_) or pa.types.is_string_view(type_):
        return pa.string()
    if pa.types.is_large_binary(type_) or pa.types.is_binary_view(type_):
        return pa.binary()
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return pa.list_(_plain_field(type_.value_field))
    if pa.types.is_map(type_):
        made: pa.DataType = pa.map_(plain_type(type_.key_type), _plain_field(type_.item_field))
        return made
    if pa.types.is_struct(type_):
        return pa.struct([_plain_field(each) for each in type_])
    return type_


def _plain_field(field: Any) -> Any:
    return field.with_type(plain_type(field.type))
