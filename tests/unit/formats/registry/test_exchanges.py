"""Exchanges with a registry as Confluent documents its API: call, request, response, and the caller's result.

Apicurio Registry, on which tests/integration/registry/test_schema_registry_contract.py runs the client, lacks most of
these features: GUIDs, contexts, modes, metadata and rules, error codes. Each exchange runs on both clients. The texts
of error messages are ours.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import pytest

from kafka.errors import IllegalStateError
from kafka.schema_registry import (
    Association,
    AssociationCreateOrUpdateInfo,
    AssociationCreateOrUpdateRequest,
    AssociationInfo,
    AssociationResponse,
    AsyncSchemaRegistryClient,
    ConfigCompatibilityLevel,
    Metadata,
    MetadataProperties,
    MetadataTags,
    RegisteredSchema,
    Rule,
    RuleKind,
    RuleMode,
    RuleParams,
    RuleSet,
    Schema,
    SchemaEntity,
    SchemaReference,
    SchemaRegistryClient,
    SchemaRegistryError,
    SchemaTags,
    SchemaVersion,
    ServerConfig,
    header_schema_id_serializer,
)
from kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from kafka.serialization import MessageField, SerializationContext, SerializationError

from .scripted_registry import ScriptedRegistry

pytestmark = pytest.mark.once

JSON = "application/vnd.schemaregistry.v1+json"
CONF = {"max.retries": 0, "timeout": 30}
NOT_SENT = {
    ("deleted", "false"),
    ("deletedOnly", "false"),
    ("permanent", "false"),
    ("normalize", "false"),
    ("verbose", "false"),
    ("force", "false"),
    ("defaultToGlobal", "false"),
    ("cascadeLifecycle", "false"),
    ("offset", "0"),
    ("limit", "-1"),
}
"""Parameters with the registry's default values: it makes no difference whether they are sent."""

ORDER = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}'
GUID = "0b7c2a52-6f0e-4b1c-9b0a-5d2f3e4c1a77"
ROW = 'syntax = "proto3"; import "line.proto"; message Row { shop.Line line = 1; }'
LINE = SchemaReference("line.proto", "line", 3)
OWNER = Metadata(MetadataTags({"**.email": ["PII"]}), MetadataProperties({"owner": "sales", "tier": "1"}), ["owner"])
OWNER_JSON = {
    "tags": {"**.email": ["PII"]},
    "properties": {"owner": "sales", "tier": "1"},
    "sensitive": ["owner"],
}
POSITIVE = Rule(
    "positive",
    "ids are positive",
    RuleKind.CONDITION,
    RuleMode.WRITE,
    "CEL",
    ["PII"],
    RuleParams({"strict": "yes"}),
    "message.id > 0",
    "NONE",
    "DLQ",
    False,
)
POSITIVE_JSON = {
    "name": "positive",
    "doc": "ids are positive",
    "kind": "CONDITION",
    "mode": "WRITE",
    "type": "CEL",
    "tags": ["PII"],
    "params": {"strict": "yes"},
    "expr": "message.id > 0",
    "onSuccess": "NONE",
    "onFailure": "DLQ",
    "disabled": False,
}
RENAMED = Rule("renamed", kind=RuleKind.TRANSFORM, mode=RuleMode.UPGRADE, type="JSONATA", expr="$", disabled=True)
RENAMED_JSON = {
    "name": "renamed",
    "kind": "TRANSFORM",
    "mode": "UPGRADE",
    "type": "JSONATA",
    "expr": "$",
    "disabled": True,
}
RULES = RuleSet([RENAMED], [POSITIVE], [], "2026-05-01T00:00:00Z")
RULES_JSON = {
    "migrationRules": [RENAMED_JSON],
    "domainRules": [POSITIVE_JSON],
    "encodingRules": [],
    "enableAt": "2026-05-01T00:00:00Z",
}
TAGS = [
    SchemaTags(SchemaEntity("shop.Order", "sr_record"), ("SECRET",)),
    SchemaTags(SchemaEntity("shop.Order.email", "sr_field"), ("PII", "SECRET")),
]
TAGS_JSON = [
    {"schemaEntity": {"entityPath": "shop.Order", "entityType": "sr_record"}, "tags": ["SECRET"]},
    {"schemaEntity": {"entityPath": "shop.Order.email", "entityType": "sr_field"}, "tags": ["PII", "SECRET"]},
]
TOPIC = Association("orders-value", GUID, "orders", "lkc-1", "t-7", "topic", "value", True, "WEAK")
TOPIC_JSON = {
    "subject": "orders-value",
    "guid": GUID,
    "resourceName": "orders",
    "resourceNamespace": "lkc-1",
    "resourceId": "t-7",
    "resourceType": "topic",
    "associationType": "value",
    "frozen": True,
    "lifecycle": "WEAK",
}


class Refusal(NamedTuple):
    """A `SchemaRegistryError`; the text is a part of its message."""

    status: int
    code: int
    text: str


class Exchange(NamedTuple):
    """A call of either client, the expected request, the response, and the caller's result or error."""

    call: Callable[[Any], Any]
    request: str
    body: Any
    status: int
    answer: Any
    outcome: Any


def refused(
    call: Callable[[Any], Any], request: str, status: int, code: int, message: str, body: Any = None
) -> Exchange:
    """An exchange that ends with one of the registry's error codes."""
    answer = {"error_code": code, "message": message}
    return Exchange(call, request, body, status, answer, Refusal(status, code, message))


def avro(schema: str = ORDER, **more: Any) -> dict[str, Any]:
    """The request body of a schema."""
    return {"schema": schema, "schemaType": "AVRO", "references": [], **more}


EXCHANGES = {
    # -- schemas by id and GUID
    "a schema by its id": Exchange(
        lambda client: client.get_schema(7),
        "GET /schemas/ids/7",
        None,
        200,
        {"schema": ORDER},
        Schema(ORDER),
    ),
    "with all that newer registries say of it": Exchange(
        lambda client: client.get_schema(7, ":.eu:orders-value"),
        "GET /schemas/ids/7?subject=:.eu:orders-value",
        None,
        200,
        {
            "subject": ":.eu:orders-value",
            "version": 2,
            "guid": GUID,
            "schemaType": "PROTOBUF",
            "schema": ROW,
            "references": [{"name": "line.proto", "subject": "line", "version": 3}],
            "metadata": OWNER_JSON,
            "ruleSet": RULES_JSON,
            "schemaTags": [],
            "maxId": 912,
            "ts": 1777593600000,
            "deleted": False,
        },
        Schema(ROW, "PROTOBUF", [LINE], OWNER, RULES, []),
    ),
    "what is tagged in a schema": Exchange(
        lambda client: client.get_schema(7, find_tags=["PII", "SECRET"]),
        "GET /schemas/ids/7?findTags=PII&findTags=SECRET",
        None,
        200,
        {"schema": ORDER, "schemaTags": TAGS_JSON},
        Schema(ORDER, schema_tags=TAGS),
    ),
    "what is tagged in a version": Exchange(
        lambda client: client.get_version("orders-value", 3, find_tags="*"),
        "GET /subjects/orders-value/versions/3?findTags=*",
        None,
        200,
        {"subject": "orders-value", "version": 3, "id": 7, "schema": ORDER, "schemaTags": TAGS_JSON},
        RegisteredSchema("orders-value", 3, 7, None, Schema(ORDER, schema_tags=TAGS)),
    ),
    "tags of another form": Exchange(
        lambda client: client.get_schema(7, find_tags=["*"]),
        "GET /schemas/ids/7?findTags=*",
        None,
        200,
        {"schema": ORDER, "schemaTags": ["PII"]},
        Refusal(0, -1, "the response has metadata, rules or tags that cannot be read"),
    ),
    "the form of a schema and of its references": Exchange(
        lambda client: client.get_schema(7, fmt="serialized", reference_format="DEFAULT"),
        "GET /schemas/ids/7?format=serialized&referenceFormat=DEFAULT",
        None,
        200,
        {"schemaType": "PROTOBUF", "schema": "Cgpyb3cucHJvdG8="},
        Schema("Cgpyb3cucHJvdG8=", "PROTOBUF"),
    ),
    "a rule of a kind that is not known here": Exchange(
        lambda client: client.get_schema(8),
        "GET /schemas/ids/8",
        None,
        200,
        {"schema": ORDER, "ruleSet": {"domainRules": [{"name": "n", "kind": "AUDIT", "mode": "ALWAYS"}]}},
        Schema(ORDER, rule_set=RuleSet([], [Rule("n", kind="AUDIT", mode="ALWAYS")], [])),
    ),
    "an id that does not exist": refused(
        lambda client: client.get_schema(99), "GET /schemas/ids/99", 404, 40403, "no schema has the id 99"
    ),
    "a schema by its GUID": Exchange(
        lambda client: client.get_schema_by_guid(GUID, fmt="resolved"),
        f"GET /schemas/guids/{GUID}?format=resolved",
        None,
        200,
        {"schema": ORDER, "guid": GUID, "id": 7, "ts": 1777593600000},
        Schema(ORDER),
    ),
    "a GUID that does not exist": refused(
        lambda client: client.get_schema_by_guid(GUID),
        f"GET /schemas/guids/{GUID}",
        404,
        40403,
        f"no schema has the GUID {GUID}",
    ),
    "the types": Exchange(
        lambda client: client.get_schema_types(),
        "GET /schemas/types",
        None,
        200,
        ["JSON", "PROTOBUF", "AVRO"],
        ["JSON", "PROTOBUF", "AVRO"],
    ),
    "the subjects of a schema": Exchange(
        lambda client: client.get_subjects_by_schema_id(7, ":.eu:", deleted=True, offset=1, limit=2),
        "GET /schemas/ids/7/subjects?subject=:.eu:&deleted=true&offset=1&limit=2",
        None,
        200,
        [":.eu:orders-value", ":.eu:returns-value"],
        [":.eu:orders-value", ":.eu:returns-value"],
    ),
    "the versions that are a schema": Exchange(
        lambda client: client.get_schema_versions(7),
        "GET /schemas/ids/7/versions",
        None,
        200,
        [{"subject": "orders-value", "version": 1}, {"subject": ":.eu:orders-value", "version": 4}],
        [SchemaVersion("orders-value", 1), SchemaVersion(":.eu:orders-value", 4)],
    ),
    # -- registering and looking up
    "a schema with metadata and rules is registered": Exchange(
        lambda client: client.register_schema_full_response(
            ":.eu:orders-value", Schema(ORDER, metadata=OWNER, rule_set=RULES), normalize_schemas=True
        ),
        "POST /subjects/%3A.eu%3Aorders-value/versions?normalize=true",
        avro(metadata=OWNER_JSON, ruleSet=RULES_JSON),
        200,
        {"id": 7, "version": 1, "guid": GUID, "schemaType": "AVRO", "schema": ORDER, "metadata": OWNER_JSON},
        RegisteredSchema(":.eu:orders-value", 1, 7, GUID, Schema(ORDER, metadata=OWNER)),
    ),
    "older registries answer with the id alone": Exchange(
        lambda client: client.register_schema("row", Schema(ROW, "PROTOBUF", [LINE])),
        "POST /subjects/row/versions",
        {
            "schema": ROW,
            "schemaType": "PROTOBUF",
            "references": [{"name": "line.proto", "subject": "line", "version": 3}],
        },
        200,
        {"id": 12},
        12,
    ),
    "a schema that is not compatible": refused(
        lambda client: client.register_schema("orders-value", Schema('"int"')),
        "POST /subjects/orders-value/versions",
        409,
        409,
        "not compatible with version 3: {errorType:'TYPE_MISMATCH', description:'int', additionalInfo:'int'}",
        avro('"int"'),
    ),
    "likewise with the code of newer registries": refused(
        lambda client: client.register_schema("orders-value", Schema('"int"')),
        "POST /subjects/orders-value/versions",
        409,
        40901,
        "it is not compatible with version 3",
        avro('"int"'),
    ),
    "a text that is no schema": refused(
        lambda client: client.register_schema("orders-value", Schema('"whole"')),
        "POST /subjects/orders-value/versions",
        422,
        42201,
        'the schema is none: undefined name: "whole"',
        avro('"whole"'),
    ),
    "a rule set that cannot be": refused(
        lambda client: client.register_schema("o", Schema(ORDER, rule_set=RuleSet(domain_rules=[POSITIVE, POSITIVE]))),
        "POST /subjects/o/versions",
        422,
        42210,
        "two rules are called 'positive'",
        avro(ruleSet={"domainRules": [POSITIVE_JSON, POSITIVE_JSON]}),
    ),
    "a subject that is imported to": refused(
        lambda client: client.register_schema("orders-value", Schema(ORDER)),
        "POST /subjects/orders-value/versions",
        422,
        42205,
        "orders-value is in the mode IMPORT",
        avro(),
    ),
    "a schema that is too large": refused(
        lambda client: client.register_schema("orders-value", Schema(ORDER)),
        "POST /subjects/orders-value/versions",
        422,
        42209,
        "the schema is too large",
        avro(),
    ),
    "a registry without a leader": refused(
        lambda client: client.register_schema("orders-value", Schema(ORDER)),
        "POST /subjects/orders-value/versions",
        500,
        50004,
        "no registry leads the others",
        avro(),
    ),
    "a schema is looked up among deleted ones": Exchange(
        lambda client: client.lookup_schema("orders-value", Schema(ORDER), True, fmt="resolved", deleted=True),
        "POST /subjects/orders-value?normalize=true&deleted=true&format=resolved",
        avro(),
        200,
        {"subject": "orders-value", "version": 3, "id": 7, "guid": GUID, "schema": ORDER, "deleted": True},
        RegisteredSchema("orders-value", 3, 7, GUID, Schema(ORDER)),
    ),
    "a subject that does not exist": refused(
        lambda client: client.lookup_schema("nothing", Schema(ORDER)),
        "POST /subjects/nothing",
        404,
        40401,
        "there is no subject 'nothing'",
        avro(),
    ),
    "a schema that a subject lacks": refused(
        lambda client: client.lookup_schema("orders-value", Schema(ORDER)),
        "POST /subjects/orders-value",
        404,
        40403,
        "orders-value has no such schema",
        avro(),
    ),
    # -- subjects and versions
    "subjects of a context, deleted ones too": Exchange(
        lambda client: client.get_subjects(":.eu:", deleted=True, offset=2, limit=10),
        "GET /subjects?subjectPrefix=:.eu:&deleted=true&offset=2&limit=10",
        None,
        200,
        [":.eu:orders-value"],
        [":.eu:orders-value"],
    ),
    "deleted subjects alone": Exchange(
        lambda client: client.get_subjects(deleted_only=True),
        "GET /subjects?deletedOnly=true",
        None,
        200,
        ["returns-value"],
        ["returns-value"],
    ),
    "deleted versions alone": Exchange(
        lambda client: client.get_versions("orders-value", deleted_only=True),
        "GET /subjects/orders-value/versions?deletedOnly=true",
        None,
        200,
        [1, 2],
        [1, 2],
    ),
    "the newest version with metadata": Exchange(
        lambda client: client.get_latest_with_metadata("o/v", {"owner": "sales & more", "tier": "1"}, deleted=True),
        "GET /subjects/o%2Fv/metadata?deleted=true&key=owner&key=tier&value=sales%20%26%20more&value=1",
        None,
        200,
        {"subject": "o/v", "version": 5, "id": 7, "schema": ORDER, "metadata": OWNER_JSON},
        RegisteredSchema("o/v", 5, 7, None, Schema(ORDER, metadata=OWNER)),
    ),
    "a deleted version": Exchange(
        lambda client: client.get_version("orders-value", 2, deleted=True, fmt="ignore_extensions"),
        "GET /subjects/orders-value/versions/2?deleted=true&format=ignore_extensions",
        None,
        200,
        {"subject": "orders-value", "version": 2, "id": 6, "guid": GUID, "schema": ORDER, "deleted": True, "ts": 1},
        RegisteredSchema("orders-value", 2, 6, GUID, Schema(ORDER)),
    ),
    "the newest version as -1": Exchange(
        lambda client: client.get_version("orders-value", -1),
        "GET /subjects/orders-value/versions/-1",
        None,
        200,
        {"subject": "orders-value", "version": 3, "id": 7, "schema": ORDER},
        RegisteredSchema("orders-value", 3, 7, None, Schema(ORDER)),
    ),
    "a version that does not exist": refused(
        lambda client: client.get_version("orders-value", 9),
        "GET /subjects/orders-value/versions/9",
        404,
        40402,
        "there is no version 9",
    ),
    "a number that is no version": refused(
        lambda client: client.get_version("orders-value", 0),
        "GET /subjects/orders-value/versions/0",
        422,
        42202,
        "0 is no number of a version",
    ),
    "what refers to a version": Exchange(
        lambda client: client.get_referenced_by("line", "latest", offset=1, limit=1),
        "GET /subjects/line/versions/latest/referencedby?offset=1&limit=1",
        None,
        200,
        [12],
        [12],
    ),
    # -- deleting, and deleting for good
    "a subject is deleted": Exchange(
        lambda client: client.delete_subject("orders-value"),
        "DELETE /subjects/orders-value",
        None,
        200,
        [1, 2],
        [1, 2],
    ),
    "a subject is deleted for good": Exchange(
        lambda client: client.delete_subject("orders-value", permanent=True),
        "DELETE /subjects/orders-value?permanent=true",
        None,
        200,
        [1, 2],
        [1, 2],
    ),
    "a subject that was deleted": refused(
        lambda client: client.delete_subject("orders-value"),
        "DELETE /subjects/orders-value",
        404,
        40404,
        "orders-value was deleted before",
    ),
    "a subject that was not deleted first": refused(
        lambda client: client.delete_subject("orders-value", permanent=True),
        "DELETE /subjects/orders-value?permanent=true",
        404,
        40405,
        "orders-value is not deleted yet",
    ),
    "a version is deleted for good": Exchange(
        lambda client: client.delete_version("orders-value", 2, permanent=True),
        "DELETE /subjects/orders-value/versions/2?permanent=true",
        None,
        200,
        2,
        2,
    ),
    "a version that was deleted": refused(
        lambda client: client.delete_version("orders-value", 2),
        "DELETE /subjects/orders-value/versions/2",
        404,
        40406,
        "version 2 was deleted before",
    ),
    "a version that was not deleted first": refused(
        lambda client: client.delete_version("orders-value", 2, permanent=True),
        "DELETE /subjects/orders-value/versions/2?permanent=true",
        404,
        40407,
        "version 2 is not deleted yet",
    ),
    "a version that others refer to": refused(
        lambda client: client.delete_version("line", "latest"),
        "DELETE /subjects/line/versions/latest",
        422,
        42206,
        "schema 12 refers to line, version 3",
    ),
    # -- compatibility
    "reasons in the registry's words": Exchange(
        lambda client: client.compatibility_errors("orders-value", Schema('"int"')),
        "POST /compatibility/subjects/orders-value/versions?verbose=true",
        avro('"int"'),
        200,
        {"is_compatible": False, "messages": ["{errorType:'TYPE_MISMATCH'}", "{compatibility: 'FULL'}"]},
        ["{errorType:'TYPE_MISMATCH'}", "{compatibility: 'FULL'}"],
    ),
    "compatible with one version": Exchange(
        lambda client: client.test_compatibility("orders-value", Schema(ORDER), 2, normalize=True, verbose=True),
        "POST /compatibility/subjects/orders-value/versions/2?normalize=true&verbose=true",
        avro(),
        200,
        {"is_compatible": True, "messages": []},
        True,
    ),
    "not compatible with all": Exchange(
        lambda client: client.test_compatibility_all_versions("orders-value", Schema(ORDER)),
        "POST /compatibility/subjects/orders-value/versions",
        avro(),
        200,
        {"is_compatible": False},
        False,
    ),
    "compared with a version that does not exist": refused(
        lambda client: client.compatibility_errors("orders-value", Schema(ORDER), 9),
        "POST /compatibility/subjects/orders-value/versions/9?verbose=true",
        404,
        40402,
        "there is no version 9",
        avro(),
    ),
    # -- settings
    "all settings": Exchange(
        lambda client: client.get_config("orders-value"),
        "GET /config/orders-value",
        None,
        200,
        {
            "alias": "sales-value",
            "aliasForDeks": "sales-keys",
            "normalize": True,
            "validateFields": False,
            "validateNewSchemas": True,
            "validateRules": True,
            "compatibilityLevel": "FULL_TRANSITIVE",
            "compatibilityPolicy": "LENIENT",
            "compatibilityGroup": "major",
            "defaultMetadata": OWNER_JSON,
            "overrideMetadata": {"properties": {"tier": "1"}},
            "defaultRuleSet": RULES_JSON,
            "overrideRuleSet": {"domainRules": [POSITIVE_JSON]},
        },
        ServerConfig(
            None,
            ConfigCompatibilityLevel.FULL_TRANSITIVE,
            "major",
            OWNER,
            Metadata(properties=MetadataProperties({"tier": "1"}), sensitive=[]),
            RULES,
            RuleSet([], [POSITIVE], []),
            alias="sales-value",
            normalize=True,
            validate_fields=False,
            validate_rules=True,
            validate_new_schemas=True,
            compatibility_policy="LENIENT",
            alias_for_deks="sales-keys",
        ),
    ),
    "settings that hold for a subject": Exchange(
        lambda client: client.get_config("orders-value", default_to_global=True),
        "GET /config/orders-value?defaultToGlobal=true",
        None,
        200,
        {"compatibilityLevel": "FULL", "normalize": True},
        ServerConfig(compatibility_level=ConfigCompatibilityLevel.FULL, normalize=True),
    ),
    "the level that holds for a subject": Exchange(
        lambda client: client.get_compatibility("orders-value", default_to_global=True),
        "GET /config/orders-value?defaultToGlobal=true",
        None,
        200,
        {"compatibilityLevel": "FULL"},
        "FULL",
    ),
    "settings of another type": Exchange(
        lambda client: client.get_config(),
        "GET /config",
        None,
        200,
        {"compatibilityLevel": "FULL", "normalize": "yes"},
        Refusal(0, -1, "expected 'normalize' of type bool, got 'yes'"),
    ),
    "settings are set": Exchange(
        lambda client: client.set_config(
            "orders-value",
            ServerConfig(
                ConfigCompatibilityLevel.FULL,
                compatibility_group="major",
                default_metadata=OWNER,
                override_rule_set=RuleSet(domain_rules=[POSITIVE]),
            ),
        ),
        "PUT /config/orders-value",
        {
            "compatibility": "FULL",
            "compatibilityGroup": "major",
            "defaultMetadata": OWNER_JSON,
            "overrideRuleSet": {"domainRules": [POSITIVE_JSON]},
        },
        200,
        {"compatibility": "FULL", "compatibilityGroup": "major"},
        {"compatibility": "FULL", "compatibilityGroup": "major"},
    ),
    "a subject gets an alias": Exchange(
        lambda client: client.set_config("sales-value", ServerConfig(alias="orders-value")),
        "PUT /config/sales-value",
        {"alias": "orders-value"},
        200,
        {"alias": "orders-value"},
        {"alias": "orders-value"},
    ),
    "a subject loses its alias": Exchange(
        lambda client: client.set_config("sales-value", ServerConfig(alias="")),
        "PUT /config/sales-value",
        {"alias": ""},
        200,
        {"alias": ""},
        {"alias": ""},
    ),
    "what is checked, and how": Exchange(
        lambda client: client.set_config(
            config=ServerConfig(
                normalize=True,
                validate_fields=True,
                validate_rules=False,
                validate_new_schemas=False,
                compatibility_policy="STRICT",
                alias_for_deks="sales-keys",
            )
        ),
        "PUT /config",
        {
            "normalize": True,
            "validateFields": True,
            "validateRules": False,
            "validateNewSchemas": False,
            "compatibilityPolicy": "STRICT",
            "aliasForDeks": "sales-keys",
        },
        200,
        {"normalize": True},
        {"normalize": True},
    ),
    "settings that were read are set": Exchange(
        lambda client: client.set_config("o", ServerConfig(compatibility_level=ConfigCompatibilityLevel.NONE)),
        "PUT /config/o",
        {"compatibility": "NONE"},
        200,
        {"compatibility": "NONE"},
        {"compatibility": "NONE"},
    ),
    "settings are deleted": Exchange(
        lambda client: client.delete_config("orders-value"),
        "DELETE /config/orders-value",
        None,
        200,
        {"compatibilityLevel": "NONE"},
        ServerConfig(compatibility_level=ConfigCompatibilityLevel.NONE),
    ),
    "a level that is not known here": Exchange(
        lambda client: client.get_compatibility("orders-value"),
        "GET /config/orders-value",
        None,
        200,
        {"compatibilityLevel": "SIDEWAYS"},
        "SIDEWAYS",
    ),
    "a subject without settings": refused(
        lambda client: client.get_compatibility("orders-value"),
        "GET /config/orders-value",
        404,
        40408,
        "orders-value has no level of its own",
    ),
    "settings without a level": Exchange(
        lambda client: client.get_compatibility(),
        "GET /config",
        None,
        200,
        {"normalize": True},
        Refusal(0, -1, "expected an answer with 'compatibilityLevel', got 'normalize'"),
    ),
    "a level that does not exist": refused(
        lambda client: client.set_compatibility(level="sideways"),
        "PUT /config",
        422,
        42203,
        "SIDEWAYS is no level",
        {"compatibility": "SIDEWAYS"},
    ),
    # -- modes and contexts
    "the mode of a context": Exchange(
        lambda client: client.get_mode(":.eu:"),
        "GET /mode/%3A.eu%3A",
        None,
        200,
        {"mode": "READONLY_OVERRIDE"},
        "READONLY_OVERRIDE",
    ),
    "a subject without a mode": refused(
        lambda client: client.get_mode("orders-value"),
        "GET /mode/orders-value",
        404,
        40409,
        "orders-value has no mode of its own",
    ),
    "the mode that holds for a subject": Exchange(
        lambda client: client.get_mode("orders-value", default_to_global=True),
        "GET /mode/orders-value?defaultToGlobal=true",
        None,
        200,
        {"mode": "READWRITE"},
        "READWRITE",
    ),
    "a subject is to be imported to": Exchange(
        lambda client: client.update_mode("orders-value", "IMPORT", force=True),
        "PUT /mode/orders-value?force=true",
        {"mode": "IMPORT"},
        200,
        {"mode": "IMPORT"},
        "IMPORT",
    ),
    "importing where there are schemas": refused(
        lambda client: client.update_global_mode("IMPORT"),
        "PUT /mode",
        422,
        42205,
        "there are subjects already",
        {"mode": "IMPORT"},
    ),
    "a mode that does not exist": refused(
        lambda client: client.update_mode("orders-value", "SLEEP"),
        "PUT /mode/orders-value",
        422,
        42204,
        "SLEEP is no mode",
        {"mode": "SLEEP"},
    ),
    "a mode is deleted": Exchange(
        lambda client: client.delete_mode("orders-value"),
        "DELETE /mode/orders-value",
        None,
        200,
        {"mode": "READONLY"},
        "READONLY",
    ),
    "an answer without a mode": Exchange(
        lambda client: client.get_global_mode(),
        "GET /mode",
        None,
        200,
        {},
        Refusal(0, -1, "expected an answer with 'mode', got nothing"),
    ),
    "the contexts": Exchange(
        lambda client: client.get_contexts(offset=0, limit=2),
        "GET /contexts?limit=2",
        None,
        200,
        [".", ".eu"],
        [".", ".eu"],
    ),
    # -- associations
    "the subjects of a topic": Exchange(
        lambda client: client.get_associations_by_resource_name("orders", "lkc-1/a", "topic", ["key", "value"], 1, 5),
        "GET /associations/resources/lkc-1%2Fa/orders?resourceType=topic&associationType=key&associationType=value"
        "&offset=1&limit=5",
        None,
        200,
        [TOPIC_JSON, {"subject": "orders-key", "associationType": "key"}],
        [TOPIC, Association("orders-key", None, None, None, None, None, "key")],
    ),
    "the subjects of a topic of any cluster": Exchange(
        lambda client: client.get_associations_by_resource_name("orders", "-"),
        "GET /associations/resources/-/orders",
        None,
        200,
        [],
        [],
    ),
    "associations of another form": Exchange(
        lambda client: client.get_associations_by_resource_name("orders", "-"),
        "GET /associations/resources/-/orders",
        None,
        200,
        [{"subject": 7}],
        Refusal(0, -1, "expected 'subject' of type str, got 7"),
    ),
    "a topic gets a subject and its schema": Exchange(
        lambda client: client.create_association(
            AssociationCreateOrUpdateRequest(
                "orders",
                "lkc-1",
                "t-7",
                "topic",
                [AssociationCreateOrUpdateInfo("orders-value", "value", "STRONG", True, Schema(ORDER), True)],
            )
        ),
        "POST /associations",
        {
            "resourceName": "orders",
            "resourceNamespace": "lkc-1",
            "resourceId": "t-7",
            "resourceType": "topic",
            "associations": [
                {
                    "subject": "orders-value",
                    "associationType": "value",
                    "lifecycle": "STRONG",
                    "frozen": True,
                    "schema": avro(),
                    "normalize": True,
                }
            ],
        },
        200,
        {
            "resourceName": "orders",
            "resourceNamespace": "lkc-1",
            "resourceId": "t-7",
            "resourceType": "topic",
            "associations": [
                {
                    "subject": "orders-value",
                    "associationType": "value",
                    "lifecycle": "STRONG",
                    "frozen": True,
                    "schema": {"subject": "orders-value", "version": 1, "id": 7, "guid": GUID, "schema": ORDER},
                }
            ],
        },
        AssociationResponse(
            "orders",
            "lkc-1",
            "t-7",
            "topic",
            [AssociationInfo("orders-value", "value", "STRONG", True, Schema(ORDER))],
        ),
    ),
    "a topic that has one": refused(
        lambda client: client.create_association(
            AssociationCreateOrUpdateRequest("orders", "lkc-1", associations=[AssociationCreateOrUpdateInfo("o")])
        ),
        "POST /associations",
        409,
        40911,
        "orders has an association already",
        {"resourceName": "orders", "resourceNamespace": "lkc-1", "associations": [{"subject": "o"}]},
    ),
    "subjects are taken away from a topic": Exchange(
        lambda client: client.delete_associations("t-7", "topic", ["key"], cascade_lifecycle=True),
        "DELETE /associations/resources/t-7?resourceType=topic&associationType=key&cascadeLifecycle=true",
        None,
        204,
        b"",
        None,
    ),
    # -- refusals without the registry's JSON
    "a page of a proxy": Exchange(
        lambda client: client.get_versions("orders-value"),
        "GET /subjects/orders-value/versions",
        None,
        502,
        b"<html><body>Bad gateway</body></html>",
        Refusal(502, -1, "the registry gave no reason, but '<html><body>Bad gateway</body></html>'"),
    ),
    "nothing but a status": Exchange(
        lambda client: client.get_subjects(),
        "GET /subjects",
        None,
        401,
        b"",
        Refusal(401, -1, "the registry gave no reason, but an empty answer; check 'basic.auth.user.info'"),
    ),
    "a code without a message": Exchange(
        lambda client: client.get_contexts(),
        "GET /contexts",
        None,
        404,
        {"error_code": 404},
        Refusal(404, -1, "is it the URL of a schema registry's API?"),
    ),
    "a message without a code": Exchange(
        lambda client: client.get_subjects(),
        "GET /subjects",
        None,
        429,
        {"message": "too many requests"},
        Refusal(429, -1, "too many requests"),
    ),
}

each_exchange = pytest.mark.parametrize("exchange", EXCHANGES.values(), ids=EXCHANGES)


def script(exchange: Exchange) -> ScriptedRegistry:
    registry = ScriptedRegistry((exchange.status, exchange.answer))
    registry.headers = {"Content-Type": "text/html" if isinstance(exchange.answer, bytes) else JSON}
    return registry


def asked_for(target: str) -> tuple[str, list[tuple[str, str]]]:
    """A path, and its parameters without default values; parameters with the same name keep their order."""
    parts = urlsplit(target)
    pairs = [each for each in parse_qsl(parts.query, keep_blank_values=True) if each not in NOT_SENT]
    return parts.path, sorted(pairs, key=lambda pair: pair[0])


def check_request(registry: ScriptedRegistry, exchange: Exchange) -> None:
    (request,) = registry.requests
    method, target = exchange.request.split(" ", 1)
    assert request.method == method
    assert asked_for(request.path) == asked_for(target)
    assert JSON in request.headers["accept"]
    if exchange.body is None:
        assert request.body == ""
    else:
        assert request.headers["content-type"] == JSON
        assert request.body == exchange.body


def check_refusal(error: SchemaRegistryError, refusal: Refusal, exchange: Exchange) -> None:
    assert (error.http_status_code, error.error_code) == (refusal.status, refusal.code)
    assert refusal.text in error.error_message
    method, target = exchange.request.split(" ", 1)
    assert error.request.startswith(f"{method} {asked_for(target)[0]}")


@each_exchange
def test_the_synchronous_client(exchange: Exchange) -> None:
    with script(exchange) as registry, SchemaRegistryClient({"url": registry.url, **CONF}) as client:
        if isinstance(exchange.outcome, Refusal):
            with pytest.raises(SchemaRegistryError) as caught:
                exchange.call(client)
            check_refusal(caught.value, exchange.outcome, exchange)
        else:
            assert exchange.call(client) == exchange.outcome
        check_request(registry, exchange)


@each_exchange
async def test_the_asyncio_client(exchange: Exchange) -> None:
    with script(exchange) as registry:
        async with AsyncSchemaRegistryClient({"url": registry.url, **CONF}) as client:
            if isinstance(exchange.outcome, Refusal):
                with pytest.raises(SchemaRegistryError) as caught:
                    await exchange.call(client)
                check_refusal(caught.value, exchange.outcome, exchange)
            else:
                assert await exchange.call(client) == exchange.outcome
        check_request(registry, exchange)


VERSION = {"subject": "orders-value", "version": 5, "id": 7, "guid": GUID, "schema": ORDER, "metadata": OWNER_JSON}


def test_a_serializer_writes_with_the_newest_schema_that_has_metadata() -> None:
    with ScriptedRegistry((200, VERSION)) as registry, SchemaRegistryClient({"url": registry.url, **CONF}) as client:
        conf = {"auto.register.schemas": False, "use.latest.with.metadata": {"owner": "sales"}}
        serializer = AvroSerializer(client, conf=conf)
        assert serializer({"id": 3}, SerializationContext("orders", MessageField.VALUE)) == b"\0\0\0\0\7\6"
        (request,) = registry.requests
    asked = asked_for("/subjects/orders-value/metadata?key=owner&value=sales&deleted=true")
    assert (request.method, asked_for(request.path)) == ("GET", asked)


def test_a_guid_in_a_header_is_written_and_read() -> None:
    with ScriptedRegistry((200, VERSION)) as registry, SchemaRegistryClient({"url": registry.url, **CONF}) as client:
        context = SerializationContext("orders", MessageField.VALUE, [])
        serializer = AvroSerializer(client, ORDER, conf={"schema.id.serializer": header_schema_id_serializer})
        data = serializer({"id": 3}, context)
        assert (data, context.headers) == (b"\6", [("__value_schema_id", b"\1" + uuid.UUID(GUID).bytes)])
        assert AvroDeserializer(client)(data, context) == {"id": 3}
        registered, found = registry.requests
    assert (registered.method, registered.path.split("?")[0]) == ("POST", "/subjects/orders-value/versions")
    assert (found.method, asked_for(found.path)) == ("GET", (f"/schemas/guids/{GUID}", []))


def test_an_unknown_guid_is_an_error_of_the_record() -> None:
    missing = (404, {"error_code": 40403, "message": f"no schema has the GUID {GUID}"})
    with ScriptedRegistry(missing) as registry, SchemaRegistryClient({"url": registry.url, **CONF}) as client:
        headers = [("__value_schema_id", b"\1" + uuid.UUID(GUID).bytes)]
        with pytest.raises(SerializationError, match=f"{GUID} is not in the registry.*SR code 40403"):
            AvroDeserializer(client)(b"\6", SerializationContext("orders", MessageField.VALUE, headers))


def test_an_id_is_looked_up_in_its_context() -> None:
    with ScriptedRegistry((200, VERSION)) as registry, SchemaRegistryClient({"url": registry.url, **CONF}) as client:
        conf = {"subject.name.strategy": lambda context, name: f":.eu:{context.topic}"}
        deserializer = AvroDeserializer(client, conf=conf)
        assert deserializer(b"\0\0\0\0\7\6", SerializationContext("orders", MessageField.VALUE)) == {"id": 3}
        (request,) = registry.requests
    assert asked_for(request.path) == asked_for("/schemas/ids/7?subject=:.eu:orders")


def test_tags_are_not_sent_and_are_cached_separately() -> None:
    answers = (200, {"schema": ORDER}), (200, {"schema": ORDER, "schemaTags": TAGS_JSON}), (200, {"id": 8})
    with ScriptedRegistry(*answers) as registry, SchemaRegistryClient({"url": registry.url, **CONF}) as client:
        assert client.get_schema(7).schema_tags is None
        tagged = client.get_schema(7, find_tags=["PII"])
        assert client.get_schema(7, find_tags=("PII",)) is tagged
        assert [each.to_dict() for each in tagged.schema_tags or ()] == TAGS_JSON
        assert client.register_schema("orders-value", tagged) == 8
        assert registry.requests[-1].body == avro()


REQUEST = AssociationCreateOrUpdateRequest(
    "orders", "-", "t-7", "topic", [AssociationCreateOrUpdateInfo("o", frozen=False)]
)
RESPONSE = AssociationResponse(
    "orders", "-", "t-7", "topic", [AssociationInfo("o", "key", "WEAK", False, Schema(ORDER))]
)


@pytest.mark.parametrize("each", [TOPIC, REQUEST, RESPONSE], ids=lambda each: type(each).__name__)
def test_associations_are_read_back(each: Any) -> None:
    assert type(each).from_dict(each.to_dict()) == each
    assert TOPIC.to_dict() == TOPIC_JSON


def test_an_association_may_create_the_newest_version() -> None:
    older, newer = ({"subject": "o", "version": n, "id": n, "schema": ORDER} for n in (1, 2))
    answers = (200, older), (200, {}), (200, newer), (204, b""), (200, newer)
    with ScriptedRegistry(*answers) as registry, SchemaRegistryClient({"url": registry.url, **CONF}) as client:
        assert client.get_latest_version("o").version == client.get_latest_version("o").version == 1
        client.create_association(REQUEST)
        assert client.get_latest_version("o").version == client.get_latest_version("o").version == 2
        client.delete_associations("t-7", cascade_lifecycle=True)
        assert client.get_latest_version("o").version == 2
        assert len(registry.requests) == 5


@pytest.mark.parametrize("place", ["o", None])
def test_settings_clear_cached_results(place: str | None) -> None:
    one, other = ({"subject": each, "version": 1, "id": 1, "schema": ORDER} for each in ("o", "p"))
    answers = (200, one), (200, {"alias": "p"}), (200, other), (200, {"alias": "p"}), (200, one)
    with ScriptedRegistry(*answers) as registry, SchemaRegistryClient({"url": registry.url, **CONF}) as client:
        assert client.get_version("o", 1).subject == client.get_version("o", 1).subject == "o"
        client.set_config(place, ServerConfig(alias="p"))
        assert client.get_version("o", 1).subject == client.get_version("o", 1).subject == "p"
        client.delete_config(place)
        assert client.get_version("o", 1).subject == "o"
        assert len(registry.requests) == 5


async def test_aclose_closes_the_asyncio_client() -> None:
    with ScriptedRegistry((200, [])) as registry:
        client = AsyncSchemaRegistryClient({"url": registry.url, **CONF})
        assert await client.get_subjects() == []
        await client.aclose()
        await client.aclose()
        with pytest.raises(IllegalStateError, match="closed"):
            await client.get_subjects()
