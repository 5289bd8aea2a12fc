"""Protobuf values as JSON, whatever their message: for tools that have no message classes."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

from kafka.formats.protobuf.codec import Protobuf
from kafka.formats.protobuf.damage import damage
from kafka.formats.protobuf.errors import ProtobufDecodeError, library
from kafka.formats.registry.references import referenced_schemas
from kafka.formats.registry.schemas import Schema
from kafka.schema_registry.lookup import Registry, written_schema
from kafka.schema_registry.schema_ids import SchemaId, dual_schema_id_deserializer
from kafka.schema_registry.serde import value_error
from kafka.serialization import SerializationContext, SerializationError

TYPE = "PROTOBUF"
_MOST_CODECS = 1000


class ProtobufJsonReader:
    """Decodes values of every schema that a registry knows. Several threads may use it.

    Arguments:
        registry: the `SchemaRegistryClient`.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._codecs: dict[tuple[Any, ...], Protobuf] = {}

    def text(self, data: bytes, ctx: SerializationContext) -> str:
        """The JSON of a value.

        Arguments:
            data: the value, behind the id of its schema and the position of its message.
            ctx: the topic, whether it is a key or a value, and headers.

        Raises `SerializationError` for what cannot be decoded, `SchemaRegistryError` where the registry refuses or
        does not answer.
        """
        schema_id = SchemaId(TYPE)
        payload: io.BytesIO = dual_schema_id_deserializer(data, ctx, schema_id)
        try:
            return json_of(self._codec(schema_id), payload.read())
        except SerializationError:  # which names the schema, or says that there is none
            raise
        except ValueError as error:
            raise value_error(schema_id, error) from error

    def _codec(self, schema_id: SchemaId) -> Protobuf:
        """Raises `ProtobufSchemaError`, and what the registry does."""
        indexes = [0] if schema_id.message_indexes is None else schema_id.message_indexes
        name = (schema_id.id, schema_id.guid, *indexes)
        codec = self._codecs.get(name)
        if codec is None:
            schema = written_schema(self._registry, schema_id, None)
            codec = codec_of(self._registry, schema, indexes)
            if len(self._codecs) >= _MOST_CODECS:
                self._codecs.clear()
            self._codecs[name] = codec
        return codec


def codec_of(registry: Registry, schema: Schema, message: str | Sequence[int] | None) -> Protobuf:
    """What encodes and decodes a message of a schema that a registry has.

    Arguments:
        registry: has the schemas that it imports.
        schema: of the file.
        message: its name, or its position in the file; None: the first one.

    Raises `ProtobufSchemaError` for what is no schema or has no such message, and what the registry raises.
    """
    imported = referenced_schemas(schema, registry, TYPE)
    texts = {name: each.schema_str or "" for name, each in imported.items()}
    return Protobuf(schema.schema_str or "", message, references=texts)


def json_of(codec: Protobuf, data: bytes) -> str:
    """A message as JSON on one line without spaces, with the names of the .proto file.

    Fields that have their default value are there, too.

    Arguments:
        codec: of the message.
        data: the message.

    Raises `ProtobufDecodeError`, which says where the message is damaged.
    """
    json_format = library("google.protobuf.json_format")
    try:
        message = codec.decode(data)
    except ProtobufDecodeError as error:
        found = damage(codec.descriptor, data)
        raise ProtobufDecodeError(str(found or error), found.path if found else "") from error
    try:
        plain = json_format.MessageToDict(
            message,
            preserving_proto_field_name=True,
            always_print_fields_with_no_presence=True,
            descriptor_pool=codec.descriptor.file.pool,
        )
    except json_format.Error as error:
        raise ProtobufDecodeError(f"the message has no JSON: {error}") from error
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def message_from(codec: Protobuf, text: bytes) -> Any:
    """A message from its JSON; raises ValueError, which says what does not fit.

    Arguments:
        codec: of the message.
        text: JSON.
    """
    json_format = library("google.protobuf.json_format")
    try:
        return json_format.Parse(text, codec.message_class(), descriptor_pool=codec.descriptor.file.pool)
    except json_format.ParseError as error:
        raise ValueError(str(error)) from error
