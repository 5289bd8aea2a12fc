"""Which parts of a module only its compiled variant runs.

`scripts/mutate.py` leaves them out: mutants run plain, so that no test could notice a change there. They are

- what stands behind `cython.compiled`: such a condition with the branch that the plain variant does not take, and what
  follows where the branch that it takes leaves the function or the loop;
- private functions, classes and values of a module that nothing but such parts names, as a prefetch, or the class of
  the memory that compiled code takes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

_LEAVE = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def compiled_only(tree: ast.Module) -> set[ast.AST]:
    """The nodes of a module that never run in the plain variant, each with all that is in it."""
    found = {each for node in ast.walk(tree) for part in _not_taken(node) for each in ast.walk(part)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    users: list[tuple[ast.stmt, list[ast.Name]]] = []
    for statement in tree.body:
        own, private = set(ast.walk(statement)), _private_names(statement)
        users.append((statement, [name for name in names if name.id in private and name not in own]))
    before = -1
    while before < len(found):
        before = len(found)
        for statement, uses in users:
            if uses and found.issuperset(uses):
                found.update(ast.walk(statement))
    return found


def _not_taken(node: ast.AST) -> Iterator[ast.AST]:
    """The outermost parts of a node that `cython.compiled` keeps the plain variant from."""
    if isinstance(node, ast.If | ast.IfExp) and _in_plain(node.test) is not None:
        yield node.test
        left = node.orelse if _in_plain(node.test) else node.body
        yield from left if isinstance(left, list) else [left]
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list):
            yield from _behind_leaving(block)


def _behind_leaving(block: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    """Return the statements of a block after the one at which the plain variant always leaves it."""
    for index, statement in enumerate(block):
        if isinstance(statement, ast.If) and (value := _in_plain(statement.test)) is not None:
            taken = statement.body if value else statement.orelse
            if taken and isinstance(taken[-1], _LEAVE):
                return block[index + 1 :]
    return ()


def _in_plain(test: ast.expr) -> bool | None:
    """Return the value of a condition in the plain variant; None if `cython.compiled` does not determine it."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        value = _in_plain(test.operand)
        return None if value is None else not value
    if isinstance(test, ast.BoolOp):
        values = [_in_plain(each) for each in test.values]
        deciding = isinstance(test.op, ast.Or)
        return deciding if deciding in values else None
    return False if ast.unparse(test) == "cython.compiled" else None


def _private_names(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module defines, if they are private."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        names = {statement.name}
    elif isinstance(statement, ast.Assign):
        names = {name.id for target in statement.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        names = {statement.target.id}
    else:
        return set()
    return names if all(name.startswith("_") for name in names) else set()
