"""Finds the schemas that serializers write with, and the writer's schemas for values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from kafka.errors import KafkaConfigurationError
from kafka.formats.registry._async.named_schemas import named_schema
from kafka.formats.registry.errors import SchemaRegistryError
from kafka.formats.registry.schema_objects import RegisteredSchema, Schema
from kafka.schema_registry.schema_ids import SchemaId
from kafka.schema_registry.serde import Options, described
from kafka.serialization import SerializationError


class Registered(NamedTuple):
    """A schema, and the id by which records refer to it."""

    schema: Schema
    schema_id: SchemaId


class AsyncRegistry(Protocol):
    """The part of `AsyncSchemaRegistryClient` that serializers use."""

    async def register_schema_full_response(
        self, subject_name: str, schema: Schema, normalize_schemas: bool = False
    ) -> RegisteredSchema:
        """See `AsyncSchemaRegistryClient`."""

    async def lookup_schema(
        self,
        subject_name: str,
        schema: Schema,
        normalize_schemas: bool = False,
        fmt: str | None = None,
        deleted: bool = False,
    ) -> RegisteredSchema:
        """See `AsyncSchemaRegistryClient`."""

    async def register_schema(self, subject_name: str, schema: Schema, normalize_schemas: bool = False) -> int:
        """See `AsyncSchemaRegistryClient`."""

    async def get_schema(self, schema_id: int, subject_name: str | None = None, fmt: str | None = None) -> Schema:
        """See `AsyncSchemaRegistryClient`."""

    async def get_schema_by_guid(self, guid: str, fmt: str | None = None) -> Schema:
        """See `AsyncSchemaRegistryClient`."""

    async def get_latest_version(self, subject_name: str, fmt: str | None = None) -> RegisteredSchema:
        """See `AsyncSchemaRegistryClient`."""

    async def get_latest_with_metadata(
        self, subject_name: str, metadata: Mapping[str, str], deleted: bool = False, fmt: str | None = None
    ) -> RegisteredSchema:
        """See `AsyncSchemaRegistryClient`."""

    async def get_version(
        self, subject_name: str, version: Any = "latest", deleted: bool = False, fmt: str | None = None
    ) -> RegisteredSchema:
        """See `AsyncSchemaRegistryClient`."""


class AsyncWritingSchemas:
    """Looks up or registers the schema with which a subject's values are written.

    Arguments:
        registry: the registry client.
        options: the serializer's options.
        schema: the serializer's schema; None if options select another schema.
        kind: the schema's type.

    Raises `KafkaConfigurationError` for conflicting options.
    """

    def __init__(self, registry: AsyncRegistry, options: Options, schema: Schema | None, kind: str) -> None:
        self._registry = registry
        self._schema = schema
        self._kind = kind
        self._registers = options.flag("auto.register.schemas")
        self._normalizes = options.flag("normalize.schemas")
        self._id = options.number("use.schema.id")
        self._latest = options.flag("use.latest.version")
        self._metadata = options.mapping("use.latest.with.metadata")
        self.needs_own = self._id is None and self._metadata is None and not self._latest
        """Whether values are written with the serializer's own schema."""
        self._known: dict[str, Registered] = {}
        if self._latest and self._registers:
            raise KafkaConfigurationError(
                "'use.latest.version' and 'auto.register.schemas' are both on: set 'auto.register.schemas' to False"
            )

    def known(self, subject: str | None) -> Registered | None:
        """Return the stored result of `of` for a subject, or None."""
        return None if subject is None else self._known.get(subject)

    async def of(self, subject: str | None, own: Schema | None = None) -> Registered:
        """Return the schema for a subject, registering it if necessary; raises the registry's errors.

        Arguments:
            subject: the subject in which the schema is looked up or registered.
            own: the serializer's schema, if it depends on the value.
        """
        if subject is None:
            raise SerializationError("the subject name strategy returned no subject for the schema")
        known = self._known.get(subject)
        if known is not None:
            return known
        if self._id is not None:
            schema = await self._registry.get_schema(self._id, subject)
            registered = await self._registry.lookup_schema(subject, schema, deleted=True)
        elif self._metadata is not None:
            return self._named(await self._registry.get_latest_with_metadata(subject, self._metadata, deleted=True))
        elif self._latest:  # the newest version may change; the registry client caches it for a while
            return self._named(await self._registry.get_latest_version(subject))
        else:
            own = own or self._schema
            if own is None:
                raise SerializationError(
                    "the serializer has no schema: give it one, or set 'use.latest.version' or 'use.schema.id'"
                )
            ask = self._registry.register_schema_full_response if self._registers else self._registry.lookup_schema
            found = await ask(subject, own, normalize_schemas=self._normalizes)
            registered = RegisteredSchema(found.subject, found.version, found.schema_id, found.guid, own)
        known = self._known[subject] = self._named(registered)
        return known

    def _named(self, registered: RegisteredSchema) -> Registered:
        return Registered(registered.schema, SchemaId(self._kind, registered.schema_id, registered.guid))


async def written_schema(registry: AsyncRegistry, schema_id: SchemaId, subject: str | None) -> Schema:
    """Return the schema that a record was written with.

    Raises:
        SerializationError: the registry does not know the schema.
        SchemaRegistryError: the registry does not respond or rejects the request.
    """
    try:
        return await named_schema(registry, schema_id.name, subject)
    except SchemaRegistryError as error:
        if not error.is_missing:
            raise
        raise SerializationError(
            f"{described(schema_id)} is not in the registry: {error}", schema_id=schema_id.id
        ) from error


async def newest_schema(
    registry: AsyncRegistry, subject: str | None, metadata: Mapping[str, str] | None, fmt: str | None = None
) -> Schema | None:
    """Return a subject's newest schema, or the newest with the given metadata properties; None if `subject` is None."""
    if subject is None:
        return None
    if metadata is not None:
        return (await registry.get_latest_with_metadata(subject, metadata, deleted=True, fmt=fmt)).schema
    return (await registry.get_latest_version(subject, fmt)).schema
