"""Arrow tables as records: types, partitions, batches."""

from __future__ import annotations

import datetime
import subprocess
import sys
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka._variant import variant
from kafka.errors import UnsupportedForMessageFormatError
from kafka.partitioner.murmur2 import murmur2
from kafka.record import ArrowRows, Compression, EncodedBatch, arrow_rows, decode_batches
from kafka.record.builder import MAX_TIMESTAMP

from .samples import rows

PAIR = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
HEADER_TYPES = [pa.list_(PAIR), pa.large_list(PAIR), pa.map_(pa.string(), pa.binary())]
STRING_TYPES = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int16(), pa.string())]
BINARY_TYPES = [pa.binary(), pa.large_binary(), pa.binary_view(), pa.dictionary(pa.int8(), pa.binary())]
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)

Row = dict[str, Any]
some_rows = st.lists(
    st.fixed_dictionaries(
        {
            "key": st.none() | st.text(max_size=12),
            "value": st.none() | st.text(max_size=60),
            "timestamp": st.none() | st.integers(0, 2**41),
            "headers": st.none()
            | st.lists(st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=9)), max_size=3),
        }
    ),
    max_size=30,
)


def table_of(given_rows: list[Row], text: pa.DataType, headers: pa.DataType) -> pa.Table:
    """A table of the types given."""
    as_bytes = text in BINARY_TYPES

    def texts(name: str) -> list[Any]:
        return [row[name].encode() if as_bytes and row[name] is not None else row[name] for row in given_rows]

    pairs = [row["headers"] for row in given_rows]
    if not pa.types.is_map(headers):
        pairs = [None if row is None else [{"key": key, "value": value} for key, value in row] for row in pairs]
    times = [None if row["timestamp"] is None else row["timestamp"] * 1000 for row in given_rows]
    return pa.table(
        {
            "key": pa.array(texts("key"), text),
            "value": pa.array(texts("value"), text),
            "timestamp": pa.array(times, pa.timestamp("us", "UTC")),
            "headers": pa.array(pairs, headers),
        }
    )


def expected_rows(given_rows: list[Row], default_time: int) -> list[tuple[Any, ...]]:
    """What a consumer must see."""
    return [
        (
            default_time if row["timestamp"] is None else row["timestamp"],
            None if row["key"] is None else row["key"].encode(),
            None if row["value"] is None else row["value"].encode(),
            row["headers"] or [],
        )
        for row in given_rows
    ]


def read(batches: list[EncodedBatch]) -> list[tuple[Any, ...]]:
    """What a consumer sees, without offsets."""
    return [row[1:] for encoded in batches for row in rows(decode_batches(encoded.data))]


@pytest.mark.parametrize("text", STRING_TYPES + BINARY_TYPES, ids=str)
@pytest.mark.parametrize("headers", HEADER_TYPES, ids=lambda kind: kind.__class__.__name__)
@given(given_rows=some_rows, cut=st.integers(0, 30))
@settings(max_examples=10, deadline=None)
def test_rows_become_records(text: pa.DataType, headers: pa.DataType, given_rows: list[Row], cut: int) -> None:
    table = table_of(given_rows, text, headers)
    for source in (table, pa.concat_tables([table[:cut], table[cut:]]), *table.combine_chunks().to_batches()):
        arrow = ArrowRows(source)
        assert len(arrow) == len(given_rows)
        encoded = arrow.encode(arrow.all_rows(), timestamp_ms=77, max_batch_bytes=500)
        assert read(encoded) == expected_rows(given_rows, 77)
        assert [one.first for one in encoded] == [sum(one.count for one in encoded[:n]) for n in range(len(encoded))]
    tail = ArrowRows(table[cut:])
    assert read(tail.encode(tail.all_rows(), timestamp_ms=5)) == expected_rows(given_rows[cut:], 5)


@pytest.mark.parametrize("magic", [0, 1])
def test_rows_for_old_brokers(magic: int) -> None:
    arrow = ArrowRows(pa.table({"key": ["a", None, "c"], "value": [b"1", b"2", None], "timestamp": [4, None, 6]}))
    encoded = arrow.encode([2, 0, 1], magic=magic, compression=Compression.GZIP, timestamp_ms=9, max_batch_bytes=80)
    times = [6, 4, 9] if magic else [-1, -1, -1]
    assert len(encoded) > 1
    assert read(encoded) == [(times[0], b"c", None, []), (times[1], b"a", b"1", []), (times[2], None, b"2", [])]
    with_headers = ArrowRows(
        table_of([{"key": "k", "value": "v", "timestamp": 1, "headers": [("h", b"")]}], pa.string(), HEADER_TYPES[0])
    )
    with pytest.raises(UnsupportedForMessageFormatError, match="headers"):
        with_headers.encode([0], magic=magic)


def test_batches_are_filled_up_to_their_limit() -> None:
    arrow = ArrowRows(pa.table({"value": [b"x" * (n % 50) for n in range(5000)]}))
    encoded = arrow.encode(arrow.all_rows(), max_batch_bytes=2000, timestamp_ms=1)
    assert all(1940 < len(one.data) <= 2000 for one in encoded[:-1])
    assert {one.max_timestamp for one in encoded} == {1}


def test_a_record_above_the_limit_forms_its_own_batch() -> None:
    arrow = ArrowRows(pa.table({"value": [b"a", b"x" * 3000, b"b"]}))
    encoded = arrow.encode(arrow.all_rows(), max_batch_bytes=200)
    assert [one.count for one in encoded] == [1, 1, 1]


def test_keys_are_partitioned_as_in_java() -> None:
    keys = [None if n % 5 == 0 else f"key{n % 70}" for n in range(500)]
    arrow = ArrowRows(pa.table({"key": keys, "value": keys})[3:])
    parts = arrow.partitions(7, null_key_partition=4)
    assert sorted(row for part in parts for row in part) == list(range(497))
    for number, part in enumerate(parts):
        assert list(part) == sorted(part)
        for row in part:
            key = keys[row + 3]
            assert number == (4 if key is None else (murmur2(key.encode()) & 0x7FFFFFFF) % 7)


def test_rows_without_a_key_are_spread_round_robin() -> None:
    arrow = ArrowRows(pa.table({"value": [b"v"] * 10}))
    assert [list(part) for part in arrow.partitions(4, first_partition=3)] == [[1, 5, 9], [2, 6], [3, 7], [0, 4, 8]]
    assert [list(part) for part in arrow.partitions(3, null_key_partition=1)] == [[], list(range(10)), []]


def test_keys_can_be_ignored() -> None:
    arrow = ArrowRows(pa.table({"value": [b"v"] * 4, "key": [b"k", None, b"k", b"k"]}))
    assert [list(part) for part in arrow.partitions(2, ignore_keys=True)] == [[0, 2], [1, 3]]
    assert sorted(len(part) for part in arrow.partitions(2, null_key_partition=0)) != [2, 2]


def test_the_partition_column_takes_precedence_over_the_key() -> None:
    arrow = ArrowRows(pa.table({"key": ["a", "b", None, None], "partition": [2, None, 1, None], "value": ["v"] * 4}))
    parts = [list(part) for part in arrow.partitions(3, null_key_partition=0)]
    of_b = (murmur2(b"b") & 0x7FFFFFFF) % 3
    assert 0 in parts[2]
    assert 1 in parts[of_b]
    assert 2 in parts[1]
    assert 3 in parts[0]
    with pytest.raises(ValueError, match="partitions from 0 to 1"):
        arrow.partitions(2)


def test_rows_of_each_topic() -> None:
    arrow = ArrowRows(pa.table({"topic": ["b", "a", "b"], "value": ["1", "2", "3"]}))
    assert {name: list(found) for name, found in arrow.topics().items()} == {"b": [0, 2], "a": [1]}
    parts = arrow.partitions(2, rows=arrow.topics()["b"])
    assert sorted(row for part in parts for row in part) == [0, 2]
    with pytest.raises(ValueError, match="1 of 1 are null"):
        ArrowRows(pa.table({"topic": pa.array([None], pa.string()), "value": ["v"]})).topics()
    with pytest.raises(ValueError, match="there is none"):
        ArrowRows(pa.table({"value": ["v"]})).topics()


@pytest.mark.parametrize(
    ("columns", "error", "text"),
    [
        ({"key": ["k"]}, ValueError, "'value'"),
        ({"value": ["v"], "vlaue": ["v"]}, ValueError, "vlaue"),
        ({"value": [1]}, TypeError, "string or binary, got int64"),
        ({"value": ["v"], "key": [1.5]}, TypeError, "'key'"),
        ({"value": ["v"], "headers": [["h"]]}, TypeError, "Expected the column 'headers' as list<struct"),
        ({"value": ["v"], "headers": ["h"]}, TypeError, "Expected the column 'headers' as list<struct"),
        ({"value": ["v"], "headers": [{"key": "h", "value": b""}]}, TypeError, "Expected the column 'headers' as"),
        ({"value": ["v"], "headers": [[{"key": "h"}]]}, TypeError, "key and value"),
        ({"value": ["v"], "headers": [[None, {"key": "h", "value": b""}]]}, ValueError, "1 are"),
        ({"value": ["v"], "timestamp": ["now"]}, TypeError, "timestamp"),
    ],
)
def test_invalid_tables_are_refused(columns: dict[str, Any], error: type, text: str) -> None:
    with pytest.raises(error, match=text):
        ArrowRows(pa.table(columns))


def test_a_table_has_a_largest_number_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_rows, "MAX_ROWS", 3)
    assert len(ArrowRows(pa.table({"value": [b"v"] * 3}))) == 3
    with pytest.raises(ValueError, match="at most 3 rows at a time, got 4"):
        ArrowRows(pa.table({"value": [b"v"] * 4}))


def test_only_arrow_data_is_accepted() -> None:
    with pytest.raises(TypeError, match="got list"):
        ArrowRows([{"value": b"v"}])  # type: ignore[arg-type]


def test_a_partition_column_of_text_is_refused() -> None:
    with pytest.raises(TypeError, match="'partition'"):
        ArrowRows(pa.table({"value": ["v"], "partition": ["1"]})).partitions(3)


@pytest.mark.parametrize("wrong", [[0, 9], [-1]])
def test_rows_that_do_not_exist_are_refused(wrong: list[int]) -> None:
    arrow = ArrowRows(pa.table({"value": ["v", "w"]}))
    with pytest.raises(ValueError, match=r"Row (9|-1) of 2"):
        arrow.encode(wrong)
    with pytest.raises(ValueError, match=r"row (9|-1)"):
        arrow.partitions(2, rows=wrong)


def test_a_header_without_a_key_is_refused() -> None:
    table = pa.table({"value": ["v"], "headers": pa.array([[{"key": None, "value": b"x"}]], HEADER_TYPES[0])})
    arrow = ArrowRows(table)
    with pytest.raises(ValueError, match="null key"):
        arrow.encode([0])


def test_a_time_before_the_epoch_is_refused() -> None:
    arrow = ArrowRows(pa.table({"value": ["v"], "timestamp": [-5]}))
    with pytest.raises(ValueError, match="Row 0 of 1 has the timestamp -5: expected milliseconds since 1970, or null"):
        arrow.encode([0])


def test_offsets_of_an_array_that_point_outside_are_refused() -> None:
    ends = pa.array([0, 1000, 5], pa.int64()).buffers()[1]
    broken = pa.Array.from_buffers(pa.large_binary(), 2, [None, ends, pa.py_buffer(b"short")])
    arrow = ArrowRows(pa.table({"value": broken, "key": broken}))
    with pytest.raises(ValueError, match="reach outside"):
        arrow.encode([0])
    with pytest.raises(ValueError, match="within 5 bytes"):
        arrow.partitions(3)


def test_timestamps_of_any_unit_become_milliseconds() -> None:
    at = EPOCH + datetime.timedelta(days=20000, microseconds=1999)
    for unit in ("s", "ms", "us", "ns"):
        for zone in (None, "UTC", "Europe/Berlin"):
            column = pa.array([at], pa.timestamp("us", "UTC")).cast(pa.timestamp(unit, "UTC"), safe=False)
            column = column.cast(pa.int64()).cast(pa.timestamp(unit, zone))
            arrow = ArrowRows(pa.table({"value": ["v"], "timestamp": column}))
            assert read(arrow.encode([0]))[0][0] == 20000 * 86_400_000 + (0 if unit == "s" else 1)


def test_a_table_without_rows() -> None:
    arrow = ArrowRows(pa.table({"key": pa.array([], pa.string()), "value": pa.array([], pa.string())}))
    assert (len(arrow), arrow.encode(arrow.all_rows())) == (0, [])
    assert [list(part) for part in arrow.partitions(3)] == [[], [], []]
    nothing = ArrowRows(pa.table({"value": pa.chunked_array([], pa.string())}))
    assert [list(part) for part in nothing.partitions(2)] == [[], []]


@pytest.mark.parametrize("kind", [pa.list_, pa.large_list])
@pytest.mark.parametrize("first", ["key", "value"])
@pytest.mark.parametrize("missing", [None, []])
def test_headers_are_read_by_the_names_of_their_fields(kind: Any, first: str, missing: list[Any] | None) -> None:
    key, value = pa.field("key", pa.string()), pa.field("value", pa.string())
    pair = pa.struct([key, value] if first == "key" else [value, key])
    lists = [[{"key": "a", "value": "1"}], missing, [{"key": "b", "value": "2"}, {"key": "c", "value": None}]]
    table = pa.table({"value": ["x", "y", "z"], "headers": pa.array(lists, kind(pair))})
    (made,) = ArrowRows(table).encode([0, 1, 2])
    headers = [record.headers for record in decode_batches(made.data).to_records()]
    assert headers == [[("a", b"1")], [], [("b", b"2"), ("c", None)]]


def test_headers_whose_fields_are_not_clear_are_refused() -> None:
    pair = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.string()), pa.field("key", pa.string())])
    table = pa.table({"value": ["x"], "headers": pa.nulls(1, pa.list_(pair))})
    with pytest.raises(TypeError, match="fields key and value"):
        ArrowRows(table)


CHANGED_MEANWHILE = """
import sys, threading
import pyarrow as pa
from kafka.record import ArrowRows, decode_batches

count = int(sys.argv[1])
ends = bytearray(8 * (count + 1))
positions = memoryview(ends).cast("q")
column = sys.argv[2]
for row in range(count + 1):
    positions[row] = 10 * row
data = pa.py_buffer(bytes(10 * count + (1 << 20)))
texts = pa.Array.from_buffers(pa.large_binary(), count, [None, pa.py_buffer(ends), data])
if column == "value":
    table = pa.table({"value": texts})
elif column == "header lists":
    for row in range(count + 1):
        positions[row] = row
    keys = pa.array(["k"] * count, pa.large_string())
    pairs = pa.StructArray.from_arrays([keys, keys], ["key", "value"])
    lists = pa.LargeListArray.from_buffers(
        pa.large_list(pairs.type), count, [None, pa.py_buffer(ends)], children=[pairs]
    )
    table = pa.table({"value": keys, "headers": lists})
else:
    pairs = pa.StructArray.from_arrays([texts, texts], ["key", "value"])
    lists = pa.ListArray.from_arrays(pa.array(range(count + 1), pa.int32()), pairs)
    table = pa.table({"value": ["v"] * count, "headers": lists})
rows = ArrowRows(table)
numbers = rows.all_rows()
stop = False

def write() -> None:
    step = 0
    while not stop:
        for row in range(count // 2, count, 7):
            good = positions[row]
            for bad in (good + 9, 1 << 62, -(1 << 62), positions[count], good + 500_000):
                positions[row] = bad
            positions[row] = good

writer = threading.Thread(target=write)
writer.start()
refused = made = 0
try:
    for _ in range(int(sys.argv[3])):
        try:
            for batch in rows.encode(numbers, max_batch_bytes=1 << 16):
                decode_batches(batch.data)
            made += 1
        except ValueError as error:
            assert "cannot be encoded" in str(error) or "has the timestamp" in str(error), error
            refused += 1
finally:
    stop = True
    writer.join()
print("refused or made", refused + made)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "column", ["value", *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("header lists", "headers"))]
)
def test_columns_that_another_thread_writes_to_are_an_error_or_encoded(column: str) -> None:
    count, times = (20_000, 60) if variant() == "compiled" else (2_000, 5)
    ran = subprocess.run(
        [sys.executable, "-c", CHANGED_MEANWHILE, str(count), column, str(times)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, f"refused or made {times}\n"), ran.stderr


def test_timestamp_0_is_valid_for_old_brokers() -> None:
    arrow = ArrowRows(pa.table({"value": [b"a", b"b"], "timestamp": [0, None]}))
    assert [row[0] for row in read(arrow.encode(arrow.all_rows(), magic=1, timestamp_ms=9))] == [0, 9]


def test_a_topic_of_one_partition_gets_every_row() -> None:
    arrow = ArrowRows(pa.table({"value": ["v", "w"], "key": ["k", None]}))
    assert [list(part) for part in arrow.partitions(1)] == [[0, 1]]
    with pytest.raises(ValueError, match="at least one partition, got 0"):
        arrow.partitions(0)


def test_a_row_past_the_last_one_is_refused() -> None:
    arrow = ArrowRows(pa.table({"value": ["v", "w"]}))
    with pytest.raises(ValueError, match="Row 2 of 2"):
        arrow.encode([2])
    with pytest.raises(ValueError, match="row 2"):
        arrow.partitions(2, rows=[2])


def test_a_batch_may_be_exactly_as_large_as_its_limit() -> None:
    arrow = ArrowRows(pa.table({"value": [b"one", b"two", b"three"]}))
    (whole,) = arrow.encode(arrow.all_rows(), timestamp_ms=1)
    for limit, counts in ((len(whole.data), [3]), (len(whole.data) - 1, [2, 1])):
        assert [one.count for one in arrow.encode(arrow.all_rows(), max_batch_bytes=limit, timestamp_ms=1)] == counts


def test_a_row_without_headers_may_follow_many_that_have_some() -> None:
    given = [[("h", b"x")]] * 200 + [[]]
    headers = pa.array([[{"key": key, "value": value} for key, value in each] for each in given], HEADER_TYPES[0])
    arrow = ArrowRows(pa.table({"value": ["v"] * len(given), "headers": headers}))
    assert [row[3] for row in read(arrow.encode(arrow.all_rows(), timestamp_ms=1))] == given


@pytest.mark.parametrize("kind", HEADER_TYPES, ids=lambda kind: kind.__class__.__name__)
@pytest.mark.parametrize("valid", [0b1101, 0b1110, 0b0000, 0b1111])
def test_headers_hidden_by_a_null_row_are_not_sent(kind: pa.DataType, valid: int) -> None:
    pairs = [[("a", b"1"), ("b", b"2")], [("c", b"3")], [], [("d", None)]]
    given = [each if pa.types.is_map(kind) else [{"key": key, "value": value} for key, value in each] for each in pairs]
    whole: Any = pa.array(given, kind)
    children = [
        whole.values
        if not pa.types.is_map(kind)
        else pa.StructArray.from_arrays([whole.keys, whole.items], fields=[kind.key_field, kind.item_field])
    ]
    hiding: Any = pa.Array.from_buffers(
        kind, 4, [pa.py_buffer(bytes([valid])), whole.buffers()[1]], -1, children=children
    )
    expected = [each if valid >> row & 1 else [] for row, each in enumerate(pairs)]
    for start in range(3):
        arrow = ArrowRows(pa.table({"value": ["v"] * 4, "headers": hiding}).slice(start))
        assert [row[3] for row in read(arrow.encode(arrow.all_rows(), timestamp_ms=1))] == expected[start:]


def test_the_latest_timestamp_is_accepted() -> None:
    arrow = ArrowRows(pa.table({"value": ["v"]}))
    assert [row[0] for row in read(arrow.encode([0], timestamp_ms=MAX_TIMESTAMP))] == [MAX_TIMESTAMP]
    with pytest.raises(ValueError, match="timestamp"):
        arrow.encode([0], timestamp_ms=MAX_TIMESTAMP + 1)


@pytest.mark.parametrize("partition", [-1, 3])
def test_rows_without_a_key_get_an_existing_partition(partition: int) -> None:
    arrow = ArrowRows(pa.table({"value": ["v"]}))
    with pytest.raises(ValueError, match="a partition from 0 to 2 for rows without a key"):
        arrow.partitions(3, null_key_partition=partition)
    assert [list(part) for part in arrow.partitions(3, null_key_partition=2)] == [[], [], [0]]
