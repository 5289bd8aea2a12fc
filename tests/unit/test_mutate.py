"""The script that mutates the code finds what can be changed, and leaves out what no test could notice."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from scripts import mutants, mutate

pytestmark = pytest.mark.once

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "mutate.py"


def changed(text: str) -> list[str]:
    """Every mutant of a text, as the whole text that it makes."""
    finder = mutants._Finder("package/file.py", text)
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
def test_a_place_is_changed(text: str, expected: list[str]) -> None:
    assert changed(text) == expected


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
        "if cython.compiled and a < b:\n    x = 1",
        "if not cython.compiled or not a:\n    x = y",
        "x = a + 1 if cython.compiled else b",
    ],
)
def test_what_no_test_has_to_notice_is_left_alone(text: str) -> None:
    assert changed(text) == []


COMPILED_ONLY = """
import cython

_AHEAD, _LINE = 16, 64
_LIMIT = 3


class _Memory:
    def __init__(self):
        self.size = 7


def _fetch(row):
    if row + _LINE > 0:
        prefetch(row + _AHEAD)
        _fetch(row - 1)


def _take():
    return _Memory()


def each(rows):
    for row in rows:
        if cython.compiled and row + _AHEAD < len(rows):
            _fetch(row)
            _take()
        if not cython.compiled or not _LIMIT:
            continue
        _store(row + 1)


def _store(row):
    if cython.compiled:
        return row + 1
    return row
"""


def test_what_only_compiled_modules_run_is_left_out_with_all_that_only_it_names() -> None:
    assert changed(COMPILED_ONLY) == [COMPILED_ONLY.replace("            continue", "            break")]
    used_plain = COMPILED_ONLY + "\n\ndef plain(row):\n    _fetch(row)\n"
    assert any("row - _LINE" in each for each in changed(used_plain))
    assert any("row - _AHEAD)" in each for each in changed(used_plain))
    assert not any("size = 8" in each for each in changed(used_plain))


def test_mutants_are_chosen_by_package_folder_and_file() -> None:
    places = ["record/codecs/lz4.py", "record/codecs/zstd.py", "producer/send/sender.py", "producer/sender.py"]
    every = [mutate.Mutant(place, 1, 0, 0, 1, "a", "b", "constant") for place in places]

    def chosen(*paths: str) -> list[str]:
        return [each.file for each in mutate._within(every, paths)]

    assert chosen() == places
    assert chosen("record") == places[:2]
    assert chosen("producer/send/", "record/codecs/zstd.py") == places[1:3]
    assert chosen("producer/send") == [places[2]]


@pytest.mark.slow
def test_every_package_of_the_table_has_mutants_and_tests() -> None:
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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: int, expected: tuple[int, int]
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


@pytest.mark.slow
def test_mutants_are_run_against_tests_that_the_plain_variant_leaves_to_the_compiled_one(tmp_path: Path) -> None:
    done = mutate.Workshop(tmp_path).run_tests(["tests/unit/spark/exactly_once/test_driver.py"], 300)
    assert done is not None
    assert done.returncode == 0, done.stdout
    assert "deselected" not in done.stdout


@pytest.mark.slow
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
