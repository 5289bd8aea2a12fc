"""What stands before values, as Confluent's serializers write it."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest

from kafka.formats.framing import prefix_of, prefixed

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
