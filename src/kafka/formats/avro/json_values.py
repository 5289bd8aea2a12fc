"""Converts Avro values to JSON and back, by their schema.

`json_writer` writes a union value as the JSON for its branch, without the branch's name: `{"note": "a"}`. If the reader
would mistake this for another branch, the writer adds the branch's name, as in Avro's own JSON: `{"note": {"bytes":
"6162"}}`. The reader always accepts this form. A value that is null as a whole is written as `{"null": null}`, because
null alone means that a record has no value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from functools import partial
from typing import Any, TypeAlias
from uuid import UUID

from kafka.config.option import nearest
from kafka.formats.avro.errors import AvroEncodeError
from kafka.formats.avro.json_scalars import UnfitError, scalar_json, scalar_value, unfit
from kafka.formats.avro.schema import (
    NO_DEFAULT,
    Array,
    AvroDuration,
    Enum,
    Fixed,
    Map,
    Named,
    Primitive,
    Record,
    Schema,
    Union,
)

_LOOK = 3
"""Number of nesting levels inspected to find the branch for a value."""
_NUMBER = re.compile(r"-?[0-9]+\Z")
_POINT = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,6})?\Z")
_STRUCTURED = (Record, Map, Array)
_NULL = {"null": None}
_AS_THEY_ARE = ("null", "boolean", "int", "long", "string")
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)

_Write: TypeAlias = Callable[[Any], Any]
_Writers: TypeAlias = dict[Schema, "_Write | None"]
"""For each type, the function that converts a value to JSON; None if the value is already JSON."""


def loaded(text: bytes | str) -> Any:
    """Parse JSON without rounding numbers; raises ValueError with the reason if it is invalid."""
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=_constant)
    except ValueError as error:
        raise ValueError(f"expected JSON: {error}") from None


def _constant(name: str) -> Any:
    raise ValueError(f'{name} is not JSON; write it as the string "{name}"')


def object_of(schema: Schema, given: Any) -> Any:
    """Convert JSON to an object for `AvroObjectEncoder`.

    Arguments:
        schema: the type.
        given: JSON as returned by `loaded`.

    Raises `AvroEncodeError` with the path for JSON that does not fit the type, and for unknown fields of a record.
    """
    return _object(schema, None if schema.kind == "null" and given == _NULL else given, "")


def object_of_texts(schema: Schema, texts: Mapping[str, str], null: str | None) -> Any:
    """Convert a record's fields, given as text, to an object for `AvroObjectEncoder`; for example a row of CSV.

    Arguments:
        schema: the record's schema.
        texts: the fields by name: JSON for numbers, booleans and nested types, plain text for other types.
        null: the text that means null; None: an empty text means null in nullable fields.

    Raises `AvroEncodeError`.
    """
    if not isinstance(schema, Record):
        raise AvroEncodeError("", f"expected the schema of a record for columns, got {schema.label}")
    types = {field.name: field.type for field in schema.fields}
    return _object(schema, {name: _given(types.get(name), text, null, name) for name, text in texts.items()}, "")


def _given(schema: Schema | None, text: str, null: str | None, path: str) -> Any:
    """Convert a field's text to JSON."""
    if schema is None:
        return text
    branches = schema.branches if isinstance(schema, Union) else (schema,)
    if text == (null or "") and any(each.kind == "null" for each in branches):
        return None
    kinds = {each.kind for each in branches}
    if "string" in kinds:
        return text
    if _NUMBER.match(text) and kinds & {"int", "long", "float", "double"}:
        return int(text) if len(text) < 400 else Decimal(text)
    if _POINT.match(text) and kinds & {"float", "double"}:
        return Decimal(text)
    if "boolean" in kinds and text in ("true", "false"):
        return text == "true"
    if any(isinstance(each, _STRUCTURED) or _is(each, "duration") for each in branches) and text[:1] in ("{", "["):
        try:
            return loaded(text)
        except ValueError as error:
            raise AvroEncodeError(path, str(error)) from None
    return text


def _object(schema: Schema, given: Any, path: str) -> Any:
    if isinstance(schema, Union):
        return _branch(schema, given, path)
    if isinstance(schema, Record):
        return _record(schema, given, path)
    if isinstance(schema, Array):
        if not isinstance(given, list):
            raise _at(path, unfit("an array", given))
        return [_object(schema.items, each, f"{path}[{at}]") for at, each in enumerate(given)]
    if isinstance(schema, Map):
        if not isinstance(given, dict):
            raise _at(path, unfit("an object for a map", given))
        return {key: _object(schema.values, each, f"{path}[{key!r:.60}]") for key, each in given.items()}
    try:
        return scalar_value(schema, given)
    except UnfitError as error:
        raise _at(path, error) from None


def _record(schema: Record, given: Any, path: str) -> Any:
    if not isinstance(given, dict):
        raise _at(path, unfit(f"an object for record {schema.name}", given))
    types = {field.name: field.type for field in schema.fields}
    made = {}
    for name, each in given.items():
        if name not in types:
            hint = nearest(name, types) or f"; it has {', '.join(types) or 'none':.200}"
            raise AvroEncodeError(path, f"record {schema.name} has no field {name!r:.60}{hint}")
        made[name] = _object(types[name], each, f"{path}.{name}" if path else name)
    for field in schema.fields:
        if field.name not in given and field.default is NO_DEFAULT and not _fits(field.type, None, 1):
            raise AvroEncodeError(
                path, f"the field {field.name!r} of record {schema.name}, which has no default, is missing"
            )
    return made


def _branch(schema: Union, given: Any, path: str) -> Any:
    found = chosen(schema, given) or _only(schema, given)
    if found is None:
        raise _at(path, unfit(f"a value of {schema.label:.200}", given))
    branch, inner = found
    return branch_name(branch), _object(branch, inner, path)


def chosen(schema: Union, given: Any) -> tuple[Schema, Any] | None:
    """Return the branch for a JSON value, and the value without the branch's name; None if it fits no branch."""
    if isinstance(given, dict) and len(given) == 1:
        [(name, inner)] = given.items()
        for branch in schema.branches:
            if name == branch_name(branch) and _fits(branch, inner, _LOOK):
                return branch, inner
    found = [branch for branch in schema.branches if _fits(branch, given, _LOOK)]
    return (min(found, key=lambda branch: _rank(branch, given)), given) if found else None


def _only(schema: Union, given: Any) -> tuple[Schema, Any] | None:
    """Return the only branch that a JSON value may be meant for, to give a helpful error; None if there are several."""
    branches = [branch for branch in schema.branches if branch.kind != "null"]
    if len(branches) > 1:
        kinds: Any = (Record, Map) if isinstance(given, dict) else Array if isinstance(given, list) else ()
        branches = [branch for branch in branches if isinstance(branch, kinds)]
    return (branches[0], given) if len(branches) == 1 else None


def _rank(schema: Schema, given: Any) -> int:
    """Return the rank of a branch that a JSON value fits; the branch with the lowest rank is chosen."""
    if isinstance(given, dict):
        return int(isinstance(schema, Map))
    if isinstance(given, str):
        return int(not isinstance(schema, Enum) and not (schema.kind == "string" and not _logical_name(schema)))
    if type(given) is int:
        plain = schema.kind in ("int", "long") and not _logical_name(schema)
        return 0 if plain else 1 if schema.kind == "double" else 2 if schema.kind == "float" else 3
    return 0 if schema.kind == "double" else 1 if schema.kind == "float" else 2


def _fits(schema: Schema, given: Any, look: int) -> bool:
    """Return whether a JSON value may be of a type, judging by its outermost `look` levels."""
    if isinstance(schema, Union):
        if isinstance(given, dict) and len(given) == 1:
            [(name, inner)] = given.items()
            if any(name == branch_name(each) and _fits(each, inner, look) for each in schema.branches):
                return True
        return any(_fits(branch, given, look) for branch in schema.branches)
    if isinstance(schema, Record):
        return isinstance(given, dict) and (look == 0 or _are_fields(schema, given, look - 1))
    if isinstance(schema, Array):
        return isinstance(given, list) and (look == 0 or all(_fits(schema.items, each, look - 1) for each in given))
    if isinstance(schema, Map):
        return isinstance(given, dict) and (
            look == 0 or all(_fits(schema.values, each, look - 1) for each in given.values())
        )
    try:
        scalar_value(schema, given)
    except UnfitError:
        return False
    return True


def _are_fields(schema: Record, given: dict[str, Any], look: int) -> bool:
    if not given.keys() <= {field.name for field in schema.fields}:
        return False
    return all(
        _fits(field.type, given.get(field.name), look)
        for field in schema.fields
        if field.name in given or field.default is NO_DEFAULT
    )


def branch_name(schema: Schema) -> str:
    """Return the name of a union's branch in JSON."""
    return schema.name if isinstance(schema, Named) else schema.kind


def _logical_name(schema: Schema) -> str | None:
    logical = schema.logical if isinstance(schema, (Primitive, Fixed)) else None
    return None if logical is None else logical.name


def _is(schema: Schema, logical: str) -> bool:
    return _logical_name(schema) == logical


def _at(path: str, error: UnfitError) -> AvroEncodeError:
    return AvroEncodeError(path, str(error))


def json_writer(schema: Schema) -> Callable[[Any], str]:
    """Make the function that writes values as JSON, on one line without spaces. The function is thread-safe.

    It accepts values as returned by `AvroObjectDecoder`, with or without `return_record_name`.

    Arguments:
        schema: the type of the values: the reader's schema, or the writer's if there is no reader's schema.
    """
    write = _writer(schema, {})

    def text(value: Any) -> str:
        return _ENCODER.encode(_NULL if value is None else value if write is None else write(value))

    return text


def _writer(schema: Schema, known: _Writers) -> _Write | None:
    if schema not in known:
        if isinstance(schema, Record):
            return _record_writer(schema, known)
        known[schema] = _made(schema, known)
    return known[schema]


def _made(schema: Primitive | Fixed | Enum | Array | Map | Union, known: _Writers) -> _Write | None:
    if isinstance(schema, Union):
        return _union(schema, known)
    if isinstance(schema, Array):
        items = _writer(schema.items, known)
        return None if items is None else lambda value: [items(each) for each in value]
    if isinstance(schema, Map):
        values = _writer(schema.values, known)
        return None if values is None else lambda value: {key: values(each) for key, each in value.items()}
    if isinstance(schema, Enum) or (
        isinstance(schema, Primitive) and _is_plain(schema) and schema.kind in _AS_THEY_ARE
    ):
        return None
    return partial(scalar_json, schema)


def _record_writer(schema: Record, known: _Writers) -> _Write:
    fields: list[tuple[str, _Write | None]] = []

    def write(value: Any) -> Any:
        return {name: value[name] if each is None else each(value[name]) for name, each in fields}

    known[schema] = write  # before its fields are planned, because the type may be recursive
    fields.extend([(field.name, _writer(field.type, known)) for field in schema.fields])
    return write


def _union(schema: Union, known: _Writers) -> _Write | None:
    branches = [(branch, _writer(branch, known)) for branch in schema.branches]
    others = [pair for pair in branches if pair[0].kind != "null"]
    if len(others) != 1 or not _is_read_again(others[0][0], set()):
        return lambda value: _json_of_branch(schema, branches, value)
    [(other, write)] = others
    if write is None and not isinstance(other, (Record, Map)):
        return None

    def optional(value: Any) -> Any:
        if value is None:
            return None
        if type(value) is tuple:  # a record's name and the record
            value = value[1]
        made = value if write is None else write(value)
        if type(made) is dict and len(made) == 1:  # could be mistaken for a branch name
            found = chosen(schema, made)
            if found is None or found[1] is not made:
                return {branch_name(other): made}
        return made

    return optional


def _is_read_again(schema: Schema, seen: set[Schema]) -> bool:
    """Return whether every value of a type can be read back from JSON; False for types that contain logical types.

    A decimal, for example, may exceed its precision.
    """
    if schema in seen:
        return True
    seen.add(schema)
    if isinstance(schema, Record):
        return all(_is_read_again(field.type, seen) for field in schema.fields)
    if isinstance(schema, Union):
        return all(_is_read_again(branch, seen) for branch in schema.branches)
    if isinstance(schema, Array):
        return _is_read_again(schema.items, seen)
    if isinstance(schema, Map):
        return _is_read_again(schema.values, seen)
    return _is_plain(schema)


def _json_of_branch(schema: Union, branches: list[tuple[Schema, _Write | None]], value: Any) -> Any:
    if type(value) is tuple:  # a record's name and the record
        name, value = value
        found = [pair for pair in branches if isinstance(pair[0], Record) and pair[0].name == name]
    else:
        found = [pair for pair in branches if _is_of(pair[0], value)]
        found = [pair for pair in found if isinstance(pair[0], Map)] or found  # records in a union come with their name
    if not found:
        raise AvroEncodeError("", f"expected a value of {schema.label:.200}, got {type(value).__name__}")
    branch, write = found[0]
    made = value if write is None else write(value)
    read = chosen(schema, made)
    if read is not None and any(read[0] is each for each, _ in found) and read[1] is made:
        return made
    return {branch_name(branch): made}


def _is_plain(schema: Primitive | Fixed | Enum) -> bool:
    return isinstance(schema, Enum) or schema.logical is None


def _is_of(schema: Schema, value: Any) -> bool:
    """Return whether a decoded value is of a type."""
    if isinstance(schema, (Record, Map)):
        return isinstance(value, dict) and (isinstance(schema, Map) or value.keys() == {f.name for f in schema.fields})
    if isinstance(schema, Enum):
        return isinstance(value, str) and value in schema.symbols
    if isinstance(schema, Array):
        return isinstance(value, list)
    if isinstance(schema, Union):
        return False
    if schema.logical is not None:
        return _is_logical(schema.logical.name, value)
    if isinstance(schema, Fixed):
        return isinstance(value, bytes) and len(value) == schema.size
    kinds = {"null": type(None), "boolean": bool, "float": float, "double": float, "bytes": bytes, "string": str}
    return type(value) is kinds.get(schema.kind, int)


def _is_logical(name: str, value: Any) -> bool:
    if name.endswith("-nanos"):
        return type(value) is int
    if isinstance(value, datetime):
        return name.startswith("timestamp-" if value.tzinfo is not None else "local-timestamp-")
    kinds = {"decimal": Decimal, "uuid": UUID, "duration": AvroDuration, "date": date}
    return type(value) is kinds.get(name, time)
