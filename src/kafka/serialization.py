"""confluent-kafka's serializers: callables of a value and of what is known about it. Layer 0: imports `errors` alone.

They go where a client takes a function: ``KafkaProducer(value_serializer=StringSerializer())``. Those that need the
topic have `for_message_field` besides, which the clients call to learn whether it is for keys or for values.
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
    """The part of a record that is serialized."""

    NONE = "none"
    KEY = "key"
    VALUE = "value"


class SerializationContext:
    """What is known about a key or value besides itself.

    Attributes:
        topic: where the record goes, or comes from.
        field: the part of the record, a `MessageField`.
        headers: the record's: a list of pairs, or a dict; None for none. A serializer may add some.
    """

    def __init__(self, topic: str, field: MessageField | str, headers: Any = None) -> None:
        self.topic = topic
        self.field = field
        self.headers = headers


class SerializationError(KafkaError, ValueError):
    """A value cannot be serialized, or bytes cannot be deserialized.

    Arguments:
        args: the text that says why.
        schema_id: of the value's schema; None where it has none, or is not known.
        field: the path of the field that is to blame, such as ``items[3].price``; None: the value as a whole.
    """

    remedy = "Check the schema id and the path of the field in the message."

    def __init__(self, *args: object, schema_id: int | None = None, field: str | None = None) -> None:
        super().__init__(*args)
        self.schema_id = schema_id
        self.field = field


class Serializer:
    """The base class of serializers."""

    __slots__: tuple[str, ...] = ()

    def __call__(self, obj: Any, ctx: SerializationContext | None = None) -> bytes | None:
        """Return the bytes of a value; None stays None.

        Arguments:
            obj: the value.
            ctx: what is known about it.
        """
        raise NotImplementedError


class Deserializer:
    """The base class of deserializers."""

    __slots__: tuple[str, ...] = ()

    def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> Any:
        """Return the value of bytes; None stays None.

        Arguments:
            value: the bytes.
            ctx: what is known about them.
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
    """Floats as eight bytes, the highest first."""

    __slots__ = ()
    _form = struct.Struct(">d")


class DoubleDeserializer(_Unpacked):
    """Eight bytes, the highest first, as a float."""

    __slots__ = ()
    _form = struct.Struct(">d")


class IntegerSerializer(_Packed):
    """Integers as four bytes, the highest first."""

    __slots__ = ()
    _form = struct.Struct(">i")


class IntegerDeserializer(_Unpacked):
    """Four bytes, the highest first, as an integer."""

    __slots__ = ()
    _form = struct.Struct(">i")


class StringSerializer(Serializer):
    """Text as bytes.

    Arguments:
        codec: name of the encoding.
    """

    __slots__ = ("codec",)

    def __init__(self, codec: str = "utf_8") -> None:
        self.codec = codec

    def __call__(self, obj: Any, ctx: SerializationContext | None = None) -> bytes | None:
        """Return the bytes of a text; None stays None. Raises `SerializationError`.

        Arguments:
            obj: the text.
            ctx: no effect.
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
    """Bytes as text.

    Arguments:
        codec: name of the encoding.
    """

    __slots__ = ("codec",)

    def __init__(self, codec: str = "utf_8") -> None:
        self.codec = codec

    def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> str | None:
        """Return the text of bytes; None stays None. Raises `SerializationError`.

        Arguments:
            value: the bytes.
            ctx: no effect.
        """
        try:
            return None if value is None else bytes(value).decode(self.codec)
        except UnicodeDecodeError as error:
            raise SerializationError(str(error)) from error
