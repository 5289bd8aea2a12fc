"""Schemas of a registry, references between them, and versions of subjects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kafka.formats.registry.contracts import Metadata, RuleSet
from kafka.formats.registry.json_objects import JsonObject, given
from kafka.formats.registry.tags import SchemaTags


@dataclass(frozen=True)
class SchemaReference(JsonObject):
    """A schema that another one refers to.

    Attributes:
        name: how the other one names it: the full name of an Avro type, a JSON Schema's URI, a .proto file.
        subject: where it is registered.
        version: its version there.
    """

    name: str | None
    subject: str | None
    version: int | None


@dataclass(frozen=True)
class SchemaVersion:
    """A version of a subject."""

    subject: str | None
    version: int | None

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> SchemaVersion:
        """Read the registry's JSON.

        Arguments:
            src_dict: a JSON object.
        """
        return cls(src_dict.get("subject"), src_dict.get("version"))


@dataclass(frozen=True)
class Schema:
    """A schema, registered or not.

    Attributes:
        schema_str: its text.
        schema_type: "AVRO", "JSON" or "PROTOBUF".
        references: the schemas that it refers to.
        metadata: kept, not interpreted.
        rule_set: kept, not executed.
        schema_tags: the tags in its text, where the registry was asked for them. They are not sent.
    """

    schema_str: str | None
    schema_type: str | None = "AVRO"
    references: list[SchemaReference] | None = field(default_factory=list, hash=False)
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None
    schema_tags: list[SchemaTags] | None = field(default=None, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """Make the JSON to send to the registry."""
        return given(
            schema=self.schema_str,
            schemaType=self.schema_type,
            references=[each.to_dict() for each in self.references or ()],
            metadata=None if self.metadata is None else self.metadata.to_dict(),
            ruleSet=None if self.rule_set is None else self.rule_set.to_dict(),
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Schema:
        """Read the registry's JSON; a schema without a type is Avro.

        Arguments:
            src_dict: a JSON object.
        """
        metadata, rule_set, tags = src_dict.get("metadata"), src_dict.get("ruleSet"), src_dict.get("schemaTags")
        return cls(
            src_dict.get("schema"),
            src_dict.get("schemaType") or "AVRO",
            [SchemaReference.from_dict(each) for each in src_dict.get("references") or ()],
            None if metadata is None else Metadata.from_dict(metadata),
            None if rule_set is None else RuleSet.from_dict(rule_set),
            None if tags is None else [SchemaTags.from_dict(each) for each in tags],
        )


@dataclass(frozen=True)
class RegisteredSchema:
    """A registered schema; attributes that the registry left out are None.

    Attributes:
        subject: where it is registered.
        version: its version there.
        schema_id: its number in the registry, which records carry.
        guid: its UUID, the same in all registries, which records may carry in a header.
        schema: the schema.
    """

    subject: str | None
    version: int | None
    schema_id: int | None
    guid: str | None
    schema: Schema

    def to_dict(self) -> dict[str, Any]:
        """Make the registry's JSON."""
        return self.schema.to_dict() | given(
            id=self.schema_id, guid=self.guid, subject=self.subject, version=self.version
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> RegisteredSchema:
        """Read the registry's JSON.

        Arguments:
            src_dict: a JSON object.
        """
        return cls(
            src_dict.get("subject"),
            src_dict.get("version"),
            src_dict.get("id"),
            src_dict.get("guid"),
            Schema.from_dict(src_dict),
        )


def readable(schema: Schema) -> str:
    """Return a schema's text: JSON with line breaks, other text as it is."""
    text = schema.schema_str or ""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def checked_schema(given: object) -> Schema:
    """Return a schema; raises `TypeError` for anything else, such as its text alone."""
    if isinstance(given, Schema):
        return given
    advice = ": make one of the text, such as Schema(text, 'AVRO')" if isinstance(given, str) else ""
    raise TypeError(f"Expected the schema as a Schema, got {type(given).__name__}{advice}")
