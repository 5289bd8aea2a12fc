"""The responses of the embedded schema registry. Codes and fields are those of Confluent's API."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from kafka.broker.registry.registry_errors import Refused
from kafka.broker.registry.routes import HttpRequest, Routes
from kafka.broker.registry.store import Store

pytestmark = pytest.mark.once


class RegistryApi:
    """A registry without a socket."""

    def __init__(self) -> None:
        self.routes = Routes(Store(None))

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        parts = urlsplit(path)
        data = b"" if body is None else json.dumps(body).encode()
        return self.routes.answer(HttpRequest(method, parts.path, parse_qs(parts.query, keep_blank_values=True), data))

    def refused(self, method: str, path: str, body: Any = None) -> int:
        with pytest.raises(Refused) as caught:
            self(method, path, body)
        assert caught.value.status == int(str(caught.value.code)[:3])
        return caught.value.code

    def register(self, subject: str, schema: Any, **more: Any) -> Any:
        return self("POST", f"/subjects/{quote(subject, safe='')}/versions", {"schema": json.dumps(schema), **more})


@pytest.fixture
def api() -> RegistryApi:
    return RegistryApi()


def record(*fields: Any, name: str = "R", **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **more}


def field(name: str, type_: Any = "int", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, **more}


A = record(field("a"))
B = record(field("b"))
LEVELS = ["NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE"]


# -- schemas and versions ---------------------------------------------------------------------------------------------


def test_schemas_are_registered_and_read(api: RegistryApi) -> None:
    made = api.register("s", A)
    assert (made["id"], made["version"], made["schemaType"]) == (1, 1, "AVRO")
    assert api("GET", "/schemas/ids/1") == {"schema": made["schema"], "guid": made["guid"]}
    assert api("GET", "/schemas/ids/1/schema") == A
    assert (
        api("GET", "/subjects/s/versions/latest") == api("GET", "/subjects/s/versions/-1") == {**made, "subject": "s"}
    )
    assert api("GET", "/subjects/s/versions/1/schema") == A
    assert api("POST", "/subjects/s", {"schema": json.dumps(A)}) == {**made, "subject": "s"}
    assert api("GET", f"/schemas/guids/{made['guid']}")["id"] == 1
    assert api("GET", f"/schemas/guids/{made['guid']}/ids") == [{"context": ".", "id": 1}]
    assert api("GET", "/schemas/types") == ["AVRO", "JSON", "PROTOBUF"]
    assert api("GET", "/") == {}


def test_equal_schemas_share_a_version_and_an_id(api: RegistryApi) -> None:
    assert api.register("s", A)["id"] == api.register("s", A)["id"] == api.register("t", A)["id"] == 1
    assert api.register("t", record(field("a"), field("b", default=1)))["id"] == 2
    assert api("GET", "/schemas/ids/1/subjects") == ["s", "t"]
    assert api("GET", "/schemas/ids/1/versions") == [{"subject": "s", "version": 1}, {"subject": "t", "version": 1}]
    assert api("GET", "/schemas/ids/1/subjects?subject=t") == ["t"]


def test_the_guid_is_the_same_in_every_registry(api: RegistryApi) -> None:
    assert api.register("s", A)["guid"] == RegistryApi().register("t", A)["guid"]


def test_white_space_and_order_do_not_matter(api: RegistryApi) -> None:
    text = (
        '{ "fields": [ {"type": {"type": "int"}, "name": "a", "order": "ascending"} ], "name": "R", "type": "record" }'
    )
    assert api.register("s", A)["id"] == api("POST", "/subjects/s/versions", {"schema": text})["id"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ('{"type": "string"}', '"string"'),
        ("string", '"string"'),
        ('{"type": {"type": "array", "items": {"type": "int"}}}', '{"type":"array","items":"int"}'),
        (
            '{"type":"record","fields":[],"name":"a.b.R","doc":"d","aliases":["Q"],"x":1}',
            '{"type":"record","name":"R","namespace":"a.b","doc":"d","fields":[],"x":1,"aliases":["Q"]}',
        ),
        (
            (
                '{"namespace":"n","name":"R","type":"record","fields":[{"name":"f","type":{"type":"enum","name":"n.E",'
                '"namespace":"n","symbols":["A"]}},{"name":"g","type":["null","n.E"],"default":null}]}'
            ),
            (
                '{"type":"record","name":"R","namespace":"n","fields":[{"name":"f","type":{"type":"enum","name":"E",'
                '"symbols":["A"]}},{"name":"g","type":["null","E"],"default":null}]}'
            ),
        ),
        (
            '{"logicalType":"decimal","precision":4,"type":"bytes","scale":2}',
            '{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}',
        ),
        ('{"type":"string","doc":"ü"}', '{"type":"string","doc":"ü"}'),
    ],
)
def test_stored_texts(api: RegistryApi, given: str, kept: str) -> None:
    assert api("POST", "/subjects/s/versions", {"schema": given})["schema"] == kept
    assert api("POST", "/subjects/s", {"schema": kept})["version"] == 1


def test_normalized_texts(api: RegistryApi) -> None:
    one = {"type": "string", "b": 1, "a": 2}
    other = {"type": "string", "a": 2, "b": 1}
    assert api.register("s", one)["id"] != api.register("s", other)["id"]
    body = {"schema": json.dumps(one)}
    made = api("POST", "/subjects/t/versions?normalize=true", body)
    assert api("POST", "/subjects/t?normalize=true", {"schema": json.dumps(other)})["id"] == made["id"]
    api("PUT", "/config/u", {"normalize": True})
    assert api.register("u", one)["schema"] == '{"type":"string","a":2,"b":1}'


@pytest.mark.parametrize(
    "body",
    [
        {"schema": "{"},
        {"schema": ""},
        {},
        {"schema": 7},
        {"schema": '{"type":"record","name":"R","fields":[{"name":"a","type":"int","default":"x"}]}'},
        {"schema": '"no.such.Type"'},
        {"schema": "message A {", "schemaType": "PROTOBUF"},
        {"schema": "<A/>", "schemaType": "XML"},
        {"schema": '"int"', "references": "x"},
        {"schema": '"int"', "references": [{"name": "x", "subject": "missing", "version": 1}]},
        {"schema": '"int"', "metadata": []},
    ],
)
def test_invalid_schemas(api: RegistryApi, body: Any) -> None:
    assert api.refused("POST", "/subjects/s/versions", body) == 42201
    assert api("GET", "/subjects") == []


def test_metadata_and_rules_are_stored(api: RegistryApi) -> None:
    metadata = {"properties": {"owner": "ada"}, "tags": {"a": ["PII"]}, "sensitive": []}
    rules = {"domainRules": [{"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "true"}]}
    plain = api.register("s", A)
    made = api.register("s", A, metadata=metadata, ruleSet=rules)
    assert made["id"] != plain["id"]
    assert made["metadata"] == metadata
    assert api("GET", f"/schemas/ids/{made['id']}")["ruleSet"] == rules
    assert api("GET", "/subjects/s/metadata?key=owner&value=ada")["version"] == 2
    assert api.refused("GET", "/subjects/s/metadata?key=owner&value=bob") == 40403
    assert api.refused("GET", "/subjects/t/metadata") == 40401


# -- missing and invalid resources ------------------------------------------------------------------------------------


def test_missing_resources(api: RegistryApi) -> None:
    assert api.refused("GET", "/subjects/s/versions") == 40401
    assert api.refused("GET", "/subjects/s/versions/1") == 40401
    assert api.refused("POST", "/subjects/s", {"schema": '"int"'}) == 40401
    assert api.refused("DELETE", "/subjects/s") == 40401
    assert api.refused("GET", "/schemas/ids/1") == 40403
    assert api.refused("GET", "/schemas/ids/x") == 40403
    assert api.refused("GET", "/schemas/guids/x") == 40403
    assert api.refused("POST", "/compatibility/subjects/s/versions/latest", {"schema": '"int"'}) == 40401
    api.register("s", A)
    assert api.refused("GET", "/subjects/s/versions/2") == 40402
    assert api.refused("POST", "/subjects/s", {"schema": '"int"'}) == 40403
    assert api.refused("GET", "/no/such/path") == 404
    assert api.refused("PUT", "/subjects") == 405


@pytest.mark.parametrize("version", ["0", "-2", "x", "2147483648", "99999999999999999999", "1.0", "Latest"])
def test_invalid_versions(api: RegistryApi, version: str) -> None:
    api.register("s", A)
    assert api.refused("GET", f"/subjects/s/versions/{version}") == 42202
    assert api.refused("DELETE", f"/subjects/s/versions/{version}") == 42202


@pytest.mark.parametrize("name", ["__GLOBAL", "__EMPTY", ":.:", "a\nb"])
def test_invalid_subjects(api: RegistryApi, name: str) -> None:
    with pytest.raises(Refused) as caught:
        api.register(name, A)
    assert caught.value.code == 42208


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff"])
def test_invalid_bodies(api: RegistryApi, body: bytes) -> None:
    with pytest.raises(Refused) as caught:
        api.routes.answer(HttpRequest("POST", "/subjects/s/versions", {}, body))
    assert caught.value.code == 400


# -- compatibility ----------------------------------------------------------------------------------------------------

CHANGES = [
    ("adds a field with a default", A, record(field("a"), field("b", default=0)), "BACKWARD FORWARD"),
    ("adds a field without a default", A, record(field("a"), field("b")), "FORWARD"),
    ("leaves out a field without a default", record(field("a"), field("b")), A, "BACKWARD"),
    ("widens a number", A, record(field("a", "long")), "BACKWARD"),
    ("narrows a number", record(field("a", "long")), A, "FORWARD"),
    ("changes a type", A, record(field("a", "boolean")), ""),
    ("changes the name", A, record(field("a"), name="Q"), ""),
]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change[0])
def test_compatibility_levels(api: RegistryApi, level: str, change: tuple[str, Any, Any, str]) -> None:
    _, before, after, allowed = change
    api("PUT", "/config", {"compatibility": level.lower()})
    api.register("s", before)
    directions = {"NONE": "", "FULL": "BACKWARD FORWARD"}.get(level.removesuffix("_TRANSITIVE"), level)
    expected = set(directions.removesuffix("_TRANSITIVE").split()) <= set(allowed.split())
    body = {"schema": json.dumps(after)}
    told = api("POST", "/compatibility/subjects/s/versions?verbose=true", body)
    assert told["is_compatible"] is expected
    assert bool(told["messages"]) is not expected
    assert api("POST", "/compatibility/subjects/s/versions/latest", body) == {"is_compatible": expected}
    if expected:
        assert api.register("s", after)["version"] == 2
    else:
        assert api.refused("POST", "/subjects/s/versions", body) == 409


@pytest.mark.parametrize(("level", "is_allowed"), [("BACKWARD", True), ("BACKWARD_TRANSITIVE", False)])
def test_transitive_levels_check_all_versions(api: RegistryApi, level: str, is_allowed: bool) -> None:
    api("PUT", "/config/s", {"compatibility": "NONE"})
    api.register("s", A)
    api.register("s", B)
    api("PUT", "/config/s", {"compatibility": level})
    body = {"schema": json.dumps(record(field("b"), field("c", default=1)))}
    assert api("POST", "/compatibility/subjects/s/versions", body)["is_compatible"] is is_allowed


def test_an_incompatibility_names_field_version_and_level(api: RegistryApi) -> None:
    api.register("s", A)
    with pytest.raises(Refused) as caught:
        api.register("s", record(field("a"), field("b")))
    for part in (
        "READER_FIELD_MISSING_DEFAULT_VALUE",
        "The field 'b'",
        "oldSchemaVersion: 1",
        "compatibility: 'BACKWARD'",
    ):
        assert part in caught.value.message


def test_deleted_versions_are_not_compared(api: RegistryApi) -> None:
    api.register("s", A)
    api.register("t", B)
    api("DELETE", "/subjects/s/versions/1")
    assert api.register("s", B)["version"] == 2


def test_only_versions_of_a_compatibility_group_are_compared(api: RegistryApi) -> None:
    api("PUT", "/config/s", {"compatibilityGroup": "major"})
    api.register("s", A, metadata={"properties": {"major": "1"}})
    assert api.register("s", B, metadata={"properties": {"major": "2"}})["version"] == 2
    body = {"schema": json.dumps(record(field("c"))), "metadata": {"properties": {"major": "1"}}}
    assert api.refused("POST", "/subjects/s/versions", body) == 409


# -- settings and modes -----------------------------------------------------------------------------------------------


def test_settings(api: RegistryApi) -> None:
    assert api("GET", "/config") == {"compatibilityLevel": "BACKWARD"}
    assert api("PUT", "/config", {"compatibilityLevel": "NONE"}) == {}, "the name of the level in answers alone"
    assert api("GET", "/config") == {"compatibilityLevel": "BACKWARD"}
    assert api.refused("GET", "/config/s") == 40408
    assert api("PUT", "/config", {"compatibility": "FULL"}) == {"compatibility": "FULL"}
    assert api("GET", "/config/s?defaultToGlobal=true") == {"compatibilityLevel": "FULL"}
    api("PUT", "/config/s", {"compatibility": "NONE", "alias": "t"})
    assert api("GET", "/config/s") == {"compatibilityLevel": "NONE", "alias": "t"}
    assert api("DELETE", "/config/s") == {"compatibilityLevel": "NONE", "alias": "t"}
    assert api.refused("DELETE", "/config/s") == 40401
    assert api("DELETE", "/config") == {"compatibilityLevel": "FULL"}
    assert api("GET", "/config") == {"compatibilityLevel": "BACKWARD"}
    assert api.refused("PUT", "/config", {"compatibility": "SIDEWAYS"}) == 42203


def message(api: RegistryApi, method: str, path: str, body: Any = None) -> str:
    """Return the error message for a request that is rejected."""
    with pytest.raises(Refused) as caught:
        api(method, path, body)
    assert caught.value.code in (404, 422)
    return caught.value.message


def test_normalization_can_be_a_setting(api: RegistryApi) -> None:
    one, other = {"type": "string", "b": 1, "a": 2}, {"type": "string", "a": 2, "b": 1}
    assert api("PUT", "/config", {"normalize": True}) == {"normalize": True}
    made = api.register("s", one)
    assert api("POST", "/subjects/s", {"schema": json.dumps(other)})["id"] == made["id"]
    assert api("PUT", "/config/t", {"normalize": False}) == {"normalize": False}
    assert api("GET", "/config/t") == {"compatibilityLevel": "BACKWARD", "normalize": False}
    assert api.register("t", one)["schema"] == '{"type":"string","b":1,"a":2}', "a subject's own setting goes before"
    api("PUT", "/config/t", {"normalize": None})
    assert api("GET", "/config/t") == {"compatibilityLevel": "BACKWARD"}
    assert api.refused("POST", "/subjects/t", {"schema": json.dumps(one)}) == 40403
    assert message(api, "PUT", "/config", {"normalize": "yes"}) == "Expected 'normalize' of type bool, got str"


def test_an_alias_resolves_to_its_subject(api: RegistryApi) -> None:
    made = api.register("s", A)
    assert api("PUT", "/config/other", {"alias": "s"}) == {"alias": "s"}
    assert api("GET", "/config/other") == {"compatibilityLevel": "BACKWARD", "alias": "s"}
    assert api("GET", "/subjects/other/versions") == [1]
    assert api("GET", "/subjects/other/versions/latest") == {**made, "subject": "s"}
    assert api("GET", "/subjects/other/versions/1/schema") == A
    assert api("GET", "/subjects/other/metadata") == {**made, "subject": "s"}
    assert api("GET", "/subjects/other/versions/1/referencedby") == []
    assert api("POST", "/subjects/other", {"schema": json.dumps(A)})["subject"] == "s"
    assert api("GET", "/schemas/ids/1?subject=other")["subject"] == "s"
    assert api("GET", "/schemas/ids/1/subjects?subject=other") == ["s"]
    assert api("GET", "/schemas/ids/1/versions?subject=other") == [{"subject": "s", "version": 1}]
    body = {"schema": json.dumps(record(field("a"), field("b")))}
    for path in ("/compatibility/subjects/other/versions", "/compatibility/subjects/other/versions/latest"):
        assert api("POST", path, body) == {"is_compatible": False}
    assert api.refused("POST", "/subjects/other/versions", body) == 409
    api("PUT", "/config/s", {"compatibility": "NONE"})
    assert api("POST", "/subjects/other/versions", body)["version"] == 2
    assert api("GET", "/subjects") == ["s"], "the other one has no schemas of its own"
    assert api("DELETE", "/subjects/other/versions/2") == 2
    assert api("DELETE", "/subjects/other") == [1]
    assert api("GET", "/subjects") == []


def test_an_alias_can_be_removed_and_is_followed_once(api: RegistryApi) -> None:
    api.register("s", A)
    api("PUT", "/config/one", {"alias": "s"})
    api("PUT", "/config/two", {"alias": "one"})
    assert api.refused("GET", "/subjects/two/versions") == 40401
    assert api("PUT", "/config/one", {"alias": ""}) == {"alias": ""}
    assert api("GET", "/config/one") == {"compatibilityLevel": "BACKWARD"}
    assert api.refused("GET", "/subjects/one/versions") == 40401
    api("PUT", "/config/one", {"alias": "s"})
    assert api("DELETE", "/config/one") == {"compatibilityLevel": "BACKWARD", "alias": "s"}
    assert api.refused("GET", "/subjects/one/versions") == 40401


def test_an_alias_is_in_the_context_of_its_subject(api: RegistryApi) -> None:
    api.register(":.dev:s", A)
    api("PUT", "/contexts/.dev/config/near", {"alias": "s"})
    assert api("GET", "/subjects/:.dev:near/versions") == [1]
    assert api.refused("GET", "/subjects/near/versions") == 40401
    api("PUT", "/config/far", {"alias": ":.dev:s"})
    assert api("GET", "/subjects/far/versions/latest")["subject"] == ":.dev:s"
    assert api("GET", "/schemas/ids/1?subject=far")["subject"] == ":.dev:s"


def test_invalid_aliases(api: RegistryApi) -> None:
    only = "Only a subject can have an alias: set it at /config/SUBJECT"
    assert message(api, "PUT", "/config", {"alias": "s"}) == only
    assert message(api, "PUT", "/config/:.dev:", {"alias": "s"}) == only
    assert message(api, "PUT", "/config/s", {"alias": 7}) == "Expected 'alias' of type str, got int"
    assert api.refused("PUT", "/config/s", {"alias": "__GLOBAL"}) == 42208
    assert api.refused("GET", "/config/s") == 40408, "nothing was set"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("validateFields", True),
        ("validateRules", True),
        ("validateNewSchemas", False),
        ("compatibilityPolicy", "LENIENT"),
        ("aliasForDeks", "t"),
        ("defaultMetadata", {"properties": {"owner": "a"}}),
        ("overrideMetadata", {}),
        ("defaultRuleSet", {"domainRules": [{"name": "a rule with a long name", "kind": "CONDITION"}]}),
        ("overrideRuleSet", {}),
    ],
)
def test_a_setting_without_effect_is_rejected(api: RegistryApi, name: str, value: Any) -> None:
    said = message(api, "PUT", "/config/s", {"compatibility": "NONE", name: value})
    assert said.startswith(f"The embedded schema registry does not support the setting {name!r}")
    assert api.refused("GET", "/config/s") == 40408, "nor was the level set"
    assert api("PUT", "/config/s", {name: None}) == {name: None}
    as_it_is = {"validateFields": False, "validateRules": False, "validateNewSchemas": True}
    assert api("PUT", "/config/s", as_it_is) == as_it_is


def test_unsupported_features_are_rejected(api: RegistryApi) -> None:
    api.register("s", A)
    for path in ("/schemas/ids/1?findTags=PII", "/subjects/s/versions/1?findTags=*"):
        assert "does not support 'findTags'" in message(api, "GET", path)
    asked = [("POST", "/associations"), ("GET", "/associations/resources/-/t"), ("DELETE", "/associations/resources/t")]
    for method, path in asked:
        assert message(api, method, path, {}) == "The embedded schema registry has no associations"


def test_modes(api: RegistryApi) -> None:
    assert api("GET", "/mode") == {"mode": "READWRITE"}
    assert api.refused("GET", "/mode/s") == 40409
    assert api.refused("PUT", "/mode/s", {"mode": "SLEEPING"}) == 42204
    api.register("s", A)
    assert api("PUT", "/mode/s", {"mode": "READONLY"}) == {"mode": "READONLY"}
    assert api.refused("POST", "/subjects/s/versions", {"schema": '"int"'}) == 42205
    assert api.refused("DELETE", "/subjects/s") == 42205
    assert api.refused("PUT", "/config/s", {"compatibility": "NONE"}) == 42205
    assert api("DELETE", "/mode/s") == {"mode": "READONLY"}
    assert api.refused("DELETE", "/mode/s") == 40401
    assert api.refused("PUT", "/mode", {"mode": "IMPORT"}) == 42205
    api("PUT", "/mode", {"mode": "READONLY_OVERRIDE"})
    api("PUT", "/mode/s", {"mode": "READWRITE"})
    assert api.refused("POST", "/subjects/s/versions", {"schema": '"int"'}) == 42205


def test_ids_and_versions_can_be_imported(api: RegistryApi) -> None:
    assert api.refused("POST", "/subjects/s/versions", {"schema": '"int"', "id": 50}) == 42205
    api("PUT", "/mode/s", {"mode": "IMPORT"})
    made = api.register("s", "int", id=50, version=7)
    assert (made["id"], made["version"]) == (50, 7)
    assert api.refused("POST", "/subjects/s/versions", {"schema": '"long"', "id": 50}) == 42205
    assert api.register("t", "long")["id"] == 51


# -- deletion ---------------------------------------------------------------------------------------------------------


def test_versions_are_soft_deleted_then_permanently(api: RegistryApi) -> None:
    api.register("s", A)
    api.register("s", record(field("a"), field("b", default=1)))
    assert api.refused("DELETE", "/subjects/s/versions/1?permanent=true") == 40407
    assert api("DELETE", "/subjects/s/versions/1") == 1
    assert api.refused("DELETE", "/subjects/s/versions/1") == 40406
    assert api.refused("GET", "/subjects/s/versions/1") == 40402
    assert api("GET", "/subjects/s/versions/1?deleted=true")["deleted"] is True
    assert api("GET", "/subjects/s/versions") == [2]
    assert api("GET", "/subjects/s/versions?deleted=true") == [1, 2]
    assert api("GET", "/subjects/s/versions?deletedOnly=true") == [1]
    assert api("GET", "/subjects/s/versions?deleted_only=true") == [1], "as confluent-kafka's client asks"
    assert api("GET", "/schemas/ids/1/subjects") == []
    assert api("GET", "/schemas/ids/1/subjects?deleted=true") == ["s"]
    assert api("DELETE", "/subjects/s/versions/1?permanent=true") == 1
    assert api.refused("GET", "/schemas/ids/1") == 40403
    assert api("DELETE", "/subjects/s/versions/latest") == 2


def test_a_subject_is_soft_deleted_then_permanently(api: RegistryApi) -> None:
    api.register("s", A)
    assert api.refused("DELETE", "/subjects/s?permanent=true") == 40405
    assert api("DELETE", "/subjects/s") == [1]
    assert api.refused("DELETE", "/subjects/s") == 40404
    assert api("GET", "/subjects") == []
    assert api("GET", "/subjects?deleted=true") == api("GET", "/subjects?deletedOnly=true") == ["s"]
    assert api.register("s", A)["version"] == 2, "numbers are not used again"
    api("DELETE", "/subjects/s")
    assert api("DELETE", "/subjects/s?permanent=true") == [1, 2]
    assert api("GET", "/subjects?deleted=true") == []
    made = api.register("s", B)
    assert (made["version"], made["id"]) == (1, 2), "ids are not used again"


def test_referenced_versions_cannot_be_deleted(api: RegistryApi) -> None:
    api.register("inner", record(field("x"), name="n.I"))
    reference = {"name": "n.I", "subject": "inner", "version": 1}
    outer = {"type": "record", "name": "n.O", "fields": [{"name": "i", "type": "I"}]}
    made = api.register("outer", outer, references=[reference])
    assert made["references"] == [reference]
    assert api("GET", "/subjects/inner/versions/1/referencedby") == [made["id"]]
    assert api.refused("DELETE", "/subjects/inner") == 42206
    assert api.refused("DELETE", "/subjects/inner/versions/1") == 42206
    api("DELETE", "/subjects/outer")
    assert api("DELETE", "/subjects/inner") == [1]


def test_indirect_references_are_resolved(api: RegistryApi) -> None:
    api.register("a", record(field("x"), name="A"))
    of_a = [{"name": "A", "subject": "a", "version": 1}]
    api.register("b", record(field("a", "A"), name="B"), references=of_a)
    of_b = [{"name": "B", "subject": "b", "version": -1}]
    assert api.register("c", record(field("b", "B"), field("a", "A"), name="C"), references=of_b)["version"] == 1


# -- contexts and pages -----------------------------------------------------------------------------------------------


def test_contexts_have_separate_ids(api: RegistryApi) -> None:
    api.register("s", A)
    assert api.register(":.dev:s", B)["id"] == 1
    assert api("GET", "/contexts") == [".", ".dev"]
    assert api("GET", "/schemas/ids/1?subject=:.dev:s")["schema"] == json.dumps(B, separators=(",", ":"))
    assert api("GET", "/contexts/.dev/schemas/ids/1/schema") == B
    assert api("GET", "/contexts/.dev/subjects/s/versions/1")["subject"] == ":.dev:s"
    assert api("GET", "/subjects") == [":.dev:s", "s"]
    assert api("GET", "/subjects?subjectPrefix=") == ["s"]
    assert api("GET", "/subjects?subjectPrefix=:.dev:") == api("GET", "/contexts/.dev/subjects") == [":.dev:s"]
    api("PUT", "/config/:.dev:", {"compatibility": "NONE"})
    assert api.register(":.dev:s", A)["version"] == 2
    assert api.refused("POST", "/subjects/s/versions", {"schema": json.dumps(B)}) == 409


def test_lists_are_paged(api: RegistryApi) -> None:
    for name in ("c", "a", "b"):
        api.register(name, A)
    assert api("GET", "/subjects?offset=1&limit=1") == ["b"]
    assert api("GET", "/subjects?offset=0&limit=-1") == ["a", "b", "c"]
    assert api("GET", "/subjects?subjectPrefix=a") == ["a"]
    assert [each["subject"] for each in api("GET", "/schemas?latestOnly=true&limit=2")] == ["a", "b"]
    assert api.refused("GET", "/subjects?offset=x") == 400


def test_each_referenced_schema_is_parsed_once(api: RegistryApi) -> None:
    """Two references per level make a billion paths after thirty levels."""
    api.register("s0", record(name="R0"))
    for number in range(1, 31):
        references = [{"name": f"R{number - 1}{way}", "subject": f"s{number - 1}", "version": 1} for way in "ab"]
        schema = record(field("a", f"R{number - 1}"), field("b", f"R{number - 1}"), name=f"R{number}")
        assert api.register(f"s{number}", schema, references=references)["id"] == number + 1


def test_a_reference_to_a_deleted_version_is_rejected(api: RegistryApi) -> None:
    api.register("a", A)
    api.register("b", record(field("r", "R"), name="B"), references=[{"name": "R", "subject": "a", "version": 1}])
    for path in ("/subjects/b", "/subjects/a", "/subjects/a?permanent=true"):
        api("DELETE", path)
    schema = record(field("b", "B"), name="C")
    body = {"schema": json.dumps(schema), "references": [{"name": "B", "subject": "b", "version": 1}]}
    assert api.refused("POST", "/subjects/c/versions", body) == 42201


def test_ids_and_versions_are_limited(api: RegistryApi) -> None:
    most = 2**31 - 1
    api("PUT", "/mode/s", {"mode": "IMPORT"})
    assert api.refused("POST", "/subjects/s/versions", {"schema": '"int"', "id": most + 1}) == 422
    assert api.refused("POST", "/subjects/s/versions", {"schema": '"int"', "id": 1, "version": most + 1}) == 422
    assert api.register("s", "int", id=most, version=most)["id"] == most
    assert api.refused("POST", "/subjects/t/versions", {"schema": '"long"'}) == 42205, "no id is left"
    assert api.refused("GET", f"/subjects/s/versions/{'0' * 12}{'9' * 5000}") == 42202


def test_ambiguous_context_names_are_rejected(api: RegistryApi) -> None:
    assert api.refused("POST", "/contexts/.a%3Ab/subjects/s/versions", {"schema": '"int"'}) == 42208
    assert api.refused("POST", "/contexts/.a%0Ab/subjects/s/versions", {"schema": '"int"'}) == 42208
