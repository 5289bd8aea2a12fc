"""The comparison of what a pipeline did with what a test case expects."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from kafka.pipelines.testing.case_files import Case
from kafka.pipelines.testing.comparison import differences
from kafka.pipelines.testing.embedded_run import DeadLetter, Observed, OutputRecord

pytestmark = pytest.mark.once


def found(case: dict[str, Any], *values: Any, **observed: Any) -> list[str]:
    """Return the differences between a case and the values that a pipeline wrote."""
    output = [each if isinstance(each, OutputRecord) else OutputRecord(each, None, {}) for each in values]
    checked = Case.model_validate({"name": "x", "rows": {"s": [1, 2, 3]}, **case})
    checked = checked.model_copy(
        update={"dead": tuple(each.model_copy(update={"source": "s"}) for each in checked.dead)}
    )
    return differences(checked, Observed(output, **observed))


@pytest.mark.parametrize(
    ("want", "got"),
    [
        ({"a": 1, "b": None}, {"a": 1}),
        ({"a": 1}, {"a": 1.0, "b": None}),
        ({"a": 0.3}, {"a": 0.1 + 0.2}),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2, "c": None}]}),
        ({"t": datetime.datetime(2024, 1, 31, 12)}, {"t": "2024-01-31T12:00:00Z"}),
        ({"d": datetime.date(2024, 1, 31)}, {"d": "2024-01-31"}),
        ("text", "text"),
        (None, None),
    ],
)
def test_equal_values(want: Any, got: Any) -> None:
    assert found({"expect": [{"value": want}]}, got) == []


@pytest.mark.parametrize(
    ("want", "got", "line"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, "    b: expected 2, got 3"),
        ({"a": True, "b": 1}, {"a": 1, "b": 1}, "    a: expected true, got 1"),
        ({"a": "1", "b": 1}, {"a": 1, "b": 1}, '    a: expected "1", got 1'),
        ({"a": 1, "b": {"c": [1, 2]}}, {"a": 1, "b": {"c": [1, 3]}}, "    b.c[1]: expected 2, got 3"),
        ({"a": 1}, {"a": 1, "b": 5}, "    b: expected null, got 5"),
    ],
)
def test_different_values(want: Any, got: Any, line: str) -> None:
    lines = found({"expect": [{"value": want}]}, got)
    assert lines[0] == "rows of the sink differ:"
    assert [each[:1] for each in lines[1:3]] == ["-", "+"]
    assert lines[3:] == [line]


def test_missing_and_unexpected_rows() -> None:
    assert found({"expect": [{"a": 1, "b": 1}, {"a": 2, "b": 2}]}, {"a": 2, "b": 2}, {"a": 8, "b": 9}) == [
        "rows of the sink differ:",
        '- {"a": 1, "b": 1}',
        '+ {"a": 8, "b": 9}',
    ]
    assert found({"expect": []}, {"a": 1}) == ["rows of the sink differ:", '+ {"a": 1}']
    assert found({"expect": [{"a": 1}, {"a": 1}]}, {"a": 1}) == ["rows of the sink differ:", '- {"a": 1}']
    assert found({}, {"a": 1}) == []


def test_order_matters_only_on_request() -> None:
    assert found({"expect": [1, 2]}, 2, 1) == []
    assert found({"expect": [1, 2], "ordered": True}, 1, 2) == []
    assert found({"expect": [1, 2], "ordered": True}, 2, 1) == [
        "the rows of the sink are in another order; they are:",
        "  2",
        "  1",
    ]


def test_keys_and_headers_are_compared_if_they_are_expected() -> None:
    record = OutputRecord({"a": 1}, "k", {"h": "x"})
    assert found({"expect": [{"a": 1}]}, record) == []
    assert found({"expect": [{"value": {"a": 1}, "key": "k", "headers": {"h": "x"}}]}, record) == []
    assert found({"expect": [{"value": {"a": 1}, "key": "q", "headers": {}}]}, record)[3:] == [
        '    key: expected "q", got "k"'
    ]
    assert found({"expect": [{"value": {"a": 1}, "headers": {"h": "y"}}]}, record)[3:] == [
        '    header h: expected "y", got "x"'
    ]


def test_dead_letters() -> None:
    letters = [DeadLetter("s", 0, ("decodes",), "not JSON"), DeadLetter("s", 2, ("a", "b"), "rules a and b")]
    assert found({"dead": {0: ["decodes"], 2: ["b", "a"]}}, dead=letters) == []
    assert found({"dead": [0, 2]}, dead=letters) == []
    assert found({"dead": {1: ["a"], 2: ["a"]}}, dead=letters) == [
        "dead letters differ:",
        "- row 1: expected a dead letter for 'a', got none",
        "+ row 0: dead letter for 'decodes': not JSON",
        "  row 2: expected a dead letter for 'a', got one for 'a', 'b'",
    ]
    assert found({}, dead=letters[:1]) == ["dead letters differ:", "+ row 0: dead letter for 'decodes': not JSON"]
    assert found({"dead": [0]}, dead=[letters[0], letters[0]]) == [
        "dead letters differ:",
        "+ 1 dead letters of the same rows",
    ]


def test_dropped_rows() -> None:
    assert found({"dropped": 2}, dropped=2) == []
    assert found({}, dropped=2) == ["dropped rows: expected 0, got 2"]


def test_failures() -> None:
    assert found({"fails": "rule a"}, failure="a row fails rule a") == []
    assert found({"fails": "rule a"}) == ["the run did not fail; expected an error with 'rule a'"]
    assert found({}, failure="boom") == ["the run failed: boom"]
    assert found({"fails": "rule a"}, failure="boom") == ["the run failed, but without 'rule a' in the error: boom"]
