"""`kafka.formats.Json`: values of a schema to columns and back."""

from __future__ import annotations

import threading
from typing import Any

import pyarrow as pa
import pytest

from kafka.formats import BadValue, Json, JsonEncodeError, JsonSchemaError, json_syntax_error

VALUES = [b'{"id":1,"name":"a"}', None, b'{"id":"2"}', b'{"id":3,"name":null}']


def test_rows_are_decoded_and_encoded() -> None:
    people = Json("id bigint not null, name string")
    column, bad = people.decode_rows(pa.array(VALUES, pa.binary()))
    assert column.type == people.type
    assert column.to_pylist() == [{"id": 1, "name": "a"}, None, None, {"id": 3, "name": None}]
    assert bad == [BadValue(2, None, 'id: expected a whole number of 64 bits, got the string "2", at byte 6', "id")]
    assert people.encode_rows(column).to_pylist() == [VALUES[0], None, None, VALUES[3]]
    assert Json(people.type, nulls="omit").encode_rows(column).to_pylist()[3] == b'{"id":3}'


def test_a_codec_shows_the_type_of_its_schema() -> None:
    assert repr(Json("id bigint, name string")) == "Json(struct<id: int64, name: string>)"


def test_a_bad_value_has_the_path_of_its_field() -> None:
    _, bad = Json("items array<struct<price: double>>").decode_rows(
        pa.array([b'{"items":[{"price":1},{"price":"2"}]}', b"[]"], pa.binary())
    )
    assert [(each.row, each.field) for each in bad] == [(0, "items[1].price"), (1, None)]


def test_chunked_arrays_and_tables_are_accepted() -> None:
    numbers = Json("a bigint")
    chunks = pa.chunked_array([pa.array([b'{"a":1}']), pa.array([b'{"a":2}', None])])
    column, bad = numbers.decode_rows(chunks)
    assert (column.to_pylist(), bad) == ([{"a": 1}, {"a": 2}, None], [])
    table = pa.table({"a": pa.chunked_array([[1], [2, None]])})
    expected = [b'{"a":1}', b'{"a":2}', b'{"a":null}']
    for rows in (table, table.to_batches()[0], table.to_struct_array(), pa.array([{"a": 1}])):
        assert numbers.encode_rows(rows).to_pylist() == expected[: len(rows)]
    assert numbers.encode_rows(table.slice(0, 0)).to_pylist() == []
    assert numbers.decode_rows(pa.array(['{"a":7}']))[0].to_pylist() == [{"a": 7}]


def test_framed_values() -> None:
    column, bad = Json("a int").decode_rows(pa.array([b'\0\0\0\0\5{"a":1}', b"x"]), framed=True)
    assert (column.to_pylist(), [each.row for each in bad]) == ([{"a": 1}, None], [1])


@pytest.mark.parametrize(
    ("schema", "options", "value", "row"),
    [
        ("a int", {"duplicate_keys": "last"}, b'{"a":1,"a":2}', {"a": 2}),
        ("a int", {"null_document": "null"}, b"null", None),
        ("a string", {"lone_surrogates": "replace"}, b'{"a":"\\ud800"}', {"a": "\ufffd"}),
        ("array<double>", {"non_finite_numbers": "allow"}, b"[Infinity]", [float("inf")]),
        (
            {"properties": {"a": {"$ref": "x.json"}}},
            {"references": {"x.json": {"type": "integer"}}},
            b'{"a":1}',
            {"a": 1},
        ),
    ],
)
def test_options_are_passed_on(schema: Any, options: dict[str, Any], value: bytes, row: Any) -> None:
    column, bad = Json(schema, **options).decode_rows(pa.array([value]))
    assert (column.to_pylist(), bad) == ([row], [])
    if "references" not in options:
        refused = Json(schema).decode_rows(pa.array([value]))[1]
        assert [each.row for each in refused] == [0]


def test_non_finite_numbers() -> None:
    array = pa.array([[float("nan")]])
    with pytest.raises(JsonEncodeError, match="Row 0"):
        Json("array<double>").encode_rows(array)
    assert Json("array<double>", non_finite_numbers="null").encode_rows(array).to_pylist() == [b"[null]"]
    assert Json("array<double>", non_finite_numbers="allow").encode_rows(array).to_pylist() == [b"[NaN]"]


def test_schemas_are_inferred() -> None:
    values = [b'{"id":1,"at":"2026-01-31"}', None, '{"id":2.5}']
    events = Json.infer(values, times=True, duplicate_keys="last")
    assert events.type == pa.struct([("id", pa.float64()), ("at", pa.date32())])
    assert events.decode_rows(pa.array([b'{"id":1,"id":2}']))[0].to_pylist() == [{"id": 2.0, "at": None}]
    assert Json.infer(pa.array(VALUES[:2], pa.binary())).type == pa.struct([("id", pa.int64()), ("name", pa.string())])
    with pytest.raises(JsonSchemaError, match="several types"):
        Json.infer([b"1", b'"a"'])


def test_an_unsupported_schema_is_rejected_immediately() -> None:
    with pytest.raises(JsonSchemaError, match="At a: JSON has no values of the type duration"):
        Json(pa.schema([("a", pa.duration("s"))]))
    with pytest.raises(ValueError, match="nulls must be 'write' or 'omit', got 'no'"):
        Json("a int", nulls="no")  # type: ignore[arg-type]


def test_several_threads_share_a_codec() -> None:
    numbers = Json("a bigint")
    values = [pa.array([b'{"a":%d}' % (number * 1000 + row) for row in range(1000)]) for number in range(4)]
    found: dict[int, Any] = {}
    started = threading.Barrier(4)

    def decode(number: int) -> None:
        started.wait(30)
        found[number] = [numbers.decode_rows(values[number])[0].to_pylist() for _ in range(5)]

    threads = [threading.Thread(target=decode, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    for number in range(4):
        assert found[number] == [[{"a": number * 1000 + row} for row in range(1000)]] * 5


def test_syntax_check() -> None:
    assert json_syntax_error(b'{"a":[1,NaN]}') is None
    assert json_syntax_error(b'{"a":[1,]}') == "expected a value, got ']', at byte 8"
