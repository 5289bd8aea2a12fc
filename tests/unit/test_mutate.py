"""The script that mutates the code finds what can be changed, and leaves out what no test could notice."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import subprocess
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


SOURCE_TEXT = """LIMIT = 3


def far(a,
        b=4):
    if (a and
            b):
        return 1
    return [
        a,
        2,
    ]
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [(1, (1, 1)), (5, (4, 5)), (6, (6, 7)), (7, (6, 7)), (8, (8, 8)), (11, (9, 12))],
)
def test_a_mutant_is_run_by_the_tests_of_its_statement(
    mutate: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: int, expected: tuple[int, int]
) -> None:
    (tmp_path / "far.py").write_text(SOURCE_TEXT)
    monkeypatch.setattr(mutate, "SOURCE", tmp_path)
    mutant = mutate.Mutant("far.py", line, 0, 0, 1, "a", "b", "constant")
    assert mutate._statement(mutant) == expected
    first, last = expected
    ran = {"far.py": {str(first): [2, 0], str(last): [1], "99": [3]}}
    by_line = mutate.TestsByLine(["a", "b", "c", "d"], [3.0, 2.0, 1.0, 9.0], ran)
    assert by_line.of(mutant) == ([1] if first == last else [2, 1, 0])
    assert by_line.limit_s([0, 2], jobs=2) == 44
    for everything in ({}, {"far.py": {str(last): [-1, 2]}}):
        assert mutate.TestsByLine(["a", "b", "c", "d"], [3.0, 2.0, 1.0, 9.0], everything).of(mutant) == [2, 1, 0, 3]


def test_what_tests_run_is_recorded_by_line(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "thing.py").write_text("def one():\n    return 1\n\n\ndef two():\n    return 2\n")
    (tmp_path / "test_thing.py").write_text(
        "import threading\nfrom package import thing\n\n\ndef test_one():\n    assert thing.one()\n\n\n"
        "def test_both():\n    assert thing.one()\n    thread = threading.Thread(target=thing.two)\n"
        "    thread.start()\n    thread.join()\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests_by_line", "-p", "no:cacheprovider", str(tmp_path)]
    variables = {
        "PYTHONPATH": os.pathsep.join((str(tmp_path), str(SCRIPT.parent))),
        "TESTS_BY_LINE_OF": str(tmp_path / "package"),
        "TESTS_BY_LINE_TO": str(tmp_path / "out.json"),
    }
    subprocess.run(command, cwd=tmp_path, env={**os.environ, **variables}, check=True, capture_output=True)
    found = json.loads((tmp_path / "out.json").read_text())
    assert [name.partition("::")[2] for name in found["tests"]] == ["test_one", "test_both"]
    assert found["lines"]["thing.py"]["2"] == [0, 1]
    assert found["lines"]["thing.py"]["6"] == [1]
    assert found["lines"]["thing.py"]["1"] == [-1]
