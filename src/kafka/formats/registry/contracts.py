"""Metadata and rules of a schema (data contracts): kept as the registry has them, not executed."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from kafka.formats.registry.json_objects import JsonMembers, JsonObject, Readers, listed, member, optional


class RuleKind(StrEnum):
    """Whether a rule transforms values or checks a condition."""

    TRANSFORM = "TRANSFORM"
    CONDITION = "CONDITION"


class RuleMode(StrEnum):
    """When a rule applies."""

    UPGRADE = "UPGRADE"
    DOWNGRADE = "DOWNGRADE"
    UPDOWN = "UPDOWN"
    READ = "READ"
    WRITE = "WRITE"
    WRITEREAD = "WRITEREAD"


@dataclass(frozen=True)
class RuleParams(JsonMembers):
    """Parameters of a rule.

    Attributes:
        params: by name.
    """

    params: dict[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Rule(JsonObject):
    """One rule of a schema. An unknown kind or mode is kept as text.

    Attributes:
        name: the rule's.
        doc: what it is for.
        kind: whether it transforms values or checks a condition.
        mode: when it applies.
        type: what `expr` is written in, such as "CEL".
        tags: those of the fields that it applies to.
        params: its parameters.
        expr: what it does.
        on_success: the action if it succeeds.
        on_failure: the action if it fails.
        disabled: whether it is switched off.
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
        migration_rules: from one version to another.
        domain_rules: about values.
        encoding_rules: about bytes.
        enable_at: the time from which they apply.
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
    """Tags of fields.

    Attributes:
        tags: lists of them by the path of a field.
    """

    tags: dict[str, list[str]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class MetadataProperties(JsonMembers):
    """Properties of a schema.

    Attributes:
        properties: texts by name.
    """

    properties: dict[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Metadata(JsonObject):
    """Metadata of a schema.

    Attributes:
        tags: of its fields.
        properties: of the schema.
        sensitive: names of properties that are not to be shown.
    """

    tags: MetadataTags | None = None
    properties: MetadataProperties | None = None
    sensitive: list[str] | None = field(default=None, hash=False)

    _READ: ClassVar[Readers] = {
        "tags": optional(MetadataTags.from_dict),
        "properties": optional(MetadataProperties.from_dict),
        "sensitive": listed(str),
    }
