"""Numbers in batches at their bounds, as the plain variant reads and writes them."""

from __future__ import annotations

import pytest

from kafka.record.integers import put_varint, read_int16, read_int32, read_int64, read_varint, varint_size


@pytest.mark.parametrize(("read", "size"), [(read_int16, 2), (read_int32, 4), (read_int64, 8)])
def test_fixed_size_integers_are_signed_and_read_at_their_position(read: object, size: int) -> None:
    most = (1 << 8 * size - 1) - 1
    for value in (0, 1, -1, -2, 255, 256, most, -most - 1):
        if -most - 1 <= value <= most:
            data = b"\x55\xaa" + value.to_bytes(size, "big", signed=True) + b"\x55"
            assert read(data, 2) == value  # type: ignore[operator]


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "00"),
        (-1, "01"),
        (1, "02"),
        (63, "7e"),
        (-64, "7f"),
        (64, "8001"),
        (-65, "8101"),
        (8191, "fe7f"),
        (8192, "808001"),
        (2**63 - 1, "feffffffffffffffff01"),
        (-(2**63), "ffffffffffffffffff01"),
    ],
)
def test_varints(value: int, encoded: str) -> None:
    out = bytearray(20)
    end = put_varint(memoryview(out), 3, value)
    assert bytes(out) == bytes(3) + bytes.fromhex(encoded) + bytes(20 - end)
    assert varint_size(value) == end - 3 == len(encoded) // 2
    assert read_varint(bytes(out), 3, end) == (value, end)
    for cut in range(3, end):
        assert read_varint(bytes(out), 3, cut) == (0, -1)


@pytest.mark.parametrize("encoded", ["ff" * 9 + "02", "ff" * 9 + "80" + "00", "80" * 11])
def test_a_varint_of_more_than_64_bits_is_invalid(encoded: str) -> None:
    data = bytes.fromhex(encoded)
    assert read_varint(data, 0, len(data)) == (0, -1)
