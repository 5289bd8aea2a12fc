"""JSON syntax: every reader accepts exactly what Python's json accepts."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafka.formats.json.codec_options import DecodeOptions
from kafka.formats.json.column_decoder import JsonColumnDecoder
from kafka.formats.json.rows import json_syntax_error

_SCALARS = """
null true false nul tru fals nullx True NULL truefalse NaN Infinity -Infinity -NaN +Infinity Inf -Inf nan infinity 0
-0 00 01 -01 -00 1 -1 +1 ++1 -- - -a 12 123456789012345678901234567890 0x1F 1_000 1e 1e+ 1e- e1 1e1 1E1 1e+1 1e-1
1E+22 1E-22 1e1.5 1e++1 0e 0e0 0E+ 0.0 0. .5 -.5 . -. 1. 1.e1 1.5 1.5e 1.5e3 -1.5e-3 1.5.5 1..5 1e400 -1e400 1e-400
0.1e00000000000000000000001 1e99999999999999999999999 -1e-99999999999999999999999 1,5 1a 1.5a 1e5a 2@ \u0661 \uff11
1.7976931348623157e308 5e-324 123\x00 "" "a" 'a' " "" "a "a""b" "\\"" "\\" "\\\\" "\\\\\\" "\\/" "\\b\\f\\n\\r\\t"
"\\a" "\\'" "\\0" "\\x41" "\\u" "\\u0" "\\u004" "\\u0041" "\\u004g" "\\U0041" "\\u00 41" "\\u+041" "\\u-041"
"\\ud800" "\\udc00" "\\ud83d\\ude00" "\\ud83d\\u0041" "\\ud83d\\ud83d" "\\ud83d\\n" "\\ude00\\ud83d" "\\ud83d\\ude"
"\\ud83d\\" "\\ud83dx" "\x7f" "\x01" "\x1f" "a\x00b" "a\x0bb" "\u2028\u2029" "\ufeff" "\uffff" "\U0010ffff" [] [[]]
[[],[]] [ ] [,] [1] [1,] [,1] [1,2] [1,,2] [1;2] [1:2] [1\x202] [1]] [[1] ] ][ [1 [ [1, ["a" ["a", ["a [*] [1[2]]
["x"]] [-] [+1] {} {{}} {"a":1} {"a":1,} {,} {"a"} {"a":} {:1} {"a"::1} {"a":1,,"b":2} {"a":1"b":2} {"a":1,"a":2}
{"":0} {a:1} {'a':1} {1:1} {null:1} {"a":1}} {"a":1 {"a": {"a" { {"a":1, {"a":1] ["a":1] {["a"]} {"a\x00":1}
{"\\u0061":1} {"\\ud800":1} {"a":{"b":{}}} {"a",1} {"a":1/**/} //x /**/1 #1
""".split()  # noqa: SIM905  # a list in a form that can be read
_SPACES = ["", " ", "\t", "\n", "\r", "\r\n", "\x0b", "\x0c", "\xa0", "\u2003", "\ufeff", "\x00", "\x85"]
_BYTES = [
    *(
        b"\xff",
        b"\xc3",
        b"\xc3\xa9",
        b"\xc0\xaf",
        b"\xe2\x82",
        b"\xe2\x82\xac",
        b"\xed\xa0\x80",
        b"\xed\xbf\xbf",
        b"\xed\x9f\xbf",
    ),
    *(
        b"\xed\xa0\x80\xed\xb0\x80",
        b"\xf0\x9f\x98\x80",
        b"\xf4\x8f\xbf\xbf",
        b"\xf4\x90\x80\x80",
        b"\xf8\x88\x80\x80\x80",
        b"\x80",
    ),
]
_ENCODINGS = ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]


def is_json(data: bytes) -> bool:
    """Whether Python's json accepts the bytes."""
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def check(data: bytes) -> None:
    assert (json_syntax_error(data) is None) == is_json(data), (data, json_syntax_error(data))


def test_each_form_of_a_value_alone_and_nested() -> None:
    for scalar in _SCALARS:
        for before, after in (
            ("", ""),
            ("[", "]"),
            ('{"k":', "}"),
            ("[1,", ",2]"),
            ('[{"k":[', "]}]"),
            ("", "x"),
            ("", " 1"),
        ):
            check((before + scalar + after).encode("utf-8", "surrogatepass"))
    assert sum(is_json(scalar.encode()) for scalar in _SCALARS) > 50
    assert sum(not is_json(scalar.encode()) for scalar in _SCALARS) > 100


def test_json_white_space() -> None:
    parts = ("[", "1", ",", '{"a"', ":", "true", "}", "]")
    for space in _SPACES:
        check(space.encode())
        check(space.join(parts).encode())
        for at in range(len(parts) + 1):
            check("".join((*parts[:at], space, *parts[at:])).encode())


def test_strings_and_keys_are_utf8_with_surrogates() -> None:
    for data in _BYTES:
        for frame in (
            b'"%s"',
            b'["12345678%s12345678"]',
            b'{"%s":1}',
            b'{"a":"\\n%s"}',
            b"%s",
            b"[1%s]",
            b'["\\%s"]',
            b'["\\u%s"]',
        ):
            check(frame % data)


@pytest.mark.parametrize("encoding", _ENCODINGS)
def test_other_unicode_encodings(encoding: str) -> None:
    for text in ('{"a":"é😀"}', "[1]", "1", '"\\ud800"', "", "[1", "12", '"aé"'):
        data = text.encode(encoding)
        check(data)
        check(data + b"\x00")
        check(data[:-1])


@pytest.mark.parametrize("unit", ["[", '{"":', '[{"a":'])
def test_nesting_is_limited(unit: str) -> None:
    closing = {"[": "]", '{"":': "}", '[{"a":': "}]"}[unit]
    for depth in (1, 20, 400):
        check((unit * depth + "1" + closing * depth).encode())
        check((unit * depth + "1" + closing * (depth - 1)).encode())
    for depth in (10_000, 100_000):
        assert "nested" in (json_syntax_error(unit.encode() * depth) or "")


_DOCUMENTS = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(st.characters(codec=None, categories=("L", "N", "P", "Cc", "Cs", "So")), max_size=12),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(st.text(max_size=8), inner, max_size=5)),
    max_leaves=20,
)
_STYLES = st.sampled_from([{}, {"indent": 1}, {"separators": (",", ":")}, {"ensure_ascii": False}])


@st.composite
def documents(draw: Any) -> bytes:
    """A document written by Python's json."""
    return json.dumps(draw(_DOCUMENTS), **draw(_STYLES)).encode("utf-8", "surrogatepass")


@st.composite
def damaged(draw: Any) -> bytes:
    """One or two documents with changed, removed or inserted bytes."""
    data = bytearray(draw(documents()))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data)))
        byte = draw(st.one_of(st.sampled_from(b'"\\{}[]:,0123456789eE+-. \nntfNI\x00\xc3\xed'), st.integers(0, 255)))
        end = at + draw(st.integers(0, 2))
        data[at:end] = draw(st.sampled_from([b"", bytes([byte]), bytes(data[: at // 2])]))
    return bytes(data)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(documents())
def test_any_document_is_accepted_and_kept_as_text(data: bytes) -> None:
    check(data)
    column, bad = JsonColumnDecoder(pa.json_(), DecodeOptions(null_document="null")).decode(
        pa.array([b" %s\n" % data], pa.binary())
    )
    if json.loads(data) is None:
        assert column.null_count == 1
        return
    assert bad == []
    assert column.storage.cast(pa.binary()).to_pylist() == [data]


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(damaged())
@example(b'{"a":1}{"a":1}')
@example(b"")
def test_an_invalid_document_is_rejected_if_pythons_json_rejects_it(data: bytes) -> None:
    check(data)


def test_typed_readers_reject_the_same_syntax() -> None:
    """Invalid JSON is not accepted by the reader of the type that it resembles."""
    types = [pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.list_(pa.int64()), pa.map_(pa.string(), pa.int64())]
    types += [
        pa.decimal128(38, 4),
        pa.struct([pa.field("a", pa.int64())]),
        pa.list_(pa.string()),
        pa.list_(pa.struct([])),
    ]
    options = DecodeOptions(
        null_document="null", non_finite_numbers="allow", lone_surrogates="replace", duplicate_keys="last"
    )
    taken = 0
    for type_, scalar in itertools.product(types, _SCALARS):
        data = scalar.encode("utf-8", "surrogatepass")
        column, bad = JsonColumnDecoder(type_, options).decode(pa.array([data], pa.binary()))
        column.validate(full=True)
        taken += not bad
        if not is_json(data):
            assert bad, (type_, data, column)
    assert taken > 80
