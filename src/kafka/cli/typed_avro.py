"""Converts Avro keys and values to JSON and back."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from kafka.cli.typed_fields import Document, Field, Row, ToBytes, ToText, inner, plain, registered, the_schema

if TYPE_CHECKING:
    from kafka.formats.avro.schema import Schema as ParsedSchema
    from kafka.schema_registry import Schema, SchemaRegistryClient


def avro_text(field: Field, registry: "SchemaRegistryClient | None") -> ToText:
    """Return the converter from Avro to JSON. Raises `click.UsageError` for a schema that cannot be used."""
    if registry is None:
        return _text_without_registry(field)
    from kafka.formats.registry._sync.named_schemas import parsed_avro
    from kafka.schema_registry.avro_values import AvroJsonReader
    from kafka.serialization import MessageField, SerializationContext

    if field.schema is not None and field.subject is not None:
        names = f"--{field.part}-schema and --{field.part}-subject"
        raise click.UsageError(f"{names} are mutually exclusive: each sets the schema that values are read with")
    given = None if field.schema is None else _parsed(field)
    reader, part = AvroJsonReader(registry), MessageField(field.part)

    @functools.cache
    def reading() -> "ParsedSchema | None":
        if field.subject is None:
            return given
        return parsed_avro(registry.get_latest_version(field.subject).schema, registry)

    def text(topic: str, data: bytes, headers: Any) -> Document:
        return Document(reader.text(data, SerializationContext(topic, part, headers), reading()).encode())

    return text


def _text_without_registry(field: Field) -> ToText:
    from kafka.formats.avro.json_values import json_writer
    from kafka.formats.avro.object_decoder import AvroObjectDecoder

    schema = _parsed(field)
    decoder, write = AvroObjectDecoder(schema, return_record_name=True), json_writer(schema)
    return lambda topic, data, headers: Document(write(decoder.decode(data)).encode())


def avro_bytes(field: Field, registry: "SchemaRegistryClient | None") -> ToBytes:
    """Return the converter from JSON to Avro. Raises `click.UsageError` for a schema that cannot be used."""
    writer: Callable[[str], tuple[ParsedSchema, Callable[[Any], bytes]]]
    if registry is None:
        from kafka.formats.avro.object_decoder import AvroObjectEncoder

        schema = _parsed(field)
        encoder = AvroObjectEncoder(schema)

        def writer(topic: str) -> "tuple[ParsedSchema, Callable[[Any], bytes]]":
            return schema, encoder.encode
    else:
        writer = _registered(field, registry)
    return _from_json(writer)


def _from_json(writer: "Callable[[str], tuple[ParsedSchema, Callable[[Any], bytes]]]") -> ToBytes:
    from kafka.formats.avro.json_values import loaded, object_of, object_of_texts
    from kafka.formats.avro.schema import Record

    def of_json(topic: str, value: Any) -> bytes:
        schema, encode = writer(topic)
        return encode(object_of(schema, plain(value)))

    def known(topic: str) -> set[str]:
        schema, _ = writer(topic)
        return {each.name for each in schema.fields} if isinstance(schema, Record) else set()

    def of_row(topic: str, row: Row) -> bytes:
        schema, encode = writer(topic)
        return encode(object_of_texts(schema, row.fields(known(topic)), row.null))

    return ToBytes(lambda topic, text: of_json(topic, loaded(text)), of_json, of_row, known)


def _registered(
    field: Field, registry: "SchemaRegistryClient"
) -> "Callable[[str], tuple[ParsedSchema, Callable[[Any], bytes]]]":
    from kafka.formats.registry._sync.named_schemas import parsed_avro
    from kafka.schema_registry.avro import AvroSerializer
    from kafka.schema_registry.avro_values import schema_of

    if field.schema is not None:
        _parsed(field)

    def make(newest: "Schema | None", conf: dict[str, Any]) -> "tuple[ParsedSchema, Callable[..., Any]]":
        schema = schema_of(newest or field.schema or "")
        write: Any = AvroSerializer(registry, schema, inner, conf)
        return parsed_avro(schema, registry), lambda value, context: write((value,), context)

    return registered(field, registry, make)


def _parsed(field: Field) -> "ParsedSchema":
    """Parse the given schema. Raises `click.UsageError` if it is invalid."""
    from kafka.formats.avro.schema import parse

    with the_schema(field):
        return parse(field.schema or "")
