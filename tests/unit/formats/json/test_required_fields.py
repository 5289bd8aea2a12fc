"""Required fields of a JSON Schema, checked in columns."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from kafka.formats.json.column_encoder import check_required
from kafka.formats.json.schema import arrow_type

X = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "inner": X,
        "list": {"type": "array", "items": X},
        "map": {"type": "object", "additionalProperties": X},
    },
    "required": ["id"],
}
WANTED: Any = arrow_type(SCHEMA)
INNER = pa.struct([("x", pa.int64())])
GIVEN = pa.struct(
    [
        ("more", pa.int64()),
        ("map", pa.map_(pa.string(), INNER)),
        ("list", pa.list_(INNER)),
        ("inner", INNER),
        ("id", pa.int64()),
    ]
)
GOOD = {"id": 1, "inner": {"x": 1}, "list": [{"x": 1}, {"x": 2}], "map": [("a", {"x": 1})]}


@pytest.mark.parametrize(
    ("row", "path"),
    [
        ({"id": None}, "id"),
        ({"inner": {"x": None}}, "inner.x"),
        ({"list": [{"x": 1}, {"x": None}]}, "list[].x"),
        ({"list": [None]}, "list[]"),
        ({"map": [("a", {"x": 1}), ("b", {"x": None})]}, "map[].x"),
        ({"map": [("a", None)]}, "map[]"),
    ],
)
def test_missing_values_are_named_with_their_row(row: dict[str, Any], path: str) -> None:
    rows = pa.array([GOOD, None, {"id": 2, "list": [], "inner": None}, GOOD, GOOD | row, GOOD], GIVEN)
    check_required(rows.slice(0, 4), WANTED)
    for start in (0, 2):
        with pytest.raises(ValueError) as caught:  # the message is compared below
            check_required(rows.slice(start), WANTED)
        assert str(caught.value) == f"Row {4 - start}: {path} is null, but the schema requires it"


def test_a_missing_column_is_named() -> None:
    rows = pa.array([{"inner": {"y": 1}, "id": 1}])
    with pytest.raises(ValueError, match=r"^inner\.x is required by the schema, but there is no such column$"):
        check_required(rows, WANTED)
