"""Headers of a record to bytes."""

from __future__ import annotations

from typing import Any

import pytest

from kafka.record.record_headers import encode_headers


def test_encodes_number_keys_and_values() -> None:
    encoded, size = encode_headers([("k", b"value"), ("ü", None), ("", b"")])
    assert encoded == b"\x06" + b"\x02k\x0avalue" + b"\x04\xc3\xbc\x01" + b"\x00\x00"
    assert size == 1 + 5 + 2


def test_takes_other_buffers_and_other_pairs() -> None:
    assert encode_headers((["k", bytearray(b"v")], ("k", memoryview(b"v")))) == (b"\x04\x02k\x02v\x02k\x02v", 4)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [0, 1, 63, 64, 245, 246, 247, 255, 256, 8192, 100_000])
def test_grows_with_what_is_written(size: int) -> None:
    length = size << 1
    prefix = bytearray()
    while length >= 128:
        prefix.append(length & 127 | 128)
        length >>= 7
    prefix.append(length)
    one = b"\x02k" + prefix + b"x" * size
    assert encode_headers([("k", b"x" * size)] * 3) == (b"\x06" + one * 3, 3 * (size + 1))


@pytest.mark.parametrize("headers", [{"k": b"v"}, "kv", ["kv"], [("k",)], [(b"k", b"v")], [("k", "v")], [("k", 1)]])
def test_refuses_invalid_headers(headers: Any) -> None:
    with pytest.raises(TypeError, match="Expected"):
        encode_headers(headers)


def test_the_bytes_of_a_subclass_ignore_its_override() -> None:
    class Boasting(bytes):
        def __len__(self) -> int:
            return 100

        def __bytes__(self) -> bytes:
            return b"others"

    assert encode_headers([("k", Boasting(b"value"))]) == (b"\x02\x02k\x0avalue", 6)
