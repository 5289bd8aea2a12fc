"""Inferring a type from a sample of JSON values, and decoding them with it."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka.formats.json.codec import infer_type
from kafka.formats.json.codec_options import DecodeOptions
from kafka.formats.json.column_decoder import JsonColumnDecoder
from kafka.formats.json.errors import JsonSchemaError

UTC = pa.timestamp("us", "UTC")


def inferred(*documents: Any, **options: Any) -> pa.DataType:
    return infer_type([json.dumps(each) for each in documents], **options)


@pytest.mark.parametrize(
    ("documents", "type_"),
    [
        ([1, 2], pa.int64()),
        ([1, 2.5], pa.float64()),
        ([2**63], pa.float64()),
        ([-(2**63), None], pa.int64()),
        ([True], pa.bool_()),
        (["a", "2026-01-31"], pa.string()),
        ([None], pa.null()),
        ([[]], pa.list_(pa.null())),
        ([[], [1, None], [2.5]], pa.list_(pa.float64())),
        ([{"a": 1}, {"b": "x", "a": None}], pa.struct([("a", pa.int64()), ("b", pa.string())])),
        (
            [{"a": {"b": [{"c": 1}]}}, {"a": {"b": [{"d": True}]}}],
            pa.struct([("a", pa.struct([("b", pa.list_(pa.struct([("c", pa.int64()), ("d", pa.bool_())])))]))]),
        ),
        ([{}], pa.struct([])),
    ],
)
def test_types_of_samples(documents: list[Any], type_: pa.DataType) -> None:
    assert inferred(*documents) == type_


@pytest.mark.parametrize(
    ("documents", "type_"),
    [
        (["2026-01-31", "2026-02-01"], pa.date32()),
        (["2026-01-31T00:00Z", "2026-01-31 00:00:00.5+01:00"], UTC),
        (["2026-01-31", "2026-01-31T00:00:00Z"], pa.string()),
        (["2026-01-31", "x"], pa.string()),
        (["2026-01-31T00:00:00"], pa.string()),
        (["2026-02-30"], pa.string()),
        (["2026-02-30T00:00:00Z"], pa.string()),
        (["2026-01-31t00:00:00.123456789z"], UTC),
    ],
)
def test_times_are_inferred_on_request(documents: list[Any], type_: pa.DataType) -> None:
    assert inferred(*documents, times=True) == type_
    assert inferred(*documents) == pa.string()


def test_values_of_several_types_are_an_error_or_text() -> None:
    documents = [{"a": [{"b": 1}, {"b": "x"}]}, {"a": [{"b": 2}, {"b": None}]}]
    with pytest.raises(
        JsonSchemaError, match=r"^At a\[\]\.b: the values have several types: string \(1\), whole \(2\)$"
    ):
        inferred(*documents)
    type_ = inferred(*documents, mixed="json")
    assert type_ == pa.struct([("a", pa.list_(pa.struct([("b", pa.json_())])))])
    column, bad = JsonColumnDecoder(type_).decode(
        pa.array([json.dumps(each).encode() for each in documents], pa.binary())
    )
    assert bad == []
    assert column.to_pylist()[0] == {"a": [{"b": "1"}, {"b": '"x"'}]}


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ([], "There are no values to infer a schema from"),
        ([None], "There are no values to infer a schema from"),
        ([b"1", None, b"[1"], "Value 2 of the sample is not JSON: "),
        ([b"\xff"], "Value 0 of the sample is not JSON: "),
        ([b"[" * 100_000], "Value 0 of the sample is not JSON: "),
    ],
)
def test_what_cannot_be_inferred(values: list[bytes | None], error: str) -> None:
    with pytest.raises(JsonSchemaError) as raised:
        infer_type(values)
    assert str(raised.value).startswith(error)


def test_other_encodings() -> None:
    assert infer_type(['{"é":1}'.encode("utf-16"), '{"é":1.5}'.encode()]) == pa.struct([("é", pa.float64())])


_DOCUMENTS = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text("ab"),
        st.dates().map(str),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)),
    max_leaves=8,
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.lists(_DOCUMENTS, min_size=1, max_size=5), st.booleans())
def test_a_sample_is_decoded_with_the_inferred_type(documents: list[Any], times: bool) -> None:
    type_ = inferred(*documents, times=times, mixed="json")
    values = pa.array([json.dumps(each).encode() for each in documents], pa.binary())
    column, bad = JsonColumnDecoder(type_, DecodeOptions(null_document="null")).decode(values)
    column.validate(full=True)
    assert bad == []
    assert [each is None for each in column.to_pylist()] == [each is None for each in documents]
