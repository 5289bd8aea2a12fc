"""Refusals of incompatible schemas in plain words."""

import json

import pytest

from kafka.broker import EmbeddedBroker
from kafka.formats.registry.errors import SchemaRegistryError
from kafka.formats.registry.refusals import explained
from kafka.schema_registry import Schema, SchemaRegistryClient

CONFLUENT = (
    'Schema being registered is incompatible with an earlier schema for subject "orders-value", details: '
    "[{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', description:'The field 'total' at path '/fields/1' in the %s "
    "schema has no default value and is missing in the %s schema', additionalInfo:'total'}, {oldSchemaVersion: 3}, "
    "{oldSchema: '{\"type\":\"record\"}'}, {validateFields: 'false', compatibility: '%s'}]"
)
NEW = "the field 'total' is new and has no default, but older records lack it; add a default"


def test_a_new_field_without_a_default() -> None:
    assert explained(CONFLUENT % ("new", "old", "BACKWARD")) == (
        "the schema is incompatible with version 3 (compatibility BACKWARD: the new schema must read records of "
        f"version 3): {NEW}"
    )


def test_a_removed_field_without_a_default() -> None:
    text = explained(CONFLUENT % ("old", "new", "FULL_TRANSITIVE"))
    assert "compatibility FULL_TRANSITIVE: the new schema must read records of version 3, and consumers with it" in text
    assert "the field 'total' was removed, but version 3 has no default for it, so its consumers need it; keep" in text


def test_the_error_keeps_the_registrys_text_at_the_end() -> None:
    text = CONFLUENT % ("new", "old", "BACKWARD")
    error = SchemaRegistryError(409, 409, text, "POST /subjects/orders-value/versions")
    assert error.error_message == text
    assert NEW in str(error)
    assert str(error).endswith(f"The registry's message: {text} (HTTP status code 409, SR code 409)")
    assert str(SchemaRegistryError(422, 42201, text)).startswith("Schema being")
    assert str(SchemaRegistryError(409, 409, "busy")).startswith("busy")


def test_differences_of_other_kinds_are_named_and_counted() -> None:
    kinds = ["TYPE_MISMATCH", "MAX_LENGTH_DECREASED", "PACKAGE_CHANGED", "MESSAGE_REMOVED", "NAME_MISMATCH"]
    text = explained(", ".join(f'{{errorType:"{kind}", description:"At path \'/a\'"}}' for kind in kinds))
    assert text.startswith("the schema is incompatible with the earlier version: the type at '/a' has changed")
    assert "max length decreased at '/a'; the package has changed; keep its name; and 2 more" in text
    assert explained("no details") == ""


def _record(*fields: str) -> Schema:
    listed = [{"name": name, "type": "int"} for name in fields]
    return Schema(json.dumps({"type": "record", "name": "r", "fields": listed}), "AVRO")


@pytest.mark.parametrize(
    ("level", "before", "after", "expected"),
    [
        ("BACKWARD", ("a",), ("a", "total"), NEW),
        ("FULL", ("a",), ("a", "total"), NEW),
        ("FORWARD", ("a", "total"), ("a",), "the field 'total' was removed, but version 1 has no default"),
        ("FULL", ("a", "total"), ("a",), "the field 'total' was removed, but version 1 has no default"),
    ],
)
def test_refusals_of_the_embedded_registry(
    level: str, before: tuple[str, ...], after: tuple[str, ...], expected: str
) -> None:
    with EmbeddedBroker(registry=True) as broker:
        client = SchemaRegistryClient({"url": broker.registry_url})
        client.set_compatibility("s", level)
        client.register_schema("s", _record(*before))
        with pytest.raises(SchemaRegistryError) as raised:
            client.register_schema("s", _record(*after))
    assert expected in str(raised.value)
    assert f"compatibility {level}: " in str(raised.value)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (
            "TYPE_MISMATCH",
            "the type at '/fields/0' has changed; keep it, or add a field with another name and a default",
        ),
        ("MISSING_ENUM_SYMBOLS", "the enum at '/fields/0' lacks symbols; keep them, or give the enum a default"),
    ],
)
def test_a_detail_that_the_registry_does_not_name_is_left_out(kind: str, said: str) -> None:
    message = f"{{errorType:'{kind}', description:\"It differs at path '/fields/0'\"}}"
    assert explained(message) == f"the schema is incompatible with the earlier version: {said}"
