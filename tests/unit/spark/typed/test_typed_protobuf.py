"""Protobuf values of the source, the sink and the functions, as in Spark's processes."""

from __future__ import annotations

import datetime
import pathlib
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from kafka.errors import KafkaConfigurationError
from kafka.formats import Protobuf
from kafka.formats.protobuf.descriptors import descriptor_proto
from kafka.formats.registry.schema_objects import Schema, SchemaReference
from kafka.spark import functions
from kafka.spark.typed.decoding import RecordDecodingError
from kafka.spark.typed.encoding import RowEncodingError

from .typed_frames import BrokerWithRegistry, CheckpointedStream, LoadedFrame, kafka, send, write

__all__ = ["kafka"]

pytestmark = pytest.mark.slow

ORDER = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "google/protobuf/duration.proto";
message Line { string sku = 1; uint32 count = 2; }
message Order {
  enum Kind { NORMAL = 0; GIFT = 1; }
  int64 id = 1;
  optional string note = 2;
  repeated Line lines = 3;
  Kind kind = 4;
  map<string, double> prices = 5;
  google.protobuf.Timestamp at = 6;
  google.protobuf.Duration took = 7;
  uint64 large = 8;
}
"""
ROW: dict[str, Any] = {
    "id": 7,
    "note": None,
    "lines": [{"sku": "a", "count": 2**32 - 1}],
    "kind": "GIFT",
    "prices": [("a", 1.5)],
    "at": datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.UTC),
    "took": datetime.timedelta(seconds=90),
    "large": 2**64 - 1,
}


def framed(number: int, message: str, value: dict[str, Any], schema: str = ORDER) -> bytes:
    position = {"Line": b"\0", "Order": b"\2\2"}[message]
    return b"\0" + number.to_bytes(4, "big") + position + Protobuf(schema, message).encode(value)


def options(kafka: BrokerWithRegistry, topic: str, **more: str) -> dict[str, str]:
    return kafka.options(topic, valueFormat="protobuf", valueMessage="shop.Order") | more


def register(kafka: BrokerWithRegistry, topic: str, schema: str = ORDER) -> int:
    return kafka.registry.register_schema(f"{topic}-value", Schema(schema, "PROTOBUF"))


def test_values_are_decoded_to_their_messages_fields(kafka: BrokerWithRegistry) -> None:
    topic = kafka.topic()
    number = register(kafka, topic)
    value = {**ROW, "prices": {"a": 1.5}}
    del value["note"]
    send(kafka.servers, topic, [framed(number, "Order", value), None])
    frame = LoadedFrame(**options(kafka, topic))
    assert frame.ddl.startswith(
        "value struct<`id`:bigint,`note`:string,`lines`:array<struct<`sku`:string,`count`:bigint>>,`kind`:string,"
        "`prices`:map<string,double>,`at`:timestamp,`took`:interval day to second,`large`:decimal(20,0)>"
    )
    assert [row["value"] for row in frame.rows()] == [ROW, None]


def test_bad_values_go_to_the_error_column_and_newer_schemas_are_read(kafka: BrokerWithRegistry) -> None:
    topic = kafka.topic()
    number = register(kafka, topic)
    frame = LoadedFrame(**options(kafka, topic, columns="value,value_error", valueErrors="column"))
    newer = ORDER.replace("uint64 large = 8;", "uint64 large = 8; string more = 9;")
    newest = register(kafka, topic, newer)
    values = [framed(newest, "Order", {"id": 1, "more": "x"}, newer), framed(number, "Line", {"sku": "a"}), b"plain"]
    send(kafka.servers, topic, values)
    rows = frame.rows()
    assert [row["value"] and row["value"]["id"] for row in rows] == [1, None, None]
    assert (
        f"schema id {number}: expected a message shop.Order, got the one at position [0]"
        in rows[1]["value_error"]["cause"]
    )
    assert rows[2]["value_error"]["bytes"] == b"plain"
    with pytest.raises(RecordDecodingError, match=f"topic {topic}, partition 0, offset 1 with schema id {number}"):
        LoadedFrame(**options(kafka, topic)).rows()


def test_a_message_is_found_by_name_in_the_writers_schema(kafka: BrokerWithRegistry) -> None:
    """Its position in the reader's schema may be that of another message."""
    topic = kafka.topic()
    number = register(kafka, topic)
    kafka.registry.set_compatibility(f"{topic}-value", "NONE")
    moved = ORDER.replace("message Line", "message First { string id = 1; } message Line", 1)
    newest = register(kafka, topic, moved)
    without = register(kafka, topic, 'syntax = "proto3"; package shop; message Line { string sku = 1; }')
    avro = kafka.registry.register_schema(f"{topic}-avro", Schema('"int"'))
    order = Protobuf(ORDER, "Order").encode({"id": 1})
    at = {1: b"\2\2", 2: b"\2\4"}  # one number, the index among the messages of the file, in zigzag encoding
    pairs = [(number, at[1]), (newest, at[2]), (newest, at[1]), (without, at[1]), (avro, at[1]), (999, at[1])]
    send(kafka.servers, topic, [b"\0" + each.to_bytes(4, "big") + place + order for each, place in pairs])
    frame = LoadedFrame(**options(kafka, topic, columns="value,value_error", valueErrors="column", valueVersion="1"))
    rows = frame.rows()
    assert [row["value"] and row["value"]["id"] for row in rows] == [1, 1, None, None, None, None]
    causes = [row["value_error"]["cause"] for row in rows[2:]]
    assert causes[0] == f"schema id {newest}: expected a message shop.Order, got the one at position [1] of its schema"
    assert causes[1] == f"schema id {without}: the schema has no message 'shop.Order'; it has Line"
    assert causes[2] == f"schema id {avro}: expected a schema of the type PROTOBUF, got AVRO"
    assert causes[3] == "schema id 999: the schema registry has no schema with this id"


def test_a_stream_keeps_its_schema(kafka: BrokerWithRegistry) -> None:
    topic, stream = kafka.topic(), CheckpointedStream()
    number = register(kafka, topic)
    send(kafka.servers, topic, [framed(number, "Order", {"id": 1})])
    assert [row["value"]["id"] for row in stream.run(**options(kafka, topic))] == [1]
    register(kafka, topic, ORDER.replace("uint64 large = 8;", "uint64 large = 8; string more = 9;"))
    with pytest.raises(KafkaConfigurationError, match="has read values with version 1"):
        stream.run(**options(kafka, topic))
    with pytest.raises(KafkaConfigurationError, match="schema of values"):
        stream.run(**options(kafka, topic, valueMessage="shop.Nothing"))
    assert stream.run(**options(kafka, topic, valueVersion="1")) == []


def test_imports_come_from_the_registry(kafka: BrokerWithRegistry) -> None:
    topic = kafka.topic()
    line = 'syntax = "proto3"; package shop; message Line { string sku = 1; }'
    order = 'syntax = "proto3"; package shop; import "line.proto"; message Order { Line line = 1; }'
    kafka.registry.register_schema(f"{topic}-line", Schema(line, "PROTOBUF"))
    schema = Schema(order, "PROTOBUF", [SchemaReference("line.proto", f"{topic}-line", 1)])
    number = kafka.registry.register_schema(f"{topic}-value", schema)
    rows = pa.table({"value": pa.array([{"line": {"sku": "a"}}])})
    sink = kafka.sink(topic, valueFormat="protobuf")
    write(rows, **sink)
    assert kafka.records(topic)[0][1] == b"\0" + number.to_bytes(4, "big") + b"\0" + b"\x0a\x03\x0a\x01a"
    assert [row["value"] for row in LoadedFrame(**options(kafka, topic)).rows()] == [{"line": {"sku": "a"}}]


def test_rows_are_written_as_a_registered_message(kafka: BrokerWithRegistry) -> None:
    topic = kafka.topic()
    type_ = pa.struct([("id", pa.int64()), ("took", pa.duration("us")), ("kind", pa.string())])
    row = {"id": 7, "took": datetime.timedelta(seconds=1), "kind": "GIFT"}
    sink = kafka.sink(topic, valueFormat="protobuf", valueSchema=ORDER, valueMessage="Order")
    write(pa.table({"value": pa.array([row, None], type_)}), **sink)
    number = kafka.registry.get_latest_version(f"{topic}-value").schema_id
    assert number is not None
    first, second = kafka.records(topic)
    value = {"id": 7, "took": datetime.timedelta(seconds=1), "kind": "GIFT"}
    assert (first[1], second[1]) == (framed(number, "Order", value), None)
    with pytest.raises(RowEncodingError, match=r"column 'value' cannot be written as protobuf: .*kind"):
        write(pa.table({"value": pa.array([{**row, "kind": "NOTHING"}], type_)}), **sink)


def test_values_are_bare_messages_without_a_registry(kafka: BrokerWithRegistry, tmp_path: pathlib.Path) -> None:
    topic = kafka.topic()
    file = Protobuf(ORDER, "Order").descriptor.file
    files = [descriptor_proto(each) for each in (*file.dependencies, file)]
    path = tmp_path / "order.desc"
    path.write_bytes(FileDescriptorSet(file=files).SerializeToString())
    given = {"kafka.bootstrap.servers": kafka.servers, "valueFormat": "protobuf", "valueMessage": "Order"}
    given |= {"valueSchemaFile": str(path)}
    write(pa.table({"value": pa.array([{"id": 7}])}), **given, topic=topic)
    assert kafka.records(topic) == [(None, b"\x08\x07")]
    (row,) = LoadedFrame(**given, subscribe=topic, columns="value").rows()
    assert row["value"]["id"] == 7


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"valueFormat": "protobuf"}, "needs valueSchema, valueSchemaFile or schemaRegistryUrl"),
        ({"valueFormat": "avro", "valueMessage": "Order"}, "'valueMessage' does not apply to the format avro"),
        ({"valueMessage": "Order"}, "option 'valueMessage' requires 'valueFormat'"),
        (
            {"valueFormat": "protobuf", "valueSchema": "message"},
            "cannot read the schema of values (given as an option)",
        ),
        ({"valueFormat": "protobuf", "valueSchema": ORDER, "valueMessage": "No"}, "has no message 'No'"),
    ],
)
def test_invalid_options_are_rejected_by_name(more: dict[str, str], text: str) -> None:
    with pytest.raises(KafkaConfigurationError) as raised:
        LoadedFrame(**{"kafka.bootstrap.servers": "h:1", "subscribe": "t", **more})
    assert text in str(raised.value)


def test_a_write_without_a_schema_is_rejected() -> None:
    with pytest.raises(KafkaConfigurationError, match="protobuf needs valueSchema"):
        write(
            pa.table({"value": pa.array([{"id": 7}])}),
            **{"kafka.bootstrap.servers": "h:1", "topic": "t", "valueFormat": "protobuf"},
        )


def test_functions_report_missing_arguments() -> None:
    with pytest.raises(KafkaConfigurationError, match="from_protobuf requires a schema, or registry and subject"):
        functions.from_protobuf("value")
    with pytest.raises(KafkaConfigurationError, match="to_protobuf requires a subject"):
        functions.to_protobuf("value", ORDER, registry={"url": "http://h:1"})
    with pytest.raises(KafkaConfigurationError, match="has no message 'No'"):
        functions.from_protobuf("value", ORDER, "No")
