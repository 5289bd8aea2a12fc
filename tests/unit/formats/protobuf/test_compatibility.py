"""Compatible changes of a Protobuf schema, by the rules of Confluent's registry."""

from __future__ import annotations

import pytest

pytest.importorskip("grpc_tools")

from kafka.formats.protobuf.compatibility import incompatibilities
from kafka.formats.protobuf.descriptors import file_of

pytestmark = pytest.mark.once


def reasons(old: str, new: str) -> list[tuple[str, str]]:
    files = [file_of(each if each.startswith("syntax") else f'syntax = "proto3"; {each}') for each in (old, new)]
    return [tuple(each) for each in incompatibilities(*files)]  # type: ignore[misc]


COMPATIBLE = {
    "field added": ("message A { int32 a = 1; }", "message A { int32 a = 1; string b = 2; }"),
    "field removed": ("message A { int32 a = 1; string b = 2; }", "message A { int32 a = 1; }"),
    "field renamed": ("message A { int32 a = 1; }", "message A { int32 b = 1; }"),
    "same form": ("message A { int32 a = 1; string b = 2; }", "message A { bool a = 1; bytes b = 2; }"),
    "enum for number": ("message A { int32 a = 1; }", "message A { enum E { X = 0; } E a = 1; }"),
    "message added and moved": ("message A { }", "message B { } message A { }"),
    "enum removed": ("enum E { X = 0; } message A { }", "message A { }"),
    "text repeated": ("message A { string a = 1; }", "message A { repeated string a = 1; }"),
    "one field into a oneof": ("message A { int32 a = 1; }", "message A { oneof o { int32 a = 1; int32 b = 2; } }"),
    "oneof gone": ("message A { oneof o { int32 a = 1; } }", "message A { int32 a = 1; }"),
    "optional": (
        "message A { int32 a = 1; int32 b = 2; }",
        "message A { optional int32 a = 1; optional int32 b = 2; }",
    ),
    "within itself": ("message A { A next = 1; }", "message A { A next = 1; int32 b = 2; }"),
}
INCOMPATIBLE = {
    "PACKAGE_CHANGED": ("package a; message A { }", "package b; message A { }", "#/"),
    "MESSAGE_REMOVED": ("message A { message B { } }", "message A { }", "#/A/B"),
    "FIELD_SCALAR_KIND_CHANGED": ("message A { int32 a = 1; }", "message A { sint32 a = 1; }", "#/A/1"),
    "FIELD_KIND_CHANGED": ("message A { int32 a = 1; }", "message A { A a = 1; }", "#/A/1"),
    "FIELD_NUMERIC_LABEL_CHANGED": ("message A { int32 a = 1; }", "message A { repeated int32 a = 1; }", "#/A/1"),
    "FIELD_NAMED_TYPE_CHANGED": (
        "message A { B a = 1; } message B { } message C { }",
        "message A { C a = 1; } message B { } message C { }",
        "#/A/1",
    ),
    "MULTIPLE_FIELDS_MOVED_TO_ONEOF": (
        "message A { int32 a = 1; int32 b = 2; }",
        "message A { oneof o { int32 a = 1; int32 b = 2; } }",
        "#/A/o",
    ),
    "FIELD_MOVED_TO_EXISTING_ONEOF": (
        "message A { int32 a = 1; oneof o { int32 b = 2; } }",
        "message A { oneof o { int32 a = 1; int32 b = 2; } }",
        "#/A/o",
    ),
    "ONEOF_FIELD_REMOVED": (
        "message A { oneof o { int32 a = 1; int32 b = 2; } }",
        "message A { oneof o { int32 a = 1; } }",
        "#/A/o/2",
    ),
    "REQUIRED_FIELD_ADDED": (
        'syntax = "proto2"; message A { }',
        'syntax = "proto2"; message A { required int32 a = 1; }',
        "#/A/1",
    ),
    "REQUIRED_FIELD_REMOVED": (
        'syntax = "proto2"; message A { required int32 a = 1; }',
        'syntax = "proto2"; message A { }',
        "#/A/1",
    ),
}


@pytest.mark.parametrize("case", COMPATIBLE)
def test_changes_that_are_compatible(case: str) -> None:
    assert reasons(*COMPATIBLE[case]) == []


@pytest.mark.parametrize("kind", INCOMPATIBLE)
def test_changes_that_are_not(kind: str) -> None:
    old, new, path = INCOMPATIBLE[kind]
    assert reasons(old, new) == [(kind, path)]


def test_maps() -> None:
    old = "message A { map<string, int32> a = 1; }"
    assert reasons(old, "message A { map<string, int64> a = 1; }") == []
    assert reasons(old, "message A { map<string, double> a = 1; }") == [("FIELD_SCALAR_KIND_CHANGED", "#/A/1")]
