"""The small changes that `scripts/mutate.py` makes: where in the sources each can be made."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.compiled_only import compiled_only

SOURCE = Path(__file__).resolve().parents[1] / "src" / "kafka"

SPARK_PLANNING = (
    "plan",
    "limits",
    "ranges",
    "offsets",
    "lookup",
    "data_loss",
    "options",
    "cluster_lookup",
    "values",
    "option_table",
)
"""Of `spark` the modules that plan; the rest needs a session of Spark."""

PIPELINES_WITH_SPARK = (
    "batch_runs",
    "batch_writes",
    "combined_rows",
    "embedded_run",
    "first_rows",
    "kafka_rows",
    "planning",
    "queries",
    "recomputation",
    "replay",
    "row_plans",
    "rules",
    "run",
    "source_rows",
    "step_checks",
    "steps",
    "targets",
    "window_flush",
)
"""Of `pipelines` the modules and folders whose code mostly runs in a session of Spark, which unit tests lack."""

COMPARE: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "//"),
    ast.FloorDiv: ("//", "*"),
    ast.Div: ("/", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}


@dataclass(frozen=True)
class Mutant:
    """One change.

    Attributes:
        file: below `src/kafka`.
        line, column: where it is, from 1 and from 0.
        start, end: the bytes of the file that it replaces.
        old, new: the text there, before and after.
        kind: what kind of change it is.
    """

    file: str
    line: int
    column: int
    start: int
    end: int
    old: str
    new: str
    kind: str

    @property
    def package(self) -> str:
        """The package of its file."""
        return self.file.split("/")[0]

    @property
    def name(self) -> str:
        """What `--only` takes."""
        return f"{self.file}:{self.line}:{self.column}:{self.kind}"

    def shown(self) -> str:
        """One line for a person."""
        old, new = (" ".join(text.split()) for text in (self.old, self.new))
        return f"{self.name}  {old[:60]}  ->  {new[:60]}"


class _Finder(ast.NodeVisitor):
    """Collects the mutants of one file.

    Leaves out logging, error texts, annotations, what only checkers read, and what only the compiled variant runs.
    """

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._data = text.encode()
        self._lines = [0]
        for line in self._data.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self._left_out: set[ast.AST] = set()
        self.found: list[Mutant] = []

    # What is left out

    def visit(self, node: ast.AST) -> None:
        """Nothing of what mutants, which run plain, never come to."""
        if node not in self._left_out:
            super().visit(node)

    def visit_Module(self, node: ast.Module) -> None:
        """Look first for what is left out."""
        self._left_out = compiled_only(node)
        self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> None:
        """Nothing: it says what cannot be otherwise."""

    def visit_Raise(self, node: ast.Raise) -> None:
        """Texts of errors are not mutated."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Nor other texts."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """The value alone."""
        if node.value is not None:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """The body and defaults; nothing of `__repr__` and `__str__`, nor of what only declares, like protocols."""
        if node.name in ("__repr__", "__str__") or _only_declares(node):
            return
        for default in (*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None)):
            self.visit(default)
        for statement in node.body:
            self.visit(statement)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815  # the name that ast gives it

    def visit_If(self, node: ast.If) -> None:
        """Also the condition as a whole."""
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        if node.test not in self._left_out and not isinstance(node.test, ast.Compare | ast.UnaryOp):
            self._add(node.test, f"not ({self._text(node.test)})", "negate")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        """A call made for its effect: it is left out."""
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if not isinstance(call, ast.Call):
            return
        function = call.func
        home = function.value if isinstance(function, ast.Attribute) else None
        if isinstance(home, ast.Name) and home.id in ("log", "logging", "warnings"):
            return
        self._add(node, "await asyncio.sleep(0)" if isinstance(node.value, ast.Await) else "None", "drop-call")
        self.generic_visit(node)

    # What is changed

    def visit_Compare(self, node: ast.Compare) -> None:
        """Each comparison turns into its neighbour."""
        left: ast.expr = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            old, new = COMPARE[type(operator)]
            self._between(left, right, old, new, "compare")
            left = right
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """`and` turns into `or`, and the other way round."""
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        self._between(node.values[0], node.values[1], old, new, "boolean")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """An operator turns into its opposite."""
        if isinstance(node.left, ast.Constant) and isinstance(node.left.value, str | bytes):
            return
        if type(node.op) in ARITHMETIC:
            self._between(node.left, node.right, *ARITHMETIC[type(node.op)], "arithmetic")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """A `not` is dropped."""
        if isinstance(node.op, ast.Not):
            self._add(node, f"({self._text(node.operand)})", "drop-not")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """A number is one more, a truth value the other one."""
        if isinstance(node.value, bool):
            self._add(node, str(not node.value), "constant")
        elif isinstance(node.value, int):
            self._add(node, str(node.value + 1), "constant")

    def visit_Break(self, node: ast.Break) -> None:
        """A loop goes on."""
        self._add(node, "continue", "loop")

    def visit_Continue(self, node: ast.Continue) -> None:
        """A loop ends."""
        self._add(node, "break", "loop")

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """`+=` turns into `-=`, and the like."""
        if type(node.op) in ARITHMETIC:
            old, new = ARITHMETIC[type(node.op)]
            self._between(node.target, node.value, f"{old}=", f"{new}=", "arithmetic")
        self.visit(node.value)

    # Places

    def _offset(self, line: int, column: int) -> int:
        return self._lines[line - 1] + column

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno, node.end_col_offset)

    def _text(self, node: ast.expr) -> str:
        start, end = self._span(node)
        return self._data[start:end].decode()

    def _add(self, node: ast.expr | ast.stmt, new: str, kind: str) -> None:
        start, end = self._span(node)
        self._take(node.lineno, node.col_offset, start, end, new, kind)

    def _between(self, left: ast.expr, right: ast.expr, old: str, new: str, kind: str) -> None:
        start, end = self._span(left)[1], self._span(right)[0]
        at = self._data.find(old.encode(), start, end)
        if at >= 0:
            self._take(left.lineno, left.col_offset, at, at + len(old), new, kind)

    def _take(self, line: int, column: int, start: int, end: int, new: str, kind: str) -> None:
        old = self._data[start:end].decode()
        self.found.append(Mutant(self._file, line, column, start, end, old, new, kind))


def mutants(packages: Sequence[str]) -> list[Mutant]:
    """All mutants of these packages."""
    return [mutant for package in packages for mutant in _of_package(package)]


def _of_package(package: str) -> Iterator[Mutant]:
    for path in sorted((SOURCE / package).rglob("*.py")):
        file = path.relative_to(SOURCE).as_posix()
        text = path.read_text(encoding="utf-8")
        if text.startswith("# Written by scripts/twins.py"):
            continue
        if package == "spark" and not any(word in path.stem for word in SPARK_PLANNING):
            continue
        if package == "pipelines" and {*path.relative_to(SOURCE).parts, path.stem} & {*PIPELINES_WITH_SPARK}:
            continue
        finder = _Finder(file, text)
        finder.visit(ast.parse(text))
        yield from finder.found


def _only_declares(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function has no body that could run: only ``...`` and a docstring."""
    body = [each for each in node.body if not isinstance(each, ast.Expr) or not isinstance(each.value, ast.Constant)]
    constants = [
        each.value.value for each in node.body if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
    ]
    return not body and ... in constants
