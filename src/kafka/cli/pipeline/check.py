"""``kafka pipeline check``: reports every problem of a pipeline before Spark starts."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kafka.cli.command_output import Output, printable
from kafka.cli.pipeline.pipeline_options import Change, changed, file_argument, with_output, with_servers

if TYPE_CHECKING:
    from kafka.pipelines.checks import Place, Report


@click.command(name="check")
@file_argument
@click.option("-v", "--verbose", is_flag=True, help="Also print the checks that passed.")
@click.option("--offline", is_flag=True, help="Check only the file, and connect to no server.")
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings, too.")
@click.option(
    "--timeout",
    "limit_s",
    type=click.FloatRange(0.1),
    metavar="SECONDS",
    default=10.0,
    show_default=True,
    help="Time limit for all answers of servers.",
)
@with_servers
@with_output
def command(
    output: Output,
    file: Path,
    change: Change,
    verbose: bool,
    offline: bool,
    strict: bool,
    limit_s: float,
) -> None:
    """Check the pipeline in FILE, without Spark: keys, columns, the query, topics, permissions and schemas.

    Reports every problem with its file, line and key. Errors stop the pipeline; warnings do not. Exits with 1 if there
    is an error. A server that does not answer is reported as a problem, too.
    """
    from kafka.pipelines.pipeline_files import SUFFIX

    checked = _check_program if file.suffix == SUFFIX else _check_yaml
    report = checked(file, change, not offline, limit_s)
    if output.as_json:
        output.data(_json(report, verbose))
    else:
        for each in (*(report.passed if verbose else ()), *report.problems):
            click.echo(printable(str(each)))
        click.echo(_summary(report))
    if report.errors or (strict and report.warnings):
        raise click.exceptions.Exit(1)


def _check_yaml(file: Path, change: Change, servers: bool, limit_s: float) -> "Report":
    from kafka.pipelines.checks import check_file

    return check_file(file, change, servers=servers, limit_s=limit_s)


def _check_program(file: Path, change: Change, servers: bool, limit_s: float) -> "Report":
    """Check the pipeline in a Python file. The lines of its keys are not known."""
    from kafka.pipelines import InvalidDeclaration
    from kafka.pipelines.checks import Place, Problem, Report, check
    from kafka.pipelines.checks.problem import Places
    from kafka.pipelines.pipeline_files import load_file

    try:
        declaration = load_file(file).declaration
    except InvalidDeclaration as error:
        return Report(tuple(Problem(Place(""), line) for line in str(error).split("\n")))
    return check(changed(declaration, change), places=Places(file=str(file)), servers=servers, limit_s=limit_s)


def _summary(report: "Report") -> str:
    counts = ((len(report.errors), "error"), (len(report.warnings), "warning"))
    found = [f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts if count]
    return ", ".join(found) or f"ok: {len(report.passed)} checks found no problem"


def _json(report: "Report", verbose: bool) -> dict[str, Any]:
    problems = [{"severity": each.severity.value, **_place(each.place), "text": each.text} for each in report.problems]
    found: dict[str, Any] = {"ok": not report.errors, "problems": problems}
    if verbose:
        found["passed"] = [{**_place(each.place), "text": each.text} for each in report.passed]
    return found


def _place(place: "Place") -> dict[str, Any]:
    return {"file": place.file, "line": place.line, "key": place.key}
