"""Encodes and decodes Avro values like the registry's serializers, names their types, and converts values to JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from kafka.errors import KafkaConfigurationError
from kafka.formats.avro.errors import AvroDecodeError, AvroEncodeError
from kafka.formats.avro.json_values import json_writer
from kafka.formats.avro.object_decoder import AvroObjectDecoder, AvroObjectEncoder
from kafka.formats.avro.resolution import AvroResolutionError
from kafka.formats.avro.schema import PRIMITIVES, AvroSchemaError, Named, Primitive, Union
from kafka.formats.avro.schema import Schema as ParsedSchema
from kafka.formats.registry._sync.named_schemas import parsed_avro
from kafka.formats.registry.schema_objects import Schema
from kafka.schema_registry._sync.value_schemas import Registry, written_schema
from kafka.schema_registry.schema_ids import SchemaId, dual_schema_id_deserializer
from kafka.schema_registry.serde import described, value_error
from kafka.serialization import SerializationContext, SerializationError

_TYPE = "AVRO"
_MOST_PLANS = 1000


class AvroValueEncoder:
    """Encodes values of one schema; values of type bytes are written unchanged, as in Confluent's serializers."""

    __slots__ = ("_encoder", "name")

    def __init__(self, schema: ParsedSchema, strict: bool, strict_allow_default: bool) -> None:
        self.name = name_of(schema)
        self._encoder = None
        if not _is_bytes(schema):
            self._encoder = AvroObjectEncoder(schema, strict=strict, strict_allow_default=strict_allow_default)

    def encode(self, value: Any, prefix: bytes) -> bytes:
        """Encode a value, and prepend a prefix."""
        if self._encoder is not None:
            return self._encoder.encode(value, prefix)
        if not isinstance(value, (bytes, bytearray, memoryview, str)):
            raise AvroEncodeError("", f"expected bytes, got {type(value).__name__}")
        return prefix + (value.encode() if isinstance(value, str) else bytes(value))


class AvroValueDecoder:
    """Decodes values of one schema; values of type bytes are returned unchanged."""

    __slots__ = ("_decoder",)

    def __init__(self, written: ParsedSchema, reader: ParsedSchema | None, return_record_name: bool) -> None:
        self._decoder = None
        if not _is_bytes(written):
            self._decoder = AvroObjectDecoder(written, reader, return_record_name=return_record_name)

    def decode(self, data: bytes, start: int) -> Any:
        """Decode the value that begins at byte `start`."""
        return bytes(data[start:]) if self._decoder is None else self._decoder.decode(data, start)


def schema_of(given: str | Schema) -> Schema:
    """Return the schema to register. The name of a primitive type becomes a JSON object, as in confluent-kafka.

    Raises `KafkaConfigurationError` unless `given` is text or a `Schema`.
    """
    if isinstance(given, Schema):
        return given
    if not isinstance(given, str):
        raise KafkaConfigurationError(f"expected the schema as a str or a Schema, got {type(given).__name__}")
    text = given.strip()
    if text in PRIMITIVES:
        text = json.dumps(text)
    return Schema(f'{{"type":{text}}}' if text[:1] == '"' else text, _TYPE)


def name_of(schema: ParsedSchema) -> str | None:
    """Return the name for subject name strategies: the full name, or the kind of an unnamed type; None for a union."""
    if isinstance(schema, Union):
        return None
    return schema.name if isinstance(schema, Named) else schema.kind


def _is_bytes(schema: ParsedSchema) -> bool:
    return isinstance(schema, Primitive) and schema.kind == "bytes" and schema.logical is None


class AvroJsonReader:
    """Decodes values of any schema in a registry to JSON. Thread-safe.

    Arguments:
        registry: the `SchemaRegistryClient`.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._plans: dict[Any, tuple[AvroValueDecoder, Callable[[Any], str]]] = {}

    def text(self, data: bytes, ctx: SerializationContext, reader: ParsedSchema | None = None) -> str:
        """Return a value as JSON, in the format of `kafka.formats.avro.json_values.json_writer`.

        Arguments:
            data: the schema's id, and the value.
            ctx: the topic, whether the data is a key or a value, and the headers.
            reader: the schema to resolve the value to; None: the writer's schema.

        Raises `SerializationError` for data that cannot be decoded, and `SchemaRegistryError` if the registry does not
        respond or rejects the request.
        """
        schema_id = SchemaId(_TYPE)
        payload: bytes = dual_schema_id_deserializer(data, ctx, schema_id).read()
        decoder, write = self._plan(schema_id, reader)
        try:
            return write(decoder.decode(payload, 0))
        except AvroDecodeError as error:
            moved = AvroDecodeError(error.path, error.position + len(data) - len(payload), error.reason)
            raise value_error(schema_id, moved) from error

    def _plan(self, schema_id: SchemaId, reader: ParsedSchema | None) -> tuple[AvroValueDecoder, Callable[[Any], str]]:
        """Return the decoder for values and the function that writes them as JSON; raises `SerializationError`."""
        key = (schema_id.id, schema_id.guid, reader)
        plan = self._plans.get(key)
        if plan is None:
            schema = written_schema(self._registry, schema_id, None)
            try:
                written = parsed_avro(schema, self._registry)
            except (AvroSchemaError, SerializationError) as error:
                raise value_error(schema_id, error) from error
            try:
                plan = AvroValueDecoder(written, reader, True), json_writer(reader or written)
            except (AvroResolutionError, AvroSchemaError) as error:
                raise SerializationError(
                    f"{described(schema_id)} cannot be read with the reader's schema: {error}", schema_id=schema_id.id
                ) from error
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            self._plans[key] = plan
        return plan
