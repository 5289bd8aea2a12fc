"""No loop with a condition stands where an interrupt at its jump back would pass by a `with` or a `finally`.

On Python 3.12 and 3.13 the jump back to a condition, where a signal's handler may run, is not covered by what encloses
the loop: a KeyboardInterrupt there leaves a lock taken. `while True` with a `break` is covered.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

SOURCE = Path(__file__).resolve().parents[2] / "src" / "kafka"
PACKAGES = ("cluster", "consumer", "coordinator", "legacy", "net", "producer", "spark")
"""What the thread of a program's signals runs. The embedded broker and the command line end with their process."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def cleans_up(node: ast.AST) -> bool:
    """Whether something has to be done where the node is left, whatever is raised."""
    if isinstance(node, ast.Try):
        caught = [each.type for each in node.handlers]
        names = [None if each is None else ast.unparse(each) for each in caught]
        return bool(node.finalbody) or None in names or "BaseException" in names
    return isinstance(node, ast.With)


def loops(node: ast.AST, inside: bool = False) -> Iterator[ast.While]:
    """The loops with a condition that stand inside of such a node, in the same function."""
    if isinstance(node, ast.While) and inside and not isinstance(node.test, ast.Constant):
        yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FUNCTIONS):
            yield from () if isinstance(child, ast.AsyncFunctionDef) else loops(child)
        else:
            covered = isinstance(node, ast.Try) and child not in node.finalbody and child not in node.handlers
            yield from loops(child, inside or (cleans_up(node) and (covered or isinstance(node, ast.With))))


@pytest.mark.slow
def test_no_lock_is_left_taken_by_an_interrupt_at_a_jump_back() -> None:
    found = []
    for package in PACKAGES:
        for file in sorted((SOURCE / package).rglob("*.py")):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            found += [f"{file.relative_to(SOURCE)}:{loop.lineno}" for loop in loops(tree)]
    assert found == []


def test_such_a_loop_is_found() -> None:
    text = "def f(self):\n    with self.lock:\n        if self:\n            while self.items:\n                pass\n"
    assert [loop.lineno for loop in loops(ast.parse(text))] == [4]
    assert list(loops(ast.parse(text.replace("self.items", "True")))) == []
    assert list(loops(ast.parse("def f(x):\n    while x:\n        with x:\n            pass\n"))) == []
