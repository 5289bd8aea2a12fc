"""Serializers under confluent-kafka's names: callables that take a value and a context. Layer 0: imports only `errors`.

Pass them where a client accepts a function: ``KafkaProducer(value_serializer=StringSerializer())``. Serializers that
need the topic also define `for_message_field`, which clients call with the part to serialize, "key" or "value".
"""

from __future__ import annotations

import struct
from enum import StrEnum
from typing import Any

from kafka.errors import KafkaError

__all__ = [
    "Deserializer",
    "DoubleDeserializer",
    "DoubleSerializer",
    "IntegerDeserializer",
    "IntegerSerializer",
    "MessageField",
    "SerializationContext",
    "SerializationError",
    "Serializer",
    "StringDeserializer",
    "StringSerializer",
]


class MessageField(StrEnum):
    """The part of a record that a serializer or deserializer is called for: `SerializationContext.field`."""

    NONE = "none"
    """Neither."""
    KEY = "key"
    """The key."""
    VALUE = "value"
    """The value."""


class SerializationContext:
    """The context in which a key or value is serialized or deserialized.

    Attributes:
        topic: the record's topic.
        field: the part of the record, a `MessageField`.
        headers: the record's headers: a list of pairs, a dict, or None. A serializer may add headers.
    """

    def __init__(self, topic: str, field: MessageField | str, headers: Any = None) -> None:
        self.topic = topic
        self.field = field
        self.headers = headers


class SerializationError(KafkaError, ValueError):
    """A value cannot be serialized, or bytes cannot be deserialized.

    Arguments:
        args: the message.
        schema_id: id of the value's schema; None if it has no schema or the schema is unknown.
        field: path of the invalid field, such as ``items[3].price``; None if the value as a whole is invalid.
    """

    remedy = "Check the schema id and the path of the field in the message."

    def __init__(self, *args: object, schema_id: int | None = None, field: str | None = None) -> None:
        super().__init__(*args)
        self.schema_id = schema_id
        self.field = field


class Serializer:
    """Base class for serializers with confluent-kafka's interface: callables that take a value and its context."""

    __slots__: tuple[str, ...] = ()

    def __call__(self, obj: Any, ctx: SerializationContext | None = None) -> bytes | None:
        """Serialize a value; None stays None.

        Arguments:
            obj: the value.
            ctx: the value's context.
        """
        raise NotImplementedError


class Deserializer:
    """Base class for deserializers with confluent-kafka's interface: callables that take bytes and their context."""

    __slots__: tuple[str, ...] = ()

    def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> Any:
        """Deserialize bytes; None stays None.

        Arguments:
            value: the bytes.
            ctx: the context of the bytes.
        """
        raise NotImplementedError


class _Packed(Serializer):
    __slots__ = ()
    _form: struct.Struct

    def __call__(self, obj: Any, ctx: SerializationContext | None = None) -> bytes | None:
        try:
            return None if obj is None else self._form.pack(obj)
        except struct.error as error:
            raise SerializationError(f"{obj!r:.60}: {error}") from error


class _Unpacked(Deserializer):
    __slots__ = ()
    _form: struct.Struct

    def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> Any:
        try:
            return None if value is None else self._form.unpack(value)[0]
        except struct.error as error:
            raise SerializationError(f"expected {self._form.size} bytes, got {len(value or b'')}") from error


class DoubleSerializer(_Packed):
    """Serializes floats as eight big-endian bytes (IEEE 754); None stays None. Java: ``DoubleSerializer``."""

    __slots__ = ()
    _form = struct.Struct(">d")


class DoubleDeserializer(_Unpacked):
    """Deserializes eight big-endian bytes as a float; None stays None. Java: ``DoubleDeserializer``."""

    __slots__ = ()
    _form = struct.Struct(">d")


class IntegerSerializer(_Packed):
    """Serializes integers as four big-endian bytes, signed; None stays None. Java: ``IntegerSerializer``."""

    __slots__ = ()
    _form = struct.Struct(">i")


class IntegerDeserializer(_Unpacked):
    """Deserializes four big-endian bytes as a signed integer; None stays None. Java: ``IntegerDeserializer``."""

    __slots__ = ()
    _form = struct.Struct(">i")


class StringSerializer(Serializer):
    """Serializes text as bytes; None stays None. Java: ``StringSerializer``.

    Arguments:
        codec: the encoding, as `str.encode` takes it.
    """

    __slots__ = ("codec",)

    def __init__(self, codec: str = "utf_8") -> None:
        self.codec = codec

    def __call__(self, obj: Any, ctx: SerializationContext | None = None) -> bytes | None:
        """Encode text; None stays None. Raises `SerializationError` if `obj` is not text or cannot be encoded.

        Arguments:
            obj: the text.
            ctx: ignored.
        """
        if obj is None:
            return None
        if not isinstance(obj, str):
            raise SerializationError(f"expected a str, got {type(obj).__name__}")
        try:
            return obj.encode(self.codec)
        except UnicodeEncodeError as error:
            raise SerializationError(str(error)) from error


class StringDeserializer(Deserializer):
    """Deserializes bytes as text; None stays None. Java: ``StringDeserializer``.

    Arguments:
        codec: the encoding, as `bytes.decode` takes it.
    """

    __slots__ = ("codec",)

    def __init__(self, codec: str = "utf_8") -> None:
        self.codec = codec

    def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> str | None:
        """Decode bytes to text; None stays None. Raises `SerializationError` if the bytes cannot be decoded.

        Arguments:
            value: the bytes.
            ctx: ignored.
        """
        try:
            return None if value is None else bytes(value).decode(self.codec)
        except UnicodeDecodeError as error:
            raise SerializationError(str(error)) from error
