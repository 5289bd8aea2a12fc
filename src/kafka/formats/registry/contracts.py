"""Metadata and rules of a schema (data contracts): kept as the registry has them, not executed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Any, TypeVar

E = TypeVar("E", bound=Enum)


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
class RuleParams:
    """Parameters of a rule.

    Attributes:
        params: by name.
    """

    params: dict[str, str] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """As the registry's JSON has them."""
        return dict(self.params)

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> RuleParams:
        """Read the registry's JSON.

        Arguments:
            src_dict: a JSON object.
        """
        return cls(dict(src_dict))


@dataclass(frozen=True)
class Rule:
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

    def to_dict(self) -> dict[str, Any]:
        """As the registry's JSON has it."""
        return given(
            name=self.name,
            doc=self.doc,
            kind=None if self.kind is None else str(self.kind),
            mode=None if self.mode is None else str(self.mode),
            type=self.type,
            tags=self.tags,
            params=None if self.params is None else self.params.to_dict(),
            expr=self.expr,
            onSuccess=self.on_success,
            onFailure=self.on_failure,
            disabled=self.disabled,
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Rule:
        """Read the registry's JSON.

        Arguments:
            src_dict: a JSON object.
        """
        params = src_dict.get("params")
        return cls(
            src_dict.get("name"),
            src_dict.get("doc"),
            member(RuleKind, src_dict.get("kind")),
            member(RuleMode, src_dict.get("mode")),
            src_dict.get("type"),
            src_dict.get("tags"),
            None if params is None else RuleParams.from_dict(params),
            src_dict.get("expr"),
            src_dict.get("onSuccess"),
            src_dict.get("onFailure"),
            src_dict.get("disabled"),
        )


@dataclass(frozen=True)
class RuleSet:
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

    def to_dict(self) -> dict[str, Any]:
        """As the registry's JSON has it."""
        return given(
            migrationRules=_dicts(self.migration_rules),
            domainRules=_dicts(self.domain_rules),
            encodingRules=_dicts(self.encoding_rules),
            enableAt=self.enable_at,
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> RuleSet:
        """Read the registry's JSON.

        Arguments:
            src_dict: a JSON object.
        """
        return cls(
            [Rule.from_dict(each) for each in src_dict.get("migrationRules") or ()],
            [Rule.from_dict(each) for each in src_dict.get("domainRules") or ()],
            [Rule.from_dict(each) for each in src_dict.get("encodingRules") or ()],
            src_dict.get("enableAt"),
        )


@dataclass(frozen=True)
class MetadataTags:
    """Tags of fields.

    Attributes:
        tags: lists of them by the path of a field.
    """

    tags: dict[str, list[str]] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """As the registry's JSON has them."""
        return dict(self.tags)

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> MetadataTags:
        """Read the registry's JSON.

        Arguments:
            src_dict: a JSON object.
        """
        return cls(dict(src_dict))


@dataclass(frozen=True)
class MetadataProperties:
    """Properties of a schema.

    Attributes:
        properties: texts by name.
    """

    properties: dict[str, str] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """As the registry's JSON has them."""
        return dict(self.properties)

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> MetadataProperties:
        """Read the registry's JSON.

        Arguments:
            src_dict: a JSON object.
        """
        return cls(dict(src_dict))


@dataclass(frozen=True)
class Metadata:
    """Metadata of a schema.

    Attributes:
        tags: of its fields.
        properties: of the schema.
        sensitive: names of properties that are not to be shown.
    """

    tags: MetadataTags | None = None
    properties: MetadataProperties | None = None
    sensitive: list[str] | None = field(default=None, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """As the registry's JSON has it."""
        return given(
            tags=None if self.tags is None else self.tags.to_dict(),
            properties=None if self.properties is None else self.properties.to_dict(),
            sensitive=self.sensitive,
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Metadata:
        """Read the registry's JSON.

        Arguments:
            src_dict: a JSON object.
        """
        tags, properties = src_dict.get("tags"), src_dict.get("properties")
        return cls(
            None if tags is None else MetadataTags.from_dict(tags),
            None if properties is None else MetadataProperties.from_dict(properties),
            list(src_dict.get("sensitive") or ()),
        )


def given(**values: Any) -> dict[str, Any]:
    """A JSON object of the arguments that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def member(kind: type[E], value: str | None) -> E | str | None:
    """The member of an enum; an unknown value stays text."""
    try:
        return None if value is None else kind(value)
    except ValueError:
        return value


def _dicts(rules: list[Rule] | None) -> list[dict[str, Any]] | None:
    return None if rules is None else [rule.to_dict() for rule in rules]
