"""The option originalBytes: undecoded bytes beside typed columns on a read, and instead of them on a write."""

from __future__ import annotations

import struct
from typing import Any

import pyarrow as pa
import pytest

from kafka.errors import KafkaConfigurationError
from kafka.formats import Avro
from kafka.spark.default_source import column_types
from kafka.spark.options.field_options import FieldOptions, TypedOptions
from kafka.spark.options.parsing import parse_write, requested_columns
from kafka.spark.options.row_schema import check_sink_schema
from kafka.spark.typed.decoding import TypedRead
from kafka.spark.typed.encoding import RowEncodingError, encoded
from kafka.spark.typed.reader_schema import ReaderSchema
from kafka.spark.typed.writer_schema import WriterSchema

from .typed_frames import BrokerWithRegistry, CheckpointedStream, LoadedFrame, kafka, lowered, send, write

__all__ = ["kafka"]

pytestmark = pytest.mark.slow

ORDER = '{"type":"record","name":"Order","fields":[{"name":"id","type":"string"},{"name":"amount","type":"int"}]}'
JSON_ORDER = (
    '{"type":"object","properties":{"id":{"type":"string"},"amount":{"type":"integer"}},"required":["id","amount"]}'
)
PROTO_ORDER = 'syntax = "proto3"; message Order { string id = 1; int32 amount = 2; }'
COLUMNS = "id string, amount int"
ROW = pa.struct([("id", pa.string()), ("amount", pa.int32())])
GOOD, BAD = b'{"id":"a","amount":1}', b"not JSON"


def rows_of(values: list[Any], originals: list[bytes | None], type_: Any = ROW, **more: Any) -> pa.RecordBatch:
    columns = {"value": pa.array(values, type_), "value_bytes": pa.array(originals, pa.binary()), **more}
    return pa.RecordBatch.from_pydict(columns)


def written(batch: pa.RecordBatch, *schemas: WriterSchema) -> list[bytes | None]:
    (made,) = encoded(iter([batch]), schemas, original_bytes=True)
    return made.column("value").to_pylist()


def json_options(kafka: BrokerWithRegistry, **more: str) -> dict[str, str]:
    given = {"kafka.bootstrap.servers": kafka.servers, "valueFormat": "json", "originalBytes": "true"}
    return {**given, **more}


def test_a_read_has_the_bytes_of_good_bad_and_null_records(kafka: BrokerWithRegistry) -> None:
    topic = kafka.topic()
    send(kafka.servers, topic, [GOOD, BAD, None])
    options = json_options(kafka, subscribe=topic, valueSchema=COLUMNS, valueErrors="column", keyFormat="string")
    frame = LoadedFrame(**options)
    assert frame.ddl.endswith("value_error struct<cause:string,bytes:binary>, key_bytes binary, value_bytes binary"), (
        frame.ddl
    )
    rows = frame.rows()
    assert [row["value_bytes"] for row in rows] == [GOOD, BAD, None]
    assert [row["key_bytes"] for row in rows] == [None, None, b"k"]
    assert [row["key"] for row in rows] == [None, None, "k"]
    assert [row["value"] for row in rows] == [{"id": "a", "amount": 1}, None, None]
    assert [row["value_error"] is None for row in rows] == [True, False, True]


def test_the_columns_of_bytes_can_be_selected_and_need_no_decoding(kafka: BrokerWithRegistry) -> None:
    topic = kafka.topic()
    send(kafka.servers, topic, [GOOD, BAD])
    options = json_options(kafka, subscribe=topic, valueSchema=COLUMNS)
    alone = LoadedFrame(**options, columns="value_bytes,offset")
    assert alone.ddl == "value_bytes binary, offset bigint"
    assert alone.rows() == [{"value_bytes": GOOD, "offset": 0}, {"value_bytes": BAD, "offset": 1}]
    rows = LoadedFrame(**{**options, "valueErrors": "null"}, columns="value_bytes,value").rows()
    assert [row["value_bytes"] for row in rows] == [GOOD, BAD]


def test_bytes_of_a_registry_s_values_include_the_schema_id(kafka: BrokerWithRegistry) -> None:
    topic = kafka.topic()
    number = kafka.send(topic, ORDER, {"id": "a", "amount": 1})
    options = kafka.options(topic, originalBytes="true", columns="value,value_bytes")
    expected = Avro(ORDER).encode({"id": "a", "amount": 1}, b"\0" + struct.pack(">I", number))
    assert LoadedFrame(**options).rows() == [{"value": {"id": "a", "amount": 1}, "value_bytes": expected}]


def test_a_stream_has_the_bytes(kafka: BrokerWithRegistry) -> None:
    topic, stream = kafka.topic(), CheckpointedStream()
    options = json_options(kafka, subscribe=topic, valueSchema=COLUMNS, valueErrors="null", columns="value_bytes")
    options["startingOffsets"] = "earliest"
    send(kafka.servers, topic, [GOOD])
    assert stream.run(**options) == [{"value_bytes": GOOD}]
    send(kafka.servers, topic, [BAD, None])
    assert stream.run(**options) == [{"value_bytes": BAD}, {"value_bytes": None}]


def test_the_bytes_are_not_copied() -> None:
    options = FieldOptions("value", "json", schema=COLUMNS, errors="null")
    read = TypedRead(TypedOptions((options,), original_bytes=True), (ReaderSchema("value", "json", ""),))
    values = pa.array([GOOD, None], pa.binary())
    (batch,) = read.decoder(["value_bytes"]).batches(iter([pa.RecordBatch.from_arrays([values], ["value"])]))
    made = [each and each.address for each in batch.column("value_bytes").buffers()]
    assert made == [each and each.address for each in values.buffers()]


def test_a_user_schema_may_name_the_columns_of_bytes() -> None:
    base = {"kafka.bootstrap.servers": "h:1", "subscribe": "t", "valueFormat": "string"}
    typed = TypedOptions((FieldOptions("value", "string"),), original_bytes=True)
    types = column_types(TypedRead(typed, (ReaderSchema("value", "string", ""),)))
    fields = [("value_bytes", "binary", True), ("value", "string", True)]
    given = lowered({**base, "originalBytes": "true"})
    assert requested_columns(given, fields, types) == ("value_bytes", "value")
    without = column_types(TypedRead(TypedOptions(typed.fields), (ReaderSchema("value", "string", ""),)))
    with pytest.raises(KafkaConfigurationError, match="the schema names 'value_bytes', which is not a column"):
        requested_columns(lowered(base), fields, without)
    with pytest.raises(KafkaConfigurationError, match="names 'key_bytes', which is not a column"):
        LoadedFrame(**base, originalBytes="true", columns="key_bytes")


def test_the_option_requires_a_format() -> None:
    sentence = "option 'originalBytes' requires 'valueFormat' or 'keyFormat'"
    with pytest.raises(KafkaConfigurationError, match=sentence):
        LoadedFrame(**{"kafka.bootstrap.servers": "h:1", "subscribe": "t", "originalBytes": "true"})
    with pytest.raises(KafkaConfigurationError, match=sentence):
        parse_write(lowered({"kafka.bootstrap.servers": "h:1", "originalBytes": "true"}))


SCHEMAS = [
    WriterSchema("value", "json"),
    WriterSchema("value", "json-schema", JSON_ORDER, schema_id=7),
    WriterSchema("value", "avro", ORDER),
    WriterSchema("value", "avro", ORDER, schema_id=7),
    WriterSchema("value", "avro", f'["null",{ORDER}]'),
    WriterSchema("value", "protobuf", PROTO_ORDER),
    WriterSchema("value", "protobuf", PROTO_ORDER, schema_id=7),
]


@pytest.fixture(params=SCHEMAS, ids=lambda each: f"{each.format}-{each.schema_id}-{each.text[:1]}")
def schema(request: pytest.FixtureRequest) -> WriterSchema:
    made: WriterSchema = request.param
    return made


def test_bytes_replace_values_of_every_format(schema: WriterSchema) -> None:
    value = {"id": "a", "amount": 1}
    (alone,) = written(rows_of([value], [None]), schema)
    assert alone
    values = [value, None, None, value, {"id": None, "amount": None}, None]
    originals = [None, b"raw", None, b"", b"other", b"last"]
    expected = [alone, b"raw", None, b"", b"other", b"last"]
    batch = rows_of(values, originals)
    assert written(batch, schema) == expected
    for start, stop in ((1, 2), (2, 3), (3, 6), (0, 3), (2, 5), (6, 6)):
        assert written(batch.slice(start, stop - start), schema) == expected[start:stop]


@pytest.mark.parametrize(
    ("format_", "type_", "value", "bytes_"),
    [
        ("string", pa.string(), "a", b"a"),
        ("short", pa.int8(), 1, b"\0\1"),
        ("long", pa.int64(), 1, bytes(7) + b"\1"),
        ("double", pa.float64(), 1.0, struct.pack(">d", 1.0)),
    ],
)
def test_bytes_replace_plain_values(format_: str, type_: Any, value: Any, bytes_: bytes) -> None:
    batch = rows_of([None, value, value, None], [b"raw", None, b"raw", None], type_)
    for start in range(4):
        sliced = batch.slice(start)
        assert written(sliced, WriterSchema("value", format_)) == [b"raw", bytes_, b"raw", None][start:]


def test_a_row_without_bytes_must_fit_the_schema() -> None:
    unfit = {"id": None, "amount": 1}
    assert written(rows_of([unfit], [b"raw"]), WriterSchema("value", "avro", ORDER)) == [b"raw"]
    with pytest.raises(RowEncodingError, match=r"column 'value' cannot be written as avro: .*id"):
        written(rows_of([unfit, unfit], [b"raw", None]), WriterSchema("value", "avro", ORDER))


def test_a_null_value_is_a_null_record_value_even_if_the_schema_has_null() -> None:
    batch = pa.RecordBatch.from_pydict({"value": pa.array([None, {"id": "a", "amount": 1}], ROW)})
    (made,) = encoded(iter([batch]), [WriterSchema("value", "avro", f'["null",{ORDER}]')])
    assert made.column("value").to_pylist() == [None, b"\2\2a\2"]


def test_bytes_of_untyped_keys_are_used_if_they_exist() -> None:
    schema = WriterSchema("value", "json")
    row = [{"id": "a", "amount": 1}] * 2
    keys = {"key": pa.array(["k", "l"]), "key_bytes": pa.array([None, b"raw"], pa.binary())}
    (made,) = encoded(iter([rows_of(row, [None, None], **keys)]), [schema], original_bytes=True)
    assert made.column("key").to_pylist() == [b"k", b"raw"]
    (made,) = encoded(iter([rows_of(row, [None, None], key=keys["key"])]), [schema], original_bytes=True)
    assert made.column("key").to_pylist() == ["k", "l"]


def test_without_the_option_such_columns_are_ignored(kafka: BrokerWithRegistry) -> None:
    topic = kafka.topic()
    table = pa.Table.from_batches([rows_of([{"id": "a", "amount": 1}], [b"raw"])])
    write(table, **{"kafka.bootstrap.servers": kafka.servers, "valueFormat": "json", "topic": topic})
    assert kafka.records(topic) == [(None, GOOD)]


def test_good_and_bad_records_are_copied_unchanged(kafka: BrokerWithRegistry) -> None:
    source, target = kafka.topic(), kafka.topic()
    spaced = b'{ "id": "a", "amount": 1 }'
    send(kafka.servers, source, [spaced, BAD, None])
    columns = "key,value,key_bytes,value_bytes,topic"
    options = json_options(kafka, keyFormat="string", valueErrors="null", columns=columns)
    frame = LoadedFrame(**options, subscribe=source, valueSchema=COLUMNS)
    copied = pa.Table.from_pylist(frame.rows(), frame.arrow)
    sink = json_options(kafka, keyFormat="string")
    write(copied, **sink, topic=target)
    assert kafka.records(target) == [(None, spaced), (None, BAD), (b"k", None)]
    again = copied.set_column(copied.column_names.index("topic"), "topic", pa.array([target, f"{target}-b", target]))
    write(again, **sink)
    assert kafka.records(target)[3:] == [(None, spaced), (b"k", None)]
    assert kafka.records(f"{target}-b") == [(None, BAD)]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"value": "struct<a:int>"},
            "'originalBytes' and 'valueFormat' require a column 'value_bytes'.*as value_bytes",
        ),
        ({"value": "struct<a:int>", "value_bytes": "string"}, "column 'value_bytes' must be binary .* not string"),
        ({"value": "struct<a:int>", "value_bytes": "binary", "key_bytes": "int"}, "column 'key_bytes' must be binary"),
        ({"value": "struct<a:int>", "value_bytes": "binary", "key_bytes": "binary"}, "but there is no column 'key'"),
    ],
)
def test_a_frame_without_the_columns_of_bytes_is_rejected(fields: dict[str, str], said: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=f"(?i){said}"):
        check_sink_schema(list(fields.items()), "t", typed={"value": "json"}, original_bytes=True)


def test_a_pipeline_s_columns_are_accepted() -> None:
    fields = [("key", "binary"), ("value", "struct<a:int>"), ("value_bytes", "binary"), ("topic", "string")]
    found = check_sink_schema(fields, None, typed={"value": "json"}, original_bytes=True)
    assert found == ("key", "value", "topic")
