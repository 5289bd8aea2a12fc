"""docs/PIPELINES.md matches the code: its tables, its keys, its commands, and what it says about rules and headers."""

from __future__ import annotations

import re

import pytest
from pydantic import BaseModel
from scripts import pipelines_page

from kafka.cli.pipeline import ORDER
from kafka.pipelines import record_headers, yaml_file
from kafka.pipelines.declaration import Declaration, json_schema
from kafka.pipelines.source_declaration import MAX_RULES, RESERVED, Otherwise
from kafka.pipelines.targets.choice import TARGETS

pytestmark = pytest.mark.once

PAGE = pipelines_page.PAGE.read_text(encoding="utf-8")


def models(model: type[BaseModel]) -> set[str]:
    """Return the names of the models in the JSON Schema of a model."""
    return set(model.model_json_schema().get("$defs", {}))


def test_the_generated_tables_are_up_to_date() -> None:
    assert pipelines_page.with_tables(PAGE) == PAGE, "run scripts/pipelines_page.py"


def test_every_key_is_in_the_table() -> None:
    documented = {model.__name__ for model in pipelines_page.MODELS.values()} | {"Otherwise"}
    assert models(Declaration) | {"Declaration"} == documented, "add the model to scripts/pipelines_page.py"
    described = [property_ for each in json_schema()["$defs"].values() for property_ in each.get("properties", ())]
    table = PAGE.partition("<!-- keys")[2].partition("<!-- end of keys")[0]
    assert {name for name in described if f"| `{name}` |" not in table} == set()


def test_a_table_that_is_out_of_date_is_noticed() -> None:
    assert pipelines_page.with_tables(PAGE.replace("| `max_bad` |", "| `max_worse` |")) == PAGE
    with pytest.raises(ValueError, match="expected the marks"):
        pipelines_page.with_tables("# Pipelines\n")


def test_lines_are_counted_without_blank_lines_comments_and_docstrings() -> None:
    program = '"""A\n\nB"""\n\nimport os\n\n# why\nprint(\n    os\n)\n'
    assert pipelines_page.lines_of("python", program) == 4
    assert pipelines_page.lines_of("yaml", "# a\na: 1\n\nb:\n  - 2  # c\n") == 3


def test_every_rule_outcome_header_and_target_is_documented() -> None:
    for name in (*RESERVED, *Otherwise, *record_headers.OWN, *TARGETS):
        assert f"| `{name}`" in PAGE, name
    assert f"A source can have up to {MAX_RULES} rules." in PAGE


def test_commands_exist() -> None:
    named = set(re.findall(r"kafka pipeline (\w+)", PAGE))
    assert named == set(ORDER)


@pytest.mark.parametrize("yaml", re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
def test_a_declaration_of_the_page_is_valid(yaml: str) -> None:
    assert yaml_file.parse(yaml).pipeline
