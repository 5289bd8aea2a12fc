"""The settings of a schema registry and of its subjects."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from kafka.formats.registry.json_objects import JsonObject, Readers, member, optional
from kafka.formats.registry.schemas import Metadata, RuleSet


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
class ServerConfig(JsonObject):
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

    _READ: ClassVar[Readers] = {
        "compatibility": member(ConfigCompatibilityLevel),
        "compatibility_level": member(ConfigCompatibilityLevel),
        "default_metadata": optional(Metadata.from_dict),
        "override_metadata": optional(Metadata.from_dict),
        "default_rule_set": optional(RuleSet.from_dict),
        "override_rule_set": optional(RuleSet.from_dict),
    }
