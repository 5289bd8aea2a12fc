"""The formats and schemas of keys and values, and the inputs from which `kafka produce` creates them."""

import base64
import functools
import math
from collections.abc import Callable, Container, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from kafka.cli.schema_files import is_json, is_proto

if TYPE_CHECKING:
    from kafka.schema_registry import Schema, SchemaRegistryClient


class Json(NamedTuple):
    """A key or value from a larger JSON document, or from an Arrow row.

    Arguments:
        value: the parsed JSON.
        key: name of the field that contains the record's key, which need not be a field of the value.
    """

    value: Any
    key: str | None = None

    def fitting(self, known: Container[str]) -> Any:
        """Return the value without the key, unless the schema has a field with the key's name."""
        if self.key is None or self.key in known:
            return self.value
        return {name: value for name, value in self.value.items() if name != self.key}


class Row(NamedTuple):
    """The fields of a value as strings.

    Arguments:
        texts: the strings by field name.
        null: the string that means null, or None.
        key: name of the field that contains the record's key, which need not be a field of the value.
    """

    texts: Mapping[str, str]
    null: str | None
    key: str | None

    def fields(self, known: Container[str]) -> dict[str, str]:
        """Return the strings without the key, unless the schema has a field with the key's name."""
        return {name: text for name, text in self.texts.items() if name != self.key or name in known}


Given = bytes | Json | Row


class ToBytes(NamedTuple):
    """Converters to the bytes of keys or values, given the topic. They raise `ValueError` for input that does not fit.

    Arguments:
        of_text: converts a string.
        of_json: converts parsed JSON; None: strings are used unchanged.
        of_row: converts fields given as strings; None: they become a JSON object.
        known: returns the field names of a topic's schema; None: there is no schema, or it has no fields.
    """

    of_text: Callable[[str, bytes], bytes]
    of_json: Callable[[str, Any], bytes] | None = None
    of_row: Callable[[str, Row], bytes] | None = None
    known: Callable[[str], Container[str]] | None = None


def plain(value: Any, of_bytes: Callable[[bytes], str] = bytes.hex) -> Any:
    """Convert an object to JSON. Dates, times and similar values become strings, and so do NaN and infinities.

    Arguments:
        value: a JSON value, with decimals as numbers, or an Arrow value.
        of_bytes: converts bytes to a string.
    """
    from kafka.formats.json.validation import plain_value

    def of_scalar(value: Any) -> Any:
        if isinstance(value, bytes):
            return of_bytes(value)
        if isinstance(value, float) and not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return value if value is None or isinstance(value, str | bool | int | float | Decimal) else str(value)

    return plain_value(value, of_scalar)


def in_base64(data: bytes) -> str:
    """Encode bytes in base64, as in Protobuf's JSON."""
    return base64.b64encode(data).decode()


T = TypeVar("T")
_NO_SUBJECT = 40401
Headers = Any
ToText = Callable[[str, bytes, Headers], bytes]
"""Converts bytes to text, given the topic and the headers; raises ValueError and errors from the registry's client."""


class Document(bytes):
    """A value as JSON text."""


class Field(NamedTuple):
    """The format and schema of keys or values.

    Arguments:
        part: "key" or "value".
        kind: one of `kafka.cli.typed_values.KINDS`.
        schema: the schema's text; None: the schema is in the registry.
        subject: the schema's subject in the registry; None: the subject named after the topic.
        message: for Protobuf, the name of the message; None: the first message in the schema.
        file: the schema's file, for errors and imports.
    """

    part: str
    kind: str
    schema: str | None
    subject: str | None
    message: str | None = None
    file: str | None = None


class the_schema:  # noqa: N801  # a context manager
    """Converts errors raised in the block to a `click.UsageError` that names the option of the unusable schema."""

    def __init__(self, field: Field) -> None:
        self._field = field

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ValueError) and self._field.schema is not None:
            option = f"--{self._field.part}-schema {self._field.file}"
            raise click.UsageError(f"{option}: {error}{_other_kind(self._field)}") from None


def _other_kind(field: Field) -> str:
    """Return a hint if the schema is of another type."""
    text = field.schema or ""
    option = "--value" if field.part == "value" else "--key-format"
    if field.kind == "protobuf" and is_json(text):
        return f"; for Avro or JSON Schema, use {option} avro or json"
    if field.kind != "protobuf" and is_proto(text):
        return f"; for a .proto file, use {option} protobuf"
    return ""


def registered(
    field: Field,
    registry: "SchemaRegistryClient",
    make: "Callable[[Schema | None, dict[str, Any]], tuple[T, Callable[[Any, Any], Any]]]",
) -> "Callable[[str], tuple[T, Callable[[Any], bytes]]]":
    """Return a factory for writers that use the given schema, which they register, or else the subject's latest schema.

    Arguments:
        field: the format, and the schema if one was given.
        registry: the client of the registry in which the schema is registered or looked up.
        make: called with the latest schema, or None if one was given, and with options for a serializer; returns
            information about the schema, and a function of a value and a `SerializationContext`.

    Returns a function that takes a topic, and returns the information from `make` and a function that writes values.
    """
    from kafka.serialization import MessageField, SerializationContext

    part = MessageField(field.part)

    @functools.cache
    def writer(topic: str) -> tuple[T, Callable[[Any], bytes]]:
        subject = field.subject or f"{topic}-{field.part}"
        conf: dict[str, Any] = {"subject.name.strategy": lambda ctx, name: subject}
        newest = None
        if field.schema is None:
            conf["auto.register.schemas"] = False
            newest = _newest_of(registry, subject, field)
        known, write = make(newest, conf)
        context = SerializationContext(topic, part)
        return known, lambda value: bytes(write(value, context))

    return writer


def inner(boxed: tuple[Any], context: object) -> Any:
    """Unwrap a value: a serializer's `to_dict`. Values are in tuples because serializers do not encode a bare null.

    Arguments:
        boxed: the value in a tuple.
        context: no effect.
    """
    return boxed[0]


def _newest_of(registry: "SchemaRegistryClient", subject: str, field: Field) -> "Schema":
    """Return the latest schema of a subject for writing. Raises the registry's errors, with advice."""
    from kafka.schema_registry import SchemaRegistryError

    try:
        return registry.get_latest_version(subject).schema
    except SchemaRegistryError as error:
        if error.error_code != _NO_SUBJECT:
            raise
        raise click.ClickException(
            f"the registry has no subject {subject!r}: register a schema there with --{field.part}-schema FILE, or "
            f"name another subject with --{field.part}-subject"
        ) from None
