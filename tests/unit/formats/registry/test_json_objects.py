"""Objects survive a round trip through the registry's JSON, and keep unknown values."""

from typing import Any

import pytest

from kafka.formats.registry.associations import (
    Association,
    AssociationCreateOrUpdateInfo,
    AssociationCreateOrUpdateRequest,
    AssociationInfo,
    AssociationResponse,
)
from kafka.formats.registry.schema_objects import (
    ConfigCompatibilityLevel,
    Metadata,
    Rule,
    RuleKind,
    RuleSet,
    SchemaReference,
    SchemaTags,
    ServerConfig,
)

pytestmark = pytest.mark.once

RULE = {
    "name": "masked",
    "doc": "hides",
    "kind": "TRANSFORM",
    "mode": "WRITE",
    "type": "CEL",
    "tags": ["PII"],
    "params": {"a": "b"},
    "expr": "x",
    "onSuccess": "NONE",
    "onFailure": "DLQ",
    "disabled": False,
}
RULES = {"migrationRules": [RULE], "domainRules": [], "encodingRules": [RULE], "enableAt": "2026"}
METADATA = {"tags": {"a.b": ["PII"]}, "properties": {"owner": "sales"}, "sensitive": ["owner"]}
REFERENCE = {"name": "shop.Item", "subject": "item", "version": 3}
SCHEMA = {"schema": "{}", "schemaType": "JSON", "references": [REFERENCE], "metadata": METADATA, "ruleSet": RULES}
INFO = {"subject": "orders-value", "associationType": "value", "lifecycle": "WEAK", "frozen": True, "schema": SCHEMA}
RESOURCE = {"resourceName": "orders", "resourceNamespace": "c1", "resourceId": "7", "resourceType": "topic"}
SETTINGS = {
    "compatibility": "FULL",
    "compatibilityLevel": "NONE",
    "compatibilityGroup": "major",
    "alias": "",
    "defaultMetadata": METADATA,
    "overrideMetadata": METADATA,
    "defaultRuleSet": RULES,
    "overrideRuleSet": RULES,
    "normalize": True,
    "validateFields": False,
    "validateRules": True,
    "validateNewSchemas": True,
    "compatibilityPolicy": "STRICT",
    "aliasForDeks": "x",
}


@pytest.mark.parametrize(
    ("cls", "document"),
    [
        (Rule, RULE),
        (RuleSet, RULES),
        (Metadata, METADATA),
        (SchemaReference, REFERENCE),
        (SchemaTags, {"schemaEntity": {"entityPath": "a", "entityType": "sr_field"}, "tags": ["PII"]}),
        (Association, RESOURCE | {"subject": "s", "guid": "g", "associationType": "key", "frozen": True}),
        (AssociationInfo, INFO),
        (AssociationCreateOrUpdateInfo, INFO | {"normalize": False}),
        (AssociationCreateOrUpdateRequest, RESOURCE | {"associations": [INFO]}),
        (AssociationResponse, RESOURCE | {"associations": [INFO]}),
        (ServerConfig, SETTINGS),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_round_trip(cls: Any, document: dict[str, Any]) -> None:
    made = cls.from_dict(document)
    assert all(value is not None for name, value in vars(made).items() if name != "lifecycle")
    assert made.to_dict() == document


def test_known_enum_members_are_read() -> None:
    assert Rule.from_dict({"kind": "CONDITION", "mode": "SOMETIMES"}).kind is RuleKind.CONDITION
    assert Rule.from_dict({"kind": "CONDITION", "mode": "SOMETIMES"}).mode == "SOMETIMES"
    assert ServerConfig.from_dict({"compatibility": "FULL"}).compatibility is ConfigCompatibilityLevel.FULL


def test_missing_members_are_none_or_empty() -> None:
    assert RuleSet.from_dict({}) == RuleSet([], [], [], None)
    assert Association.from_dict({}).frozen is False
    assert AssociationCreateOrUpdateInfo.from_dict({}).frozen is None
    assert AssociationResponse.from_dict({}).associations is None
    assert ServerConfig.from_dict({}) == ServerConfig()
    assert ServerConfig().to_dict() == {}
