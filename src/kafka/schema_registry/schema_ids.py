"""Reads and writes schema ids in records, and names the subjects under which schemas are registered.

A record has an id or a GUID before its value, or a GUID in a header.
"""

from __future__ import annotations

import io
import uuid
from collections.abc import Callable
from typing import Any

from kafka.errors import KafkaConfigurationError
from kafka.formats.registry.schema_objects import SchemaReference
from kafka.formats.value_framing import PrefixError, SchemaName, index_bytes, prefix_of, read_indexes
from kafka.serialization import MessageField, SerializationContext, SerializationError

_BY_ID = 0
_BY_GUID = 1
_HEADERS = {MessageField.KEY: "__key_schema_id", MessageField.VALUE: "__value_schema_id"}


class SchemaId:
    """The id or GUID of a record's schema, and its binary form.

    Arguments:
        schema_type: "AVRO", "JSON" or "PROTOBUF".
        schema_id: the schema's id in the registry; the attribute is `id`.
        guid: the schema's UUID as text; the attribute is a `uuid.UUID`.
        message_indexes: for Protobuf, the position of the message in its file, preceded by the positions of the
            enclosing messages.
    """

    __slots__ = ("guid", "id", "message_indexes", "schema_type")

    def __init__(
        self,
        schema_type: str,
        schema_id: int | None = None,
        guid: str | None = None,
        message_indexes: list[int] | None = None,
    ) -> None:
        self.schema_type = schema_type
        self.message_indexes = message_indexes
        self.id = schema_id
        self.guid = None if guid is None else uuid.UUID(guid)

    @property
    def name(self) -> SchemaName:
        """The id, or the GUID as text if there is no id."""
        return self.id if self.id is not None else str(self.guid)

    def from_bytes(self, payload: io.BytesIO) -> io.BytesIO:
        """Read the id or GUID at the beginning of the payload; returns the remaining bytes.

        Arguments:
            payload: the bytes.

        Raises `SerializationError` if the payload begins with neither an id nor a GUID.
        """
        head = payload.read(1)
        if head == bytes([_BY_ID]) and len(number := payload.read(4)) == 4:
            self.id = int.from_bytes(number)
        elif head == bytes([_BY_GUID]) and len(guid := payload.read(16)) == 16:
            self.guid = uuid.UUID(bytes=guid)
        else:
            raise not_framed(payload.getvalue())
        if self.schema_type == "PROTOBUF":
            try:
                self.message_indexes, end = read_indexes(payload.getbuffer(), payload.tell())
            except PrefixError as error:
                raise SerializationError(str(error)) from error
            payload.seek(end)
        return payload

    def id_to_bytes(self) -> bytes:
        """Return the bytes before a value: 0x00, the id in four big-endian bytes, and for Protobuf the message indexes.

        Raises `SerializationError` if the id is unknown.
        """
        if self.id is None:
            raise SerializationError("the registry returned no id for the schema")
        return prefix_of(self.id, self.message_indexes)

    def guid_to_bytes(self) -> bytes:
        """Return the bytes for a record's header: 0x01, the GUID's 16 bytes, and for Protobuf the message indexes.

        Raises `SerializationError` if the GUID is unknown.
        """
        if self.guid is None:
            raise SerializationError("the registry returned no GUID for the schema; Confluent's does so since 8.0")
        indexes = b"" if self.message_indexes is None else index_bytes(self.message_indexes)
        return bytes([_BY_GUID]) + self.guid.bytes + indexes


def not_framed(data: bytes) -> SerializationError:
    """Make the error for bytes without a schema id or GUID."""
    return SerializationError(
        f"expected a value that begins with 0 and the four bytes of a schema id, as schema registry serializers write "
        f"it, got {len(data)} bytes that begin with {data[:5]!r}"
    )


def prefix_schema_id_serializer(payload: bytes, ctx: SerializationContext | None, schema_id: SchemaId) -> bytes:
    """Write the schema's id before the value.

    Arguments:
        payload: the value.
        ctx: ignored.
        schema_id: the schema's id.
    """
    return schema_id.id_to_bytes() + payload


def header_schema_id_serializer(payload: bytes, ctx: SerializationContext | None, schema_id: SchemaId) -> bytes:
    """Add a header with the schema's GUID; the value is unchanged.

    Arguments:
        payload: the value.
        ctx: contains the headers, a list or a dict.
        schema_id: the schema's id.

    Raises `SerializationError` if no header can be added.
    """
    headers = None if ctx is None else ctx.headers
    name = _header_name(ctx)
    if isinstance(headers, list):
        headers.append((name, schema_id.guid_to_bytes()))
    elif isinstance(headers, dict):
        headers[name] = schema_id.guid_to_bytes()
    else:
        raise SerializationError("the schema's id is sent in a header: pass headers=[], a new list for each record")
    return payload


def prefix_schema_id_deserializer(payload: bytes, ctx: SerializationContext | None, schema_id: SchemaId) -> io.BytesIO:
    """Read the prefix; returns the value.

    Arguments:
        payload: the prefix and the value.
        ctx: ignored.
        schema_id: receives the id.
    """
    return schema_id.from_bytes(io.BytesIO(payload))


def dual_schema_id_deserializer(payload: bytes, ctx: SerializationContext | None, schema_id: SchemaId) -> io.BytesIO:
    """Read the id or GUID from a header, or from the prefix if there is no such header; returns the value.

    Arguments:
        payload: the value, with or without a prefix.
        ctx: contains the headers.
        schema_id: receives the id.
    """
    found = header_value(ctx)
    if found is None:
        return schema_id.from_bytes(io.BytesIO(payload))
    schema_id.from_bytes(io.BytesIO(found))
    return io.BytesIO(payload)


def header_value(ctx: SerializationContext | None) -> bytes | None:
    """Return the value of the header with the schema's GUID, or None."""
    headers: Any = None if ctx is None else ctx.headers
    if not headers:
        return None
    name = _header_name(ctx)
    pairs = headers.items() if isinstance(headers, dict) else headers
    for key, value in pairs:
        if key == name:
            return bytes(value) if value is not None else None
    return None


def _header_name(ctx: SerializationContext | None) -> str:
    field = MessageField.VALUE if ctx is None else ctx.field
    return _HEADERS[MessageField.KEY if field == MessageField.KEY else MessageField.VALUE]


SubjectNameStrategy = Callable[[SerializationContext | None, str | None], str | None]


def topic_subject_name_strategy(ctx: SerializationContext | None, record_name: str | None) -> str | None:
    """Return the topic's name followed by "-key" or "-value".

    Arguments:
        ctx: contains the topic and the field.
        record_name: ignored.

    Raises `ValueError` without a context.
    """
    context = _needed(ctx, "topic_subject_name_strategy")
    return f"{context.topic}-{context.field}"


def topic_record_subject_name_strategy(ctx: SerializationContext | None, record_name: str | None) -> str | None:
    """Return the topic's name, "-" and the full name of the record type.

    Arguments:
        ctx: contains the topic.
        record_name: the full name of the type; if it is None, the result is None.

    Raises `ValueError` without a context.
    """
    context = _needed(ctx, "topic_record_subject_name_strategy")
    return None if record_name is None else f"{context.topic}-{record_name}"


def record_subject_name_strategy(ctx: SerializationContext | None, record_name: str | None) -> str | None:
    """Return the full name of the record type.

    Arguments:
        ctx: ignored.
        record_name: the full name of the type; if it is None, the result is None.
    """
    return record_name


def reference_subject_name_strategy(ctx: SerializationContext | None, schema_ref: SchemaReference | None) -> str | None:
    """Return the name of a reference.

    Arguments:
        ctx: ignored.
        schema_ref: the reference; if it is None, the result is None.
    """
    return schema_ref.name if schema_ref is not None else None


_BY_NAME: dict[str, SubjectNameStrategy] = {
    "TOPIC": topic_subject_name_strategy,
    "RECORD": record_subject_name_strategy,
    "TOPIC_RECORD": topic_record_subject_name_strategy,
}


def chosen_strategy(given: object, name: object) -> SubjectNameStrategy:
    """Return the configured strategy: a user's function, or one of the three built-in ones (default: by topic)."""
    if given is not None:
        if not callable(given):
            raise KafkaConfigurationError(f"'subject.name.strategy' must be a function, not {given!r:.60}")
        return given
    if name is None:
        return topic_subject_name_strategy
    text = str(getattr(name, "value", name)).upper()
    if text not in _BY_NAME:
        names = ", ".join(_BY_NAME)
        raise KafkaConfigurationError(f"'subject.name.strategy.type' must be one of {names}, not {name!r:.60}")
    return _BY_NAME[text]


def _needed(ctx: SerializationContext | None, strategy: str) -> SerializationContext:
    if ctx is None:
        raise ValueError(
            f"{strategy} needs a SerializationContext with the topic: pass one, or use record_subject_name_strategy"
        )
    return ctx
