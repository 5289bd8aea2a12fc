# Written by scripts/twins.py from kafka/formats/registry/async_writers_schemas.py: change that file, not this one.
"""Looks up the schemas that values were written with, by the ids or GUIDs that values name."""

from __future__ import annotations

from typing import Any, Protocol

from kafka.formats.header_ids import SchemaName
from kafka.formats.registry.errors import SchemaRegistryError
from kafka.formats.registry.references import Versions, parsed_avro, referenced_texts
from kafka.formats.registry.schemas import Schema


class NamedSchemas(Versions, Protocol):
    """The part of `SchemaRegistryClient` that is needed here."""

    def get_schema(self, schema_id: int, subject_name: str | None = None) -> Schema:
        """See `SchemaRegistryClient`."""

    def get_schema_by_guid(self, guid: str) -> Schema:
        """See `SchemaRegistryClient`."""


def named_schema(registry: NamedSchemas, name: SchemaName, subject: str | None = None) -> Schema:
    """Ask a registry for the schema with an id or GUID.

    Arguments:
        registry: the registry's client.
        name: the id or GUID.
        subject: a subject of the same topic; if it is in a context, ids are looked up there.
    """
    if isinstance(name, str):
        return registry.get_schema_by_guid(name)
    in_context = subject if subject is not None and subject.startswith(":.") else None
    return registry.get_schema(name, in_context)


def writers_schema(
    registry: NamedSchemas, name: SchemaName, kind: str, message: str = "", subject: str | None = None
) -> Any:
    """Ask a registry for the schema of values, and prepare it for decoding them.

    Arguments:
        registry: the registry's client.
        name: the id or GUID of the schema.
        kind: the type that the schema must have, AVRO or PROTOBUF.
        message: for Protobuf, the full name of the message that the values are.
        subject: see `named_schema`.

    Returns the parsed schema for Avro, the position of the message in the schema for Protobuf.

    Raises ValueError with the cause for a schema that the registry does not have or that cannot be used, and
    `SchemaRegistryError` if the registry does not answer or refuses.
    """
    try:
        schema = named_schema(registry, name, subject)
    except SchemaRegistryError as error:
        if not error.is_missing:
            raise
        known_by = "GUID" if isinstance(name, str) else "id"
        raise ValueError(f"the schema registry has no schema with this {known_by}") from error
    if (schema.schema_type or "AVRO") != kind:
        raise ValueError(f"expected a schema of the type {kind}, got {schema.schema_type or 'AVRO'}")
    try:
        if kind == "AVRO":
            return parsed_avro(schema, registry)
        references = referenced_texts(schema, registry, kind)
    except SchemaRegistryError as error:
        if not error.is_missing:
            raise
        raise ValueError(f"the schema registry lacks what the schema refers to: {error}") from error
    from kafka.formats.protobuf.files import position_in

    return position_in(schema.schema_str or "", message, tuple(references.items()))
