"""Change the code in small ways, one at a time, and see whether a test of its package notices.

    python scripts/mutate.py                        400 mutants of all packages, seed 1
    python scripts/mutate.py --sample 40 consumer   40 of one package
    python scripts/mutate.py record/codecs/lz4.py producer/send    all of a file and a folder, if at most 400
    python scripts/mutate.py --only FILE:LINE:COL:KIND    one of them again (or several); prints what the tests say

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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from scripts.mutants import SOURCE, Mutant, mutants  # noqa: E402  # found by the line above

EQUIVALENT = ROOT / "scripts" / "equivalent_mutants.txt"

TESTS: dict[str, tuple[str, ...]] = {
    "cluster": ("cluster",),
    "consumer": ("consumer",),
    "coordinator": ("coordinator",),
    "formats": ("formats",),
    "net": ("net",),
    "pipelines": ("pipelines",),
    "producer": ("producer",),
    "record": ("record/test_reference.py", "record"),
    "spark": ("spark",),
}
"""The packages, and the parts of `tests/unit` that their mutants are run against: first what notices most of them."""


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
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", "--once-too"]
        command += ["-m", "not exhaustive"]
        environment = {**os.environ, "KAFKA_PURE": "1", "PYTHONDONTWRITEBYTECODE": "1", **variables}
        environment["PYTHONPATH"] = os.pathsep.join(str(self._folder / name) for name in ("src", "scripts"))
        try:
            return subprocess.run(
                [*command, *options, f"@{chosen}"],
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
        if done is None:
            raise SystemExit(f"the tests of {package} take longer than half an hour without a mutant")
        if done.returncode:
            raise SystemExit(f"the tests of {package} fail without a mutant:\n{done.stdout[-3000:]}")
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
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help=f"{', '.join(TESTS)}, or files and folders in them (all)"
    )
    parser.add_argument("--sample", type=int, default=400, help="how many mutants (400)")
    parser.add_argument("--seed", type=int, default=1, help="chooses them (1)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (2)")
    parser.add_argument("--least", type=float, default=85.0, help="per cent that have to be noticed (85)")
    parser.add_argument("--only", action="append", default=[], help="one mutant, as its line names it; may be repeated")
    options = parser.parse_args(arguments)
    unknown = {path.split("/")[0] for path in options.paths} - set(TESTS)
    if unknown:
        parser.error(f"unknown packages {', '.join(sorted(unknown))}: there are {', '.join(TESTS)}")
    every = _within(mutants(list(TESTS)), options.paths)
    if not every:
        parser.error(f"there are no mutants in {', '.join(options.paths)}")
    if options.only:
        chosen = [mutant for mutant in every if mutant.name in options.only]
        missing = set(options.only) - {mutant.name for mutant in chosen}
        if missing:
            parser.error(f"there is no mutant {', '.join(sorted(missing))}")
    else:
        chosen = random.Random(options.seed).sample(every, min(options.sample, len(every)))
    print(f"{len(chosen)} of {len(every)} mutants", flush=True)
    return _run(chosen, options.jobs, options.least, bool(options.only))


def _within(every: Sequence[Mutant], paths: Sequence[str]) -> list[Mutant]:
    """The mutants in some files and folders; all, where none is named."""
    folders = tuple(f"{path.rstrip('/')}/" for path in paths)
    return [mutant for mutant in every if not paths or f"{mutant.file}/".startswith(folders)]


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
    """Record which lines the tests of each package run."""

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
