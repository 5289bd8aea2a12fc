"""The script that mutates the code finds what can be changed, and leaves out what no test could notice."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.once

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "mutate.py"


@pytest.fixture(scope="module")
def mutate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutate", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutate"] = module
    spec.loader.exec_module(module)
    return module


def changed(mutate: ModuleType, text: str) -> list[str]:
    """Every mutant of a text, as the whole text that it makes."""
    finder = mutate._Finder("package/file.py", text)
    finder.visit(ast.parse(text))
    return [text[: each.start] + each.new + text[each.end :] for each in finder.found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = a < b", ["x = a <= b"]),
        ("x = a is not b", ["x = a is b"]),
        ("x = a and b", ["x = a or b"]),
        ("x = a + b", ["x = a - b"]),
        ("a -= b", ["a += b"]),
        ("x = 7", ["x = 8"]),
        ("x = True", ["x = False"]),
        ("x = not a", ["x = (a)"]),
        ("self.go()", ["None"]),
        ("while a:\n    break", ["while a:\n    continue"]),
        ("if a.b:\n    x = y", ["if not (a.b):\n    x = y"]),
        ("if cython.compiled:\n    x = 1\nelse:\n    x = 7", ["if cython.compiled:\n    x = 1\nelse:\n    x = 8"]),
    ],
)
def test_a_place_is_changed(mutate: ModuleType, text: str, expected: list[str]) -> None:
    assert changed(mutate, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "'''Text.'''",
        "log.info('a %d', 1)",
        "assert a < b",
        "raise ValueError(f'{a + 1}')",
        "def __repr__(self):\n    return 1",
        "x: int",
        "'%d' % a",
        "if cython.compiled:\n    x = a + 1",
    ],
)
def test_what_no_test_has_to_notice_is_left_alone(mutate: ModuleType, text: str) -> None:
    assert changed(mutate, text) == []


def test_every_package_of_the_table_has_mutants_and_tests(mutate: ModuleType) -> None:
    found = mutate.mutants(list(mutate.TESTS))
    assert {each.package for each in found} == set(mutate.TESTS)
    folders = {folder for names in mutate.TESTS.values() for folder in names}
    assert all((SCRIPT.parents[1] / "tests" / "unit" / folder).exists() for folder in folders)
