"""Hashing a column of keys."""

from __future__ import annotations

import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka.partitioner.murmur2 import murmur2, partition_column


@given(st.lists(st.none() | st.binary(max_size=20), max_size=20), st.integers(1, 1000), st.integers(0, 9))
def test_a_column_is_hashed_like_its_keys(keys: list[bytes | None], partitions: int, first_bit: int) -> None:
    ends = array.array("q", [0])
    bits = 0
    for index, key in enumerate(keys):
        ends.append(ends[-1] + len(key or b""))
        bits |= (key is not None) << (first_bit + index)
    valid = bits.to_bytes((first_bit + len(keys)) // 8 + 1, "little")
    out = array.array("i", [99] * len(keys))
    partition_column(b"".join(key or b"" for key in keys), ends, valid, first_bit, partitions, out)
    assert list(out) == [-1 if key is None else (murmur2(key) & 0x7FFFFFFF) % partitions for key in keys]


@pytest.mark.parametrize(
    ("ends", "valid", "partitions", "room"),
    [
        ([0, 9], None, 3, 1),
        ([-1, 2], None, 3, 1),
        ([2, 1], None, 3, 1),
        ([0, 1], b"", 3, 1),
        ([0, 1], None, 0, 1),
        ([0, 1, 2], None, 3, 1),
        ([], None, 3, 1),
    ],
)
def test_buffers_that_do_not_fit_are_refused(ends: list[int], valid: bytes | None, partitions: int, room: int) -> None:
    with pytest.raises(ValueError, match="Expected"):
        partition_column(b"key", array.array("q", ends), valid, 0, partitions, array.array("i", [0] * room))
