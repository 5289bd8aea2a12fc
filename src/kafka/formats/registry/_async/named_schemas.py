"""Looks up writers' schemas, and the schemas that they refer to.

A referenced schema is requested only once, even if several schemas refer to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from kafka.formats.registry.errors import SchemaRegistryError
from kafka.formats.registry.schema_objects import RegisteredSchema, Schema
from kafka.formats.value_framing import SchemaName
from kafka.serialization import SerializationError

if TYPE_CHECKING:
    from kafka.formats.avro.schema import Schema as AvroSchema

MAX_DEPTH = 50
"""Maximum depth of references."""

_Found = tuple[Schema, dict[str, Schema]]
_Parsed: TypeAlias = "tuple[AvroSchema, dict[str, AvroSchema]]"
Made = TypeVar("Made")


class AsyncVersions(Protocol):
    """The part of `AsyncSchemaRegistryClient` that looks up versions."""

    async def get_version(
        self, subject_name: str, version: Any = "latest", deleted: bool = False, fmt: str | None = None
    ) -> RegisteredSchema:
        """See `AsyncSchemaRegistryClient`."""


async def referenced_schemas(
    schema: Schema, registry: AsyncVersions, kind: str, fmt: str | None = None
) -> dict[str, Schema]:
    """Return the schemas that a schema refers to, directly or indirectly, by name and in dependency order.

    Arguments:
        schema: the schema.
        registry: the registry client.
        kind: the type that all schemas must have: AVRO, JSON or PROTOBUF.
        fmt: see `get_schema`.

    Raises `SerializationError` for a schema of another type and for references that are nested too deeply, and
    `SchemaRegistryError` if the registry does not respond or rejects a request.
    """

    def made(schema: Schema, below: Sequence[tuple[str, _Found]]) -> _Found:
        found: dict[str, Schema] = {}
        for name, (target, others) in below:
            found.update(others)
            found[name] = target
        return schema, found

    return (await _followed(schema, registry, (kind, fmt), made, 0, {}))[1]


async def referenced_texts(schema: Schema, registry: AsyncVersions, kind: str) -> dict[str, str]:
    """Return the texts of `referenced_schemas`, by name and in the same order."""
    found = await referenced_schemas(schema, registry, kind)
    return {name: each.schema_str or "" for name, each in found.items()}


async def parsed_avro(schema: Schema, registry: AsyncVersions) -> AvroSchema:
    """Parse an Avro schema and its references.

    Raises `AvroSchemaError`, and the errors of `referenced_schemas`.
    """
    from kafka.formats.avro.schema import parse_named

    def made(schema: Schema, below: Sequence[tuple[str, _Parsed]]) -> _Parsed:
        named: dict[str, AvroSchema] = {}
        for _, (_, others) in below:
            named.update(others)
        return parse_named(schema.schema_str or "", named)

    return (await _followed(schema, registry, ("AVRO", None), made, 0, {}))[0]


async def _followed(
    schema: Schema,
    registry: AsyncVersions,
    wanted: tuple[str, str | None],
    made: Callable[[Schema, Sequence[tuple[str, Made]]], Made],
    depth: int,
    known: dict[tuple[str, Any], Made],
) -> Made:
    """Call `made` with a schema and the results for its references; `known` caches results by subject and version."""
    kind, fmt = wanted
    if schema.schema_type not in (kind, None):
        raise SerializationError(f"expected a schema of the type {kind}, got {schema.schema_type}")
    if depth > MAX_DEPTH:
        raise SerializationError(f"expected references at most {MAX_DEPTH} levels deep")
    below: list[tuple[str, Made]] = []
    for reference in schema.references or ():
        place = (str(reference.subject), reference.version)
        if place not in known:
            target = (await registry.get_version(*place, deleted=True, fmt=fmt)).schema
            known[place] = await _followed(target, registry, wanted, made, depth + 1, known)
        below.append((str(reference.name), known[place]))
    return made(schema, below)


class AsyncNamedSchemas(AsyncVersions, Protocol):
    """The part of `AsyncSchemaRegistryClient` that looks up schemas."""

    async def get_schema(self, schema_id: int, subject_name: str | None = None) -> Schema:
        """See `AsyncSchemaRegistryClient`."""

    async def get_schema_by_guid(self, guid: str) -> Schema:
        """See `AsyncSchemaRegistryClient`."""


async def named_schema(registry: AsyncNamedSchemas, name: SchemaName, subject: str | None = None) -> Schema:
    """Look up a schema by id or GUID.

    Arguments:
        registry: the registry client.
        name: the id or GUID.
        subject: a subject for the same topic; ids are looked up in its context, if it has one.
    """
    if isinstance(name, str):
        return await registry.get_schema_by_guid(name)
    in_context = subject if subject is not None and subject.startswith(":.") else None
    return await registry.get_schema(name, in_context)


async def writers_schema(
    registry: AsyncNamedSchemas, name: SchemaName, kind: str, message: str = "", subject: str | None = None
) -> Any:
    """Look up a writer's schema, and prepare it for decoding.

    Arguments:
        registry: the registry client.
        name: the id or GUID of the schema.
        kind: the type that the schema must have, AVRO or PROTOBUF.
        message: for Protobuf, the full name of the message type.
        subject: see `named_schema`.

    Returns the parsed schema for Avro, or the position of the message in the schema for Protobuf.

    Raises ValueError with the cause if the schema is unknown or unsuitable, and `SchemaRegistryError` if the registry
    does not respond or rejects the request.
    """
    try:
        schema = await named_schema(registry, name, subject)
    except SchemaRegistryError as error:
        if not error.is_missing:
            raise
        known_by = "GUID" if isinstance(name, str) else "id"
        raise ValueError(f"the schema registry has no schema with this {known_by}") from error
    if (schema.schema_type or "AVRO") != kind:
        raise ValueError(f"expected a schema of the type {kind}, got {schema.schema_type or 'AVRO'}")
    try:
        if kind == "AVRO":
            return await parsed_avro(schema, registry)
        references = await referenced_texts(schema, registry, kind)
    except SchemaRegistryError as error:
        if not error.is_missing:
            raise
        raise ValueError(f"the schema registry lacks what the schema refers to: {error}") from error
    from kafka.formats.protobuf.descriptors import position_in

    return position_in(schema.schema_str or "", message, tuple(references.items()))
