"""Encodes and decodes Avro values like the registry's serializers, and names their types."""

from __future__ import annotations

import json
from typing import Any

from kafka.errors import KafkaConfigurationError
from kafka.formats.avro.errors import AvroEncodeError
from kafka.formats.avro.object_decoder import AvroObjectDecoder, AvroObjectEncoder
from kafka.formats.avro.schema import PRIMITIVES, Named, Primitive, Union
from kafka.formats.avro.schema import Schema as ParsedSchema
from kafka.formats.registry.schemas import Schema

_TYPE = "AVRO"


class AvroValueEncoder:
    """Writes values of one schema; values of the type bytes are written unchanged, as by Confluent's serializers."""

    __slots__ = ("_encoder", "name")

    def __init__(self, schema: ParsedSchema, strict: bool, strict_allow_default: bool) -> None:
        self.name = name_of(schema)
        self._encoder = None
        if not _is_bytes(schema):
            self._encoder = AvroObjectEncoder(schema, strict=strict, strict_allow_default=strict_allow_default)

    def encode(self, value: Any, prefix: bytes) -> bytes:
        """Encode a value after a prefix."""
        if self._encoder is not None:
            return self._encoder.encode(value, prefix)
        if not isinstance(value, (bytes, bytearray, memoryview, str)):
            raise AvroEncodeError("", f"expected bytes, got {type(value).__name__}")
        return prefix + (value.encode() if isinstance(value, str) else bytes(value))


class AvroValueDecoder:
    """Reads values of one schema; values of the type bytes are returned unchanged."""

    __slots__ = ("_decoder",)

    def __init__(self, written: ParsedSchema, reader: ParsedSchema | None, return_record_name: bool) -> None:
        self._decoder = None
        if not _is_bytes(written):
            self._decoder = AvroObjectDecoder(written, reader, return_record_name=return_record_name)

    def decode(self, data: bytes, start: int) -> Any:
        """Read the value that begins at a byte."""
        return bytes(data[start:]) if self._decoder is None else self._decoder.decode(data, start)


def schema_of(given: str | Schema) -> Schema:
    """The schema to register: names of primitive types become objects, as in confluent-kafka.

    Raises `KafkaConfigurationError` for anything but text or a `Schema`.
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
    """The type's name for subject name strategies: the full name, or the kind of an unnamed type; None for unions."""
    if isinstance(schema, Union):
        return None
    return schema.name if isinstance(schema, Named) else schema.kind


def _is_bytes(schema: ParsedSchema) -> bool:
    return isinstance(schema, Primitive) and schema.kind == "bytes" and schema.logical is None
