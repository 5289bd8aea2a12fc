"""References of schemas: each is asked for once, however many paths lead to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from kafka.formats.registry.schemas import RegisteredSchema, Schema
from kafka.serialization import SerializationError

if TYPE_CHECKING:
    from kafka.formats.avro.schema import Schema as AvroSchema

MAX_DEPTH = 50
"""Maximum depth of references."""

_Found = tuple[Schema, dict[str, Schema]]
_Parsed: TypeAlias = "tuple[AvroSchema, dict[str, AvroSchema]]"
Made = TypeVar("Made")


class AsyncVersions(Protocol):
    """The part of `AsyncSchemaRegistryClient` that is needed here."""

    async def get_version(
        self, subject_name: str, version: Any = "latest", deleted: bool = False, fmt: str | None = None
    ) -> RegisteredSchema:
        """See `AsyncSchemaRegistryClient`."""


async def referenced_schemas(
    schema: Schema, registry: AsyncVersions, kind: str, fmt: str | None = None
) -> dict[str, Schema]:
    """The schemas that a schema refers to, directly and indirectly, by name; each after its own references.

    Arguments:
        schema: the schema.
        registry: the registry's client.
        kind: the type of all of them: AVRO, JSON or PROTOBUF.
        fmt: see `get_schema`.

    Raises `SerializationError` for a schema of another type and for references that are nested too deep, and
    `SchemaRegistryError`.
    """

    def made(schema: Schema, below: Sequence[tuple[str, _Found]]) -> _Found:
        found: dict[str, Schema] = {}
        for name, (target, others) in below:
            found.update(others)
            found[name] = target
        return schema, found

    return (await _followed(schema, registry, (kind, fmt), made, 0, {}))[1]


async def referenced_texts(schema: Schema, registry: AsyncVersions, kind: str) -> dict[str, str]:
    """The texts of `referenced_schemas`, by name and in their order."""
    found = await referenced_schemas(schema, registry, kind)
    return {name: each.schema_str or "" for name, each in found.items()}


async def parsed_avro(schema: Schema, registry: AsyncVersions) -> AvroSchema:
    """Parse an Avro schema with its references.

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
    """Apply `made` to a schema and the results for its references; `known` has results by subject and version."""
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
