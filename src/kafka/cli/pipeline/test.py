"""``kafka pipeline test``: runs the test cases of a pipeline on the embedded broker."""

import contextlib
import dataclasses
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kafka.cli.command_output import Output, note, printable
from kafka.cli.pipeline.pipeline_options import file_argument, with_output
from kafka.cli.pipeline.run_endings import StopSignals
from kafka.cli.pipeline.spark_session import SessionChoice, log_file, with_session

if TYPE_CHECKING:
    from kafka.pipelines.pipeline_files import LoadedFile
    from kafka.pipelines.testing import Case, CaseResult, TestFile

T = TypeVar("T")

_SETTINGS = {"spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "2"}
"""Settings of the session, so that a test has the same result on every machine."""


@click.command(name="test")
@file_argument
@click.argument(
    "tests", metavar="[TESTS]", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "-k", "--case", "names", multiple=True, metavar="TEXT", help="Only cases whose name contains TEXT; repeatable."
)
@with_session
@with_output
def command(output: Output, file: Path, tests: Path | None, names: tuple[str, ...], choice: SessionChoice) -> None:
    """Run the pipeline in FILE on the rows of each test case, and compare what it writes.

    TESTS is the YAML file with the cases; by default, flights.test.yaml for flights.yaml and for flights.py. Each case
    runs on an embedded broker of its own, in one Spark session whose time zone is UTC. Standard error shows the
    progress.

    Exits with 1 if a case fails, and with 2 if FILE or TESTS is wrong. Ctrl-C and SIGTERM stop the current case; the
    command then exits with 130 or 143.
    """
    from kafka.pipelines.testing import run_cases
    from kafka.pipelines.testing.case_progress import CaseProgress

    loaded, content = _loaded(file, tests if tests is not None else _tests_of(file))
    declaration = loaded.declaration
    cases = [each for each in content.cases if not names or any(name in each.name for name in names)]
    if not cases:
        there = ", ".join(repr(each.name) for each in content.cases)
        raise click.UsageError(
            f"no name of a case contains {' or '.join(map(repr, names))}; there are {there or 'none'}"
        )
    quiet = dataclasses.replace(choice, conf={**_SETTINGS, **choice.conf})
    results: list[CaseResult] = []
    shown = _StepDisplay(len(cases))
    progress = CaseProgress(shown.step)
    given: dict[str, Any] = {"function": loaded.function, "schemas": content.schemas, "progress": progress}
    shown.start(declaration.pipeline)
    with contextlib.ExitStack() as opened:
        signals = opened.enter_context(StopSignals(progress.stop))
        spark = opened.enter_context(quiet.session(f"{declaration.pipeline}-tests", log_file(declaration, "test")))
        signals.keep()
        signals.run_steps(progress.stop, None, "step")
        for each in _wrong_use(lambda: run_cases(declaration, cases, spark, **given)):
            results.append(each)
            shown.clear()
            if not output.as_json:
                _show(each)
    shown.clear()
    if signals.status is not None:
        note(f"{declaration.pipeline}: stopped; {len(results)} of {len(cases)} cases have run")
        signals.end()
    failed = sum(not each.passes for each in results)
    if output.as_json:
        output.data({"ok": not failed, "cases": [_json(each) for each in results]})
    else:
        click.echo(f"{len(results) - failed} passed" + (f", {failed} failed" if failed else ""))
    if failed:
        raise click.exceptions.Exit(1)


class _StepDisplay:
    """Shows on standard error what happens: in a terminal, each step in one line; elsewhere, a line for each case.

    Arguments:
        count: number of cases that will run.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._is_terminal = sys.stderr.isatty()
        self._current: Case | None = None
        self._number = 0
        self._is_shown = False

    def start(self, name: str) -> None:
        """Say that Spark starts, for the tests of a pipeline."""
        self._line(f"{name}: starting Spark for {self._count} case{'' if self._count == 1 else 's'}")

    def step(self, case: "Case", step: str) -> None:
        """Show a step of a case."""
        is_next = case is not self._current
        self._current = case
        self._number += is_next
        text = f"case {self._number} of {self._count}: {case.name}"
        if self._is_terminal:
            self._line(f"{text}: {step}")
        elif is_next:
            self._line(text)

    def clear(self) -> None:
        """Remove the line, so that a result can be printed."""
        if self._is_shown:
            self._is_shown = False
            click.echo("\r\x1b[K", nl=False, err=True, color=True)

    def _line(self, text: str) -> None:
        if not self._is_terminal:
            note(text)
            return
        width = shutil.get_terminal_size().columns
        click.echo(f"\r{printable(text)[: max(1, width - 1)]}\x1b[K", nl=False, err=True, color=True)
        self._is_shown = True


def _tests_of(file: Path) -> Path:
    """Return the default file of the cases, which is a YAML file even for a Python file."""
    from kafka.pipelines.pipeline_files import SUFFIX

    return file.with_suffix(".test.yaml" if file.suffix == SUFFIX else f".test{file.suffix}")


def _loaded(file: Path, tests: Path) -> "tuple[LoadedFile, TestFile]":
    from kafka.pipelines.pipeline_files import load_file
    from kafka.pipelines.testing import load_cases

    if not tests.exists():
        raise click.UsageError(f"there is no test file {tests}: write one, or name another as TESTS")
    return _wrong_use(lambda: (load_file(file), load_cases(tests)))


def _wrong_use(read: Callable[[], T]) -> T:
    """Return the result of a function; report an invalid declaration or test file with a line for each problem."""
    from kafka.pipelines import InvalidDeclaration

    try:
        return read()
    except InvalidDeclaration as error:
        raise click.UsageError(f"invalid:\n{error}") from error


def _show(result: "CaseResult") -> None:
    word = "ok" if result.passes else "FAILED"
    click.echo(f"{word}: {printable(result.case.name)} ({result.seconds:.1f} s)")
    for line in result.differences:
        for part in line.split("\n"):
            click.echo(f"    {printable(part)}")


def _json(result: "CaseResult") -> dict[str, Any]:
    counts = result.observed.result
    return {
        "case": result.case.name,
        "ok": result.passes,
        "seconds": round(result.seconds, 3),
        "differences": list(result.differences),
        "rows": None if counts is None else counts.rows,
        "out": len(result.observed.output),
        "dead": len(result.observed.dead),
        "dropped": result.observed.dropped,
    }
