"""Encodes keys and values with the newest schema of a topic's subject, for messages that the UI produces.

Avro, JSON Schema and Protobuf are supported. `page_registry.py` decodes what this module encodes.
"""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaError, error_text
from kafka.formats.registry.registry_clients import SchemaRegistryClient
from kafka.serialization import MessageField, SerializationContext

if TYPE_CHECKING:
    from kafka.formats.registry.schema_objects import Schema
    from kafka.ui.page_registry import PageRegistry

_NEWEST = {"auto.register.schemas": False, "use.latest.version": True}


async def encoded(registry: PageRegistry | None, topic: str, part: str, text: str, message: str = "") -> bytes:
    """Return JSON as bytes with the id of its schema.

    Arguments:
        part: "key" or "value".
        message: the name of the Protobuf message type; "": the first one of the schema.

    Raises `ValueError` if there is no registry or no schema, or the value does not fit.
    """
    if registry is None:
        raise ValueError("a schema requires --registry URL")
    try:
        return await registry.ask(functools.partial(_encode, registry.client, topic, part, text, message))
    except (KafkaError, ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"the {part} cannot be encoded: {error_text(error)}") from None


def _encode(client: SchemaRegistryClient, topic: str, part: str, text: str, message: str) -> bytes:
    subject = f"{topic}-{part}"
    registered = client.get_latest_version(subject)
    if message and registered.schema.schema_type != "PROTOBUF":
        raise ValueError(
            f"only Protobuf has message types, and {subject} has another schema: leave out {message!r:.60}"
        )
    context = SerializationContext(topic, MessageField(part))
    kind = registered.schema.schema_type or "AVRO"
    write: Any
    if kind == "AVRO":
        from kafka.formats.avro.json_values import loaded, object_of
        from kafka.formats.registry._sync.named_schemas import parsed_avro
        from kafka.schema_registry.avro import AvroSerializer

        value = object_of(parsed_avro(registered.schema, client), loaded(text))
        write = AvroSerializer(client, registered.schema, _content, _NEWEST)
    elif kind == "JSON":
        from kafka.schema_registry.json_schema import JSONSerializer

        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"not JSON: {error}") from None
        write = JSONSerializer(registered.schema, client, _content, _NEWEST)
    elif kind == "PROTOBUF":
        return _protobuf(client, registered.schema, message, text, context)
    else:
        raise ValueError(f"the schema of {subject} is of the type {kind}, which is not encoded here: use hexadecimal")
    made: bytes = write(_Wrapped(value), context)
    return made


def _protobuf(
    client: SchemaRegistryClient, schema: Schema, message: str, text: str, context: SerializationContext
) -> bytes:
    from kafka.schema_registry.protobuf import ProtobufSerializer
    from kafka.schema_registry.protobuf_json import codec_of, message_from

    codec = codec_of(client, schema, message or None)
    value = message_from(codec, text.encode("utf-8", "surrogateescape"))
    return ProtobufSerializer(codec.message_class, client, _NEWEST)(value, context) or b""


class _Wrapped:
    """A value for a serializer, which would not call its function for None."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _content(wrapped: Any, _: Any) -> Any:
    return wrapped.value
