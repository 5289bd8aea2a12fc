"""What ``kafka pipeline replay`` and ``backfill`` have in common: their options, and how they run and end."""

import contextlib
import datetime
import functools
import re
import shlex
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kafka.cli.command_output import Output, note
from kafka.cli.common_options import ParamType, count_option
from kafka.cli.pipeline.run_display import RunDisplay, ranges_text
from kafka.cli.pipeline.run_endings import StopSignals, failed_run
from kafka.cli.pipeline.spark_session import SessionChoice, log_file
from kafka.cli.position_syntax import instant, parse_position
from kafka.pipelines.slice_size import SLICE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafka.pipelines.bounded_runs import RunPlan
    from kafka.pipelines.declaration import Declaration
    from kafka.pipelines.run import RunResult

R = TypeVar("R")
END = 2**63 - 1
"""The end of a range that has none."""


class MomentType(ParamType):
    """A `click` type for a time or a duration before now; the value has a time zone."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime.datetime:
        """Convert text. Fails for offsets and ends of the log."""
        if isinstance(value, datetime.datetime):
            return value
        found = None
        with contextlib.suppress(ValueError, OverflowError, OSError):
            found = instant(parse_position(value))
        if found is None:
            self.fail(
                "expected a time (2026-01-31T12:00, @1767225600000) or a duration ago (90s, 15m, 2h, 3d), got "
                f"{value!r}",
                param,
                ctx,
            )
        return found


def with_slices(command: Callable[..., R]) -> Callable[..., R]:
    """Add ``--slice-offsets``; the command gets the keyword argument `slice_offsets`."""
    return count_option(
        "--slice-offsets", default=SLICE, help="Maximum number of offsets to process together, in a slice."
    )(command)


def with_times(what: str) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Return a decorator that adds ``--since`` and ``--until``.

    Arguments:
        what: whose timestamps are meant, for the help.
    """

    def add(command: Callable[..., R]) -> Callable[..., R]:
        since = click.option(
            "--since", metavar="TIME", type=MomentType(), help=f"Only {what} from this time on, or this long ago."
        )
        until = click.option("--until", metavar="TIME", type=MomentType(), help=f"Only {what} before this time.")
        noted: Callable[..., R] = since(until(functools.wraps(command)(command)))
        return noted

    return add


_RANGE = re.compile(r"(?P<partition>.+):(?P<start>\d{1,18})-(?P<end>\d{1,18})?")


def parse_range(text: str, form: str) -> tuple[str, tuple[int, int]]:
    """Parse ``PARTITION:START-END``, where END is exclusive and may be missing.

    Arguments:
        text: the text.
        form: the expected form, for the error.

    Returns the partition and the range. Raises `click.UsageError`.
    """
    found = _RANGE.fullmatch(text)
    if found is None:
        raise click.UsageError(f"--offsets: expected {form}, got {text!r}")
    start, end = int(found["start"]), int(found["end"]) if found["end"] else END
    if start >= end:
        raise click.UsageError(f"--offsets: expected a start before the end, which is exclusive, got {text!r}")
    return found["partition"], (start, end)


Process = Callable[["SparkSession", dict[str, Any]], "RunResult"]
"""Runs a replay or a backfill, given the session and four arguments: on_event, on_plan, stop and slice_offsets."""


class SlicesCommand:
    """Runs a replay or a backfill, and prints what happens.

    Arguments:
        output: where the summary goes, and whether it is JSON.
        declaration: the pipeline.
        file: the declaration's file.
        kind: ``replay`` or ``backfill``.
        unit: what is processed, such as ``dead letters``.
    """

    def __init__(self, output: Output, declaration: "Declaration", file: Path, kind: str, unit: str) -> None:
        self._output = output
        self._declaration = declaration
        self._file = file
        self._kind = kind
        self._unit = unit
        self._display = RunDisplay(output, declaration, file)
        self._plan: RunPlan | None = None
        self._done = 0

    def run(self, choice: SessionChoice, slice_offsets: int, process: Process) -> None:
        """Run until the end, or until a signal.

        Arguments:
            choice: the session.
            slice_offsets: maximum number of offsets in a slice.
            process: runs the replay or the backfill.
        """
        stop = threading.Event()
        self._display.on_error = stop.set
        name = f"{self._declaration.pipeline} {self._kind}"
        with contextlib.ExitStack() as opened:
            opened.enter_context(failed_run())
            signals = opened.enter_context(StopSignals(stop.set))
            spark = opened.enter_context(choice.session(name, log_file(self._declaration, self._kind)))
            signals.keep()
            signals.run_steps(stop.set, spark.sparkContext.cancelAllJobs, "slice", raises=True)
            is_complete = False
            try:
                given = {
                    "on_event": self._add,
                    "on_plan": self._planned,
                    "stop": stop,
                    "slice_offsets": slice_offsets,
                }
                is_complete = process(spark, given).is_complete
            except KeyboardInterrupt:
                if signals.status is None:
                    raise
            finally:
                self._finish(is_complete, signals.status)
        if not is_complete:
            signals.end()

    def _planned(self, plan: "RunPlan") -> None:
        self._plan, self._done = plan, plan.done
        remaining = plan.slices[plan.done :]
        offsets = sum(end - start for part in remaining for start, end in part.values())
        ranges: dict[Any, tuple[int, int]] = {}
        for part in remaining:
            for partition, (start, end) in part.items():
                ranges[partition] = (ranges[partition][0] if partition in ranges else start, end)
        begun = f"continues with slice {plan.done + 1} of {len(plan.slices)}" if plan.done else "starting"
        if plan.letters is not None:
            what = f"{plan.letters:,} {self._unit}" + (" in all slices together" if plan.done else "")
        else:
            what = f"{offsets:,} offsets"
        lines = [("processes", f"{what}, in {len(remaining)} slice{'' if len(remaining) == 1 else 's'}")]
        lines += [(title, text) for title, text in plan.selection.items() if title != "offsets"]
        lines.append(("offsets", ranges_text(ranges)))
        self._display.start(f"{self._declaration.pipeline}: {self._kind} {plan.number} {begun}", lines)

    def _add(self, event: Any) -> None:
        if event.kind == "batch":
            self._done += 1
        self._display.add(event)

    def _finish(self, is_complete: bool, status: int | None) -> None:
        plan = self._plan
        if plan is None:
            if is_complete and not self._output.as_json:
                note(f"{self._declaration.pipeline}: nothing to {self._kind}")
            return
        lines = []
        if is_complete:
            ending = "complete"
        else:
            ending = "failed" if status is None else "stopped"
            if status is None:
                lines.append(("Spark's log", str(log_file(self._declaration, self._kind))))
            lines.append(("finished", f"{self._done} of {len(plan.slices)} slices"))
            lines.append(("continue it", self._command(plan.selection)))
        self._display.finish(f"{self._declaration.pipeline}: {self._kind} {plan.number} {ending}", lines)

    def _command(self, selection: Mapping[str, str]) -> str:
        """Return the command that continues a run: the same one, with times instead of durations."""
        words = ["kafka", "pipeline", self._kind, str(self._file)]
        for name, value in selection.items():
            if name == "again":
                words.append("--again")
            elif name == "offsets":
                for each in value.split(","):
                    words += ["--offsets", each.removesuffix(str(END))]
            else:
                words += [f"--{name}", value]
        return shlex.join(words)
