"""The objects that a registry stores: schemas with references, metadata, rules and tags; versions; and settings.

The client keeps metadata and rules (data contracts) as the registry returns them, and does not execute rules.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from kafka.formats.registry.json_objects import JsonMembers, JsonObject, Readers, given, listed, member, optional


class RuleKind(StrEnum):
    """Whether a rule transforms values or checks a condition. Rules are stored and sent, but not executed here."""

    TRANSFORM = "TRANSFORM"
    """The rule transforms values."""
    CONDITION = "CONDITION"
    """The rule checks a condition."""


class RuleMode(StrEnum):
    """When a rule applies. Rules are stored and sent, but not executed here."""

    UPGRADE = "UPGRADE"
    """A value of an older version is read with a newer one."""
    DOWNGRADE = "DOWNGRADE"
    """A value of a newer version is read with an older one."""
    UPDOWN = "UPDOWN"
    """In both of these cases."""
    READ = "READ"
    """A value is deserialized."""
    WRITE = "WRITE"
    """A value is serialized."""
    WRITEREAD = "WRITEREAD"
    """In both of these cases."""


@dataclass(frozen=True)
class RuleParams(JsonMembers):
    """Parameters of a rule, whose names depend on the type of the rule: part of `Rule`.

    Attributes:
        params: the values, which are strings, by name.
    """

    params: dict[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Rule(JsonObject):
    """A rule of a schema. An unknown kind or mode stays a string.

    Attributes:
        name: the rule's name.
        doc: a description.
        kind: whether it transforms values or checks a condition.
        mode: when it applies.
        type: the language of `expr`, such as "CEL".
        tags: the tags of the fields that the rule applies to.
        params: the rule's parameters.
        expr: the expression.
        on_success: the action if the rule succeeds.
        on_failure: the action if the rule fails.
        disabled: whether the rule is disabled.
    """

    name: str | None = None
    doc: str | None = None
    kind: RuleKind | str | None = None
    mode: RuleMode | str | None = None
    type: str | None = None
    tags: list[str] | None = field(default=None, hash=False)
    params: RuleParams | None = None
    expr: str | None = None
    on_success: str | None = None
    on_failure: str | None = None
    disabled: bool | None = None

    _READ: ClassVar[Readers] = {
        "kind": member(RuleKind),
        "mode": member(RuleMode),
        "params": optional(RuleParams.from_dict),
    }


@dataclass(frozen=True)
class RuleSet(JsonObject):
    """The rules of a schema.

    Attributes:
        migration_rules: rules for migrating values between versions.
        domain_rules: rules for values.
        encoding_rules: rules for encoded bytes.
        enable_at: the time from which the rules apply.
    """

    migration_rules: list[Rule] | None = field(default=None, hash=False)
    domain_rules: list[Rule] | None = field(default=None, hash=False)
    encoding_rules: list[Rule] | None = field(default=None, hash=False)
    enable_at: str | None = None

    _READ: ClassVar[Readers] = {
        "migration_rules": listed(Rule.from_dict),
        "domain_rules": listed(Rule.from_dict),
        "encoding_rules": listed(Rule.from_dict),
    }


@dataclass(frozen=True)
class MetadataTags(JsonMembers):
    """Tags of the fields of a schema, such as "PII": part of `Metadata`.

    Attributes:
        tags: lists of tags by the path of the field.
    """

    tags: dict[str, list[str]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class MetadataProperties(JsonMembers):
    """Properties of a schema that its owners chose, such as who owns it: part of `Metadata`.

    Attributes:
        properties: the values, which are strings, by name.
    """

    properties: dict[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Metadata(JsonObject):
    """Metadata of a schema.

    Attributes:
        tags: the tags of the schema's fields.
        properties: the schema's properties.
        sensitive: names of properties that must not be shown.
    """

    tags: MetadataTags | None = None
    properties: MetadataProperties | None = None
    sensitive: list[str] | None = field(default=None, hash=False)

    _READ: ClassVar[Readers] = {
        "tags": optional(MetadataTags.from_dict),
        "properties": optional(MetadataProperties.from_dict),
        "sensitive": listed(str),
    }


@dataclass(frozen=True)
class SchemaEntity(JsonObject):
    """A record or a field of a schema.

    Attributes:
        entity_path: the full name, which includes the enclosing types, such as ``shop.Order.email``.
        entity_type: "sr_record" or "sr_field".
    """

    entity_path: str | None
    entity_type: str | None


@dataclass(frozen=True)
class SchemaTags(JsonObject):
    """The tags of a record or a field.

    Attributes:
        schema_entity: the record or field.
        tags: all of its tags.
    """

    schema_entity: SchemaEntity | None
    tags: tuple[str, ...] = ()

    _READ: ClassVar[Readers] = {
        "schema_entity": optional(SchemaEntity.from_dict),
        "tags": lambda tags: tuple(tags or ()),
    }


@dataclass(frozen=True)
class SchemaReference(JsonObject):
    """A reference from one schema to another.

    Attributes:
        name: the name used in the referring schema: the full name of an Avro type, the URI of a JSON Schema, or a
            .proto file.
        subject: the subject of the referenced schema.
        version: its version in the subject.
    """

    name: str | None
    subject: str | None
    version: int | None


@dataclass(frozen=True)
class SchemaVersion:
    """A subject and one of its versions, as `SchemaRegistryClient.get_schema_versions` returns them.

    Attributes:
        subject: the name of the subject; None if the registry did not return it.
        version: the number of the version, from 1 on; None if the registry did not return it.
    """

    subject: str | None
    version: int | None

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> SchemaVersion:
        """Make an object from a JSON object of the registry's REST API.

        Arguments:
            src_dict: the parsed JSON object, with the API's names in camel case.
        """
        return cls(src_dict.get("subject"), src_dict.get("version"))


@dataclass(frozen=True)
class Schema:
    """A schema, registered or not.

    Attributes:
        schema_str: the schema's text.
        schema_type: "AVRO", "JSON" or "PROTOBUF".
        references: the schemas that it refers to.
        metadata: the schema's metadata, which is stored but not interpreted.
        rule_set: the schema's rules, which are stored but not executed.
        schema_tags: the tags in the schema's text, if requested from the registry; they are never sent to the registry.
    """

    schema_str: str | None
    schema_type: str | None = "AVRO"
    references: list[SchemaReference] | None = field(default_factory=list, hash=False)
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None
    schema_tags: list[SchemaTags] | None = field(default=None, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """Return a dict for the registry's REST API, with its names in camel case and without what is None."""
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
    """A registered schema. Attributes missing from the response are None.

    Attributes:
        subject: the subject in which the schema is registered.
        version: its version in the subject.
        schema_id: the schema's id in the registry; records may contain it.
        guid: the schema's UUID, which is the same in all registries; record headers may contain it.
        schema: the schema.
    """

    subject: str | None
    version: int | None
    schema_id: int | None
    guid: str | None
    schema: Schema

    def to_dict(self) -> dict[str, Any]:
        """Return a dict for the registry's REST API, with its names in camel case."""
        return self.schema.to_dict() | given(
            id=self.schema_id, guid=self.guid, subject=self.subject, version=self.version
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> RegisteredSchema:
        """Make an object from a JSON object of the registry's REST API.

        Arguments:
            src_dict: the parsed JSON object, with the API's names in camel case.
        """
        return cls(
            src_dict.get("subject"),
            src_dict.get("version"),
            src_dict.get("id"),
            src_dict.get("guid"),
            Schema.from_dict(src_dict),
        )


def readable(schema: Schema) -> str:
    """Format a schema's text: JSON is indented, other text is unchanged."""
    text = schema.schema_str or ""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def checked_schema(given: object) -> Schema:
    """Return the argument if it is a `Schema`; raises `TypeError` otherwise, for example for a schema's text."""
    if isinstance(given, Schema):
        return given
    advice = ": make one of the text, such as Schema(text, 'AVRO')" if isinstance(given, str) else ""
    raise TypeError(f"Expected the schema as a Schema, got {type(given).__name__}{advice}")


class ConfigCompatibilityLevel(StrEnum):
    """Which versions of a subject a new version must be compatible with, and in which direction."""

    BACKWARD = "BACKWARD"
    """Consumers with the new version can read records of the latest version."""
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    """Consumers with the new version can read records of all versions."""
    FORWARD = "FORWARD"
    """Consumers with the latest version can read records of the new version."""
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    """Consumers with any version can read records of the new version."""
    FULL = "FULL"
    """Both `BACKWARD` and `FORWARD`."""
    FULL_TRANSITIVE = "FULL_TRANSITIVE"
    """Both `BACKWARD_TRANSITIVE` and `FORWARD_TRANSITIVE`."""
    NONE = "NONE"
    """The registry accepts every new version."""


@dataclass
class ServerConfig(JsonObject):
    """The settings of a registry or a subject. A setting that is None is not set; `set_config` does not change it.

    confluent-kafka has the first seven attributes.

    Attributes:
        compatibility: which versions a new version must be compatible with, for `set_config`.
        compatibility_level: the same setting, as returned by `get_config`.
        compatibility_group: a metadata property; only versions with the same value are compared.
        default_metadata: metadata for schemas that have none.
        override_metadata: metadata for all schemas.
        default_rule_set: rules for schemas that have none.
        override_rule_set: rules for all schemas.
        alias: for subjects only: the subject that is used instead; an empty string removes the alias.
        normalize: normalize schemas even if a request does not ask for normalization.
        validate_fields: reject fields with reserved names.
        validate_rules: check rules on registration.
        validate_new_schemas: check names and defaults of Avro schemas on registration.
        compatibility_policy: how strictly schemas are compared: "STRICT", "LENIENT" or "LOGICAL".
        alias_for_deks: like `alias`, for data encryption keys.
    """

    compatibility: ConfigCompatibilityLevel | str | None = None
    compatibility_level: ConfigCompatibilityLevel | str | None = None
    compatibility_group: str | None = None
    default_metadata: Metadata | None = None
    override_metadata: Metadata | None = None
    default_rule_set: RuleSet | None = None
    override_rule_set: RuleSet | None = None
    alias: str | None = None
    normalize: bool | None = None
    validate_fields: bool | None = None
    validate_rules: bool | None = None
    validate_new_schemas: bool | None = None
    compatibility_policy: str | None = None
    alias_for_deks: str | None = None

    _READ: ClassVar[Readers] = {
        "compatibility": member(ConfigCompatibilityLevel),
        "compatibility_level": member(ConfigCompatibilityLevel),
        "default_metadata": optional(Metadata.from_dict),
        "override_metadata": optional(Metadata.from_dict),
        "default_rule_set": optional(RuleSet.from_dict),
        "override_rule_set": optional(RuleSet.from_dict),
    }
