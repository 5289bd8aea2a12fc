"""Columns and their views: records, slices, Arrow."""

from __future__ import annotations

import datetime
import gc
import pickle
import sys
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from kafka.record import (
    BatchBuilder,
    Columns,
    ConsumerRecord,
    TimestampType,
    arrow_schema,
    concat_arrow,
    decode_batches,
)
from kafka.record.materialize import RecordMaker

from .samples import Sample, batch, kafka_batches, rows


def columns_of(count: int = 10) -> Columns:
    builder = BatchBuilder()
    for n in range(count):
        headers: list[tuple[str, bytes | None]] = [("ä", b"1"), ("b", None)] if n % 4 == 1 else []
        builder.append(1000 + n, None if n % 3 == 0 else b"key%d" % n, None if n % 5 == 0 else b"value%d" % n, headers)
    return decode_batches(builder.build(base_offset=100), topic="flights", partition=2)


def test_single_values() -> None:
    columns = columns_of()
    assert len(columns) == 10
    assert (columns.key(0), columns.key(1), columns.value(5), columns.value(-1)) == (None, b"key1", None, b"value9")
    assert columns.headers(1) == [("ä", b"1"), ("b", None)]
    assert columns.headers(0) == []
    assert columns.timestamp_type(3) is TimestampType.CREATE_TIME
    assert columns.offsets.tolist() == list(range(100, 110))
    assert columns.timestamps.tolist() == list(range(1000, 1010))
    assert (columns.topic, columns.partition, columns.next_offset, columns.leader_epoch) == ("flights", 2, 110, -1)


@pytest.mark.parametrize("index", [10, -11])
def test_an_index_outside_is_refused(index: int) -> None:
    with pytest.raises(IndexError, match="below 10"):
        columns_of().key(index)


def test_records_have_the_fields_of_kafka_python() -> None:
    record = columns_of().to_records()[1]
    assert record == (
        "flights", 2, -1, 101, 1001, 0, b"key1", b"value1", [("ä", b"1"), ("b", None)], None, 4, 6, 4,
    )  # fmt: skip
    assert isinstance(record, ConsumerRecord)
    assert (record.topic, record.leader_epoch, record.serialized_header_size) == ("flights", -1, 4)
    assert pickle.loads(pickle.dumps(record)) == record
    assert record._replace(key=b"other").key == b"other"


def test_sizes_of_null_are_minus_one() -> None:
    record = columns_of().to_records()[0]
    assert (record.key, record.serialized_key_size, record.serialized_value_size) == (None, -1, -1)
    assert (record.headers, record.serialized_header_size) == ([], -1)


def test_each_record_has_its_own_list_of_headers() -> None:
    first, second = decode_batches(batch(b"a", b"b")).to_records()
    first.headers.append(("x", b"y"))
    assert second.headers == []


def test_old_messages_have_their_checksum() -> None:
    data = batch(b"a", magic=1)
    assert decode_batches(data).to_records()[0].checksum == int.from_bytes(data[12:16], "big")


def test_checksums_of_old_and_new_messages_are_kept_apart() -> None:
    data = batch(b"a", magic=1) + batch(b"b", base_offset=1)
    assert [r.checksum is None for r in decode_batches(data).to_records()] == [False, True]


def test_deserializers_get_the_topic_and_nulls_too() -> None:
    seen: list[Any] = []

    def key(topic: str, data: bytes | None, headers: Any) -> str | None:
        seen.append((topic, data))
        return None if data is None else data.decode()

    records = columns_of(2).to_records(
        topic="other", partition=9, key_deserializer=key, value_deserializer=lambda t, d, h: t
    )
    assert seen == [("other", None), ("other", b"key1")]
    assert [(r.topic, r.partition, r.key, r.value) for r in records] == [
        ("other", 9, None, "other"),
        ("other", 9, "key1", "other"),
    ]
    assert [r.serialized_key_size for r in records] == [-1, 4]


def test_an_error_of_a_deserializer_propagates() -> None:
    def broken(topic: str, data: bytes | None, headers: Any) -> object:
        raise LookupError("no such schema")

    with pytest.raises(LookupError, match="no such schema"):
        columns_of().to_records(value_deserializer=broken)


@pytest.mark.parametrize(("start", "stop"), [(0, 10), (0, 3), (3, 7), (7, 10), (4, 4), (0, 0), (10, 10), (-3, 100)])
def test_a_slice_behaves_like_a_list_slice(start: int, stop: int) -> None:
    columns = columns_of()
    part = columns.slice(start, stop)
    assert rows(part) == rows(columns)[start:stop]
    assert len(part) == len(rows(columns)[start:stop])
    assert part.to_arrow().equals(columns.to_arrow()[start:stop] if start >= 0 else columns.to_arrow()[7:])
    assert part.to_arrow(schema="spark").num_rows == len(part)


def test_slices_of_slices() -> None:
    part = columns_of().slice(2, 8).slice(1, 3)
    assert part.offsets.tolist() == [103, 104]
    assert (part.key(-1), part.headers(0), part.nbytes > 0) == (b"key4", [], True)


def test_the_next_offset_of_a_slice() -> None:
    gap = decode_batches(batch(b"a", b"b") + batch(b"c", base_offset=10))
    assert gap.slice(0, 2).next_offset == 2
    assert gap.slice(0, 0).next_offset == 0
    assert gap.slice(0, 3).next_offset == 11
    assert gap.slice(3, 3).next_offset == 11


def test_nbytes_counts_only_the_rows_of_a_slice() -> None:
    columns = decode_batches(batch(b"x" * 1000, b"y" * 10))
    assert columns.nbytes > 1010
    assert 10 < columns.slice(1, 2).nbytes < 100
    assert columns_of().nbytes > columns_of().slice(0, 9).nbytes


@pytest.mark.parametrize("sample", kafka_batches(), ids=lambda sample: sample.name)
def test_arrow_batches_equal_records(sample: Sample) -> None:
    columns = decode_batches(sample.data, topic="flights", partition=2)
    table = columns.to_arrow()
    table.validate(full=True)
    assert table.schema == arrow_schema()
    expected = [
        {
            "topic": r.topic,
            "partition": r.partition,
            "offset": r.offset,
            "timestamp": None if r.timestamp == -1 else _utc(r.timestamp),
            "timestamp_type": r.timestamp_type,
            "key": r.key,
            "value": r.value,
            "headers": [{"key": key, "value": value} for key, value in r.headers],
        }
        for r in columns.to_records()
    ]
    assert table.to_pylist() == expected


def _utc(milliseconds: int | None) -> datetime.datetime:
    assert milliseconds is not None
    return datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(milliseconds=milliseconds)


def test_the_spark_schema_equals_that_of_sparks_source() -> None:
    table = columns_of().to_arrow(schema="spark")
    assert table.schema == pa.schema(
        [
            ("key", pa.binary()),
            ("value", pa.binary()),
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("offset", pa.int64()),
            ("timestamp", pa.timestamp("us", tz="UTC")),
            ("timestampType", pa.int32()),
        ]
    )
    assert table.to_pylist()[1] == {
        "key": b"key1",
        "value": b"value1",
        "topic": "flights",
        "partition": 2,
        "offset": 101,
        "timestamp": _utc(1001),
        "timestampType": 0,
    }


def test_missing_headers_are_null_in_sparks_schema() -> None:
    for part in (columns_of(), columns_of().slice(1, 3)):
        table = part.to_arrow(["headers", "offset"], schema="spark")
        table.validate(full=True)
        assert table.schema.names == ["headers", "offset"]
        assert [row["headers"] for row in table.to_pylist()] == [
            [{"key": key, "value": value} for key, value in record.headers] or None for record in part.to_records()
        ]
    assert decode_batches(batch(b"x")).to_arrow(["headers"], schema="spark").to_pylist() == [{"headers": None}]


def test_columns_can_be_chosen_and_ordered() -> None:
    assert columns_of().to_arrow(["value", "offset"]).schema == arrow_schema(["value", "offset"])
    with pytest.raises(ValueError, match="'offsets'"):
        columns_of().to_arrow(["offsets"])
    with pytest.raises(ValueError, match="kafka, spark"):
        columns_of().to_arrow(schema="flink")  # type: ignore[arg-type]


def test_header_keys_that_are_not_utf8_get_replacement_characters() -> None:
    data = bytearray(decode_free_batch())
    at = data.index(b"abc")
    data[at : at + 3] = b"a\xffc"
    columns = decode_batches(data, check_crcs=False)
    assert columns.headers(0) == [("a\ufffdc", b"1")]
    table = columns.to_arrow(["headers"])
    table.validate(full=True)
    assert table.to_pylist() == [{"headers": [{"key": "a\ufffdc", "value": b"1"}]}]


def decode_free_batch() -> bytes:
    builder = BatchBuilder()
    builder.append(1, None, None, [("abc", b"1")])
    return builder.build()


def test_arrow_batches_keep_the_memory_of_dropped_columns() -> None:
    table = columns_of().to_arrow()
    assert table.column("value").to_pylist()[1] == b"value1"


def test_batches_can_be_joined() -> None:
    whole = columns_of()
    parts = [whole.slice(0, 4).to_arrow(), whole.slice(4, 4).to_arrow(), whole.slice(4, 10).to_arrow()]
    assert concat_arrow(parts).equals(whole.to_arrow())
    assert concat_arrow([parts[1], parts[1]]).num_rows == 0
    with pytest.raises(ValueError, match="at least one"):
        concat_arrow([])


def test_equal_records_have_equal_hashes_despite_headers() -> None:
    def record(**fields: Any) -> ConsumerRecord:
        return ConsumerRecord("t", 0, offset=3, value=b"v", **fields)

    assert len({record(), record(), record(headers=[("k", b"h")]), record(headers=[("k", b"h")])}) == 2
    assert record(headers=[("k", b"h")]) in {record(headers=[("k", b"h")])}
    with pytest.raises(TypeError, match="unhashable"):
        hash(record(key={}))


def test_a_program_can_create_a_record() -> None:
    record = ConsumerRecord(topic="t", partition=0, offset=3, timestamp=1, timestamp_type=0, key=None, value=b"v")
    assert (record.offset, record.headers, record.leader_epoch, record.checksum) == (3, [], None, None)


def test_records_equal_those_of_the_constructor() -> None:
    for record in columns_of().to_records():
        assert type(record) is ConsumerRecord
        made = ConsumerRecord(*record)
        assert (record, repr(record), tuple(record)) == (made, repr(made), tuple(made))
        assert pickle.loads(pickle.dumps(record)) == made
        assert hash(record) == hash(made)
        assert hash(record._replace(headers=None)) == hash(made._replace(headers=None))


def test_records_reference_and_release_their_class() -> None:
    columns = columns_of(1000)
    columns.to_records()
    gc.collect()  # records of earlier tests may wait for the collector
    before = sys.getrefcount(ConsumerRecord)
    records = columns.to_records()
    during = sys.getrefcount(ConsumerRecord)
    del records
    assert (during - before, sys.getrefcount(ConsumerRecord) - before) == (1000, 0)


def test_only_existing_rows_become_objects() -> None:
    columns = decode_batches(batch(b"a", b"b", b"c"))
    maker = RecordMaker(columns.buffers[0])

    def made(start: int, stop: int) -> list[bytes | None]:
        records: list[ConsumerRecord] = []
        maker.records(start, stop, "t", 0, -1, 0, None, None, ConsumerRecord, None, records)
        return [record.value for record in records]

    assert made(0, 3) == [b"a", b"b", b"c"]
    assert [made(at, at + 1) for at in range(3)] == [[b"a"], [b"b"], [b"c"]]
    assert [made(at, at) for at in range(4)] == [[]] * 4
    assert made(2, 1) == []
    for start, stop in ((-1, 2), (0, 4), (3, 4), (-2, -1)):
        with pytest.raises(IndexError, match="a row from 0 to 2"):
            made(start, stop)
    for row in (-1, 3):
        for read in (maker.key, maker.value, maker.headers):
            with pytest.raises(IndexError, match=f"a row from 0 to 2, got {row}"):
                read(row)


def test_columns_export_arrow_data() -> None:
    columns = columns_of()
    assert pa.record_batch(columns).equals(columns.to_arrow())
    assert pl.DataFrame(columns).equals(pl.from_arrow(columns.to_arrow()))
