"""Converts Protobuf values of any message type to JSON, for tools without message classes."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

from kafka.formats.protobuf.codec import Protobuf
from kafka.formats.protobuf.damage import damage
from kafka.formats.protobuf.errors import ProtobufDecodeError, library
from kafka.formats.registry._sync.named_schemas import referenced_schemas
from kafka.formats.registry.schema_objects import Schema
from kafka.schema_registry._sync.value_schemas import Registry, written_schema
from kafka.schema_registry.schema_ids import SchemaId, dual_schema_id_deserializer
from kafka.schema_registry.serde import value_error
from kafka.serialization import SerializationContext, SerializationError

TYPE = "PROTOBUF"
_MOST_CODECS = 1000


class ProtobufJsonReader:
    """Decodes values of any schema in a registry to JSON. Thread-safe.

    Arguments:
        registry: the `SchemaRegistryClient`.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._codecs: dict[tuple[Any, ...], Protobuf] = {}

    def text(self, data: bytes, ctx: SerializationContext) -> str:
        """Return a value as JSON.

        Arguments:
            data: the schema's id, the position of the message type in its file, and the value.
            ctx: the topic, whether the data is a key or a value, and the headers.

        Raises `SerializationError` for data that cannot be decoded, and `SchemaRegistryError` if the registry does not
        respond or rejects the request.
        """
        schema_id = SchemaId(TYPE)
        payload: io.BytesIO = dual_schema_id_deserializer(data, ctx, schema_id)
        try:
            return json_of(self._codec(schema_id), payload.read())
        except SerializationError:  # its message already names the schema, or says that the prefix is missing
            raise
        except ValueError as error:
            raise value_error(schema_id, error) from error

    def message_name(self, data: bytes, ctx: SerializationContext) -> str:
        """Return the full name of the message type of data that `text` can decode. Raises the same errors."""
        schema_id = SchemaId(TYPE)
        dual_schema_id_deserializer(data, ctx, schema_id)
        name: str = self._codec(schema_id).descriptor.full_name
        return name

    def _codec(self, schema_id: SchemaId) -> Protobuf:
        """Return the codec for a schema id; raises `ProtobufSchemaError` and the registry's errors."""
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
    """Make the codec for a message type in a registered schema.

    Arguments:
        registry: the client for looking up imports.
        schema: the file's schema.
        message: the name of the message type, or its position in the file; None: the first message type.

    Raises `ProtobufSchemaError` if the schema is invalid or lacks the message type, and the registry's errors.
    """
    imported = referenced_schemas(schema, registry, TYPE)
    texts = {name: each.schema_str or "" for name, each in imported.items()}
    return Protobuf(schema.schema_str or "", message, references=texts)


def json_of(codec: Protobuf, data: bytes) -> str:
    """Convert a message to JSON on one line without spaces, with the field names of the .proto file.

    Fields that have their default value are included.

    Arguments:
        codec: the message's codec.
        data: the encoded message.

    Raises `ProtobufDecodeError` with the position of invalid data.
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
        raise ProtobufDecodeError(f"the message cannot be written as JSON: {error}") from error
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def message_from(codec: Protobuf, text: bytes) -> Any:
    """Parse a message's JSON; raises ValueError with the reason if it does not fit the message type.

    Arguments:
        codec: the message's codec.
        text: JSON.
    """
    json_format = library("google.protobuf.json_format")
    try:
        return json_format.Parse(text, codec.message_class(), descriptor_pool=codec.descriptor.file.pool)
    except json_format.ParseError as error:
        raise ValueError(str(error)) from error
