"""The settings of a schema registry and of its subjects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kafka.formats.registry.contracts import Metadata, RuleSet, given, member


class ConfigCompatibilityLevel(StrEnum):
    """Which versions of a subject a new one has to be compatible with, and in which direction."""

    BACKWARD = "BACKWARD"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"
    NONE = "NONE"


@dataclass
class ServerConfig:
    """The settings of a registry or of a subject. None: not set; `set_config` leaves those as they are.

    confluent-kafka has the first seven.

    Attributes:
        compatibility: which versions a new one has to be compatible with, as it is set.
        compatibility_level: the same, as it is read.
        compatibility_group: the property of metadata that versions share which are compared.
        default_metadata: what schemas get that have none.
        override_metadata: what all schemas get.
        default_rule_set: what schemas get that have none.
        override_rule_set: what all schemas get.
        alias: for a subject alone: the one that answers in its place; an empty text: none.
        normalize: bring schemas into a normal form, whether the request asks for it or not.
        validate_fields: refuse fields whose names are reserved.
        validate_rules: check rules when they are registered.
        validate_new_schemas: check names and defaults of Avro schemas when they are registered.
        compatibility_policy: how strictly schemas are compared: "STRICT", "LENIENT" or "LOGICAL".
        alias_for_deks: as `alias`, for data encryption keys.
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

    def to_dict(self) -> dict[str, Any]:
        """As the registry's JSON has it."""
        return given(
            compatibility=None if self.compatibility is None else str(self.compatibility),
            compatibilityLevel=None if self.compatibility_level is None else str(self.compatibility_level),
            compatibilityGroup=self.compatibility_group,
            defaultMetadata=None if self.default_metadata is None else self.default_metadata.to_dict(),
            overrideMetadata=None if self.override_metadata is None else self.override_metadata.to_dict(),
            defaultRuleSet=None if self.default_rule_set is None else self.default_rule_set.to_dict(),
            overrideRuleSet=None if self.override_rule_set is None else self.override_rule_set.to_dict(),
            alias=self.alias,
            normalize=self.normalize,
            validateFields=self.validate_fields,
            validateRules=self.validate_rules,
            validateNewSchemas=self.validate_new_schemas,
            compatibilityPolicy=self.compatibility_policy,
            aliasForDeks=self.alias_for_deks,
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> ServerConfig:
        """Read the registry's JSON.

        Arguments:
            src_dict: a JSON object.
        """

        def metadata(name: str) -> Metadata | None:
            found = src_dict.get(name)
            return None if found is None else Metadata.from_dict(found)

        def rule_set(name: str) -> RuleSet | None:
            found = src_dict.get(name)
            return None if found is None else RuleSet.from_dict(found)

        return cls(
            member(ConfigCompatibilityLevel, src_dict.get("compatibility")),
            member(ConfigCompatibilityLevel, src_dict.get("compatibilityLevel")),
            src_dict.get("compatibilityGroup"),
            metadata("defaultMetadata"),
            metadata("overrideMetadata"),
            rule_set("defaultRuleSet"),
            rule_set("overrideRuleSet"),
            src_dict.get("alias"),
            src_dict.get("normalize"),
            src_dict.get("validateFields"),
            src_dict.get("validateRules"),
            src_dict.get("validateNewSchemas"),
            src_dict.get("compatibilityPolicy"),
            src_dict.get("aliasForDeks"),
        )
