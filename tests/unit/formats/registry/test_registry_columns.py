"""Readers and writers of columns, with a registry's schemas and without a registry."""

from __future__ import annotations

import json
import re
from typing import Any

import pyarrow as pa
import pytest

from kafka.formats import Avro, AvroEncodeError, Json, Protobuf
from kafka.formats.column_io import SchemaNeeded, reader_of, writer_of
from kafka.formats.registry import schema_columns as columns
from kafka.schema_registry import (
    AsyncSchemaRegistryClient,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    SchemaRegistryConnectionError,
    SchemaRegistryError,
)

from .scripted_registry import Request, ScriptedRegistry

pytestmark = pytest.mark.once

OLD = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}
NEW = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": "string", "default": "-"}],
}
JSON_SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "note": {"type": "string"}},
        "required": ["id"],
    }
)
CONF = {"retries.wait.ms": 1, "max.retries": 0}


class Subjects:
    """A registry of schemas by id; the last one is the newest version of every subject."""

    def __init__(self, *schemas: Schema) -> None:
        self.schemas = dict(enumerate(schemas, 1))

    def __call__(self, request: Request) -> tuple[int, Any]:
        path = request.path.partition("?")[0].split("/")[1:]
        if request.method == "POST":
            return 200, {"id": max(self.schemas)}
        if path[:2] == ["schemas", "ids"]:
            schema = self.schemas.get(int(path[2]))
            if schema is None:
                return 404, {"error_code": 40403, "message": "Schema not found"}
            return 200, schema.to_dict()
        version = max(self.schemas) if path[-1] == "latest" else int(path[-1])
        return 200, {"subject": path[1], "version": version, "id": version, **self.schemas[version].to_dict()}


def framed(schema_id: int, data: bytes) -> bytes:
    return b"\0" + schema_id.to_bytes(4, "big") + data


def binary(*values: bytes | None) -> Any:
    return pa.array(values, pa.binary())


def test_values_of_any_version_have_one_type_and_ids_are_requested_once() -> None:
    subjects = Subjects(Schema(json.dumps(OLD), "AVRO"), Schema(json.dumps(NEW), "AVRO"))
    old, new = Avro(OLD).encode({"id": 1}), Avro(NEW).encode({"id": 2**40, "note": "n"})
    with ScriptedRegistry(subjects) as server, SchemaRegistryClient({"url": server.url, **CONF}) as registry:
        reader = registry.reader("orders-value")
        assert [(each.name, each.type) for each in reader.type] == [("id", pa.int64()), ("note", pa.string())]
        for _ in range(2):
            column, bad = reader.decode(binary(framed(1, old), framed(2, new), None))
            assert column.to_pylist() == [{"id": 1, "note": "-"}, {"id": 2**40, "note": "n"}, None]
            assert bad == []
        paths = [each.path.partition("?")[0] for each in server.requests]
        assert paths == ["/subjects/orders-value/versions/latest", "/schemas/ids/1", "/schemas/ids/2"]
        assert registry.reader("orders-value", 1).type.field("id").type == pa.int32()
        assert registry.reader(schema=json.dumps(OLD)).type.field("id").type == pa.int32()


async def test_the_asyncio_client_is_equivalent() -> None:
    subjects = Subjects(Schema(json.dumps(OLD), "AVRO"))
    with ScriptedRegistry(subjects) as server:
        async with AsyncSchemaRegistryClient({"url": server.url, **CONF}) as registry:
            writer = await registry.writer("orders-value")
            values = writer.encode(pa.array([{"id": 7}]))
            reader = await registry.reader("orders-value")
            column, bad = await reader.decode(values)
            assert (column.to_pylist(), bad) == ([{"id": 7}], [])


def test_unknown_ids_and_unresolvable_schemas_make_values_bad(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(columns, "_MEMORY_S", 0.0)
    other = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "string"}]}
    subjects = Subjects(Schema(json.dumps(other), "AVRO"), Schema(JSON_SCHEMA, "JSON"), Schema(json.dumps(OLD), "AVRO"))
    with ScriptedRegistry(subjects) as server, SchemaRegistryClient({"url": server.url, **CONF}) as registry:
        reader = registry.reader("orders-value")
        good = framed(3, Avro(OLD).encode({"id": 5}))
        values = binary(framed(9, b"x"), framed(1, b"\2a"), framed(2, b"{}"), good, b"\1", framed(3, b""))
        column, bad = reader.decode(values)
        assert column.to_pylist() == [None, None, None, {"id": 5}, None, None]
        assert [(each.row, each.schema_id) for each in bad] == [(0, 9), (1, 1), (2, 2), (4, None), (5, 3)]
        causes = [each.cause for each in bad]
        assert causes[0] == "the schema registry has no schema with this id"
        assert "string" in causes[1]
        assert causes[2] == "expected a schema of the type AVRO, got JSON"
        assert causes[4].startswith("id: ")
        subjects.schemas[9] = Schema(json.dumps(OLD), "AVRO")  # registered later
        column, bad = reader.decode(binary(framed(9, b"\2")))
        assert (column.to_pylist(), bad) == ([{"id": 1}], [])


def test_unknown_ids_are_requested_once_and_before_decoding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    subjects = Subjects(Schema(json.dumps(OLD), "AVRO"))
    with ScriptedRegistry(subjects) as server, SchemaRegistryClient({"url": server.url, **CONF}) as registry:
        reader = registry.reader("orders-value")
        decode = reader._avro.decode
        decoded: list[int] = []
        monkeypatch.setattr(reader._avro, "decode", lambda *args, **given: decoded.append(1) or decode(*args, **given))
        values = binary(*(framed(number, b"\2") for number in (7, 1, 8, 7, 9)), b"\0\0", b"\1\0\0\0\7\2", None)
        for passes in (2, 3):
            column, bad = reader.decode(values)
            assert [each.row for each in bad] == [0, 2, 3, 4, 5, 6]
            assert column.to_pylist() == [None, {"id": 1}, *[None] * 6]
            assert len(decoded) == passes
        asked = [each.path.partition("?")[0] for each in server.requests if each.path.startswith("/schemas/ids/")]
        assert asked == [f"/schemas/ids/{number}" for number in (7, 1, 8, 9)]


def unknown(first: int, count: int) -> Any:
    return binary(*(framed(each, b"x") for each in range(first, first + count)))


MANY = (
    "More than 4 of the 6 schemas that are looked up for a batch of values of subject 'orders-value' cannot be used, "
    "such as 304: the schema registry has no schema with this id; check that the values are Avro with the schema's id "
    "before each, and that this registry has their schemas"
)


def test_many_unknown_ids_in_a_batch_are_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(columns.UnusableSchemas, "many", 4)
    with (
        ScriptedRegistry(Subjects(Schema(json.dumps(OLD)))) as server,
        SchemaRegistryClient({"url": server.url, **CONF}) as registry,
    ):
        reader = registry.reader("orders-value")
        for first in (100, 200):
            assert len(reader.decode(unknown(first, 4))[1]) == 4
        assert caplog.messages == []
        values = pa.concat_arrays([unknown(300, 6), unknown(300, 6)])
        assert len(reader.decode(values)[1]) == 12
        assert len(reader.decode(unknown(400, 5))[1]) == 5
        assert [(each.levelname, each.getMessage()) for each in caplog.records] == [("WARNING", MANY)]
        other = registry.reader(schema=json.dumps(OLD))
        assert len(other.decode(unknown(500, 5), field="key")[1]) == 5
        assert "5 schemas that are looked up for a batch of keys cannot be used" in caplog.messages[-1]


def test_unknown_ids_are_counted_across_look_ups(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Like Spark's tasks, which look up ids one at a time."""
    monkeypatch.setattr(columns.UnusableSchemas, "many", 4)
    with (
        ScriptedRegistry(Subjects(Schema(json.dumps(OLD)))) as server,
        SchemaRegistryClient({"url": server.url, **CONF}) as registry,
    ):
        reader = registry.reader("orders-value")
        with pytest.raises(SchemaNeeded) as needed:
            reader.decode_known(unknown(300, 6))
        for name in needed.value.names:
            reader.look_up([name])
    assert caplog.messages == [MANY]


async def test_the_asyncio_client_also_logs_many_unknown_ids(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(columns.UnusableSchemas, "many", 4)
    with ScriptedRegistry(Subjects(Schema(json.dumps(OLD)))) as server:
        async with AsyncSchemaRegistryClient({"url": server.url, **CONF}) as registry:
            reader = await registry.reader("orders-value")
            assert len((await reader.decode(unknown(300, 6)))[1]) == 6
    assert caplog.messages == [MANY]


def test_a_missing_reference_makes_values_bad() -> None:
    text = json.dumps({"type": "record", "name": "Order", "fields": [{"name": "id", "type": "Gone"}]})
    broken = Schema(text, "AVRO", [SchemaReference("Gone", "gone", 1)])
    subjects = Subjects(broken, Schema(json.dumps(OLD), "AVRO"))

    def answer(request: Request) -> tuple[int, Any]:
        if "/gone/" in request.path:
            return 404, {"error_code": 40401, "message": "Subject not found"}
        return subjects(request)

    with ScriptedRegistry(answer) as server, SchemaRegistryClient({"url": server.url, **CONF}) as registry:
        column, bad = registry.reader("orders-value").decode(binary(framed(1, b"\2"), framed(2, b"\2")))
        assert column.to_pylist() == [None, {"id": 1}]
        [each] = bad
        assert each.cause.startswith("the schema registry lacks what the schema refers to: GET /subjects/gone/")


@pytest.mark.parametrize("answer", [(500, {"error_code": 50001, "message": "no"}), (404, b"<html>")])
def test_an_unresponsive_registry_does_not_make_values_bad(answer: tuple[int, Any]) -> None:
    subjects = Subjects(Schema(json.dumps(OLD), "AVRO"))
    with ScriptedRegistry(subjects) as server, SchemaRegistryClient({"url": server.url, **CONF}) as registry:
        reader = registry.reader("orders-value")
        server.answers = [answer]
        with pytest.raises(SchemaRegistryError):
            reader.decode(binary(framed(1, b"\2")))
        server.answers = [subjects]
        assert reader.decode(binary(framed(1, b"\2")))[0].to_pylist() == [{"id": 1}]
    with pytest.raises(SchemaRegistryConnectionError), SchemaRegistryClient({"url": server.url, **CONF}) as registry:
        registry.reader("orders-value")


def test_json_schema_columns() -> None:
    with (
        ScriptedRegistry(Subjects(Schema(JSON_SCHEMA, "JSON"))) as server,
        SchemaRegistryClient({"url": server.url, **CONF}) as registry,
    ):
        reader, writer = registry.reader("orders-value"), registry.writer("orders-value")
        rows = pa.array([{"id": 1, "note": "a"}, None], pa.struct([("id", pa.int32()), ("note", pa.string())]))
        values = writer.encode(rows)
        assert values.to_pylist() == [framed(1, b'{"id":1,"note":"a"}'), None]
        column, bad = reader.decode(pa.concat_arrays([values, binary(framed(1, b'{"id":"1"}'), b"{}")]))
        assert column.to_pylist() == [{"id": 1, "note": "a"}, None, None, None]
        assert [(each.row, each.schema_id) for each in bad] == [(2, 1), (3, None)]
        with pytest.raises(ValueError, match="Row 1: id is null, but the schema requires it"):
            writer.encode(pa.array([{"id": 1, "note": None}, {"id": None, "note": "a"}], rows.type))


def test_unknown_json_fields_are_ignored_or_rejected() -> None:
    values = binary(framed(1, b'{"id":1,"more":2}'))
    with (
        ScriptedRegistry(Subjects(Schema(JSON_SCHEMA, "JSON"), Schema(json.dumps(OLD)))) as server,
        SchemaRegistryClient({"url": server.url, **CONF}) as registry,
    ):
        assert registry.reader("orders-value", 1).decode(values)[0].to_pylist() == [{"id": 1, "note": None}]
        column, [bad] = registry.reader("orders-value", 1, unknown_fields="error").decode(values)
        assert column.to_pylist() == [None]
        assert "more" in bad.text
        with pytest.raises(ValueError, match="Expected unknown_fields='error' only for a schema of type JSON"):
            registry.reader("orders-value", 2, unknown_fields="error")
        with pytest.raises(ValueError, match="unknown_fields"):
            registry.reader("orders-value", 1, unknown_fields="drop")  # type: ignore[arg-type]


def test_a_writer_registers_a_schema_or_only_looks_it_up() -> None:
    subjects = Subjects(Schema(json.dumps(OLD), "AVRO"))
    with ScriptedRegistry(subjects) as server, SchemaRegistryClient({"url": server.url, **CONF}) as registry:
        writer = registry.writer("orders-value", pa.schema([("id", pa.int64())]))
        [request] = server.requests
        assert request.path.startswith("/subjects/orders-value/versions")
        assert json.loads(request.body["schema"])["name"] == "orders_value"
        assert writer.encode(pa.array([{"id": 1}])).to_pylist() == [framed(1, b"\2\2")]
        with pytest.raises(AvroEncodeError, match="At row 0, id: expected a number"):
            registry.writer("orders-value", json.dumps(OLD)).encode(pa.array([{"id": 2**40}]))
        server.requests.clear()
        registry.writer("orders-value", json.dumps(OLD), register=False)
        assert server.requests[0].path.partition("?")[0] == "/subjects/orders-value"
        with pytest.raises(TypeError, match="Expected the schema as a Schema"):
            registry.writer("orders-value", OLD)  # type: ignore[arg-type]


def test_references_are_followed() -> None:
    referring = {"type": "record", "name": "Outer", "fields": [{"name": "order", "type": "Order"}]}
    schema = Schema(json.dumps(referring), "AVRO", [SchemaReference("Order", "order", 1)])
    with (
        ScriptedRegistry(Subjects(Schema(json.dumps(OLD), "AVRO"), schema)) as server,
        SchemaRegistryClient({"url": server.url, **CONF}) as registry,
    ):
        reader = registry.reader("outer-value")
        assert reader.decode(binary(framed(2, b"\2")))[0].to_pylist() == [{"order": {"id": 1}}]


def test_protobuf_columns() -> None:
    pytest.importorskip("ptars")
    money = 'syntax = "proto3"; message Money { int64 cents = 1; }'
    text = """syntax = "proto3"; import "money.proto";
message Other { string name = 1; }
message Order { int64 id = 1; Money price = 2; }
"""
    schema = Schema(text, "PROTOBUF", [SchemaReference("money.proto", "money", 1)])
    with (
        ScriptedRegistry(Subjects(Schema(money, "PROTOBUF"), schema)) as server,
        SchemaRegistryClient({"url": server.url, **CONF}) as registry,
    ):
        writer = registry.writer("orders-value", message="Order")
        rows = [{"id": 1, "price": {"cents": 250}}, None, {"id": 2, "price": None}]
        values = writer.encode(pa.array(rows))
        assert values[0].as_py() == framed(2, b"\x02\x02\x08\x01\x12\x03\x08\xfa\x01")
        reader = registry.reader("orders-value", message="Order")
        column, bad = reader.decode(pa.concat_arrays([values, binary(framed(2, b"\0\x0a\x01n"), b"x")]))
        assert column.to_pylist() == [*rows, None, None]
        assert [(each.row, each.schema_id) for each in bad] == [(3, 2), (4, None)]
        assert bad[0].cause == "expected a message Order, got the one at position [0] of its schema"
        assert [each.name for each in registry.reader("orders-value").type] == ["name"]
        with pytest.raises(ValueError, match="the schema has no message 'Nothing'; it has Other, Order"):
            registry.reader("orders-value", message="Nothing")
    with (
        ScriptedRegistry(Subjects(Schema(json.dumps(OLD), "AVRO"))) as server,
        SchemaRegistryClient({"url": server.url, **CONF}) as registry,
        pytest.raises(ValueError, match="Expected message only for a schema of type PROTOBUF, got AVRO"),
    ):
        registry.reader("orders-value", message="Order")


def test_a_message_is_found_by_name_anywhere_in_a_schema() -> None:
    pytest.importorskip("ptars")
    head = 'syntax = "proto3"; '
    orders = ["message Order { int64 id = 1; }", "message Other { int64 id = 1; }"]
    subjects = Subjects(
        Schema(head + orders[0], "PROTOBUF"),
        Schema(head + "".join(reversed(orders)), "PROTOBUF"),
        Schema(head + "message Outer { string text = 1; message Order { int64 id = 1; } }", "PROTOBUF"),
        Schema(json.dumps(OLD), "AVRO"),
        Schema(head + orders[0], "PROTOBUF"),
    )
    with ScriptedRegistry(subjects) as server, SchemaRegistryClient({"url": server.url, **CONF}) as registry:
        reader = registry.reader("orders-value", 1)
        values = binary(
            framed(1, b"\0\x08\1"),
            framed(2, b"\2\2\x08\2"),  # it is the second one in that schema
            framed(2, b"\0\x08\3"),
            framed(3, b"\0\x08\4"),
            framed(4, b"\0\x08\5"),
            framed(9, b"\0\x08\6"),
            None,
            b"",
            b"\0\0\0\0\1",
            framed(5, b"\2\0\x08\7"),  # the longer form of the first position
        )
        column, bad = reader.decode(values)
        ids = [None if each is None else each["id"] for each in column.to_pylist()]
        assert ids == [1, 2, None, None, None, None, None, None, None, 7]
        assert [(each.row, each.schema_id) for each in bad] == [(2, 2), (3, 3), (4, 4), (5, 9), (7, None), (8, None)]
        causes = {each.row: each.cause for each in bad}
        assert causes[2] == "expected a message Order, got the one at position [0] of its schema"
        assert "no message 'Order'" in causes[3]
        assert causes[4] == "expected a schema of the type PROTOBUF, got AVRO"
        assert causes[5] == "the schema registry has no schema with this id"
        asked = [each.path for each in server.requests if "/schemas/ids/" in each.path]
        assert len(asked) == len(set(asked)) == 6
        for start in (1, 4):
            sliced, _ = reader.decode(values.slice(start))
            assert sliced.to_pylist() == column.to_pylist()[start:]


def test_invalid_readers() -> None:
    with (
        ScriptedRegistry(Subjects(Schema("...", "XML"))) as server,
        SchemaRegistryClient({"url": server.url, **CONF}) as registry,
    ):
        with pytest.raises(ValueError, match="Expected a schema of the type AVRO, JSON or PROTOBUF, got XML"):
            registry.reader("orders-value")
        with pytest.raises(ValueError, match="Expected either a subject or schema="):
            registry.reader()
    with pytest.raises(
        ValueError,
        match=r"Expected value as one of string, bytes, .*, an Avro, Json or Protobuf object, or what reader",
    ):
        reader_of("avro", "value")
    with pytest.raises(TypeError, match="Expected key as the name of a type"):
        writer_of(5, "key")


def test_formats_without_a_registry() -> None:
    rows = pa.array([{"id": 1}, None])
    for given in (Avro(OLD), Json("id bigint")):
        values = writer_of(given, "value").encode(rows)
        column, bad = reader_of(given, "value").decode_known(values)
        assert (column.to_pylist(), bad) == ([{"id": 1}, None], [])
        assert column.type == reader_of(given, "value").type
    assert writer_of("short", "value").encode(pa.array([1, None])).to_pylist() == [b"\0\1", None]
    with pytest.raises(ValueError, match="70000"):
        writer_of("short", "value").encode(pa.array([70_000]))


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([{"id": 1, "zz": 2}], "the schema has no field for the column 'zz'; it has 'id', 'note'"),
        ([{"id": 1, "noet": "x"}], "no field for the column 'noet'; did you mean 'note'"),
        ([{"id": 1, "note": 77}], "the column 'note' is of the type int64, but the schema's is string"),
        ([{"id": "5"}], "the column 'id' is of the type string, but the schema's is int64"),
        ([{"id": 5.0}], "the column 'id' is of the type double, but the schema's is int64"),
        (pa.array([{"id": 1}, {"id": 2**63}, {"id": 3}], pa.struct([("id", pa.uint64())])), "Row 1: id is 9223372036"),
        ([1], "the values are of the type int64, but the schema's is struct"),
    ],
)
def test_only_values_that_fit_the_schema_are_written_as_json(rows: Any, text: str) -> None:
    with (
        ScriptedRegistry(Subjects(Schema(JSON_SCHEMA, "JSON"))) as server,
        SchemaRegistryClient({"url": server.url, **CONF}) as registry,
        pytest.raises(ValueError, match=re.escape(text)),
    ):
        registry.writer("orders-value").encode(pa.array(rows))


def test_schemas_that_are_clearly_not_avro() -> None:
    with (
        ScriptedRegistry(Subjects(Schema(JSON_SCHEMA, "JSON"))) as server,
        SchemaRegistryClient({"url": server.url, **CONF}) as registry,
    ):
        with pytest.raises(ValueError, match=r"give this one as Schema\(text, 'JSON'\)"):
            registry.writer("orders-value", JSON_SCHEMA)
        with pytest.raises(ValueError, match=r"give this one as Schema\(text, 'PROTOBUF'\)"):
            registry.reader(schema='syntax = "proto3"; message Order { int64 id = 1; }')
        with pytest.raises(TypeError, match=r"Schema\(text, 'AVRO'\)"):
            registry.register_schema("s", JSON_SCHEMA)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="Expected the schema as a Schema"):
            registry.lookup_schema("s", {})  # type: ignore[arg-type]


def test_a_writer_expects_the_type_of_values_rather_than_records() -> None:
    with (
        ScriptedRegistry(Subjects(Schema(json.dumps(OLD), "AVRO"))) as server,
        SchemaRegistryClient({"url": server.url, **CONF}) as registry,
    ):
        registry.writer("orders-value", pa.struct([("id", pa.int32())]))
        assert json.loads(server.requests[0].body["schema"])["fields"][0]["name"] == "id"
        records = pa.schema([(name, pa.int64()) for name in ("topic", "partition", "offset", "value")])
        with pytest.raises(ValueError, match=re.escape("schema.field('value').type")):
            registry.writer("orders-value", records)


PROTOBUF = 'syntax = "proto3"; message M { string note = 1; }'


@pytest.mark.parametrize("given", [Avro.of_columns(pa.schema([("note", pa.string())]), "M"), Protobuf(PROTOBUF)])
def test_invalid_text_is_not_written(given: Any) -> None:
    ends, data = pa.py_buffer(b"\0\0\0\0\1\0\0\0\3\0\0\0"), pa.py_buffer(b"a\xff\xfe")
    notes: Any = pa.Array.from_buffers(pa.string(), 2, [None, ends, data])
    rows: Any = pa.StructArray.from_arrays([notes], ["note"])
    writer: Any = writer_of(given, "value")
    assert len(writer.encode(rows.slice(0, 1))) == 1
    with pytest.raises(ValueError, match="UTF8 sequence at string index 1"):
        writer.encode(rows)
