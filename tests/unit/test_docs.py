"""docs/DESIGN.md is true where a program can tell: what it names is there, and it stays short enough to be read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "kafka"
DESIGN = (ROOT / "docs" / "DESIGN.md").read_text(encoding="utf-8")
QUOTED = sorted(set(re.findall(r"`([^`\n]+)`", DESIGN)))
PATHS = [each for each in QUOTED if re.fullmatch(r"[\w./]+(\.py|/)", each)]
NAMES = [each for each in QUOTED if re.fullmatch(r"[A-Z]\w+(\.\w+)?", each)]


@cache
def defined() -> frozenset[str]:
    """Every class of the package, every `Class.name` of its methods and attributes, and every constant."""
    return frozenset(name for path in SOURCE.rglob("*.py") for name in _names(ast.parse(path.read_text())))


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name
            for inner in ast.walk(node):
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield f"{node.name}.{inner.name}"
                elif (
                    isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id == "self"
                ):
                    yield f"{node.name}.{inner.attr}"
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def test_the_guide_can_be_read_in_ten_minutes() -> None:
    assert len(DESIGN.splitlines()) <= 250


@pytest.mark.parametrize("path", PATHS)
def test_a_file_that_the_guide_names_is_there(path: str) -> None:
    homes = (ROOT, ROOT / "docs", SOURCE, SOURCE.parent)
    assert any((home / path).exists() for home in homes) or any(SOURCE.glob(f"*/{path}")), path


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_the_guide_uses_is_there(name: str) -> None:
    inherited = {"KafkaConsumer.poll", "KafkaProducer.send", "KafkaShareConsumer.poll", "Exception"}
    assert name in defined() or name in inherited, name


KIPS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "KIPS.md").read_text(encoding="utf-8").splitlines()
    if re.match(r"\| \d", line)
]
"""The rows of docs/KIPS.md: numbers, since when, what, state and the tests that show it."""


@pytest.mark.parametrize("row", KIPS, ids=[row[0] for row in KIPS])
def test_a_kip_has_a_state_and_tests_that_are_there(row: list[str]) -> None:
    _, _, _, state, shown_by = row
    stated = re.match(r"(yes|here|part|no|-)(?=$|[ ,;:])", state)
    assert stated, state
    assert stated[1] in ("yes", "here", "-") or ":" in state, "what is missing, and why?"
    tests = re.findall(r"`([\w./]+)`", shown_by)
    assert tests or stated[1] in ("no", "-"), "which test shows it?"
    for name in tests:
        assert (ROOT / "tests" / ("" if name.startswith("unit/") else "integration") / name).is_file(), name
    if stated[1] == "yes":
        assert any(not name.startswith("unit/") for name in tests), "which test, on Apache Kafka?"


def test_each_kip_is_listed_once() -> None:
    numbers = [number for row in KIPS for number in row[0].split(", ")]
    assert len(set(numbers)) == len(numbers)
