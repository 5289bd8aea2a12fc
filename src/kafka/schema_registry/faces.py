"""Base classes of serializers and deserializers: called by clients for keys and values, or awaited."""

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
        """Parse the arguments; may ask the registry."""

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
        """Parse the arguments; may ask the registry."""

    def for_message_field(self, field: str) -> FieldDeserializer:
        """The deserializer as a consumer calls it for keys or for values.

        Arguments:
            field: "key" or "value".
        """
        return FieldDeserializer(self, MessageField(field))


class _Awaited:
    """Parses its arguments when it is awaited, or else in the first call."""

    __slots__ = ()

    def _begin(self) -> None:
        """Do nothing yet: asking the registry has to be awaited."""

    async def _prepare(self) -> None:
        """Parse the arguments; may ask the registry."""

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
        field: "key" or "value".
    """

    def __init__(self, serializer: Callable[[Any, SerializationContext], bytes | None], field: MessageField) -> None:
        self._serializer = serializer
        self._field = field

    def serialize(self, topic: str, headers: Sequence[Any], data: Any) -> bytes | None:
        """Serialize a key or value for a topic.

        Arguments:
            topic: the topic.
            headers: the record's headers; a header may be added to a list.
            data: the key or value.
        """
        return self._serializer(data, SerializationContext(topic, self._field, headers))


class FieldDeserializer:
    """A deserializer for keys, or for values, as kafka-python's consumers call it.

    Arguments:
        deserializer: called with bytes and a `SerializationContext`.
        field: "key" or "value".
    """

    def __init__(self, deserializer: Callable[[bytes | None, SerializationContext], Any], field: MessageField) -> None:
        self._deserializer = deserializer
        self._field = field

    def deserialize(self, topic: str, headers: Sequence[Any], data: bytes | None) -> Any:
        """Deserialize a key or value from a topic.

        Arguments:
            topic: the topic.
            headers: the record's headers.
            data: the bytes.
        """
        return self._deserializer(data, SerializationContext(topic, self._field, headers))
