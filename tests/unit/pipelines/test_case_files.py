"""Test files of pipelines: the short forms of rows, and the problems of a file."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from kafka.pipelines.declaration import InvalidDeclaration, declare
from kafka.pipelines.testing import json_schema, load_cases
from kafka.pipelines.testing.case_files import Case, check_names

GOOD = """
cases:
  - name: one
    rows:
      - {a: 1, b: null}
      - {value: {a: 2}, key: k, timestamp: 2024-01-31T12:00:00Z, headers: {h: x, n: null}}
      - raw: "not JSON"
      - hex: "00ff"
      - value: null
      - 5
    expect:
      - {a: 1}
      - {value: {a: 2}, key: k}
    dead: {2: [decodes], 3: []}
    dropped: 1
"""


def loaded(tmp_path: Path, text: str) -> Any:
    """Load a test file."""
    (tmp_path / "p.test.yaml").write_text(text)
    return load_cases(tmp_path / "p.test.yaml")


def declared(sources: dict[str, Any]) -> Any:
    """Return a declaration with sources."""
    return declare(
        {
            "pipeline": "p",
            "kafka": {},
            "sources": sources,
            "query": "select 1 as a",
            "sink": {"topic": "out"},
            "dead_letters": {"topic": "dead"},
        }
    )


SOURCE = {
    "topic": "in",
    "value": {"format": "json", "schema": "a int"},
    "rules": [{"name": "a is known", "holds": "a is not null"}],
}


def test_rows_are_values_or_records(tmp_path: Path) -> None:
    (case,) = loaded(tmp_path, GOOD).cases
    plain, record, raw, in_hex, null, number = case.rows["source"]
    assert plain.value == {"a": 1, "b": None}
    assert (record.value, record.key, record.headers) == ({"a": 2}, "k", {"h": "x", "n": None})
    assert record.timestamp == datetime.datetime(2024, 1, 31, 12, tzinfo=datetime.UTC).timestamp() * 1000
    assert (raw.undecoded, in_hex.undecoded) == (b"not JSON", b"\x00\xff")
    assert (null.value, null.undecoded) == (None, None)
    assert number.value == 5
    assert [(each.value, each.key) for each in case.expect] == [({"a": 1}, None), ({"a": 2}, "k")]
    assert [(each.row, each.rules) for each in case.dead] == [(2, ("decodes",)), (3, ())]


def test_bytes_are_not_encoded() -> None:
    case = Case.model_validate({"name": "x", "rows": [b"\xff", bytearray(b"a")]})
    assert [each.undecoded for each in case.rows["source"]] == [b"\xff", b"a"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("dropped: 1", "droped: 1", "p.test.yaml:15: cases[0].droped: unknown key; did you mean 'dropped'?"),
        ("  - name: one\n    rows", "  - rows", "p.test.yaml:3: cases[0].name: this key is missing"),
        ('hex: "00ff"', 'hex: "0x"', "p.test.yaml:8: cases[0].rows.source[3].hex: expected bytes in hexadecimal"),
        ("dropped: 1", "dropped: -1", "p.test.yaml:15: cases[0].dropped: expected a number of at least 0"),
        ("cases:", "cases: []\nother:", "p.test.yaml:3: other: unknown key"),
    ],
)
def test_problems_have_lines_and_keys(tmp_path: Path, old: str, new: str, expected: str) -> None:
    with pytest.raises(InvalidDeclaration) as raised:
        loaded(tmp_path, GOOD.replace(old, new))
    assert str(raised.value).removeprefix(f"{tmp_path}/").startswith(expected)


def test_names_of_cases_are_unique(tmp_path: Path) -> None:
    with pytest.raises(InvalidDeclaration, match="expected unique names, got 'one' twice"):
        loaded(tmp_path, GOOD + GOOD.partition("cases:")[2])


def test_rows_belong_to_the_only_source() -> None:
    case = check_names(Case.model_validate({"name": "x", "rows": [1], "dead": [0]}), declared({"flights": SOURCE}))
    assert list(case.rows) == ["flights"]
    assert case.dead[0].source == "flights"


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ({"rows": [1]}, "expected the rows of each source by its name (a, b), got a list"),
        ({"rows": {"c": [1]}}, "rows.c: there is no such source; the sources are a, b"),
        ({"rows": {"a": [1]}, "dead": [1]}, "dead: source 'a' has no row 1"),
        ({"rows": {"a": [1], "b": [1]}, "dead": [0]}, "dead: expected a source for row 0"),
        ({"rows": {"a": [1]}, "dead": {0: ["a is know"]}}, "there is no rule 'a is know'; did you mean 'a is known'?"),
    ],
)
def test_cases_that_do_not_fit_the_declaration(case: dict[str, Any], expected: str) -> None:
    with pytest.raises(InvalidDeclaration) as raised:
        check_names(Case.model_validate({"name": "x", **case}), declared({"a": SOURCE, "b": SOURCE}))
    assert expected in str(raised.value)


def test_the_json_schema_accepts_a_file() -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert set(schema["properties"]) == {"cases", "schemas"}
    assert yaml.safe_load(GOOD).keys() <= schema["properties"].keys()
