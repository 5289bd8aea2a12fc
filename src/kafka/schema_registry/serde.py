"""What serializers and deserializers of all types of schema have in common."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from kafka.errors import KafkaConfigurationError
from kafka.formats.registry.errors import SchemaRegistryError
from kafka.formats.registry.schemas import RegisteredSchema, Schema
from kafka.schema_registry.schema_ids import (
    SchemaId,
    dual_schema_id_deserializer,
    prefix_schema_id_serializer,
)
from kafka.schema_registry.subject_names import SubjectNameStrategy, chosen_strategy
from kafka.serialization import MessageField, SerializationContext, SerializationError

_MISSING = 404


class Registry(Protocol):
    """What serializers ask of a `SchemaRegistryClient`."""

    def register_schema_full_response(
        self, subject_name: str, schema: Schema, normalize_schemas: bool = False
    ) -> RegisteredSchema:
        """See `SchemaRegistryClient`."""

    def lookup_schema(
        self,
        subject_name: str,
        schema: Schema,
        normalize_schemas: bool = False,
        fmt: str | None = None,
        deleted: bool = False,
    ) -> RegisteredSchema:
        """See `SchemaRegistryClient`."""

    def get_schema(self, schema_id: int, subject_name: str | None = None, fmt: str | None = None) -> Schema:
        """See `SchemaRegistryClient`."""

    def get_schema_by_guid(self, guid: str, fmt: str | None = None) -> Schema:
        """See `SchemaRegistryClient`."""

    def get_latest_version(self, subject_name: str, fmt: str | None = None) -> RegisteredSchema:
        """See `SchemaRegistryClient`."""

    def get_latest_with_metadata(
        self, subject_name: str, metadata: Mapping[str, str], deleted: bool = False, fmt: str | None = None
    ) -> RegisteredSchema:
        """See `SchemaRegistryClient`."""

    def get_version(
        self, subject_name: str, version: Any = "latest", deleted: bool = False, fmt: str | None = None
    ) -> RegisteredSchema:
        """See `SchemaRegistryClient`."""


def checked_registry(registry: Any) -> Registry:
    """The client, if its calls give results; raises `KafkaConfigurationError` for the one for asyncio."""
    if inspect.iscoroutinefunction(getattr(registry, "get_schema", None)):
        raise KafkaConfigurationError(
            f"expected a SchemaRegistryClient, got {type(registry).__name__}: serializers use the synchronous client, "
            "in asyncio clients as well"
        )
    client: Registry = registry
    return client


class Options:
    """The options of one serializer or deserializer, read by their names.

    Arguments:
        kind: of which class they are, for errors.
        defaults: all of them.
        given: by the user.

    Raises `KafkaConfigurationError` for one that is unknown.
    """

    def __init__(self, kind: str, defaults: Mapping[str, Any], given: Mapping[str, Any] | None) -> None:
        self._kind = kind
        for name in given or ():
            if name not in defaults:
                near = difflib.get_close_matches(str(name), defaults, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(defaults))}"
                raise KafkaConfigurationError(f"{name!r} is no option of {kind}: {hint}")
        self._values = {**defaults, **(given or {})}

    def flag(self, name: str) -> bool:
        """A truth value."""
        return bool(self._of(name, bool, "True or False"))

    def number(self, name: str) -> int | None:
        """A whole number, or None."""
        value = self._values[name]
        if isinstance(value, bool):
            raise KafkaConfigurationError(f"{name!r} of {self._kind} has to be a whole number, not {value!r}")
        return None if value is None else int(self._of(name, int, "a whole number"))

    def mapping(self, name: str) -> dict[str, str] | None:
        """A dict, or None."""
        return None if self._values[name] is None else dict(self._of(name, dict, "a dict"))

    def function(self, name: str) -> Callable[..., Any]:
        """A function."""
        value = self._values[name]
        if not callable(value):
            raise KafkaConfigurationError(f"{name!r} of {self._kind} has to be a function, not {value!r:.60}")
        return value  # type: ignore[no-any-return]

    def strategy(self) -> SubjectNameStrategy:
        """The function that names subjects."""
        return chosen_strategy(self._values["subject.name.strategy"], self._values["subject.name.strategy.type"])

    def _of(self, name: str, kind: type, expected: str) -> Any:
        value = self._values[name]
        if not isinstance(value, kind):
            raise KafkaConfigurationError(f"{name!r} of {self._kind} has to be {expected}, not {value!r:.60}")
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
"""The options of all serializers, with their defaults."""
READING: Mapping[str, Any] = {
    "use.latest.version": False,
    "use.latest.with.metadata": None,
    "subject.name.strategy": None,
    "subject.name.strategy.type": None,
    "schema.id.deserializer": dual_schema_id_deserializer,
}
"""The options of all deserializers, with their defaults."""


class Registered(NamedTuple):
    """A schema, and how records name it."""

    schema: Schema
    schema_id: SchemaId


class WritingSchemas:
    """Which schema values of a subject are written with.

    Arguments:
        registry: knows schemas.
        options: of the serializer.
        schema: that of the serializer; None where options name another.
        kind: the type of schema.

    Raises `KafkaConfigurationError` for options that contradict each other.
    """

    def __init__(self, registry: Registry, options: Options, schema: Schema | None, kind: str) -> None:
        self._registry = registry
        self._schema = schema
        self._kind = kind
        self._registers = options.flag("auto.register.schemas")
        self._normalizes = options.flag("normalize.schemas")
        self._id = options.number("use.schema.id")
        self._latest = options.flag("use.latest.version")
        self._metadata = options.mapping("use.latest.with.metadata")
        self._known: dict[str, Registered] = {}
        if self._latest and self._registers:
            raise KafkaConfigurationError(
                "'use.latest.version' and 'auto.register.schemas' are both on: set 'auto.register.schemas' to False"
            )

    def of(self, subject: str | None) -> Registered:
        """The schema of a subject, registered if need be; raises what the registry does."""
        if subject is None:
            raise SerializationError("the subject name strategy gave no subject for the schema to be registered in")
        known = self._known.get(subject)
        if known is not None:
            return known
        if self._id is not None:
            schema = self._registry.get_schema(self._id, subject)
            registered = self._registry.lookup_schema(subject, schema, deleted=True)
        elif self._metadata is not None:
            return self._named(self._registry.get_latest_with_metadata(subject, self._metadata, deleted=True))
        elif self._latest:  # it may be another one soon; the registry's client keeps it for a while
            return self._named(self._registry.get_latest_version(subject))
        else:
            if self._schema is None:
                raise SerializationError(
                    "the serializer has no schema: give it one, or set 'use.latest.version' or 'use.schema.id'"
                )
            ask = self._registry.register_schema_full_response if self._registers else self._registry.lookup_schema
            found = ask(subject, self._schema, normalize_schemas=self._normalizes)
            registered = RegisteredSchema(found.subject, found.version, found.schema_id, found.guid, self._schema)
        known = self._known[subject] = self._named(registered)
        return known

    def _named(self, registered: RegisteredSchema) -> Registered:
        return Registered(registered.schema, SchemaId(self._kind, registered.schema_id, registered.guid))


def written_schema(registry: Registry, schema_id: SchemaId, subject: str | None) -> Schema:
    """The schema that a record was written with.

    Raises:
        SerializationError: the registry does not know it.
        SchemaRegistryError: the registry does not answer, or refuses.
    """
    try:
        if schema_id.id is not None:
            in_context = subject if subject is not None and subject.startswith(":.") else None
            return registry.get_schema(schema_id.id, in_context)
        return registry.get_schema_by_guid(str(schema_id.guid))
    except SchemaRegistryError as error:
        if error.http_status_code != _MISSING or error.error_code == SchemaRegistryError.UNKNOWN:
            raise
        raise SerializationError(f"{described(schema_id)} is not in the registry: {error}") from error


def described(schema_id: SchemaId) -> str:
    """The id, or the GUID, for errors."""
    return f"schema id {schema_id.id}" if schema_id.id is not None else f"schema GUID {schema_id.guid}"


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
