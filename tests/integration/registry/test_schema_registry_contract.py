"""What a schema registry does, by the client: the same on the embedded registry and on Apicurio Registry.

What Apicurio Registry lacks, or does otherwise than Confluent's documentation says, is tested on the embedded one alone
(tests/unit/broker/registry): modes, contexts, subjects by id, and some error codes. It takes settings of a subject only
once that has a schema.
"""

from __future__ import annotations

import inspect
import itertools
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

import kafka.schema_registry
from conftest import missing
from harness.fetch import FetchError
from harness.java import JavaError
from kafka.broker import EmbeddedBroker
from kafka.schema_registry import (
    AsyncSchemaRegistryClient,
    ConfigCompatibilityLevel,
    Metadata,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    SchemaRegistryError,
    ServerConfig,
)

if TYPE_CHECKING:
    from harness.apicurio import Apicurio

pytestmark = pytest.mark.once

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def embedded_registry() -> Iterator[str]:
    """The URL of a registry beside an embedded broker of its own."""
    with EmbeddedBroker(registry=True) as broker:
        yield broker.registry_url


@pytest.fixture(scope="session")
def apicurio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Apicurio]:
    """A running Apicurio Registry."""
    from harness.apicurio import Apicurio

    try:
        registry = Apicurio(tmp_path_factory.mktemp("apicurio"))
    except (FetchError, JavaError) as error:
        missing(f"Apicurio Registry is not to be had: {error}")
        raise
    with registry:
        yield registry


@pytest.fixture(scope="session", params=["embedded", pytest.param("apicurio", marks=pytest.mark.apache)])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def url(kind: str, request: pytest.FixtureRequest) -> str:
    if kind == "embedded":
        return str(request.getfixturevalue("embedded_registry"))
    return str(request.getfixturevalue("apicurio").url)


@pytest.fixture
def registry(url: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": url, "max.retries": 0, "timeout": 60}) as client:
        yield client


@pytest.fixture
def subject() -> str:
    """A subject that no other test has."""
    return f"contract-{next(_NUMBERS)}-value"


def record(*fields: Any, name: str = "Order") -> Schema:
    return Schema(json.dumps({"type": "record", "name": name, "fields": list(fields)}), "AVRO")


def field(name: str, type_: Any = "int", **further: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, **further}


def refusal(call: Any, *arguments: Any, **named: Any) -> SchemaRegistryError:
    with pytest.raises(SchemaRegistryError) as caught:
        call(*arguments, **named)
    return caught.value


def as_json(schema: Schema) -> Any:
    return json.loads(schema.schema_str or "")


def test_a_schema_is_registered_once_and_found_again(registry: SchemaRegistryClient, subject: str) -> None:
    schema = record(field("amount"))
    number = registry.register_schema(subject, schema)
    registry.clear_caches()
    assert registry.register_schema(subject, schema) == number
    assert as_json(registry.get_schema(number)) == as_json(schema)
    found = registry.lookup_schema(subject, schema)
    assert (found.subject, found.version, found.schema_id) == (subject, 1, number)
    latest = registry.get_latest_version(subject)
    assert (latest.version, latest.schema_id, as_json(latest.schema)) == (1, number, as_json(schema))
    assert subject in registry.get_subjects()
    assert registry.get_versions(subject) == [1]


def test_a_schema_has_one_id_in_all_subjects(registry: SchemaRegistryClient, subject: str) -> None:
    schema = record(field("amount"), name=f"Shared{next(_NUMBERS)}")
    other = f"{subject}-other"
    number = registry.register_schema(subject, schema)
    assert registry.register_schema(other, schema) == number
    assert {(subject, 1), (other, 1)} <= {(each.subject, each.version) for each in registry.get_schema_versions(number)}


def test_versions_are_numbered(registry: SchemaRegistryClient, subject: str) -> None:
    first, second = record(field("a")), record(field("a"), field("b", default=0))
    ids = [registry.register_schema(subject, each) for each in (first, second)]
    assert registry.get_versions(subject) == [1, 2]
    assert ids[0] != ids[1]
    assert as_json(registry.get_version(subject, 1).schema) == as_json(first)
    assert registry.get_version(subject, 2).schema_id == ids[1]
    assert registry.get_version(subject).version == 2


def test_what_does_not_exist_is_refused_with_its_code(registry: SchemaRegistryClient, subject: str) -> None:
    assert refusal(registry.get_versions, subject).error_code == 40401
    assert refusal(registry.get_latest_version, subject).error_code == 40401
    assert refusal(registry.get_schema, 987_654).error_code == 40403
    assert refusal(registry.lookup_schema, subject, record(field("a"))).error_code == 40401
    registry.register_schema(subject, record(field("a")))
    assert refusal(registry.get_version, subject, 7).error_code == 40402
    assert refusal(registry.lookup_schema, subject, record(field("b"))).error_code == 40403


def test_a_text_that_is_no_schema_is_refused(registry: SchemaRegistryClient, subject: str) -> None:
    error = refusal(registry.register_schema, subject, Schema('{"type": "no such type"}', "AVRO"))
    assert (error.http_status_code, error.error_code) == (422, 42201)


LEVELS = ["NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE"]
A = record(field("a"))
WITH_DEFAULT = record(field("a"), field("b", default=0))
WITHOUT_DEFAULT = record(field("a"), field("b"))
ALLOWED = {
    ("adds a field with a default", WITH_DEFAULT): set(LEVELS),
    ("adds a field without a default", WITHOUT_DEFAULT): {"NONE", "FORWARD", "FORWARD_TRANSITIVE"},
    ("changes a type", record(field("a", "string"))): {"NONE"},
}
"""More changes are tried on the embedded registry alone."""


@pytest.mark.parametrize("level", LEVELS)
def test_each_level_allows_its_changes(registry: SchemaRegistryClient, subject: str, level: str) -> None:
    registry.register_schema(subject, A)
    registry.set_compatibility(subject, level)
    assert registry.get_compatibility(subject) == level
    for (_, after), levels in ALLOWED.items():
        assert registry.test_compatibility(subject, after) is (level in levels)
        assert registry.test_compatibility_all_versions(subject, after) is (level in levels)
        assert bool(registry.compatibility_errors(subject, after)) is (level not in levels)
        if level not in levels:
            assert refusal(registry.register_schema, subject, after).http_status_code == 409
    assert registry.get_versions(subject) == [1]


@pytest.mark.parametrize(("level", "is_allowed"), [("BACKWARD", True), ("BACKWARD_TRANSITIVE", False)])
def test_transitive_levels_look_at_all_versions(
    registry: SchemaRegistryClient, subject: str, level: str, is_allowed: bool
) -> None:
    registry.register_schema(subject, record(field("a")))
    registry.set_compatibility(subject, "NONE")
    registry.register_schema(subject, record(field("b")))
    registry.set_compatibility(subject, level)
    reader = record(field("b"), field("c", default=0))
    if is_allowed:
        registry.register_schema(subject, reader)
        assert registry.get_versions(subject) == [1, 2, 3]
    else:
        assert refusal(registry.register_schema, subject, reader).http_status_code == 409


def test_a_schema_refers_to_another(registry: SchemaRegistryClient, subject: str) -> None:
    money = Schema('{"type":"record","name":"Money","namespace":"shop","fields":[{"name":"cents","type":"long"}]}')
    registry.register_schema(f"{subject}-money", money)
    references = [SchemaReference("shop.Money", f"{subject}-money", 1)]
    text = '{"type":"record","name":"Sale","namespace":"shop","fields":[{"name":"price","type":"Money"}]}'
    schema = Schema(text, "AVRO", references)
    number = registry.register_schema(subject, schema)
    assert registry.get_schema(number).references == references
    assert registry.lookup_schema(subject, schema).schema_id == number
    assert registry.get_referenced_by(f"{subject}-money", 1) == [number]
    assert refusal(registry.register_schema, f"{subject}-2", Schema(text, "AVRO")).error_code == 42201


def test_deleted_versions_can_be_seen_and_deleted_for_good(registry: SchemaRegistryClient, subject: str) -> None:
    first, second = record(field("a")), record(field("b"))
    ids = [registry.register_schema(subject, first)]
    registry.set_compatibility(subject, "NONE")
    ids.append(registry.register_schema(subject, second))
    assert refusal(registry.delete_version, subject, 1, permanent=True).error_code == 40407
    assert registry.delete_version(subject, 1) == 1
    assert registry.get_versions(subject) == [2]
    assert registry.get_versions(subject, deleted=True) == [1, 2]
    assert refusal(registry.get_version, subject, 1).error_code == 40402
    assert as_json(registry.get_schema(ids[0])) == as_json(first)
    assert registry.delete_version(subject, 1, permanent=True) == 1
    assert registry.get_versions(subject, deleted=True) == [2]
    assert refusal(registry.delete_version, subject, 1).error_code == 40402


def test_a_deleted_subject_is_gone_until_it_is_registered_again(registry: SchemaRegistryClient, subject: str) -> None:
    registry.register_schema(subject, record(field("a")))
    assert refusal(registry.delete_subject, subject, permanent=True).error_code == 40405
    assert registry.delete_subject(subject) == [1]
    assert subject not in registry.get_subjects()
    assert subject in registry.get_subjects(deleted=True)
    assert refusal(registry.get_versions, subject).error_code == 40401
    assert registry.delete_subject(subject, permanent=True) == [1]
    assert subject not in registry.get_subjects(deleted=True)
    assert refusal(registry.delete_subject, subject).error_code == 40401


def test_settings_of_a_subject(registry: SchemaRegistryClient, subject: str) -> None:
    registry.register_schema(subject, record(field("a")))
    registry.set_compatibility(subject, "full")
    assert registry.get_config(subject).compatibility_level == "FULL"
    registry.delete_config(subject)


def test_names_with_every_kind_of_character(registry: SchemaRegistryClient, subject: str) -> None:
    odd = f"{subject} ü&?%=+#"
    number = registry.register_schema(odd, record(field("a")))
    assert registry.get_latest_version(odd).schema_id == number
    assert odd in registry.get_subjects()


# -- other types of schema --------------------------------------------------------------------------------------------


def closed(**types: str) -> Schema:
    """A JSON Schema of an object that has no other properties."""
    properties = {name: {"type": type_} for name, type_ in types.items()}
    return Schema(json.dumps({"type": "object", "properties": properties, "additionalProperties": False}), "JSON")


def test_json_schemas(registry: SchemaRegistryClient, subject: str) -> None:
    first, second = closed(a="integer"), closed(a="integer", b="string")
    number = registry.register_schema(subject, first)
    registry.clear_caches()
    assert registry.register_schema(subject, first) == number
    found = registry.get_schema(number)
    assert (found.schema_type, as_json(found)) == ("JSON", as_json(first))
    registry.set_compatibility(subject, "BACKWARD")
    assert refusal(registry.register_schema, subject, closed(a="string")).http_status_code == 409
    assert not registry.test_compatibility(subject, closed())
    assert registry.register_schema(subject, second) != number
    assert registry.get_versions(subject) == [1, 2]
    assert refusal(registry.register_schema, f"{subject}-2", Schema("{", "JSON")).error_code == 42201


def test_a_json_schema_refers_to_another(registry: SchemaRegistryClient, subject: str) -> None:
    registry.register_schema(f"{subject}-money", closed(cents="integer"))
    references = [SchemaReference("money.json", f"{subject}-money", 1)]
    text = '{"type":"object","properties":{"price":{"$ref":"money.json"}}}'
    schema = Schema(text, "JSON", references)
    number = registry.register_schema(subject, schema)
    assert registry.get_schema(number).references == references
    assert registry.get_referenced_by(f"{subject}-money", 1) == [number]


def proto(body: str) -> Schema:
    return Schema(f'syntax = "proto3";\npackage shop;\n\n{body}\n', "PROTOBUF")


def test_protobuf_schemas(registry: SchemaRegistryClient, subject: str) -> None:
    first = proto("message Order {\n  int32 a = 1;\n}")
    number = registry.register_schema(subject, first)
    registry.clear_caches()
    assert registry.register_schema(subject, first) == number
    found = registry.get_schema(number)
    assert found.schema_type == "PROTOBUF"
    assert "message Order" in (found.schema_str or "")
    registry.set_compatibility(subject, "BACKWARD")
    assert not registry.test_compatibility(subject, proto("message Order {\n  string a = 1;\n}"))
    assert (
        refusal(registry.register_schema, subject, proto("message Order {\n  string a = 1;\n}")).http_status_code == 409
    )
    registry.register_schema(subject, proto("message Order {\n  int32 a = 1;\n  string b = 2;\n}"))
    assert registry.get_versions(subject) == [1, 2]
    assert refusal(registry.register_schema, f"{subject}-2", Schema("message {", "PROTOBUF")).error_code == 42201


def test_a_protobuf_schema_imports_another(registry: SchemaRegistryClient, subject: str) -> None:
    registry.register_schema(f"{subject}-money", proto("message Money {\n  int64 cents = 1;\n}"))
    references = [SchemaReference("money.proto", f"{subject}-money", 1)]
    text = 'syntax = "proto3";\npackage shop;\n\nimport "money.proto";\n\nmessage Sale {\n  Money price = 1;\n}\n'
    number = registry.register_schema(subject, Schema(text, "PROTOBUF", references))
    assert registry.get_schema(number).references == references
    assert registry.get_referenced_by(f"{subject}-money", 1) == [number]


async def test_the_asyncio_client_asks_the_same(url: str, subject: str) -> None:
    schema = record(field("amount"))
    async with AsyncSchemaRegistryClient({"url": url, "timeout": 60}) as registry:
        number = await registry.register_schema(subject, schema)
        assert as_json(await registry.get_schema(number)) == as_json(schema)
        assert (await registry.get_latest_version(subject)).version == 1
        with pytest.raises(SchemaRegistryError, match="40401"):
            await registry.get_versions(f"{subject}-missing")


def test_an_alias_and_normal_forms_as_settings(embedded_registry: str, subject: str) -> None:
    """Apicurio Registry takes no other setting than the level."""
    other = f"{subject}-other"
    with SchemaRegistryClient({"url": embedded_registry}) as registry:
        registry.set_config(other, ServerConfig(alias=subject))
        registry.set_config(subject, ServerConfig(ConfigCompatibilityLevel.FULL, normalize=True))
        number = registry.register_schema(other, Schema('{"type":"string","b":1,"a":2}'))
        latest = registry.get_latest_version(subject)
        assert (latest.schema_id, latest.schema.schema_str) == (number, '{"type":"string","a":2,"b":1}')
        assert registry.get_latest_version(other) == latest
        assert registry.get_config(other, default_to_global=True).alias == subject
        assert registry.get_config(subject) == ServerConfig(compatibility_level="FULL", normalize=True)
        for config, reason in (
            (ServerConfig(validate_fields=True), "does not support the setting 'validateFields' except as false"),
            (ServerConfig(default_metadata=Metadata()), "does not support the setting 'defaultMetadata'"),
        ):
            assert reason in refusal(registry.set_config, subject, config).error_message
        assert "does not support 'findTags'" in refusal(registry.get_schema, number, find_tags=["PII"]).error_message
        no_associations = refusal(registry.get_associations_by_resource_name, "orders", "-")
        assert (no_associations.http_status_code, no_associations.is_missing) == (404, True)


def test_confluent_kafkas_client_works_with_the_embedded_registry(embedded_registry: str, subject: str) -> None:
    """Each of its calls is understood, and gives it the types that it expects."""
    original = pytest.importorskip("confluent_kafka.schema_registry")
    first = original.Schema('{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}', "AVRO")
    second = original.Schema(
        '{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":"int","default":1}]}',
        "AVRO",
    )
    client = original.SchemaRegistryClient({"url": embedded_registry})
    try:
        made = client.register_schema_full_response(subject, first)
        number, guid = made.schema_id, made.guid
        assert (client.register_schema(subject, second), made.version) == (number + 1, 1)
        client.clear_caches()
        assert client.get_schema(number).schema_str == first.schema_str
        assert client.get_schema_by_guid(guid).schema_str == first.schema_str
        assert client.lookup_schema(subject, first).version == 1
        assert client.get_latest_version(subject).version == 2
        assert client.get_version(subject, 1).schema_id == number
        assert client.get_versions(subject) == [1, 2]
        assert subject in client.get_subjects()
        assert client.get_subjects_by_schema_id(number) == [subject]
        assert [(each.subject, each.version) for each in client.get_schema_versions(number)] == [(subject, 1)]
        assert client.get_referenced_by(subject, 1) == []
        assert client.get_schema_types() == ["AVRO", "JSON", "PROTOBUF"]
        assert client.test_compatibility(subject, first)
        assert client.test_compatibility_all_versions(subject, first)
        client.set_compatibility(subject, "FULL")
        assert client.get_compatibility(subject) == "FULL"
        client.set_config(subject, original.ServerConfig(compatibility=original.ConfigCompatibilityLevel.NONE))
        assert client.get_config(subject).compatibility_level == original.ConfigCompatibilityLevel.NONE
        assert client.delete_config(subject).compatibility_level == original.ConfigCompatibilityLevel.NONE
        assert client.update_mode(subject, "READONLY") == client.get_mode(subject) == "READONLY"
        assert client.delete_mode(subject) == "READONLY"
        assert client.get_global_mode() == "READWRITE"
        with pytest.raises(original.SchemaRegistryError, match="no associations"):
            client.get_associations_by_resource_name("orders", "-")
        assert "." in client.get_contexts()
        assert client.delete_version(subject, 1) == 1
        assert client.delete_subject(subject) == [2]
        assert client.delete_subject(subject, permanent=True) == [1, 2]
        with pytest.raises(original.SchemaRegistryError) as caught:
            client.get_versions(subject)
        assert (caught.value.http_status_code, caught.value.error_code) == (404, 40401)
    finally:
        client.close()


def parameters(function: Any) -> list[tuple[str, Any]]:
    return [(each.name, each.default) for each in inspect.signature(function).parameters.values()]


def test_a_program_for_confluent_kafkas_clients_finds_all_names_calls_and_arguments() -> None:
    """What there is more of stands behind it."""
    original = pytest.importorskip("confluent_kafka.schema_registry")
    assert [name for name in original.__all__ if not hasattr(kafka.schema_registry, name)] == []
    for name in ("SchemaRegistryClient", "AsyncSchemaRegistryClient"):
        theirs, ours = getattr(original, name), getattr(kafka.schema_registry, name)
        for call in dir(theirs):
            if not call.startswith("_"):
                wanted = parameters(getattr(theirs, call))
                assert parameters(getattr(ours, call))[: len(wanted)] == wanted, f"{name}.{call}"
    for name in original.__all__:
        theirs = getattr(original, name)
        if hasattr(theirs, "to_dict"):
            wanted_names = [each for each, _ in parameters(theirs)]
            ours_names = [each for each, _ in parameters(getattr(kafka.schema_registry, name))]
            assert ours_names[: len(wanted_names)] == wanted_names, name
