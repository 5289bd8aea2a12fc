"""Looking up writers' schemas for decoding, and the causes if they are unusable."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka.formats.registry._async.named_schemas import writers_schema as async_writers_schema
from kafka.formats.registry._sync.named_schemas import writers_schema
from kafka.formats.registry.schema_objects import RegisteredSchema, Schema, SchemaReference
from kafka.schema_registry import SchemaRegistryConnectionError, SchemaRegistryError

pytestmark = pytest.mark.once

GUID = "00000000-0000-0000-0000-000000000007"
ORDER = json.dumps({"type": "record", "name": "Order", "fields": [{"name": "line", "type": "Line"}]})
LINE = json.dumps({"type": "record", "name": "Line", "fields": []})
PROTOBUF = 'syntax = "proto3"; package shop; import "line.proto"; message A {} message Order { Line line = 1; }'
LINE_PROTO = 'syntax = "proto3"; package shop; message Line {}'
MISSING = SchemaRegistryError(404, 40403, "Schema not found", "GET /schemas")


class Registry:
    """Returns stored schemas by request and records the requests; all others are missing."""

    def __init__(self, **answers: Schema | Exception) -> None:
        self._answers = answers
        self.asked: list[Any] = []

    def get_schema(self, schema_id: int, subject_name: str | None = None) -> Schema:
        self.asked.append((schema_id, subject_name))
        return self._answer("schema")

    def get_schema_by_guid(self, guid: str) -> Schema:
        self.asked.append(guid)
        return self._answer("schema")

    def get_version(
        self, subject_name: str, version: Any = "latest", deleted: bool = False, fmt: str | None = None
    ) -> RegisteredSchema:
        return RegisteredSchema(subject_name, version, None, None, self._answer(subject_name))

    def _answer(self, name: str) -> Schema:
        answer = self._answers.get(name, MISSING)
        if isinstance(answer, Exception):
            raise answer
        return answer


class AsyncRegistry:
    """The asyncio counterpart of `Registry`."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    async def get_schema(self, schema_id: int, subject_name: str | None = None) -> Schema:
        return self._registry.get_schema(schema_id, subject_name)

    async def get_schema_by_guid(self, guid: str) -> Schema:
        return self._registry.get_schema_by_guid(guid)

    async def get_version(
        self, subject_name: str, version: Any = "latest", deleted: bool = False, fmt: str | None = None
    ) -> RegisteredSchema:
        return self._registry.get_version(subject_name, version, deleted, fmt)


def test_avro_is_parsed_with_its_references() -> None:
    registry = Registry(schema=Schema(ORDER, "AVRO", [SchemaReference("Line", "lines", 1)]), lines=Schema(LINE))
    found = writers_schema(registry, 7, "AVRO")
    assert found.fields[0].type.kind == "record"


def test_protobuf_returns_the_position_of_the_message() -> None:
    references = [SchemaReference("line.proto", "lines", 1)]
    registry = Registry(schema=Schema(PROTOBUF, "PROTOBUF", references), lines=Schema(LINE_PROTO, "PROTOBUF"))
    assert writers_schema(registry, 7, "PROTOBUF", "shop.Order") == [1]


@pytest.mark.parametrize(
    ("name", "subject", "asked"),
    [
        (7, None, (7, None)),
        (7, "orders-value", (7, None)),
        (7, ":.eu:orders-value", (7, ":.eu:orders-value")),
        (GUID, ":.eu:orders-value", GUID),
    ],
)
def test_ids_belong_to_a_context_and_guids_to_all(name: Any, subject: str | None, asked: Any) -> None:
    registry = Registry(schema=Schema('"int"'))
    writers_schema(registry, name, "AVRO", subject=subject)
    assert registry.asked == [asked]


UNUSABLE = {
    "an unknown id": (7, "AVRO", {}, "the schema registry has no schema with this id"),
    "an unknown GUID": (GUID, "AVRO", {}, "the schema registry has no schema with this GUID"),
    "another type": (
        7,
        "PROTOBUF",
        {"schema": Schema('"int"', None)},
        "expected a schema of the type PROTOBUF, got AVRO",
    ),
    "a type that is new": (
        7,
        "AVRO",
        {"schema": Schema("<x/>", "XML")},
        "expected a schema of the type AVRO, got XML",
    ),
    "a reference that is gone": (
        7,
        "AVRO",
        {"schema": Schema(ORDER, "AVRO", [SchemaReference("Line", "lines", 1)])},
        f"the schema registry lacks what the schema refers to: {MISSING}",
    ),
    "an import that is gone": (
        7,
        "PROTOBUF",
        {"schema": Schema(PROTOBUF, "PROTOBUF", [SchemaReference("line.proto", "lines", 1)])},
        f"the schema registry lacks what the schema refers to: {MISSING}",
    ),
    "a message that it lacks": (
        7,
        "PROTOBUF",
        {"schema": Schema(LINE_PROTO, "PROTOBUF")},
        "the schema has no message 'shop.Order'; it has Line",
    ),
}


@pytest.mark.parametrize("case", UNUSABLE)
async def test_an_unusable_schema_has_a_cause(case: str) -> None:
    name, kind, answers, cause = UNUSABLE[case]
    with pytest.raises(ValueError) as raised:
        writers_schema(Registry(**answers), name, kind, "shop.Order")  # type: ignore[arg-type]
    with pytest.raises(ValueError) as awaited:
        await async_writers_schema(AsyncRegistry(Registry(**answers)), name, kind, "shop.Order")  # type: ignore[arg-type]
    assert (str(raised.value), str(awaited.value)) == (cause, cause)


@pytest.mark.parametrize(
    "refusal",
    [
        SchemaRegistryConnectionError(0, -1, "connection refused"),
        SchemaRegistryError(500, 50001, "Error in the backend data store"),
        SchemaRegistryError(404, -1, "a proxy knows no such page"),
    ],
    ids=["down", "broken", "not the registry's own answer"],
)
@pytest.mark.parametrize("asked", ["schema", "lines"])
def test_an_unresponsive_registry_does_not_make_the_schema_unusable(refusal: Exception, asked: str) -> None:
    order = Schema(ORDER, "AVRO", [SchemaReference("Line", "lines", 1)])
    registry = Registry(**{"schema": order, "lines": Schema(LINE), asked: refusal})
    with pytest.raises(SchemaRegistryError) as raised:
        writers_schema(registry, 7, "AVRO")
    assert raised.value is refusal
