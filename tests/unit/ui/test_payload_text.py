"""Bytes as text."""

import json

import pytest

from kafka.display.payload_text import LARGEST_JSON, shown

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("data", "text", "way"),
    [
        (None, "null", "null"),
        (b"", "", "utf-8"),
        ("grüße".encode(), "grüße", "utf-8"),
        (b'{"a": 1}', '{"a": 1}', "json"),
        (b" [1, 2]", " [1, 2]", "json"),
        (b"12", "12", "utf-8"),
        (b'{"a": ', '{"a": ', "utf-8"),
        (b"\x00\x01\x02\x03\x04", "00010203 04", "hex"),
        (b"\xff\xfe", "fffe", "hex"),
        (b"a\x1b[31m", "611b5b33 316d", "hex"),
    ],
)
def test_auto_selects_the_encoding(data: bytes | None, text: str, way: str) -> None:
    assert shown(data, "auto", 100) == (text, way, "")


def test_the_requested_encoding_is_used_or_noted() -> None:
    assert shown(b"\xffa", "utf-8", 100) == ("\\xffa", "utf-8", "")
    assert shown(b"text", "hex", 100).text == "74657874"
    assert shown(b"text", "json", 100) == ("text", "utf-8", "not JSON, shown as text")
    assert shown(b"12", "json", 100) == ("12", "json", "")


def test_a_large_value_is_truncated_with_its_size() -> None:
    found = shown(b"x" * 5_000_000, "auto", 300)
    assert found == ("x" * 300, "utf-8", "the first 300 B of 4.8 MiB (5,000,000 bytes)")
    assert shown("é".encode() * 200, "auto", 301).text == "é" * 150 + "\\xc3"


def test_a_large_document_is_not_parsed() -> None:
    data = json.dumps(["x" * LARGEST_JSON]).encode()
    assert shown(data, "auto", 100).way == "utf-8"


@pytest.mark.parametrize("data", [b"[" * 200_000, b'{"a":' * 50_000, b"[" + b"1" * 10_000 + b"]"])
def test_a_hostile_document_is_text(data: bytes) -> None:
    assert shown(data, "auto", 50, whole=True).way == "utf-8"


def test_a_document_is_indented_without_other_changes() -> None:
    text = '{"b":1.50,"b": [1e400, {}, [ ], "a\\"{,"], "a":{"c":null}}'
    assert shown(text.encode(), "auto", 1_000, whole=True).text == (
        '{\n  "b": 1.50,\n  "b": [\n    1e400,\n    {},\n    [],\n    "a\\"{,"\n  ],\n  "a": {\n    "c": null\n  }\n}'
    )


def test_hex_dumps_show_positions() -> None:
    assert shown(bytes(range(60, 80)), "hex", 100, whole=True).text == (
        "00000000  3c 3d 3e 3f 40 41 42 43 44 45 46 47 48 49 4a 4b  <=>?@ABCDEFGHIJK\n"
        "00000010  4c 4d 4e 4f                                      LMNO"
    )


def test_the_indentation_of_deep_json_is_limited() -> None:
    data = b"[" * 900 + b",".join([b"1"] * 30_000) + b"]" * 900
    found = shown(data, "auto", len(data), whole=True)
    assert found.way == "json"
    assert len(found.text) < 30 * len(data)
    assert found.text.split() == shown(b"[" * 900, "utf-8", 900).text.replace("[", "[ ").split() + (
        ["1,"] * 29_999 + ["1"] + ["]"] * 900
    )
