"""Avro's floating-point numbers, in both variants."""

from __future__ import annotations

import math
import struct

import pyarrow as pa
import pytest

from kafka.formats.avro.column_decoder import AvroColumnDecoder
from kafka.formats.avro.object_decoder import AvroObjectDecoder, AvroObjectEncoder
from kafka.formats.avro.schema import parse
from kafka.formats.byte_operations import double_at, float_at, put_double, put_float, whole_as_float

NUMBERS = [0.0, -0.0, 1.5, -3.25, math.inf, -math.inf, 2.0**-149, 5e-324, 1e38]


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_are_read_like_struct(number: float) -> None:
    narrow, wide = struct.pack("<f", number), struct.pack("<d", number)
    assert float_at(b"x" + narrow, 1) == AvroObjectDecoder(parse("float")).decode(narrow)
    assert float_at(narrow, 0) == struct.unpack("<f", narrow)[0]
    assert double_at(b"x" + wide, 1) == AvroObjectDecoder(parse("double")).decode(wide) == number


def test_numbers_are_written_like_struct() -> None:
    out = memoryview(bytearray(14))
    put_float(out, 1, 1e300)
    put_double(out, 5, -1.5)
    assert bytes(out) == b"\0" + struct.pack("<f", math.inf) + struct.pack("<d", -1.5) + b"\0"


# Beyond 53 digits, converting to double would round first: the third and fourth are just off the middle of two floats.
WHOLE = {
    0: 0.0,
    -3: -3.0,
    2**62 + 2**38 + 1: 2.0**62 + 2.0**39,
    -(2**63) + 2**38 + 1: -(2.0**63) + 2.0**39,
    2**24 + 1: 2.0**24,
    2**24 + 3: 2.0**24 + 4,
    2**63 - 1: 2.0**63,
    -(2**63): -(2.0**63),
}


@pytest.mark.parametrize(("number", "expected"), WHOLE.items())
def test_a_long_is_rounded_once_to_a_float(number: int, expected: float) -> None:
    data = AvroObjectEncoder(parse("long")).encode(number)
    assert whole_as_float(number) == expected
    assert AvroObjectDecoder(parse("long"), parse("float")).decode(data) == expected
    columns = AvroColumnDecoder(parse("float"))
    columns.use(None, parse("long"))
    assert columns.decode(pa.array([data], pa.binary()), framed=False)[0].to_pylist() == [expected]
