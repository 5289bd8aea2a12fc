"""Typed keys and values of the source and the sink, as in Spark's processes."""

from __future__ import annotations

import datetime
import decimal
import json
import os
import pickle
import signal
import struct
import time
from typing import Any

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.sql.pandas.types import from_arrow_schema

from kafka.errors import KafkaConfigurationError
from kafka.formats import Avro
from kafka.formats.registry.errors import SchemaRegistryConnectionError, SchemaRegistryError
from kafka.formats.registry.registry_clients import SchemaRegistryClient
from kafka.formats.registry.schema_objects import Schema, SchemaReference
from kafka.spark.options.parsing import parse_read
from kafka.spark.typed import registry as registries
from kafka.spark.typed.decoding import RecordDecodingError
from kafka.spark.typed.encoding import RowEncodingError
from kafka.spark.typed.spark_types import as_spark
from pyspark_kafka_columnar import DefaultSource

from .typed_frames import BrokerWithRegistry, CheckpointedStream, LoadedFrame, kafka, lowered, send, write

__all__ = ["kafka"]

pytestmark = pytest.mark.slow

ORDER = '{"type":"record","name":"Order","fields":[{"name":"id","type":"string"},{"name":"amount","type":"int"}]}'
WIDER = ORDER.replace('"int"}]', '"long"},{"name":"note","type":["null","string"],"default":null}]')
MORE = ORDER.replace('"int"}]', '"int"},{"name":"note","type":"string","default":""}]')


def test_a_frame_has_the_columns_of_the_subject_s_latest_schema(kafka: BrokerWithRegistry) -> None:
    topic = kafka.topic()
    kafka.send(topic, ORDER, {"id": "a", "amount": 1})
    kafka.send(topic, WIDER, {"id": "b", "amount": 2**40, "note": "new"})
    frame = LoadedFrame(**kafka.options(topic))
    assert frame.ddl == "value struct<`id`:string,`amount`:bigint,`note`:string>, offset bigint"
    assert [row["value"] for row in frame.rows()] == [
        {"id": "a", "amount": 1, "note": None},
        {"id": "b", "amount": 2**40, "note": "new"},
    ]


def test_a_frame_keeps_its_columns_when_newer_schemas_appear(kafka: BrokerWithRegistry) -> None:
    topic = kafka.topic()
    kafka.send(topic, ORDER, {"id": "a", "amount": 1})
    frame = LoadedFrame(**kafka.options(topic))
    kafka.send(topic, MORE, {"id": "b", "amount": 2, "note": "new"})
    assert "note" not in frame.ddl
    assert [row["value"] for row in frame.rows()] == [{"id": "a", "amount": 1}, {"id": "b", "amount": 2}]


def test_an_incompatible_schema_makes_a_bad_record_with_the_reason(kafka: BrokerWithRegistry) -> None:
    topic = kafka.topic()
    kafka.send(topic, ORDER, {"id": "a", "amount": 1})
    frame = LoadedFrame(**kafka.options(topic))
    number = kafka.send(topic, WIDER, {"id": "b", "amount": 2, "note": "new"})
    with pytest.raises(RecordDecodingError) as raised:
        frame.rows()
    assert f"with schema id {number} cannot be read as avro: At amount: the writer's long" in str(raised.value)


def test_columns_have_spark_s_types(kafka: BrokerWithRegistry) -> None:
    topic = kafka.topic()
    inner = {"type": "record", "name": "In", "fields": [{"name": "x", "type": "boolean"}]}
    fields: list[dict[str, Any]] = [
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "time", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 8, "scale": 2}},
        {"name": "tags", "type": {"type": "array", "items": ["null", "string"]}},
        {"name": "sizes", "type": {"type": "map", "values": {"type": "array", "items": "float"}}},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 2}},
        {"name": "inner", "type": ["null", inner]},
    ]
    row = {
        "at": datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.UTC),
        "day": datetime.date(2026, 1, 31),
        "time": datetime.time(0, 0, 1),
        "price": decimal.Decimal("12.50"),
        "tags": ["a", None],
        "sizes": {"s": [1.5]},
        "kind": "B",
        "hash": b"\1\2",
        "inner": {"x": True},
    }
    kafka.send(topic, json.dumps({"type": "record", "name": "All", "fields": fields}), row, {**row, "inner": None})
    frame = LoadedFrame(**kafka.options(topic))
    assert frame.ddl.startswith(
        "value struct<`at`:timestamp,`day`:date,`time`:int,`price`:decimal(8,2),`tags`:array<string>,"
        "`sizes`:map<string,array<float>>,`kind`:string,`hash`:binary,`inner`:struct<`x`:boolean>>"
    )
    first, second = (each["value"] for each in frame.rows())
    assert first == {**row, "time": 1_000, "sizes": [("s", [1.5])]}
    assert second["inner"] is None


def test_an_unsupported_field_type_is_rejected_when_the_frame_is_created(kafka: BrokerWithRegistry) -> None:
    length = '{"type":"fixed","name":"L","size":12,"logicalType":"duration"}'
    duration = f'{{"type":"record","name":"D","fields":[{{"name":"d","type":{length}}}]}}'
    with pytest.raises(KafkaConfigurationError, match=r"Spark has no type for .* at d"):
        LoadedFrame(**kafka.options("any", valueSchema=duration))
    recursive = '{"type":"record","name":"R","fields":[{"name":"r","type":["null","R"]}]}'
    with pytest.raises(KafkaConfigurationError, match="contains itself at r"):
        LoadedFrame(**kafka.options("any", valueSchema=recursive))


def test_a_wrong_subject_is_reported_when_the_frame_is_created(kafka: BrokerWithRegistry) -> None:
    with pytest.raises(SchemaRegistryError, match="no-such-subject"):
        LoadedFrame(**kafka.options("any", valueSubject="no-such-subject"))
    with pytest.raises(
        KafkaConfigurationError, match="'valueSubject' is required because the read is not of a single topic"
    ):
        LoadedFrame(**kafka.options("any,other"))


def bad_records(kafka: BrokerWithRegistry) -> tuple[str, int]:
    """Create a topic with a good record, three bad ones, null and a good one; return it with the id of its schema."""
    topic = kafka.topic()
    number = kafka.send(topic, ORDER, {"id": "a", "amount": 1})
    prefix = b"\0" + number.to_bytes(4, "big")
    send(kafka.servers, topic, [prefix + b"\x08ab", b"plain text", b"\0\0\0\xff\xff" + b"\x02a\x02", None])
    kafka.send(topic, ORDER, {"id": "b", "amount": 2})
    return topic, number


def test_a_bad_record_ends_the_read_and_is_named(kafka: BrokerWithRegistry) -> None:
    topic, number = bad_records(kafka)
    with pytest.raises(RecordDecodingError) as raised:
        LoadedFrame(**kafka.options(topic)).rows()
    text = str(raised.value)
    assert f"the value of the record at topic {topic}, partition 0, offset 1 with schema id {number}" in text
    assert "id" in text.partition("cannot be read as avro: ")[2]
    assert "valueErrors" in text


def test_bad_records_are_null_on_request_with_a_warning(
    kafka: BrokerWithRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    topic, _ = bad_records(kafka)
    rows = LoadedFrame(**kafka.options(topic, valueErrors="null")).rows()
    assert [row["value"] for row in rows] == [
        {"id": "a", "amount": 1},
        None,
        None,
        None,
        None,
        {"id": "b", "amount": 2},
    ]
    warned = [each for each in caplog.messages if "it is read as null (valueErrors=null)" in each]
    assert len(warned) == 1
    assert f"topic {topic}, partition 0, offset 1" in warned[0]


def test_bad_records_go_to_an_error_column_on_request(kafka: BrokerWithRegistry) -> None:
    topic, number = bad_records(kafka)
    options = kafka.options(topic, valueErrors="column", columns="value,value_error")
    rows = LoadedFrame(**options).rows()
    errors = [row["value_error"] for row in rows]
    assert [each is None for each in errors] == [True, False, False, False, True, True]
    assert errors[1]["bytes"] == b"\0" + number.to_bytes(4, "big") + b"\x08ab"
    assert errors[1]["cause"].startswith(f"schema id {number}: ")
    assert "expected a zero byte" in errors[2]["cause"]
    assert "schema id 65535: the schema registry has no schema with this id" in errors[3]["cause"]
    assert [row["value"] for row in rows if row["value"]] == [{"id": "a", "amount": 1}, {"id": "b", "amount": 2}]
    alone = LoadedFrame(**{**options, "columns": "value_error,partition"}).rows()
    assert [row["value_error"] for row in alone] == errors
    assert "value_error" in LoadedFrame(**{name: text for name, text in options.items() if name != "columns"}).ddl


def test_ids_are_looked_up_in_the_context_of_the_subject(kafka: BrokerWithRegistry) -> None:
    """In the default context, the same ids belong to other schemas."""
    topic = kafka.topic()
    other = f'{{"type":"record","name":"Other","doc":"{topic}","fields":[{{"name":"x","type":"double"}}]}}'
    number = kafka.registry.register_schema(f"{topic}-value", Schema(other))
    subject = f":.{topic}:{topic}-value"
    for each in range(1, number):
        filler = Schema(f'{{"type":"fixed","name":"Filler","size":{each}}}')
        kafka.registry.register_schema(f"{subject}-{each}", filler)
    assert kafka.registry.register_schema(subject, Schema(ORDER)) == number
    value = {"id": "a", "amount": 1}
    send(kafka.servers, topic, [Avro(ORDER).encode(value, b"\0" + number.to_bytes(4, "big"))])
    assert [row["value"] for row in LoadedFrame(**kafka.options(topic, valueSubject=subject)).rows()] == [value]


def test_a_time_that_spark_cannot_represent_is_a_bad_record(kafka: BrokerWithRegistry) -> None:
    topic = kafka.topic()
    long = '{"type":"long","logicalType":"timestamp-millis"}'
    schema = f'{{"type":"record","name":"T","fields":[{{"name":"at","type":{long}}}]}}'
    number = kafka.registry.register_schema(f"{topic}-value", Schema(schema))
    plain = Avro(schema.replace(long, '"long"'))
    prefix = b"\0" + number.to_bytes(4, "big")
    send(kafka.servers, topic, [plain.encode({"at": each}, prefix) for each in (1, 2**62, 2)])
    rows = LoadedFrame(**kafka.options(topic, valueErrors="column", columns="value,value_error")).rows()
    assert [row["value"] and row["value"]["at"].microsecond for row in rows] == [1_000, None, 2_000]
    assert "Spark cannot represent it" in rows[1]["value_error"]["cause"]


def test_a_stream_reads_newer_schemas_with_the_one_it_was_planned_with(kafka: BrokerWithRegistry) -> None:
    topic, stream = kafka.topic(), CheckpointedStream()
    kafka.send(topic, ORDER, {"id": "a", "amount": 1})
    options = kafka.options(topic, valueVersion="1")
    assert [row["value"] for row in stream.run(**options)] == [{"id": "a", "amount": 1}]
    kafka.send(topic, MORE, {"id": "b", "amount": 2, "note": "new"})
    assert [row["value"] for row in stream.run(**options)] == [{"id": "b", "amount": 2}]
    assert stream.run(**options) == []


def test_a_stream_changes_its_columns_only_on_request(kafka: BrokerWithRegistry) -> None:
    topic, stream = kafka.topic(), CheckpointedStream()
    kafka.send(topic, ORDER, {"id": "a", "amount": 1})
    options = kafka.options(topic)
    stream.run(**options)
    kafka.send(topic, WIDER, {"id": "b", "amount": 2, "note": "new"})
    with pytest.raises(KafkaConfigurationError) as raised:
        stream.run(**options)
    assert f"has read values with version 1 of subject '{topic}-value'" in str(raised.value)
    assert f"now planned with version 2 of subject '{topic}-value'" in str(raised.value)
    assert "set valueVersion" in str(raised.value)
    rows = stream.run(**options, valueVersion="2")
    assert [row["value"] for row in rows] == [{"id": "b", "amount": 2, "note": "new"}]
    assert stream.run(**options) == []
    kafka.send(topic, WIDER, {"id": "c", "amount": 3, "note": None})
    assert len(stream.run(**options)) == 1


def test_known_ids_are_decoded_while_the_registry_is_down(
    kafka: BrokerWithRegistry, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    topic = kafka.topic()
    kafka.send(topic, ORDER, {"id": "a", "amount": 1})
    options = kafka.options(topic, valueVersion="1", valueErrors="null", schemaRegistryWait="10s")
    frame = LoadedFrame(**options)
    assert len(frame.rows()) == 1
    kafka.send(topic, ORDER, {"id": "b", "amount": 2})
    answers: list[str] = []
    answer = SchemaRegistryClient._send

    def down(self: Any, method: str, path: str, *rest: Any) -> Any:
        answers.append(path)
        raise SchemaRegistryConnectionError(0, -1, "connection refused", f"GET {path}")

    def come_back(seconds: float) -> None:
        monkeypatch.setattr(SchemaRegistryClient, "_send", answer)

    monkeypatch.setitem(registries.wait_for_registry.__kwdefaults__, "sleep", come_back)
    monkeypatch.setattr(SchemaRegistryClient, "_send", down)
    assert len(frame.rows()) == 2
    assert answers == []
    monkeypatch.setattr(SchemaRegistryClient, "_send", answer)
    kafka.send(topic, MORE.replace("note", "unheard_of"), {"id": "c", "amount": 3, "unheard_of": "new"})
    monkeypatch.setattr(SchemaRegistryClient, "_send", down)
    assert frame.rows()[-1]["value"] == {"id": "c", "amount": 3}
    assert len(answers) == 1
    assert any("the schema registry does not answer; retrying for" in each for each in caplog.messages)


def test_waiting_for_a_registry_is_limited_by_the_option() -> None:
    now = [0.0]

    def ask() -> None:
        raise SchemaRegistryConnectionError(0, -1, "connection refused")

    def sleep(seconds: float) -> None:
        now[0] += seconds

    with pytest.raises(SchemaRegistryConnectionError) as raised:
        registries.wait_for_registry(ask, 12_000, "asking", clock=lambda: now[0], sleep=sleep)
    assert now[0] == 12.0
    assert raised.value.__notes__ == ["while asking, after 12000 ms (option schemaRegistryWait)"]


def test_no_secret_of_a_registry_is_shown(kafka: BrokerWithRegistry) -> None:
    secret = {"schemaRegistryUser": "me", "schemaRegistryPassword": "s3cret", "schemaRegistry.timeout": "3"}
    options = lowered(kafka.options("t", **secret))
    read = parse_read(options, streaming=False)
    assert dict(read.typed.registry)["basic.auth.user.info"] == "me:s3cret"
    assert dict(read.typed.registry)["timeout"] == 3
    assert "s3cret" not in repr(read)
    wrong = {"schemaregistrytoken": "s3cret"}
    with pytest.raises(KafkaConfigurationError) as raised:
        parse_read({**options, **wrong}, streaming=False)
    assert "s3cret" not in str(raised.value)
    with pytest.raises(KafkaConfigurationError, match="use schemaRegistryUser and schemaRegistryPassword") as raised:
        parse_read({**options, "schemaregistry.basic.auth.user.info": "me:s3cret"}, streaming=False)
    assert "s3cret" not in str(raised.value)


def test_json_values_and_plain_keys(kafka: BrokerWithRegistry) -> None:
    topic = kafka.topic()
    send(kafka.servers, topic, [b'{"id": 1, "tags": ["a"]}', b'{"id": "1"}', b"null"])
    options = {"kafka.bootstrap.servers": kafka.servers, "subscribe": topic, "valueFormat": "json", "keyFormat": "long"}
    options |= {"valueSchema": "id bigint, tags array<string>", "valueErrors": "column"}
    frame = LoadedFrame(**options)
    assert frame.ddl.startswith("key bigint, value struct<`id`:bigint,`tags`:array<string>>, topic string")
    rows = frame.rows()
    assert rows[0]["value"] == {"id": 1, "tags": ["a"]}
    assert [row["value_error"] is None for row in rows] == [True, False, False]
    assert rows[0]["key"] is None


def test_json_schema_values_of_a_registry(kafka: BrokerWithRegistry) -> None:
    topic = kafka.topic()
    schema = '{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"}},"required":["id"]}'
    options = kafka.options(topic, valueFormat="json-schema", valueSchema=schema)
    send(kafka.servers, topic, [b"\0\0\0\0\x07" + b'{"id": 1, "name": "a"}'])
    assert [row["value"] for row in LoadedFrame(**options).rows()] == [{"id": 1, "name": "a"}]


VALUES = pa.table(
    {
        "key": ["k1", "k2"],
        "value": pa.array([{"id": "a", "amount": 1}, None], pa.struct([("id", pa.string()), ("amount", pa.int32())])),
    }
)


def test_a_struct_is_written_with_a_derived_registered_schema(kafka: BrokerWithRegistry) -> None:
    topic = kafka.topic()
    write(VALUES, **kafka.sink(topic))
    registered = kafka.registry.get_latest_version(f"{topic}-value")
    assert json.loads(registered.schema.schema_str or "")["name"] == f"{topic}_value".replace("-", "_")
    records = kafka.records(topic)
    assert [key for key, _ in records] == [b"k1", b"k2"]
    assert records[0][1] is not None
    assert records[0][1][:5] == b"\0" + struct.pack(">I", registered.schema_id)
    assert records[1][1] is None
    assert [row["value"] for row in LoadedFrame(**kafka.options(topic)).rows()] == [{"id": "a", "amount": 1}, None]


def test_a_schema_is_only_looked_up_with_auto_register_off(kafka: BrokerWithRegistry) -> None:
    topic = kafka.topic()
    with pytest.raises(SchemaRegistryError, match=f"{topic}-value"):
        write(VALUES, **kafka.sink(topic, autoRegister="false", valueSchema=ORDER))
    assert f"{topic}-value" not in kafka.registry.get_subjects()
    number = kafka.registry.register_schema(f"{topic}-value", Schema(ORDER))
    write(VALUES, **kafka.sink(topic, autoRegister="false"))
    value = kafka.records(topic)[0][1]
    assert value == Avro(ORDER).encode({"id": "a", "amount": 1}, b"\0" + number.to_bytes(4, "big"))


def test_a_row_that_does_not_fit_the_schema_ends_the_write(kafka: BrokerWithRegistry) -> None:
    topic = kafka.topic()
    rows = pa.table({"value": pa.array([{"id": None, "amount": 1}], VALUES.schema.field("value").type)})
    with pytest.raises(RowEncodingError, match=r"column 'value' cannot be written as avro: .*id"):
        write(rows, **kafka.sink(topic, valueSchema=ORDER))


def test_numbers_texts_and_json_are_written(kafka: BrokerWithRegistry) -> None:
    topic = kafka.topic()
    rows = pa.table({"key": pa.array([1, 2, None], pa.int64()), "value": pa.array([{"a": 1.5}, {"a": None}, None])})
    servers = {"kafka.bootstrap.servers": kafka.servers}
    write(rows, **servers, topic=topic, keyFormat="long", valueFormat="json")
    assert kafka.records(topic) == [
        (struct.pack(">q", 1), b'{"a":1.5}'),
        (struct.pack(">q", 2), b'{"a":null}'),
        (None, None),
    ]
    options = {**servers, "subscribe": topic, "keyFormat": "long", "columns": "key"}
    assert [row["key"] for row in LoadedFrame(**options).rows()] == [1, 2, None]
    with pytest.raises(KafkaConfigurationError, match="column 'key' must be tinyint or smallint or int to be written"):
        write(rows, **servers, topic=topic, keyFormat="int")


def test_json_schema_values_contain_the_required_fields(kafka: BrokerWithRegistry) -> None:
    topic = kafka.topic()
    schema = '{"type":"object","properties":{"id":{"type":"string"},"amount":{"type":"integer"}},"required":["id"]}'
    options = {"kafka.bootstrap.servers": kafka.servers, "topic": topic, "valueFormat": "json-schema"}
    options |= {"valueSchema": schema}
    write(VALUES.slice(0, 1), **options)
    assert kafka.records(topic)[0][1] == b'{"id":"a","amount":1}'
    lacking = pa.table({"value": pa.array([{"amount": 1}])})
    with pytest.raises(RowEncodingError, match="id is required by the schema, but there is no such column"):
        write(lacking, **options)
    null = pa.table({"value": pa.array([{"id": None, "amount": 1}], VALUES.schema.field("value").type)})
    with pytest.raises(RowEncodingError, match="Row 0: id is null, but the schema requires it"):
        write(null, **options)
    other = pa.table({"value": pa.array([{"id": "a", "amount": "1", "more": 1}])})
    with pytest.raises(RowEncodingError, match="'amount' is of the type string, but the schema's is int64"):
        write(other, **options)
    write(pa.table({"value": pa.array([{"id": "a", "more": 1}])}), **options)
    assert kafka.records(topic)[1][1] == b'{"id":"a","more":1}'


def test_the_schema_of_a_write_is_found_once_and_sent_to_tasks(
    kafka: BrokerWithRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = kafka.topic()
    source = DefaultSource(lowered(kafka.sink(topic)))
    writer: Any = source.writer(from_arrow_schema(VALUES.schema), False)
    assert kafka.registry.get_versions(f"{topic}-value") == [1]
    monkeypatch.setattr(SchemaRegistryClient, "_send", None)
    first = cloudpickle.dumps(writer)
    assert pickle.loads(cloudpickle.dumps(writer))._writer._schemas == pickle.loads(first)._writer._schemas


def test_a_stream_writer_that_only_commits_queries_no_registry(kafka: BrokerWithRegistry) -> None:
    topic = kafka.topic()
    source = DefaultSource(lowered({**kafka.sink(topic), "checkpointLocation": "/tmp/unused"}))
    writer: Any = source.streamWriter(from_arrow_schema(VALUES.schema), False)
    writer.commit([], 0)
    assert f"{topic}-value" not in kafka.registry.get_subjects()
    sent = pickle.loads(cloudpickle.dumps(writer))
    assert kafka.registry.get_versions(f"{topic}-value") == [1]
    assert [each.field for each in sent._writer._schemas] == ["value"]


def test_shared_references_are_resolved_once(kafka: BrokerWithRegistry) -> None:
    """With two references per level, there are a trillion paths through forty levels."""
    topic, levels = kafka.topic(), 40
    for level in range(levels):
        below = [{"name": name, "type": f"R{level - 1}"} for name in "ab"] if level else []
        fields = [{"name": "x", "type": "long", "default": level}]
        text = json.dumps({"type": "record", "name": f"R{level}", "fields": fields})
        references = [SchemaReference(each["type"], f"{topic}-{each['type']}", 1) for each in below]
        kafka.registry.register_schema(f"{topic}-R{level}", Schema(text, "AVRO", references))
    top = '{"type":"record","name":"Top","fields":[{"name":"id","type":"long"},{"name":"r","type":["null","R39"]}]}'
    above = Schema(top, "AVRO", [SchemaReference("R39", f"{topic}-R39", 1), SchemaReference("R38", f"{topic}-R38", 1)])
    number = kafka.registry.register_schema(f"{topic}-value", above)
    r39 = {"type": "record", "name": "R39", "fields": [{"name": "x", "type": "long"}]}
    plain = Avro(json.loads(top.replace('"R39"', json.dumps(r39))))
    send(kafka.servers, topic, [plain.encode({"id": 1, "r": {"x": 7}}, b"\0" + number.to_bytes(4, "big"))])
    assert [row["value"] for row in LoadedFrame(**kafka.options(topic)).rows()] == [{"id": 1, "r": {"x": 7}}]


def test_a_process_forked_during_a_client_lookup_creates_its_own(kafka: BrokerWithRegistry) -> None:
    conf = (("url", kafka.url),)
    client = registries.client_of(conf)
    with registries._CLIENTS._lock:
        child = os.fork()
        if not child:
            try:
                os._exit(0 if registries.client_of(conf) is not client else 1)
            finally:
                os._exit(2)
    deadline = time.monotonic() + 30
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.01)
    assert os.waitstatus_to_exitcode(ended[1]) == 0
    assert registries.client_of(conf) is client


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"valueErrors": "null"}, "option 'valueErrors' requires 'valueFormat'"),
        ({"valueFormat": "xml"}, "option 'valueFormat' expects one of avro, json"),
        ({"valueFormat": "json"}, "needs valueSchema, valueSchemaFile to define the columns"),
        ({"valueFormat": "avro"}, "needs valueSchema, valueSchemaFile or schemaRegistryUrl"),
        ({"valueFormat": "long", "valueSchema": "a int"}, "'valueSchema' does not apply to the format long"),
        ({"valueFormat": "avro", "valueSubject": "s"}, "'valueSubject' requires 'schemaRegistryUrl'"),
        ({"valueFormat": "string", "schemaRegistryUrl": "http://h:1"}, "'schemaRegistryUrl' needs 'valueFormat'"),
        ({"schemaRegistryUser": "u"}, "'schemaRegistryUser' requires 'schemaRegistryUrl'"),
        ({"valueFormat": "avro", "valueSchema": "{}", "valueSchemaFile": "f"}, "are mutually exclusive"),
        (
            {"valueFormat": "avro", "valueSchemaFile": "/no/such/file"},
            "cannot read the file where the query is planned",
        ),
        ({"autoRegister": "false"}, "'autoRegister' cannot be used for a read"),
        ({"valueFormats": "avro"}, "did you mean 'valueFormat'"),
    ],
)
def test_invalid_options_are_rejected_by_name(options: dict[str, str], text: str) -> None:
    with pytest.raises(KafkaConfigurationError) as raised:
        LoadedFrame(**{"kafka.bootstrap.servers": "h:1", "subscribe": "t", **options})
    assert text in str(raised.value)


def test_a_slice_of_nested_columns_is_converted_alone() -> None:
    def nested(zone: str | None) -> pa.DataType:
        time = pa.timestamp("us", zone)
        return pa.struct([("time", time), ("list", pa.list_(time)), ("map", pa.map_(pa.string(), time))])

    rows = [{"time": n, "list": [n, n + 1], "map": [("a", n)]} for n in range(4)] + [None]
    column = pa.array(rows, nested(None))
    for piece in (column.slice(1, 2), column.slice(3)):
        expected = pa.array(piece.to_pylist(), nested("UTC"))
        assert as_spark(piece, nested("UTC")).equals(expected)
