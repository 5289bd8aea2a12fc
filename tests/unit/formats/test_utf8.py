"""The UTF-8 check matches Python's decoder, in both variants."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka.formats.avro.column_decoder import AvroColumnDecoder
from kafka.formats.avro.defaults import zigzag
from kafka.formats.avro.schema import parse

_EDGES = [
    *(
        b"\x7f",
        b"\x80",
        b"\xbf",
        b"\xc1\xbf",
        b"\xc2\x80",
        b"\xc2",
        b"\xc2\x7f",
        b"\xdf\xbf",
        b"\xe0\x9f\xbf",
        b"\xe0\xa0\x80",
    ),
    *(
        b"\xe0\xa0",
        b"\xed\x9f\xbf",
        b"\xed\xa0\x80",
        b"\xef\xbf\xbf",
        b"\xf0\x8f\xbf\xbf",
        b"\xf0\x90\x80\x80",
        b"\xf0\x90\x80",
    ),
    *(
        b"\xf4\x8f\xbf\xbf",
        b"\xf4\x90\x80\x80",
        b"\xf5\x80\x80\x80",
        b"\xff",
        b"\xe1\x80\x7f",
        b"\xf1\x80\x80\x7f",
        b"\xf1\x80\x7f\x80",
    ),
]


def is_taken(data: bytes) -> bool:
    """Whether a string of these bytes is accepted unchanged."""
    decoder = AvroColumnDecoder(parse("string"))
    decoder.use(None, parse("string"))
    column, bad = decoder.decode(pa.array([zigzag(len(data)) + data], pa.binary()), framed=False)
    assert bad or column.to_pylist() == [data.decode()]
    return not bad


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize("data", _EDGES)
@pytest.mark.parametrize("before", [b"", b"1234567", b"12345678", b"123456789"])
@pytest.mark.parametrize("after", [b"", b"x", b"12345678"])
def test_edges_of_the_encoding(data: bytes, before: bytes, after: bytes) -> None:
    assert is_taken(before + data + after) == is_utf8(before + data + after)


@pytest.mark.slow
@given(st.one_of(st.binary(max_size=40), st.text(max_size=30).map(lambda text: text.encode("utf-8", "surrogatepass"))))
@example(b"")
def test_any_bytes(data: bytes) -> None:
    assert is_taken(data) == is_utf8(data)
