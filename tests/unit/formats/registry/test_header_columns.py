"""Columns of values whose schema is named in a header by GUID or id, together with values that have a prefix."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pyarrow as pa
import pytest

from kafka.formats import Avro, Json, Protobuf
from kafka.formats.column_io import reader_of
from kafka.formats.registry.registry_clients import AsyncSchemaRegistryClient, SchemaRegistryClient
from kafka.formats.registry.schema_objects import Schema
from kafka.record.arrow_batches import HEADERS_TYPE

from .scripted_registry import Request, ScriptedRegistry

CONF = {"retries.wait.ms": 1, "max.retries": 0}
OLD = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}
NEW = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}
GUIDS = [uuid.UUID(int=number + 2**100) for number in range(4)]
UNKNOWN = uuid.UUID(int=7)
HEAD = 'syntax = "proto3"; message Other { int64 id = 1; } message Order { int64 id = 1; }'
Row = tuple[bytes | None, list[tuple[str, bytes | None]] | None]


class Guids:
    """A registry of schemas by id and GUID; the last one is the newest version of every subject."""

    def __init__(self, *schemas: Schema) -> None:
        self.schemas = list(schemas)

    def __call__(self, request: Request) -> tuple[int, Any]:
        path = request.path.partition("?")[0].split("/")[1:]
        version = len(self.schemas)
        if path[0] == "subjects":
            return 200, {"subject": path[1], "version": version, "id": version, **self.schemas[-1].to_dict()}
        known = {str(guid): schema for guid, schema in zip(GUIDS, self.schemas, strict=False)}
        known |= {str(number): schema for number, schema in enumerate(self.schemas, 1)}
        schema = known.get(path[2])
        if schema is None:
            return 404, {"error_code": 40403, "message": "Schema not found"}
        return 200, schema.to_dict()


def by_guid(guid: uuid.UUID, rest: bytes = b"", field: str = "value") -> list[tuple[str, bytes | None]]:
    return [(f"__{field}_schema_id", b"\1" + guid.bytes + rest)]


def by_id(number: int, rest: bytes = b"") -> list[tuple[str, bytes | None]]:
    return [("trace", b"x"), ("__value_schema_id", framed(number, rest))]


def framed(number: int, data: bytes) -> bytes:
    return b"\0" + number.to_bytes(4, "big") + data


def arrays(*rows: Row) -> tuple[Any, Any]:
    """Values and headers."""
    headers = [None if each is None else [{"key": key, "value": value} for key, value in each] for _, each in rows]
    return pa.array([value for value, _ in rows], pa.binary()), pa.array(headers, HEADERS_TYPE)


def ids(column: Any) -> list[Any]:
    return [None if each is None else each["id"] for each in column.to_pylist()]


def avro(kind: dict[str, Any], number: int) -> bytes:
    return Avro(kind).encode({"id": number})


def test_avro_values_are_resolved_from_schemas_named_in_headers() -> None:
    registry = Guids(Schema(json.dumps(OLD), "AVRO"), Schema(json.dumps(NEW), "AVRO"))
    looks_framed = framed(1, avro(OLD, 9))
    values, headers = arrays(
        (framed(1, avro(OLD, 1)), None),
        (avro(OLD, 2), by_guid(GUIDS[0])),
        (avro(NEW, 2**40), by_guid(GUIDS[1], b"ignored")),
        (avro(OLD, 4), by_id(1)),
        (None, by_guid(GUIDS[0])),
        (framed(2, avro(NEW, 6)), [("__key_schema_id", b"\1" + UNKNOWN.bytes)]),
        (framed(2, avro(NEW, 7)), [("__value_schema_id", None), *by_guid(UNKNOWN)]),
        (avro(NEW, 8), by_guid(GUIDS[1]) + by_guid(UNKNOWN)),
        (looks_framed, by_guid(GUIDS[1])),
        (framed(2, avro(NEW, 10)), []),
    )
    with ScriptedRegistry(registry) as server, SchemaRegistryClient({"url": server.url, **CONF}) as client:
        reader = client.reader("orders-value")
        for _ in range(2):
            column, bad = reader.decode(values, headers)
            assert ids(column) == [1, 2, 2**40, 4, None, 6, 7, 8, None, 10]
            assert [(each.row, each.schema_id) for each in bad] == [(8, None)]
            assert bad[0].text.startswith(f"schema {GUIDS[1]}: ")
        asked = sorted(each.path.partition("?")[0] for each in server.requests)
        assert asked == sorted(
            [
                "/subjects/orders-value/versions/latest",
                "/schemas/ids/1",
                "/schemas/ids/2",
                f"/schemas/guids/{GUIDS[0]}",
                f"/schemas/guids/{GUIDS[1]}",
            ]
        )
        part, _ = reader.decode(values.slice(1, 3), headers.slice(1, 3))
        assert ids(part) == [2, 2**40, 4]
        chunked, _ = reader.decode(pa.chunked_array([values[:3], values[3:5]]), pa.chunked_array([headers[:5]]))
        assert ids(chunked) == [1, 2, 2**40, 4, None]
        as_keys, bad = reader.decode(values, headers, "key")
        assert [each.row for each in bad if each.row in (0, 1, 5, 9)] == [1, 5]
        assert ids(as_keys)[0] == 1


@pytest.mark.parametrize(
    ("given", "data"),
    [
        ("long", bytes(7) + b"\1"),
        (Avro(OLD), avro(OLD, 1)),
        (Json("id bigint"), b'{"id": 1}'),
        (Protobuf(HEAD, "Order"), Protobuf(HEAD, "Order").encode({"id": 1})),
    ],
    ids=["plain", "avro", "json", "protobuf"],
)
@pytest.mark.parametrize("field", ["key", "value"])
def test_readers_without_a_registry_ignore_headers(given: Any, data: bytes, field: str) -> None:
    values, headers = arrays((data, by_guid(UNKNOWN, field=field)), (None, by_id(1)), (data, None))
    column, bad = reader_of(given, field).decode_known(values, headers, field)
    assert (column.to_pylist()[1], bad) == (None, [])
    assert column.to_pylist()[::2] == [1, 1] if given == "long" else ids(column)[::2] == [1, 1]


def test_unknown_guids_and_invalid_headers_make_values_bad() -> None:
    registry = Guids(Schema(json.dumps(OLD), "AVRO"), Schema('{"type": "object"}', "JSON"))
    values, headers = arrays(
        (avro(OLD, 1), by_guid(GUIDS[0])),
        (avro(OLD, 2), by_guid(UNKNOWN)),
        (avro(OLD, 3), by_guid(GUIDS[1])),
        (framed(1, avro(OLD, 4)), [("__value_schema_id", b"")]),
        (framed(1, avro(OLD, 5)), [("__value_schema_id", b"\1short")]),
        (None, [("__value_schema_id", b"\2")]),
        (avro(OLD, 6), by_id(9)),
        (framed(1, avro(OLD, 7)), None),
    )
    with ScriptedRegistry(registry) as server, SchemaRegistryClient({"url": server.url, **CONF}) as client:
        reader = client.reader(schema=json.dumps(OLD))
        column, bad = reader.decode(values, headers)
    assert ids(column) == [1, None, None, None, None, None, None, 7]
    named = (
        "the header __value_schema_id names no schema: expected a zero byte and a schema id of 4 bytes, or a byte 1 "
    )
    assert [(each.row, each.schema_id, each.text) for each in bad] == [
        (1, None, f"schema {UNKNOWN}: the schema registry has no schema with this GUID"),
        (2, None, f"schema {GUIDS[1]}: expected a schema of the type AVRO, got JSON"),
        (3, None, f"{named}and a GUID of 16, got no bytes"),
        (4, None, f"{named}and a GUID of 16, got 01 73 68 6f 72 74"),
        (6, 9, "schema id 9: the schema registry has no schema with this id"),
    ]


@pytest.mark.parametrize("kind", ["AVRO", "PROTOBUF"])
def test_ids_are_not_confused_with_numbers_of_guids(kind: str) -> None:
    """For any ids in prefixes and headers, in this batch and in those before and after it."""
    if kind == "PROTOBUF":
        pytest.importorskip("ptars")
    text, data, rest = (json.dumps(OLD), avro(OLD, 1), b"") if kind == "AVRO" else (HEAD, b"\x08\1", b"\0")
    high = [2**32 - each for each in range(1, 5)]
    mixed = arrays(
        *((framed(each, rest + data), None) for each in high[:2]),
        (data, by_id(high[2], rest)),
        (data, by_guid(GUIDS[0], rest)),
        (data, by_guid(UNKNOWN, rest)),
    )
    only_guids = arrays((data, by_guid(GUIDS[0], rest)), (data, by_guid(UNKNOWN, rest)))
    only_ids = arrays(*((framed(each, rest + data), None) for each in high))
    with (
        ScriptedRegistry(Guids(Schema(text, kind))) as server,
        SchemaRegistryClient({"url": server.url, **CONF}) as client,
    ):
        reader = client.reader("orders-value")
        for _ in range(2):
            column, bad = reader.decode(*only_guids)
            assert ids(column) == [1, None]
            column, bad = reader.decode(*only_ids)
            assert [each.schema_id for each in bad] == high
            column, bad = reader.decode(*mixed)
            assert ids(column) == [None, None, None, 1, None]
            assert [each.schema_id for each in bad] == [*high[:3], None]


def test_json_values_with_a_header() -> None:
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    values, headers = arrays(
        (b'{"id": 1}', by_guid(GUIDS[0])),
        (framed(1, b'{"id": 2}'), None),
        (b'{"id": 3}', by_id(1)),
        (b'{"id": "x"}', by_guid(GUIDS[0])),
        (b'{"id": 5}', None),
    )
    with (
        ScriptedRegistry(Guids(Schema(json.dumps(schema), "JSON"))) as server,
        SchemaRegistryClient({"url": server.url, **CONF}) as client,
    ):
        column, bad = client.reader("orders-value").decode(values, headers)
    assert ids(column) == [1, 2, 3, None, None]
    assert [(each.row, each.field) for each in bad] == [(3, "id"), (4, None)]
    assert bad[0].cause.startswith(f"schema {GUIDS[0]}: id: ")


def test_headers_contain_the_protobuf_message_position() -> None:
    pytest.importorskip("ptars")
    schema = Schema(HEAD, "PROTOBUF")
    values, headers = arrays(
        (b"\x08\1", by_guid(GUIDS[0], b"\2\2")),
        (framed(1, b"\2\2\x08\2"), None),
        (b"\x08\3", by_guid(GUIDS[0], b"\0")),
        (b"\x08\4", by_id(1, b"\2\2")),
        (b"\2\2\x08\5", by_guid(GUIDS[0])),
        (b"\x08\6", by_guid(UNKNOWN, b"\2\2")),
        (b"\x08", by_guid(GUIDS[0], b"\2\2")),
    )
    with ScriptedRegistry(Guids(schema)) as server, SchemaRegistryClient({"url": server.url, **CONF}) as client:
        column, bad = client.reader("orders-value", message="Order").decode(values, headers)
    assert ids(column) == [1, 2, None, 4, None, None, None]
    texts = {each.row: each.text for each in bad}
    assert list(texts) == [2, 4, 5, 6]
    assert texts[2] == f"schema {GUIDS[0]}: expected a message Order, got the one at position [0] of its schema"
    assert texts[4] == (
        "the header __value_schema_id names no schema: expected the position of a message after the schema's, got "
        "no bytes"
    )
    assert texts[5] == f"schema {UNKNOWN}: the schema registry has no schema with this GUID"


async def test_the_asyncio_client_is_equivalent() -> None:
    values, headers = arrays((avro(OLD, 1), by_guid(GUIDS[0], field="key")), (framed(1, avro(OLD, 2)), None))
    with ScriptedRegistry(Guids(Schema(json.dumps(OLD), "AVRO"))) as server:
        async with AsyncSchemaRegistryClient({"url": server.url, **CONF}) as client:
            reader = await client.reader("orders-key")
            column, bad = await reader.decode(values, headers, field="key")
    assert (ids(column), bad) == ([1, 2], [])
