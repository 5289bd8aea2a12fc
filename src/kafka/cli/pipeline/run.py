"""``kafka pipeline run``: runs a pipeline as a streaming query."""

import contextlib
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kafka.cli.command_output import Output, note
from kafka.cli.pipeline.pipeline_options import with_query
from kafka.cli.pipeline.run_display import RunDisplay, declared_lines, offsets_text
from kafka.cli.pipeline.run_endings import StopSignals, failed_run
from kafka.cli.pipeline.spark_session import SessionChoice, log_file, with_session

if TYPE_CHECKING:
    from kafka.pipelines.dead_letters import DeadLetter
    from kafka.pipelines.declaration import Declaration, Source
    from kafka.pipelines.stream_checkpoint import StreamCheckpoint

_MOST_LETTERS = 200
"""Maximum number of dead letters among which the report selects those that it shows."""
_WRITABLE = click.Path(dir_okay=False, writable=True, path_type=Path)


@click.command(name="run")
@with_query
@click.option(
    "--once/--forever",
    default=True,
    help="Whether to end when everything that was available at the start has been processed. [default: --once]",
)
@click.option("--no-check", is_flag=True, help="Do not check first what `kafka pipeline check` checks.")
@click.option("--report", metavar="FILE", type=_WRITABLE, help="Write a report of all runs as HTML at the end.")
@click.option(
    "--prometheus", metavar="FILE", type=_WRITABLE, help="Write metrics in Prometheus' format during the run."
)
@with_session
def command(
    output: Output,
    declaration: "Declaration",
    file: Path,
    once: bool,
    no_check: bool,
    report: Path | None,
    prometheus: Path | None,
    choice: SessionChoice,
    function: Callable[..., Any] | None,
) -> None:
    """Run the pipeline in FILE. Without options, process everything that is available, and end.

    A later run resumes where this one ends. Ctrl-C and SIGTERM stop the run between two micro-batches; the second
    signal interrupts the micro-batch, which the next run repeats.

    Standard output shows the counts at the end, or, with --json, each event as a line of JSON.

    \b
    Exit statuses:
    0    everything that was available has been processed
    1    the run failed, such as by a rule with the outcome fail, max_bad or an error of Spark
    2    FILE or an option is wrong, or the check before the run finds an error
    3    no broker or schema registry responds
    130  Ctrl-C stopped the run
    143  SIGTERM stopped the run
    """
    from kafka.pipelines.checks.before_run import check_before_run
    from kafka.pipelines.directories import directory_of
    from kafka.pipelines.run import start
    from kafka.pipelines.run_results import StartStoppedError
    from kafka.pipelines.start_checks import check_not_running
    from kafka.pipelines.stream_checkpoint import read_checkpoint

    directory = directory_of(declaration)
    checkpoint = read_checkpoint(directory.stream)
    display = RunDisplay(output, declaration, file, prometheus)
    with failed_run():
        check_not_running(directory)
    if not no_check:
        check_before_run(declaration, warn=lambda text: note(f"warning: {text}"))
    mode = "when everything that is available now has been processed" if once else "when Ctrl-C or SIGTERM stops it"
    starts = {name: _start_text(checkpoint, source) for name, source in declaration.all_sources.items()}
    lines = [*declared_lines(declaration, starts), ("checkpoint", str(directory.base)), ("ends", mode)]
    changes = _changes(declaration)
    if changes:
        lines.append(("changed", f"{', '.join(changes)} (since the last run)"))
    display.start(f"{declaration.pipeline}: starting", lines)
    stop = threading.Event()
    with contextlib.ExitStack() as opened:
        opened.enter_context(failed_run())
        signals = opened.enter_context(StopSignals(stop.set))
        spark = opened.enter_context(choice.session(declaration.pipeline, log_file(declaration, "run")))
        signals.keep()
        try:
            running = start(
                declaration, spark, function=function, once=once, on_event=display.add, stop=stop, check=False
            )
        except StartStoppedError:
            note(f"{declaration.pipeline}: stopped before the first micro-batch")
            signals.end()
            raise
        display.on_error = running.stop
        signals.run_steps(running.stop, lambda: running.stop(now=True), "micro-batch")
        ending = "failed"
        try:
            running.result()
            ending = "complete" if signals.status is None else "stopped"
        finally:
            reached = read_checkpoint(directory.stream)
            lines = _end_lines(reached, ending)
            if ending == "failed":
                lines.append(("Spark's log", str(log_file(declaration, "run"))))
            display.finish(f"{declaration.pipeline}: {ending}", lines)
            if report is not None:
                _write_report(report, declaration, file)
    signals.end()


def _start_text(checkpoint: "StreamCheckpoint", source: "Source") -> str:
    """Say where a source starts."""
    from kafka.pipelines.source_rows import start_options

    if checkpoint.committed is not None:
        text = f"resumes after micro-batch {checkpoint.committed}"
        own = {each: offset for each, offset in checkpoint.last_end.items() if _reads(source, each.topic)}
        return f"{text}, at {offsets_text(own)}" if own else text
    if checkpoint.unfinished is not None:
        return "resumes with micro-batch 0, which an earlier run did not complete"
    ((name, value),) = list(start_options(source).items())[:1]
    return f"starts at {value}" if name == "startingOffsets" else f"starts at time {value}"


def _reads(source: "Source", topic: str) -> bool:
    from kafka.pipelines.source_rows import by_topic

    return by_topic({"": source}, topic) is not None


def _changes(declaration: "Declaration") -> list[str]:
    """Return the keys of the declaration that have changed since the last run."""
    from kafka.pipelines.directories import directory_of
    from kafka.pipelines.events import last_start

    start = last_start(directory_of(declaration).events, "stream")
    if start is None or start.declaration is None:
        return []
    before, now = _by_key(start.declaration), _by_key(declaration.shown())
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))


def _by_key(shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a canonical declaration by key; those of the sources are separate, such as source.topic."""
    found = {name: value for name, value in shown.items() if name not in ("description", "sources", "rules")}
    sources = shown.get("sources") or {}
    for name, source in sources.items():
        for key, value in source.items():
            of = "source" if len(sources) == 1 else f"sources.{name}"
            found["rules" if of == "source" and key == "rules" else f"{of}.{key}"] = value
    return found


def _end_lines(checkpoint: "StreamCheckpoint", ending: str) -> list[tuple[str, str]]:
    if ending == "complete" or checkpoint.committed is None:
        return []
    place = f"micro-batch {checkpoint.committed}, at {offsets_text(checkpoint.last_end)}"
    lines = [("last complete", place)]
    if checkpoint.unfinished is not None:
        lines.append(("incomplete", f"micro-batch {checkpoint.unfinished}; the next run repeats it"))
    return lines


def _write_report(path: Path, declaration: "Declaration", file: Path) -> None:
    from kafka.pipelines.directories import directory_of
    from kafka.pipelines.events import read_events
    from kafka.pipelines.report import html

    events = read_events(directory_of(declaration).events)
    path.write_text(html(events, _newest_letters(declaration), declaration, str(file)), encoding="utf-8")
    note(f"report: {path}")


def _newest_letters(declaration: "Declaration") -> list["DeadLetter"]:
    """Return the newest dead letters, for the report; [] if they cannot be read."""
    from kafka.errors import KafkaError
    from kafka.pipelines.client_configs import client_configs
    from kafka.pipelines.dead_letters import DeadLetterTopic, Selection

    if declaration.dead_letters is None:
        return []
    topic = DeadLetterTopic(declaration.dead_letters.topic, client_configs(declaration))
    try:
        return list(topic.letters(Selection(declaration.pipeline), limit=_MOST_LETTERS))
    except KafkaError:
        return []
