"""Columns of random Protobuf schemas match the library protobuf, in both directions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pa: Any = pytest.importorskip("pyarrow")
pytest.importorskip("ptars")
pytest.importorskip("google.protobuf")


from kafka.formats import Protobuf, ProtobufEncodeError  # noqa: E402
from kafka.formats.protobuf.descriptors import file_of, message_of  # noqa: E402
from unit.formats.protobuf.values import Row, canonical, comparable, files, is_merged, messages, readers  # noqa: E402

pytestmark = pytest.mark.once


def check_a_schema(data: Any) -> None:
    """Values of one version of a message are read with another, and written with that version.

    A value may be two concatenated messages, which is a message with the fields of both.
    """
    file = data.draw(files())
    written = message_of(file_of(file), None)
    protobuf = Protobuf(data.draw(readers(file)))
    values: list[Any] = []
    most = 2 if is_merged(written) else 1
    for count in data.draw(st.lists(st.sampled_from([1, 1, 1, 0, most]), min_size=1, max_size=4)):
        parts = [data.draw(messages(written)).SerializePartialToString() for _ in range(count)]
        values.append(b"".join(parts) if count else None)
    column, bad = protobuf.decode_rows(pa.array(values, pa.binary()))
    assert bad == []
    expected = [None if each is None else protobuf.message_class.FromString(each) for each in values]
    rows = [None if each is None else Row(each) for each in expected]
    assert comparable(column.to_pylist()) == [None if each is None else each.value for each in rows]
    if all(each is None or each.is_writable for each in rows):
        again = protobuf.encode_rows(column).to_pylist()
        found = [None if each is None else canonical(protobuf.message_class.FromString(each)) for each in again]
        assert found == [None if each is None else canonical(each) for each in expected]
    else:
        with pytest.raises(ProtobufEncodeError, match=r"recursive|is not a value of the enum"):
            protobuf.encode_rows(column)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.data())
def test_columns_match_the_library(data: Any) -> None:
    check_a_schema(data)


@pytest.mark.exhaustive
@pytest.mark.timeout(3600)
@settings(max_examples=10_000, deadline=None)
@given(st.data())
def test_columns_of_10000_schemas_match_the_library(data: Any) -> None:
    check_a_schema(data)
