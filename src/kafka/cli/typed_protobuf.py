"""Converts Protobuf keys and values to JSON and back."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from kafka.cli.schema_files import proto_imports
from kafka.cli.typed_fields import Document, Field, Row, ToBytes, ToText, in_base64, plain, registered, the_schema

if TYPE_CHECKING:
    from kafka.formats.protobuf.codec import Protobuf
    from kafka.schema_registry import Schema, SchemaRegistryClient


def protobuf_text(field: Field, registry: "SchemaRegistryClient | None") -> ToText:
    """Return the converter from Protobuf to JSON. Raises `click.UsageError` for a schema that cannot be used."""
    from kafka.schema_registry.protobuf_json import ProtobufJsonReader, json_of
    from kafka.serialization import MessageField, SerializationContext

    if registry is None:
        codec = _given(field)
        return lambda topic, data, headers: Document(json_of(codec, data).encode())
    reader = ProtobufJsonReader(registry)  # uses each value's own schema and message
    part = MessageField(field.part)
    return lambda topic, data, headers: Document(reader.text(data, SerializationContext(topic, part, headers)).encode())


def protobuf_bytes(field: Field, registry: "SchemaRegistryClient | None") -> ToBytes:
    """Return the converter from JSON to Protobuf. Raises `click.UsageError` for a schema that cannot be used."""
    from kafka.schema_registry.protobuf_json import message_from

    writer = _without_registry(field) if registry is None else _registered(field, registry)

    def of_text(topic: str, text: bytes) -> bytes:
        codec, write = writer(topic)
        return write(message_from(codec, text))

    def of_json(topic: str, value: Any) -> bytes:
        return of_text(topic, _json(plain(value, in_base64)))

    def of_row(topic: str, row: Row) -> bytes:
        codec, write = writer(topic)
        return write(message_from(codec, _json(_fields(codec.descriptor, row))))

    return ToBytes(of_text, of_json, of_row, lambda topic: writer(topic)[0].descriptor.fields_by_name)


def _json(value: Any) -> bytes:
    return json.dumps(value, default=_number).encode()


def _number(value: Any) -> float:
    if not isinstance(value, Decimal):
        raise TypeError(f"{type(value).__name__} cannot be written as JSON")
    return float(value)


def _fields(descriptor: Any, row: Row) -> dict[str, Any]:
    """Convert fields given as strings to the JSON of a message. Nested and repeated fields are JSON text."""
    from kafka.formats.avro.json_values import loaded

    found: dict[str, Any] = {}
    for name, text in row.fields(descriptor.fields_by_name).items():
        field = descriptor.fields_by_name.get(name)
        is_text = field is not None and field.type == field.TYPE_STRING and not field.is_repeated
        if text == (row.null or "") and not (is_text and row.null is None):
            continue  # the field is not set
        if field is None or field.is_repeated or field.type == field.TYPE_MESSAGE:
            found[name] = loaded(text) if text[:1] in ("{", "[") else text
        elif field.type == field.TYPE_BOOL and text in ("true", "false"):
            found[name] = text == "true"
        else:
            found[name] = text
    return found


def _without_registry(field: Field) -> "Callable[[str], tuple[Protobuf, Callable[[Any], bytes]]]":
    codec = _given(field)
    return lambda topic: (codec, codec.encode)


def _registered(
    field: Field, registry: "SchemaRegistryClient"
) -> "Callable[[str], tuple[Protobuf, Callable[[Any], bytes]]]":
    from kafka.schema_registry.protobuf import ProtobufSerializer
    from kafka.schema_registry.protobuf_json import codec_of

    given = None if field.schema is None else _given(field)

    def make(newest: "Schema | None", conf: dict[str, Any]) -> "tuple[Protobuf, Callable[..., Any]]":
        codec = given
        if newest is not None:
            conf = conf | {"use.latest.version": True}
            codec = codec_of(registry, newest, field.message)
        assert codec is not None
        return codec, ProtobufSerializer(codec.message_class, registry, conf)

    return registered(field, registry, make)


def _given(field: Field) -> "Protobuf":
    """Return the codec of the given schema. Raises `click.UsageError` if it is invalid."""
    from kafka.formats.protobuf.codec import Protobuf

    with the_schema(field):
        text = field.schema or ""
        return Protobuf(text, field.message, references=proto_imports(text, field.file))
