"""Converts schemas of JSON values to Arrow types, from any form that users may pass."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from kafka.formats.json.errors import JsonSchemaError, place
from kafka.formats.json.spark_schema import is_spark_type, type_of_ddl, type_of_spark


def arrow_type(schema: Any, references: Mapping[str, Any] | None = None) -> pa.DataType:
    """Return the Arrow type of a schema.

    Args:
        schema: a `pyarrow.Schema` or `DataType`; a Spark type, or its JSON; SQL columns,
            `"id bigint, name string"`; or a JSON Schema, as text or objects.
        references: schemas that a JSON Schema refers to, by the names used in the references; text or objects.

    Raises:
        JsonSchemaError: the argument is not a schema of these kinds, or has no column type.
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
        raise JsonSchemaError(f"The schema is not JSON: {error}") from error


def plain_type(type_: pa.DataType) -> pa.DataType:
    """Return the type of the columns to fill: the same type, but without large and view layouts."""
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


_FORMATS: dict[tuple[str, str], pa.DataType] = {
    ("string", "date-time"): pa.timestamp("us", "UTC"),
    ("string", "date"): pa.date32(),
    ("integer", "int32"): pa.int32(),
    ("integer", "int64"): pa.int64(),
    ("number", "float"): pa.float32(),
    ("number", "double"): pa.float64(),
}
"""Arrow types by JSON type and `format`; int32 and similar formats are OpenAPI's. Other formats have no effect."""
_CONNECT: dict[tuple[str, str], pa.DataType] = {
    ("integer", "int8"): pa.int8(),
    ("integer", "int16"): pa.int16(),
    ("integer", "int32"): pa.int32(),
    ("integer", "int64"): pa.int64(),
    ("number", "float32"): pa.float32(),
    ("number", "float64"): pa.float64(),
    ("string", "bytes"): pa.binary(),
}
"""Arrow types by JSON type and `connect.type`, as written by Kafka Connect's converter."""
_SIMPLE: dict[str, pa.DataType] = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "string": pa.string(),
}
_MAX_COLUMNS = 100_000
_STRUCTURE = ("properties", "items", "prefixItems", "additionalProperties", "patternProperties")
_ANY = pa.json_()


def type_of_json_schema(schema: Any, references: Mapping[str, Any] | None = None) -> tuple[pa.DataType, bool]:
    """Return the type of a JSON Schema, and whether it allows null.

    Args:
        schema: the parsed schema.
        references: the schemas that the schema refers to, by the names in `$ref`.

    Raises:
        JsonSchemaError: the schema has no column type: it has several types or tuples, or is recursive.
    """
    return _Converter(schema, references or {}).type_of(schema, "", ())


class _Converter:
    """Converts a schema, with the schemas that it refers to."""

    def __init__(self, root: Any, references: Mapping[str, Any]) -> None:
        self._root, self._references = root, references
        self._left = _MAX_COLUMNS

    def type_of(self, schema: Any, path: str, inside: tuple[str, ...]) -> tuple[pa.DataType, bool]:
        """Return the type of a subschema, and whether it may be null; `inside` contains the enclosing references."""
        self._left -= 1
        if self._left < 0:  # nested references can grow exponentially
            raise JsonSchemaError(f"the schema needs more than {_MAX_COLUMNS:,} columns, including nested ones")
        if schema is True or schema == {}:
            return _ANY, True
        if not isinstance(schema, dict):
            raise JsonSchemaError(f"{place(path)}expected a JSON Schema, got {schema!r:.100}")
        if "$ref" in schema:
            return self._referred(schema, path, inside)
        if "allOf" in schema:
            return self.type_of(self._merged(schema, path, inside), path, inside)
        for key in ("oneOf", "anyOf"):
            if key in schema:
                return self._one_of(schema[key], path, inside)
        kinds = _kinds(schema, path)
        nullable = "null" in kinds or schema.get("nullable") is True
        kinds.discard("null")
        if not kinds:
            return (_ANY, True) if "type" not in schema else (pa.null(), True)
        if kinds == {"integer", "number"}:
            kinds = {"number"}
        if len(kinds) > 1:
            raise JsonSchemaError(
                f"{place(path)}a column has one type, but the schema allows {', '.join(sorted(kinds))}: allow one, "
                "or leave out 'type' for a column of JSON text"
            )
        return self._single(kinds.pop(), schema, path, inside), nullable

    def _single(self, kind: str, schema: dict[str, Any], path: str, inside: tuple[str, ...]) -> pa.DataType:
        if kind == "object":
            return self._object(schema, path, inside)
        if kind == "array":
            if "prefixItems" in schema or isinstance(schema.get("items"), list):
                raise JsonSchemaError(
                    f"{place(path)}a list has items of one type, but the schema has a type for each position"
                )
            items, nullable = self.type_of(schema.get("items", True), f"{path}[]", inside)
            return pa.list_(pa.field("item", items, nullable))
        if kind == "string" and schema.get("contentEncoding") == "base64":
            return pa.binary()
        made = _FORMATS.get((kind, str(schema.get("format")))) or _CONNECT.get((kind, str(schema.get("connect.type"))))
        return made or _SIMPLE[kind]

    def _object(self, schema: dict[str, Any], path: str, inside: tuple[str, ...]) -> pa.DataType:
        properties = schema.get("properties")
        if properties:
            required = set(schema.get("required", ()))
            fields = []
            for name, each in properties.items():
                made, nullable = self.type_of(each, f"{path}.{name}", inside)
                fields.append(pa.field(name, made, nullable or name not in required))
            return pa.struct(fields)
        others = [*schema.get("patternProperties", {}).values()]
        if schema.get("additionalProperties") not in (None, True, False):
            others.append(schema["additionalProperties"])
        if not others:
            return pa.struct([]) if schema.get("additionalProperties") is False else _ANY
        if len(others) > 1:
            raise JsonSchemaError(f"{place(path)}a map has values of one type, but the schema has several")
        values, nullable = self.type_of(others[0], f"{path}{{}}", inside)
        entries: pa.DataType = pa.map_(pa.string(), pa.field("value", values, nullable))  # type: ignore[call-overload]
        return entries

    def _one_of(self, branches: Any, path: str, inside: tuple[str, ...]) -> tuple[pa.DataType, bool]:
        """Return the type of alternatives that consist of a single type and null."""
        found = [self.type_of(each, path, inside) for each in branches]
        nullable = any(each for _, each in found)
        types = {made for made, _ in found if not pa.types.is_null(made)}
        if len(types) > 1:
            listed = ", ".join(sorted(str(each) for each in types))
            raise JsonSchemaError(
                f"{place(path)}a column has one type, but the schema has branches of several: {listed}"
            )
        return (types.pop() if types else pa.null()), nullable

    def _merged(self, schema: dict[str, Any], path: str, inside: tuple[str, ...]) -> dict[str, Any]:
        """Merge `allOf` into one schema with all properties; a property required by any part is required."""
        made = {key: value for key, value in schema.items() if key != "allOf"}
        for each in schema["allOf"]:
            part = each
            while isinstance(part, dict) and "$ref" in part:
                inside = self._enter(part["$ref"], path, inside)
                part = self._look_up(part["$ref"], path)
            if isinstance(part, dict) and "allOf" in part:
                part = self._merged(part, path, inside)
            if not isinstance(part, dict):
                continue
            properties = {**made.get("properties", {}), **part.get("properties", {})}
            required = [*made.get("required", ()), *part.get("required", ())]
            made = {**part, **made}
            if properties:
                made["properties"], made["required"] = properties, required
        return made

    def _referred(self, schema: dict[str, Any], path: str, inside: tuple[str, ...]) -> tuple[pa.DataType, bool]:
        name = schema["$ref"]
        return self.type_of(self._look_up(name, path), path, self._enter(name, path, inside))

    @staticmethod
    def _enter(name: str, path: str, inside: tuple[str, ...]) -> tuple[str, ...]:
        if name in inside:
            raise JsonSchemaError(f"{place(path)}{name} is recursive, which columns cannot be: leave out the property")
        return (*inside, name)

    def _look_up(self, name: Any, path: str) -> Any:
        """Return the schema that a `$ref` names."""
        document, _, pointer = str(name).partition("#")
        if document and document not in self._references:
            raise JsonSchemaError(f"{place(path)}the schema refers to {document}, which is not among its references")
        found = self._references[document] if document else self._root
        for part in pointer.split("/")[1:] if pointer else ():
            key = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, dict) or key not in found:
                raise JsonSchemaError(f"{place(path)}the schema refers to {name}, which it does not contain")
            found = found[key]
        return found


def _kinds(schema: dict[str, Any], path: str) -> set[str]:
    """Return the names of the types that a schema allows; without `type`, those implied by its other keywords."""
    given = schema.get("type")
    if given is None:
        if any(key in schema for key in _STRUCTURE):
            return {"array" if "items" in schema or "prefixItems" in schema else "object"}
        values = schema.get("enum", [schema["const"]] if "const" in schema else [])
        return {_kind_of(value) for value in values}
    kinds = {given} if isinstance(given, str) else set(given)
    for kind in kinds:
        if kind not in _SIMPLE and kind not in ("object", "array"):
            raise JsonSchemaError(f"{place(path)}JSON Schema has no type {kind!r}")
    return kinds


def _kind_of(value: Any) -> str:
    for kinds, name in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (dict, "object")):
        if isinstance(value, kinds):
            return name
    return "null" if value is None else "array"
