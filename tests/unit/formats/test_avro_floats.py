"""Floating-point numbers of Avro, in both variants."""

from __future__ import annotations

import math
import struct

import pytest

from kafka.formats.avro.floats import double_at, float_at, put_double, put_float
from kafka.formats.avro.object_decoder import AvroObjectDecoder
from kafka.formats.avro.schema import parse

NUMBERS = [0.0, -0.0, 1.5, -3.25, math.inf, -math.inf, 2.0**-149, 5e-324, 1e38]


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_are_read_as_struct_reads_them(number: float) -> None:
    narrow, wide = struct.pack("<f", number), struct.pack("<d", number)
    assert float_at(b"x" + narrow, 1) == AvroObjectDecoder(parse("float")).decode(narrow)
    assert float_at(narrow, 0) == struct.unpack("<f", narrow)[0]
    assert double_at(b"x" + wide, 1) == AvroObjectDecoder(parse("double")).decode(wide) == number


def test_numbers_are_written_as_struct_writes_them() -> None:
    out = memoryview(bytearray(14))
    put_float(out, 1, 1e300)
    put_double(out, 5, -1.5)
    assert bytes(out) == b"\0" + struct.pack("<f", math.inf) + struct.pack("<d", -1.5) + b"\0"
