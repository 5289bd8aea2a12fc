"""What ``kafka pipeline run``, ``replay`` and ``backfill`` print: the start, the progress and the summary of a run.

The start and the progress are on standard error, the summary is on standard output. With ``--json``, each event is a
line of JSON on standard output, and nothing else is printed.
"""

import os
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kafka.cli.command_output import Output, aligned, note, printable

if TYPE_CHECKING:
    from kafka.pipelines.declaration import Declaration, Source
    from kafka.pipelines.events import Event
    from kafka.structs import TopicPartition

_MOST_PARTITIONS = 8
_METRICS_S = 1.0
"""Minimum time between two writes of the metrics."""


class RunDisplay:
    """Prints the events of a run, and writes the metrics.

    Arguments:
        output: where the summary goes, and whether it is JSON.
        declaration: the pipeline.
        file: the declaration's file, for the commands in the summary.
        metrics: file for the metrics in Prometheus' format; None for none.

    Attributes:
        error: the error with which an output failed; None if none did.
        on_error: called when an output fails, such as one whose reader has ended.
    """

    def __init__(self, output: Output, declaration: "Declaration", file: Path, metrics: Path | None = None) -> None:
        from kafka.pipelines.directories import directory_of
        from kafka.pipelines.events import read_events
        from kafka.pipelines.metrics import PipelineMetrics
        from kafka.pipelines.progress import Progress
        from kafka.pipelines.run_history import Totals

        self._output = output
        self._declaration = declaration
        self._file = file
        self._metrics = metrics
        self._progress = Progress(sys.stderr)
        self._no_totals = Totals
        self._totals = Totals()
        self._lock = threading.Lock()
        self._counted = PipelineMetrics()
        if metrics is not None:
            for event in read_events(directory_of(declaration).events):
                self._counted.add(event)
        self._written_at = float("-inf")
        self.error: OSError | None = None
        self.on_error: Callable[[], object] = lambda: None

    def add(self, event: "Event") -> None:
        """Print an event. Thread-safe, and never raises an error; see `error`."""
        from kafka.pipelines.events import to_json

        with self._lock:
            if event.kind == "batch" and not event.recovered:  # the others are those of an earlier run
                self._totals.add(event)
            try:
                if self._output.as_json:
                    click.echo(to_json(event))
                elif event.kind == "batch" and not event.recovered:
                    self._progress.add(event)
                self._add_metrics(event)
            except OSError as error:
                if self.error is None:
                    self.error = error
                    threading.Thread(target=self.on_error, name="kafka-pipeline-output", daemon=True).start()

    def _add_metrics(self, event: "Event") -> None:
        if self._metrics is None:
            return
        self._counted.add(event)
        if event.kind == "batch" and time.monotonic() - self._written_at < _METRICS_S:
            return
        new = self._metrics.with_name(f".{self._metrics.name}.{os.getpid()}")
        new.write_text(self._counted.text(), encoding="utf-8")
        new.replace(self._metrics)
        self._written_at = time.monotonic()

    def start(self, title: str, lines: Sequence[tuple[str, str]]) -> None:
        """Print what starts, unless the output is JSON.

        Arguments:
            title: the first line.
            lines: names and values.
        """
        if not self._output.as_json:
            note(_block(title, lines))

    def finish(self, title: str, lines: Sequence[tuple[str, str]] = ()) -> None:
        """Print the summary, unless the output is JSON. Raises the error of an output that failed.

        Arguments:
            title: the first line, such as ``flight-delays: complete``.
            lines: names and values after the counts.
        """
        with self._lock:
            self._progress.totals = self._no_totals()
            self._progress.end()  # prints the micro-batches since the last line
        if self.error is not None:
            raise self.error
        if not self._output.as_json:
            click.echo(_block(title, [*self._counts(), *lines, *self._commands()]))

    def _counts(self) -> list[tuple[str, str]]:
        from kafka.display.page_elements import count
        from kafka.pipelines.rules import all_rules

        totals = self._totals
        if not totals.batches:
            return [("rows in", "0")]
        lines = [("rows in", count(totals.rows)), ("rows out", count(totals.out))]
        if totals.late:
            lines.append(("late rows", count(totals.late)))
        if totals.untimed:
            lines.append(("rows without a time", count(totals.untimed)))
        letters = self._declaration.dead_letters
        if letters is not None or totals.dead:
            lines.append(("dead letters", count(totals.dead) + (f" in {letters.topic}" if letters else "")))
        lines.append(("dropped rows", count(totals.dropped)))
        sources = self._declaration.all_sources
        for name, source in sources.items():
            if name not in totals.sources:
                continue
            failed = totals.sources[name].rules
            rows = [
                [rule.name + (f" ({name})" if len(sources) > 1 else ""), count(failed[rule.name]), rule.otherwise.value]
                for rule in all_rules(self._declaration, source)
                if failed.get(rule.name)
            ]
            title = "failed rules"
            for line in aligned(rows, [False, True, False]) if rows else ():
                lines.append((title, line))
                title = ""
        return lines

    def _commands(self) -> list[tuple[str, str]]:
        if not self._totals.dead or self._declaration.dead_letters is None:
            return []
        from kafka.pipelines.checks.state import keeps_state

        failed = [rule for each in self._totals.sources.values() for rule, rows in each.rules.items() if rows]
        rule = f" --rule {shlex.quote(failed[0])}" if len(set(failed)) == 1 else ""
        file = shlex.quote(str(self._file))
        again = f"replay {file}{rule}" if not keeps_state(self._declaration) else f"backfill {file} --since TIME"
        return [
            ("look at them", f"kafka pipeline dead {file}{rule}"),
            ("once corrected", f"kafka pipeline {again}"),
        ]


def _block(title: str, lines: Sequence[tuple[str, str]]) -> str:
    rows = [["", *map(printable, line)] for line in lines]
    return "\n".join([printable(title), *(aligned(rows, [False] * 3) if rows else ())])


def declared_lines(declaration: "Declaration", starts: Mapping[str, str]) -> list[tuple[str, str]]:
    """Describe a pipeline: its sources, rules, sink and dead letters.

    Arguments:
        declaration: the pipeline.
        starts: what each source reads, by the source's name.
    """
    lines = []
    for name, source in declaration.all_sources.items():
        title = "source" if len(declaration.all_sources) == 1 else f"source {name}"
        lines.append((title, f"{topics_text(source)} ({source.value.format}), {starts[name]}"))
        if source.rules:
            lines.append(("rules", ", ".join(f"{rule.name} ({rule.otherwise.value})" for rule in source.rules)))
    lines.append(("sink", sink_text(declaration)))
    if declaration.dead_letters is not None:
        lines.append(("dead letters", declaration.dead_letters.topic))
    return lines


def topics_text(source: "Source") -> str:
    """Name the topics of a source."""
    if source.pattern is not None:
        return f"topics that match {source.pattern}"
    return ", ".join(source.topics or (source.topic or "",))


def sink_text(declaration: "Declaration") -> str:
    """Name the sink, and say how it is written."""
    sink = declaration.topic_sink
    if sink is None:
        return declaration.sink_name
    return f"{sink.topic} ({sink.value.format}, {'exactly once' if sink.exactly_once else 'at least once'})"


def offsets_text(offsets: Mapping["TopicPartition", int]) -> str:
    """Format the offsets of partitions, such as ``flights-0: 1,000``; long lists are shortened."""
    return _shortened([f"{topic}-{number}: {offset:,}" for (topic, number), offset in sorted(offsets.items())])


def ranges_text(ranges: Mapping["TopicPartition", tuple[int, int]]) -> str:
    """Format ranges of offsets, such as ``flights-0: 0 to 999``; long lists are shortened."""
    return _shortened(
        [f"{topic}-{number}: {start:,} to {end - 1:,}" for (topic, number), (start, end) in sorted(ranges.items())]
    )


def _shortened(parts: Iterable[str]) -> str:
    shown = list(parts)
    more = len(shown) - _MOST_PARTITIONS
    return ", ".join(shown[:_MOST_PARTITIONS]) + (f", and {more} more" if more > 0 else "")
