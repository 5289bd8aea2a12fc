"""JSON keys and values: checks them, and creates them from strings according to a JSON Schema."""

import functools
import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kafka.cli.typed_fields import Document, Field, Headers, Row, ToBytes, inner, plain, registered, the_schema

if TYPE_CHECKING:
    from kafka.schema_registry import Schema, SchemaRegistryClient

    Kinds = Mapping[str, set[str] | None]
    Writer = Callable[[str], tuple[Callable[[], Kinds], Callable[[Any], bytes]]]
_PREFIX = 5
_WHOLE = re.compile(r"-?[0-9]+\Z")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\Z")


def json_text(topic: str, data: bytes, headers: Headers) -> Document:
    """Return the JSON text without a schema id, if there is one. JSON itself never starts with a zero byte."""
    return _checked(data[_PREFIX:] if data[:1] == b"\0" else data)


def json_bytes(field: Field, registry: "SchemaRegistryClient | None") -> ToBytes:
    """Return the converter from JSON to bytes. Raises `click.UsageError` for a schema that cannot be used."""
    if field.schema is None and field.subject is None:
        return _of_texts(lambda topic, text: _checked(text))
    writer = _without_registry(field) if registry is None else _registered(field, registry)

    def of_text(topic: str, text: bytes) -> bytes:
        _, write = writer(topic)
        return write(_loaded(text))

    def of_row(topic: str, row: Row) -> bytes:
        kinds, write = writer(topic)
        return write(_fields(kinds(), row))

    return _of_texts(of_text)._replace(of_row=of_row, known=lambda topic: writer(topic)[0]())


def _of_texts(of_text: Callable[[str, bytes], bytes]) -> ToBytes:
    def of_json(topic: str, value: Any) -> bytes:
        text = json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"), default=float)
        return of_text(topic, text.encode())

    return ToBytes(of_text, of_json)


def _without_registry(field: Field) -> "Writer":
    from kafka.formats.json.validation import JsonValidator

    with the_schema(field):
        validator = JsonValidator(field.schema or "")

    def write(value: Any) -> bytes:
        validator.check(value)
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()

    kinds = functools.cache(lambda: _kinds_of(field.schema or "", {}))
    return lambda topic: (kinds, write)


def _registered(field: Field, registry: "SchemaRegistryClient") -> "Writer":
    from kafka.formats.json.validation import JsonValidator
    from kafka.formats.registry._sync.named_schemas import referenced_schemas
    from kafka.schema_registry.json_schema import JSONSerializer

    if field.schema is not None:
        with the_schema(field):
            JsonValidator(field.schema)

    def make(newest: "Schema | None", conf: dict[str, Any]) -> "tuple[Callable[[], Kinds], Callable[..., Any]]":
        if newest is not None:
            conf = conf | {"use.latest.version": True}
        write: Any = JSONSerializer(field.schema, registry, inner, conf)

        @functools.cache
        def kinds() -> "Kinds":
            if newest is None:
                return _kinds_of(field.schema or "", {})
            found = referenced_schemas(newest, registry, "JSON")
            return _kinds_of(newest.schema_str or "", {name: each.schema_str or "" for name, each in found.items()})

        return kinds, lambda value, context: write((value,), context)

    return registered(field, registry, make)


def _kinds_of(schema: str, references: Mapping[str, str]) -> "Kinds":
    """Return the types that a JSON Schema allows for its properties; None means any type."""
    from kafka.formats.json.schema_nodes import property_types
    from kafka.formats.json.validation import parse_json_schema

    texts = {name: parse_json_schema(text) for name, text in references.items()}
    return property_types(parse_json_schema(schema), texts)


def _fields(kinds: "Kinds", row: Row) -> dict[str, Any]:
    """Create an object from its properties given as strings."""
    made = {}
    for name, text in row.fields(kinds).items():
        allowed = kinds.get(name)
        if text == (row.null or "") and (allowed is None or "null" in allowed):
            made[name] = text if allowed is None and row.null is None else None
        elif allowed is None or "string" in allowed:
            made[name] = text
        elif text != (row.null or ""):  # otherwise the object lacks this property
            made[name] = _value(allowed, text, name)
    return made


def _value(kinds: set[str], text: str, name: str) -> Any:
    """Convert a string to one of these types. If that fails, return the string, which the schema will reject."""
    if "number" in kinds and _NUMBER.match(text):
        number = int(text) if _WHOLE.match(text) and len(text) < 400 else float(text)
        return text if number in (float("inf"), float("-inf")) else number
    if "boolean" in kinds and text in ("true", "false"):
        return text == "true"
    if kinds & {"object", "array"} and text[:1] in ("{", "["):
        try:
            return _loaded(text)
        except ValueError as error:
            raise ValueError(f"at {name}: {error}") from None
    return text


def _checked(text: bytes) -> Document:
    from kafka.formats import json_syntax_error

    why = json_syntax_error(text)
    if why is not None:
        raise ValueError(f"not JSON: {why}")
    return Document(text)


def _loaded(text: bytes | str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"expected JSON: {error}") from None
