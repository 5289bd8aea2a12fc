"""The public Avro codec, `kafka.formats.Avro`."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pytest

import kafka.formats
from kafka.formats import Avro, AvroDecodeError, AvroEncodeError, AvroResolutionError, AvroSchemaError

OLD = Avro({"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]})
NEW = Avro(
    {
        "type": "record",
        "name": "Order",
        "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": "string", "default": "-"}],
    }
)


def test_objects_are_encoded_and_decoded_with_either_version() -> None:
    assert NEW.encode({"id": 1, "note": "x"}, b"\0\0\0\0\7") == b"\0\0\0\0\7\2\2x"
    assert NEW.decode(b"\0\0\0\0\7\2\2x", 5) == {"id": 1, "note": "x"}
    for _ in range(2):  # the second time, the reader is cached
        assert NEW.decode(b"\2", writer=OLD) == {"id": 1, "note": "-"}
        assert NEW.decode(b"\2\2x") == {"id": 1, "note": "x"}
    with pytest.raises(AvroDecodeError):
        NEW.decode(b"\2")
    with pytest.raises(AvroResolutionError, match="the writer's string cannot be read"):
        NEW.decode(b"\2", writer=Avro("string"))


def test_types_of_other_schemas_are_found_by_name() -> None:
    city = '{"type": "enum", "name": "geo.City", "symbols": ["Graz", "Linz"]}'
    place = '{"type": "record", "name": "geo.Place", "fields": [{"name": "city", "type": "geo.City"}]}'
    trip = Avro({"type": "array", "items": "geo.Place"}, references=[city, place])
    assert trip.decode(trip.encode([{"city": "Linz"}])) == [{"city": "Linz"}]
    with pytest.raises(AvroSchemaError, match="a type defined before"):
        Avro(place)


def test_a_codec_shows_the_type_of_its_schema() -> None:
    assert repr(Avro({"type": "record", "name": "shop.Order", "fields": []})) == "Avro(record shop.Order)"
    assert str(Avro(["null", "string"])) == "Avro(union [null, string])"
    assert len(repr(Avro([{"type": "fixed", "name": f"F{number}", "size": 1} for number in range(99)]))) == 206


def test_a_bad_value_has_the_path_of_its_field() -> None:
    line = {"type": "record", "name": "Line", "fields": [{"name": "price", "type": "boolean"}]}
    items = {"type": "array", "items": line}
    orders = Avro({"type": "record", "name": "Order", "fields": [{"name": "items", "type": items}]})
    _, bad = orders.decode_rows(pa.array([b"\x04\1\2\0", b"\0", b"\0\0"], pa.binary()))
    assert [(each.row, each.field) for each in bad] == [(0, "items[1].price"), (2, None)]


def test_strict_rejects_missing_and_unknown_fields() -> None:
    assert OLD.encode({"id": 1, "more": 2}) == b"\2"
    with pytest.raises(AvroEncodeError, match="Expected no fields beside those of record Order"):
        Avro({"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}, strict=True).encode(
            {"id": 1, "more": 2}
        )


def test_rows_are_encoded_and_decoded_by_the_schemas_of_their_ids() -> None:
    table = pa.table({"id": [1, 2]})
    first, second = OLD.encode_rows(table, b"\0\0\0\0\1"), NEW.encode_rows(table, b"\0\0\0\0\2")
    unknown = pa.array([b"\0\0\0\0\3\2"], pa.binary())
    column, bad = NEW.decode_rows(pa.concat_arrays([first, second, unknown]), writers={1: OLD, 2: NEW})
    assert (
        column.type
        == NEW.arrow_type
        == pa.struct([pa.field("id", pa.int64(), False), pa.field("note", pa.string(), False)])
    )
    assert column.to_pylist() == [{"id": number, "note": "-"} for number in (1, 2, 1, 2)] + [None]
    assert [(each.row, each.schema_id, each.cause) for each in bad] == [(4, 3, "there is no schema with the id 3")]
    assert bad[0].field is None
    with pytest.raises(ValueError, match="Expected either writer or writers"):
        NEW.decode_rows(first, writer=OLD, writers={})


def test_rows_of_another_version_or_the_same() -> None:
    values = pa.array([b"\2", None], pa.binary())
    assert NEW.decode_rows(values, writer=OLD)[0].to_pylist() == [{"id": 1, "note": "-"}, None]
    assert OLD.decode_rows(values)[0].to_pylist() == [{"id": 1}, None]


def test_a_schema_is_made_of_columns() -> None:
    table = pa.table({"id": [1, None]})
    made = Avro.of_columns(table.schema, "Order")
    assert made.decode_rows(made.encode_rows(table))[0].to_pylist() == table.to_pylist()


def test_names_are_loaded_when_they_are_used() -> None:
    code = "import sys, kafka.formats; kafka.formats.Avro('int').encode(1); print('pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "False\n"
    assert set(kafka.formats.__all__) <= set(dir(kafka.formats))
    for name in kafka.formats.__all__:
        assert getattr(kafka.formats, name).__name__ == name


def test_values_may_be_in_any_array_of_bytes() -> None:
    avro = Avro("string")
    for values in (
        pa.array([b"\2a"], pa.large_binary()),
        pa.array([b"\2a"], pa.binary_view()),
        pa.array([b"\2a"], pa.binary(2)),
        pa.chunked_array([pa.array([b"\2a"])]),
    ):
        assert avro.decode_rows(values)[0].to_pylist() == ["a"]
    for wrong in (pa.array(["a"]), [b"\2a"], pa.array([1])):
        with pytest.raises(TypeError, match="Expected a binary array, got"):
            avro.decode_rows(wrong)
    with pytest.raises(TypeError, match="Expected an array, a record batch or a table, got list"):
        avro.encode_rows(["a"])


def test_a_value_may_be_any_buffer() -> None:
    for data in (bytearray(b"\2"), memoryview(b"\2"), pa.py_buffer(b"\2"), memoryview(b"\2").cast("b")):
        assert Avro("int").decode(data) == 1
    for wrong in (None, "text", 5):
        with pytest.raises(TypeError):
            Avro("int").decode(wrong)  # type: ignore[arg-type]
