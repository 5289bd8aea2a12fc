"""What serializers and deserializers are to clients: called for keys and for values, or awaited by hand."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, NoReturn, Self

from kafka.errors import KafkaConfigurationError
from kafka.serialization import Deserializer, MessageField, SerializationContext, Serializer


class SyncSerializer(Serializer):
    """A serializer that clients call."""

    __slots__ = ()

    def _begin(self) -> None:
        self._prepare()

    def _prepare(self) -> None:
        """Parse what was given; may ask the registry."""

    def for_message_field(self, field: str) -> FieldSerializer:
        """The serializer as a producer calls it for keys or for values.

        Arguments:
            field: "key" or "value".
        """
        return FieldSerializer(self, MessageField(field))


class SyncDeserializer(Deserializer):
    """A deserializer that clients call."""

    __slots__ = ()

    def _begin(self) -> None:
        self._prepare()

    def _prepare(self) -> None:
        """Parse what was given; may ask the registry."""

    def for_message_field(self, field: str) -> FieldDeserializer:
        """The deserializer as a consumer calls it for keys or for values.

        Arguments:
            field: "key" or "value".
        """
        return FieldDeserializer(self, MessageField(field))


class _Awaited:
    """Made by ``await``, which parses what was given. Without it, the first call does."""

    __slots__ = ()

    def _begin(self) -> None:
        """Nothing yet: asking the registry has to be awaited."""

    async def _prepare(self) -> None:
        """Parse what was given; may ask the registry."""

    async def _prepared(self) -> Self:
        await self._prepare()
        return self

    def __await__(self) -> Generator[Any, Any, Self]:
        return self._prepared().__await__()

    def for_message_field(self, field: str) -> NoReturn:
        """Clients do not await serializers.

        Arguments:
            field: no effect.

        Raises `KafkaConfigurationError`.
        """
        name = type(self).__name__
        synchronous = name.removeprefix("Async")
        raise KafkaConfigurationError(
            f"{name} is awaited by hand, clients do not await it: give them the synchronous {synchronous}, "
            "asyncio clients as well"
        )


class AsyncSerializer(_Awaited):
    """A serializer that is awaited."""

    __slots__ = ()


class AsyncDeserializer(_Awaited):
    """A deserializer that is awaited."""

    __slots__ = ()


class FieldSerializer:
    """A serializer for keys, or for values, as kafka-python's producers call it.

    Arguments:
        serializer: called with a value and a `SerializationContext`.
        field: the part of records that it is for.
    """

    def __init__(self, serializer: Callable[[Any, SerializationContext], bytes | None], field: MessageField) -> None:
        self._serializer = serializer
        self._field = field

    def serialize(self, topic: str, headers: Sequence[Any], data: Any) -> bytes | None:
        """Return the bytes of a key or value that goes to a topic.

        Arguments:
            topic: where it goes.
            headers: the record's; a list may get more.
            data: the key or value.
        """
        return self._serializer(data, SerializationContext(topic, self._field, headers))


class FieldDeserializer:
    """A deserializer for keys, or for values, as kafka-python's consumers call it.

    Arguments:
        deserializer: called with bytes and a `SerializationContext`.
        field: the part of records that it is for.
    """

    def __init__(self, deserializer: Callable[[bytes | None, SerializationContext], Any], field: MessageField) -> None:
        self._deserializer = deserializer
        self._field = field

    def deserialize(self, topic: str, headers: Sequence[Any], data: bytes | None) -> Any:
        """Return the key or value of bytes that came from a topic.

        Arguments:
            topic: where they came from.
            headers: the record's.
            data: the bytes.
        """
        return self._deserializer(data, SerializationContext(topic, self._field, headers))
