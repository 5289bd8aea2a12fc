"""Prefixes of values, as written by Confluent's serializers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from kafka.formats import Avro, Json, Protobuf
from kafka.formats.value_framing import prefix_of, prefixed

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("schema_id", "indexes", "expected"),
    [
        (1, None, b"\0\0\0\0\1"),
        (0xFFFFFFFF, None, b"\0\xff\xff\xff\xff"),
        (258, [0], b"\0\0\0\1\2\0"),
        (258, (1, 0), b"\0\0\0\1\2\4\2\0"),
        (None, None, b""),
        (None, [1], b""),
    ],
)
def test_the_prefix_is_the_id_and_the_position_of_a_message(
    schema_id: int | None, indexes: Sequence[int] | None, expected: bytes
) -> None:
    assert prefix_of(schema_id, indexes) == expected


def test_each_value_of_a_column_gets_the_prefix_and_null_stays_null() -> None:
    values = pa.array([b"a", None, b"", b"bc"], pa.binary())
    made = prefixed(values, b"\0\0\0\0\1")
    assert made.to_pylist() == [b"\0\0\0\0\1a", None, b"\0\0\0\0\1", b"\0\0\0\0\1bc"]
    assert made.type == pa.binary()
    assert prefixed(values, b"") is values


def formats() -> dict[str, Any]:
    proto = 'syntax = "proto3"; message Row { int64 id = 1; string note = 2; }'
    fields = [{"name": "id", "type": "long"}, {"name": "note", "type": "string"}]
    return {
        "avro": Avro({"type": "record", "name": "Row", "fields": fields}),
        "json": Json(pa.struct({"id": pa.int64(), "note": pa.string()})),
        "protobuf": Protobuf(proto),
    }


@pytest.mark.parametrize("kind", ["avro", "json", "protobuf"])
def test_a_prefix_read_without_a_registry_gets_a_hint(kind: str) -> None:
    given = formats()[kind]
    rows = pa.array([{"id": 5, "note": "a note"}], given.type if kind != "avro" else given.arrow_type)
    [value] = given.encode_rows(rows).to_pylist()
    column, bad = given.decode_rows(pa.array([value, prefix_of(7) + value, b"\xff\xff\xff\xff", b"\0\0"], pa.binary()))
    assert column[0].as_py() == rows[0].as_py()
    hint = "; it begins like a value with the schema id 7, which is read by a schema registry"
    assert [each.cause.endswith(hint) for each in bad] == [True, *[False] * (len(bad) - 1)]
    assert [each.row for each in bad][:2] == [1, 2]
