"""Base classes for the serializers and deserializers of all schema types, and their options."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, NoReturn, Self, TypeVar

from kafka.errors import KafkaConfigurationError
from kafka.schema_registry.schema_ids import (
    SchemaId,
    SubjectNameStrategy,
    chosen_strategy,
    dual_schema_id_deserializer,
    prefix_schema_id_serializer,
)
from kafka.serialization import Deserializer, MessageField, SerializationContext, SerializationError, Serializer


class SyncSerializer(Serializer):
    """Base class for synchronous serializers, which producers can call directly."""

    __slots__ = ()

    def _begin(self) -> None:
        self._prepare()

    def _prepare(self) -> None:
        """Parse the arguments; may send requests to the registry."""

    def for_message_field(self, field: str) -> FieldSerializer:
        """Return an adapter that a producer can call for keys or for values.

        Arguments:
            field: "key" or "value".
        """
        return FieldSerializer(self, MessageField(field))


class SyncDeserializer(Deserializer):
    """Base class for synchronous deserializers, which consumers can call directly."""

    __slots__ = ()

    def _begin(self) -> None:
        self._prepare()

    def _prepare(self) -> None:
        """Parse the arguments; may send requests to the registry."""

    def for_message_field(self, field: str) -> FieldDeserializer:
        """Return an adapter that a consumer can call for keys or for values.

        Arguments:
            field: "key" or "value".
        """
        return FieldDeserializer(self, MessageField(field))


class _Awaited:
    """Base class for asyncio serializers; parses the arguments when awaited, or in the first call."""

    __slots__ = ()

    def _begin(self) -> None:
        """Do nothing: a constructor cannot await requests to the registry."""

    async def _prepare(self) -> None:
        """Parse the arguments; may send requests to the registry."""

    async def _prepared(self) -> Self:
        await self._prepare()
        return self

    def __await__(self) -> Generator[Any, Any, Self]:
        return self._prepared().__await__()

    def for_message_field(self, field: str) -> NoReturn:
        """Raise an error, because clients do not await serializers.

        Arguments:
            field: ignored.

        Raises `KafkaConfigurationError`.
        """
        name = type(self).__name__
        synchronous = name.removeprefix("Async")
        raise KafkaConfigurationError(
            f"clients cannot use {name}, which must be awaited: pass them the synchronous {synchronous}, "
            "also in asyncio"
        )


class AsyncSerializer(_Awaited):
    """Base class for asyncio serializers."""

    __slots__ = ()


class AsyncDeserializer(_Awaited):
    """Base class for asyncio deserializers."""

    __slots__ = ()


class FieldSerializer:
    """Adapts a serializer to the signature that kafka-python's producers call, for keys or for values.

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
            headers: the record's headers; a serializer may append to a list.
            data: the key or value.
        """
        return self._serializer(data, SerializationContext(topic, self._field, headers))


class FieldDeserializer:
    """Adapts a deserializer to the signature that kafka-python's consumers call, for keys or for values.

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


T = TypeVar("T")


def checked_registry(registry: T) -> T:
    """Return the client if it is synchronous; raises `KafkaConfigurationError` for an asyncio client."""
    if inspect.iscoroutinefunction(getattr(registry, "get_schema", None)):
        raise KafkaConfigurationError(
            f"expected a SchemaRegistryClient, got {type(registry).__name__}: serializers for clients use the "
            "synchronous client, also in asyncio; those named Async... are for programs that await them"
        )
    return registry


def checked_async_registry(registry: T) -> T:
    """Return the client if it is an asyncio client; raises `KafkaConfigurationError` for any other client."""
    if not inspect.iscoroutinefunction(getattr(registry, "get_schema", None)):
        raise KafkaConfigurationError(f"expected an AsyncSchemaRegistryClient, got {type(registry).__name__}")
    return registry


def checked_function(name: str, given: Any, of: str = "a value and a context") -> Callable[..., Any] | None:
    """Return a user function, or None; raises `KafkaConfigurationError` if its signature does not match.

    Arguments:
        name: the argument's name, for errors.
        given: the function.
        of: the arguments that the function is called with, joined by "and", for errors.
    """
    if given is None:
        return None
    try:
        inspect.signature(given).bind(*of.split(" and "))
    except TypeError:
        raise KafkaConfigurationError(
            f"{name} must be a function of {of}, not {given!r:.80}; such as {name}=lambda value"
            f"{', context' if ' and ' in of else ''}: function(value)"
        ) from None
    except ValueError:  # a builtin without a readable signature
        pass
    return given  # type: ignore[no-any-return]


class Options:
    """The options for one serializer or deserializer, which are read by name.

    Arguments:
        kind: the name of the class, for errors.
        defaults: all options with their defaults.
        given: the user's options.

    Raises `KafkaConfigurationError` for an unknown option.
    """

    def __init__(self, kind: str, defaults: Mapping[str, Any], given: Mapping[str, Any] | None) -> None:
        self._kind = kind
        for name in given or ():
            if name not in defaults:
                near = difflib.get_close_matches(str(name), defaults, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(defaults))}"
                raise KafkaConfigurationError(f"{name!r} is not an option of {kind}: {hint}")
        self._values = {**defaults, **(given or {})}

    def flag(self, name: str) -> bool:
        """Return a boolean option."""
        return bool(self._of(name, bool, "True or False"))

    def number(self, name: str) -> int | None:
        """Return an integer option, or None."""
        value = self._values[name]
        if isinstance(value, bool):
            raise KafkaConfigurationError(f"{name!r} of {self._kind} must be a whole number, not {value!r}")
        return None if value is None else int(self._of(name, int, "a whole number"))

    def mapping(self, name: str) -> dict[str, str] | None:
        """Return a dict option, or None."""
        return None if self._values[name] is None else dict(self._of(name, dict, "a dict"))

    def function(self, name: str) -> Callable[..., Any]:
        """Return a function option."""
        value = self._values[name]
        if not callable(value):
            raise KafkaConfigurationError(f"{name!r} of {self._kind} must be a function, not {value!r:.60}")
        return value  # type: ignore[no-any-return]

    def strategy(self) -> SubjectNameStrategy:
        """Return the subject name strategy."""
        return chosen_strategy(self._values["subject.name.strategy"], self._values["subject.name.strategy.type"])

    def _of(self, name: str, kind: type, expected: str) -> Any:
        value = self._values[name]
        if not isinstance(value, kind):
            raise KafkaConfigurationError(f"{name!r} of {self._kind} must be {expected}, not {value!r:.60}")
        return value


WRITING: Mapping[str, Any] = {
    "auto.register.schemas": True,
    "normalize.schemas": False,
    "use.schema.id": None,
    "use.latest.version": False,
    "use.latest.with.metadata": None,
    "subject.name.strategy": None,
    "subject.name.strategy.type": None,
    "schema.id.serializer": prefix_schema_id_serializer,
}
"""The options that all serializers have, with their defaults."""
READING: Mapping[str, Any] = {
    "use.latest.version": False,
    "use.latest.with.metadata": None,
    "subject.name.strategy": None,
    "subject.name.strategy.type": None,
    "schema.id.deserializer": dual_schema_id_deserializer,
}
"""The options that all deserializers have, with their defaults."""


def value_error(schema_id: SchemaId, why: object, subject: str | None = None) -> SerializationError:
    """Make the error for a value that does not fit its schema.

    Arguments:
        schema_id: the schema's id.
        why: the cause, an exception or a text. If it has a ``path``, this becomes the error's field.
        subject: the schema's subject, if the value is being serialized.
    """
    where = described(schema_id) if subject is None else f"subject {subject!r}, {described(schema_id)}"
    field = getattr(why, "path", None) or None
    return SerializationError(f"{where}: {why}", schema_id=schema_id.id, field=field)


def described(schema_id: SchemaId) -> str:
    """Return the id or GUID as text for error messages."""
    return f"schema id {schema_id.id}" if schema_id.id is not None else f"schema GUID {schema_id.guid}"
