"""Change the code in small ways, one at a time, and see whether a test of its package notices.

    python scripts/mutate.py                        400 mutants of all packages, seed 1
    python scripts/mutate.py --sample 40 consumer   40 of one package
    python scripts/mutate.py --only FILE:LINE:COL:KIND    one of them again; prints what the tests say

Each mutant is a copy of the sources with one change, run with the plain variant against those unit tests of its
package that run the changed lines. A mutant is noticed if a test fails or the run takes far longer than it should. What
survives is printed, with the change; `scripts/equivalent_mutants.txt` names those that no test can notice, and why.
"""

from __future__ import annotations

import argparse
import ast
import concurrent.futures
import json
import os
import queue
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "kafka"
EQUIVALENT = ROOT / "scripts" / "equivalent_mutants.txt"

TESTS: dict[str, tuple[str, ...]] = {
    "cluster": ("cluster",),
    "consumer": ("consumer",),
    "coordinator": ("coordinator",),
    "net": ("net",),
    "producer": ("producer",),
    "record": ("record/test_reference.py", "record"),
    "spark": ("spark",),
}
"""The packages, and the parts of `tests/unit` that their mutants are run against: first what notices most of them."""

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
    """Collects the mutants of one file; leaves out logging, error texts, annotations, and what only checkers read."""

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._data = text.encode()
        self._lines = [0]
        for line in self._data.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self.found: list[Mutant] = []

    # What is left out

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
        """The body and the defaults; of `__repr__` and `__str__` nothing."""
        if node.name in ("__repr__", "__str__"):
            return
        for default in (*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None)):
            self.visit(default)
        for statement in node.body:
            self.visit(statement)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815  # the name that ast gives it

    def visit_If(self, node: ast.If) -> None:
        """Also the condition as a whole; of what only compiled modules run nothing, as mutants run plain."""
        if ast.unparse(node.test) == "cython.compiled":
            for statement in node.orelse:
                self.visit(statement)
            return
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        if not isinstance(node.test, ast.Compare | ast.UnaryOp):
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
        finder = _Finder(file, text)
        finder.visit(ast.parse(text))
        yield from finder.found


class Workshop:
    """A copy of the tree in which mutants are tried, one after the other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        ignored = shutil.ignore_patterns("*.so", "*.c", "__pycache__")
        for name in ("src", "tests", "scripts", "docs"):
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        for name in ("pyproject.toml", "README.md"):
            shutil.copy(ROOT / name, folder / name)

    def run_tests(
        self, tests: Sequence[str], timeout_s: float, options: Sequence[str] = (), **variables: str
    ) -> subprocess.CompletedProcess[str] | None:
        """Run tests, given as pytest takes them; None if they take too long."""
        chosen = self._folder / "chosen.txt"
        chosen.write_text("\n".join(tests))
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", *options]
        environment = {**os.environ, "KAFKA_PURE": "1", "PYTHONDONTWRITEBYTECODE": "1", **variables}
        environment["PYTHONPATH"] = os.pathsep.join(str(self._folder / name) for name in ("src", "scripts"))
        try:
            return subprocess.run(
                [*command, f"@{chosen}"],
                cwd=self._folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None

    def record(self, package: str) -> TestsByLine:
        """Run a package's tests unchanged, which have to pass, and see what each runs."""
        target = self._folder / f"{package}.json"
        done = self.run_tests(
            [f"tests/unit/{name}" for name in TESTS[package]],
            1800.0,
            ("-p", "tests_by_line"),
            TESTS_BY_LINE_OF=str(self._folder / "src" / "kafka"),
            TESTS_BY_LINE_TO=str(target),
        )
        if done is None or done.returncode:
            raise SystemExit(f"the tests of {package} fail without a mutant:\n{done.stdout[-3000:] if done else ''}")
        return TestsByLine(**json.loads(target.read_text()))

    def try_out(self, mutant: Mutant, tests: Sequence[str], timeout_s: float) -> tuple[bool, str]:
        """Whether a mutant is noticed, and what the tests said."""
        path = self._folder / "src" / "kafka" / mutant.file
        data = path.read_bytes()
        path.write_bytes(data[: mutant.start] + mutant.new.encode() + data[mutant.end :])
        try:
            done = self.run_tests(tests, timeout_s)
        finally:
            path.write_bytes(data)
        return done is None or done.returncode != 0, done.stdout[-3000:] if done is not None else "time is up"


@dataclass(frozen=True)
class TestsByLine:
    """Which tests of a package run which lines; see `scripts/tests_by_line.py`."""

    tests: list[str]
    seconds: list[float]
    lines: dict[str, dict[str, list[int]]]

    def of(self, mutant: Mutant) -> list[int]:
        """The tests that run the statement of a mutant, the quickest first; all, if it runs on import, or never."""
        by_line = self.lines.get(mutant.file, {})
        first, last = _statement(mutant)
        found = {number for line in range(first, last + 1) for number in by_line.get(str(line), ())}
        everything = range(len(self.tests))
        return sorted(everything if -1 in found or not found else found, key=lambda number: self.seconds[number])

    def limit_s(self, chosen: Sequence[int], jobs: int) -> float:
        """How long these tests may take; more than they did, as the mutant may slow them down without harm."""
        return 20 + 3 * jobs * sum(self.seconds[number] for number in chosen)


def _statement(mutant: Mutant) -> tuple[int, int]:
    """The lines of the innermost statement that a mutant stands in; of one with a body those before the body."""
    tree = ast.parse((SOURCE / mutant.file).read_text(encoding="utf-8"))
    innermost = mutant.line, mutant.line
    for node in ast.walk(tree):  # outer statements come before inner ones
        if isinstance(node, ast.stmt) and node.end_lineno is not None and node.lineno <= mutant.line <= node.end_lineno:
            body = getattr(node, "body", None)
            last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno
            innermost = (node.lineno, last) if node.lineno <= mutant.line <= last else (mutant.line, mutant.line)
    return innermost


def equivalents() -> dict[str, str]:
    """The mutants that no test can notice: `FILE: old -> new` and why."""
    if not EQUIVALENT.exists():
        return {}
    rows = (line.rsplit("  #", 1) for line in EQUIVALENT.read_text(encoding="utf-8").splitlines() if "  #" in line)
    return {place.strip(): why.strip() for place, why in rows}


def _key(mutant: Mutant) -> str:
    line = (SOURCE / mutant.file).read_text(encoding="utf-8").splitlines()[mutant.line - 1].strip()
    return f"{mutant.file}: {line}: {mutant.old} -> {mutant.new}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; 1 where fewer than `--least` per cent are noticed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=f"of {', '.join(TESTS)} (all)")
    parser.add_argument("--sample", type=int, default=400, help="how many mutants (400)")
    parser.add_argument("--seed", type=int, default=1, help="chooses them (1)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (2)")
    parser.add_argument("--least", type=float, default=85.0, help="per cent that have to be noticed (85)")
    parser.add_argument("--only", help="one mutant, as its line names it")
    options = parser.parse_args(arguments)
    unknown = set(options.packages) - set(TESTS)
    if unknown:
        parser.error(f"unknown packages {', '.join(sorted(unknown))}: there are {', '.join(TESTS)}")
    every = mutants(options.packages or list(TESTS))
    if options.only:
        chosen = [mutant for mutant in every if mutant.name == options.only]
        if not chosen:
            parser.error(f"there is no mutant {options.only}")
    else:
        chosen = random.Random(options.seed).sample(every, min(options.sample, len(every)))
    print(f"{len(chosen)} of {len(every)} mutants", flush=True)
    return _run(chosen, options.jobs, options.least, bool(options.only))


def _run(chosen: Sequence[Mutant], jobs: int, least: float, talkative: bool) -> int:
    known = equivalents()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        shops: queue.Queue[Workshop] = queue.Queue()
        for number in range(min(jobs, len(chosen))):
            (Path(folder) / str(number)).mkdir()
            shops.put(Workshop(Path(folder) / str(number)))
        recorded = _recorded(sorted({mutant.package for mutant in chosen}), shops, jobs)

        def attempt(mutant: Mutant) -> tuple[Mutant, bool, str]:
            by_line = recorded[mutant.package]
            numbers = by_line.of(mutant)
            shop = shops.get()
            try:
                tests = [by_line.tests[number] for number in numbers]
                return mutant, *shop.try_out(mutant, tests, by_line.limit_s(numbers, jobs))
            finally:
                shops.put(shop)

        noticed, counted = 0, 0
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for mutant, caught, output in pool.map(attempt, chosen):
                equivalent = known.get(_key(mutant))
                if not caught and equivalent is not None:
                    print(f"equivalent {mutant.shown()}: {equivalent}", flush=True)
                    continue
                counted += 1
                noticed += caught
                if not caught:
                    print(f"SURVIVED {mutant.shown()}", flush=True)
                if talkative:
                    print(output)
    share = 100 * noticed / max(1, counted)
    print(f"noticed: {noticed} of {counted} ({share:.1f} %)")
    return 0 if share >= least else 1


def _recorded(packages: Sequence[str], shops: queue.Queue[Workshop], jobs: int) -> dict[str, TestsByLine]:
    """What the tests of each package run."""

    def record(package: str) -> TestsByLine:
        shop = shops.get()
        try:
            by_line = shop.record(package)
        finally:
            shops.put(shop)
        print(f"{package}: {len(by_line.tests)} tests take {sum(by_line.seconds):.1f} s", flush=True)
        return by_line

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return dict(zip(packages, pool.map(record, packages), strict=True))


if __name__ == "__main__":
    sys.exit(main())
