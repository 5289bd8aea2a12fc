"""The charts of a pipeline: rates, failures by rule, lag, durations and sizes of micro-batches, and state.

The report and the web UI show the same charts. To add one: a function here, and its name in `charts`.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Mapping, Sequence

from kafka.display.page_elements import Html, joined
from kafka.display.time_axis import duration_text
from kafka.display.time_charts import Line, TimeChart
from kafka.pipelines.events import Event
from kafka.pipelines.report.time_series import (
    MOST_RUNS,
    Value,
    interval_of,
    is_thinned,
    marks_of,
    periods_of,
    sampled,
    summed,
)
from kafka.pipelines.run_history import History, RunHistory

_OTHERS = ("replay", "backfill")


def charts(found: History) -> Html:
    """Return all charts that have values."""
    runs = found.runs[-MOST_RUNS:]
    stream = [each for each in runs if each.run == "stream"]
    shown = [_rates(runs, stream), _failures(runs, stream), _lag(runs, stream), _durations(runs), _sizes(runs)]
    if any(batch.state_rows for run in stream for batch in run.batches):
        shown.append(
            _chart("State", "rows", [sampled("rows in state", stream, lambda each: float(each.state_rows))], runs)
        )
    return joined(each.figure() for each in shown if each is not None)


def _chart(
    title: str, unit: str, lines: Sequence[Line], runs: Sequence[RunHistory], note: str = "", top: float = 0.0
) -> TimeChart:
    return TimeChart(title, unit, lines, periods_of(runs), marks_of(runs), note, top)


def _rates(runs: Sequence[RunHistory], stream: Sequence[RunHistory]) -> TimeChart:
    names = _sources(stream)

    def rows(batch: Event) -> Mapping[str, float]:
        counts = {name: float(batch.sources[name].rows) if name in batch.sources else 0.0 for name in names}
        return {_in(name, names): value for name, value in counts.items()} | (
            {} if batch.out is None else {"out": float(batch.out)}
        )

    lines = summed(stream, rows)
    for kind in _OTHERS:
        others = [each for each in runs if each.run == kind]
        lines += [
            dataclasses.replace(line, name=f"{kind}s, in")
            for line in summed(others, lambda each: {"in": float(each.rows)})
        ]
    note = "while a micro-batch was running; 0 where there was no data"
    if is_thinned(runs):
        note += f"; averages of {duration_text(interval_of(runs))}"
    return _chart("Rate", "rows/s", lines, runs, note)


def _failures(runs: Sequence[RunHistory], stream: Sequence[RunHistory]) -> TimeChart | None:
    batches = [batch for run in stream for batch in run.batches]
    rules = list({(source, rule): None for each in batches for source, c in each.sources.items() for rule in c.rules})
    is_late = any(each.late for each in batches)
    if not rules and not is_late:
        return None
    several = len(_sources(stream)) > 1

    def named(source: str, rule: str) -> str:
        return f"{source}: {rule}" if several else rule

    def failed(batch: Event) -> Mapping[str, float]:
        found = {named(source, rule): float(_failed(batch, source, rule)) for source, rule in rules}
        return found | ({"late": float(batch.late)} if is_late else {})

    def read(batch: Event) -> Mapping[str, float]:
        found = {
            named(source, rule): float(batch.sources[source].rows) if source in batch.sources else 0.0
            for source, rule in rules
        }
        return found | ({"late": float(batch.rows)} if is_late else {})

    lines = [
        dataclasses.replace(each, segments=[_percent(part) for part in each.segments])
        for each in summed(stream, failed, read)
    ]
    return _chart("Rows that fail a rule", "% of rows", lines, runs)


def _failed(batch: Event, source: str, rule: str) -> int:
    return batch.sources[source].rules.get(rule, 0) if source in batch.sources else 0


def _percent(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(time, 100 * value) for time, value in points]


def _lag(runs: Sequence[RunHistory], stream: Sequence[RunHistory]) -> TimeChart | None:
    names = _sources(stream)

    def lag_of(name: str) -> Line:
        def value(batch: Event) -> float | None:
            lag = batch.sources[name].lag if name in batch.sources else None
            return None if lag is None else float(lag)

        return sampled(name, stream, value)

    lines = [line for line in map(lag_of, names) if line.values]
    return _chart("Lag after each micro-batch", "offsets", lines, runs) if lines else None


def _durations(runs: Sequence[RunHistory]) -> TimeChart:
    def usual(batch: Event) -> float | None:
        return batch.seconds if batch.folded is None else batch.busy / batch.batches

    lines = _by_kind(runs, lambda each: each.seconds, usual)
    return _chart("Duration of micro-batches", "seconds", lines, runs)


def _sizes(runs: Sequence[RunHistory]) -> TimeChart:
    lines = _by_kind(runs, lambda each: float(each.largest), lambda each: each.rows / each.batches)
    return _chart("Size of micro-batches", "rows", lines, runs)


def _by_kind(runs: Sequence[RunHistory], value: Value, usual: Value) -> list[Line]:
    """Return a line for each kind of runs; for the stream, two lines if points stand for several micro-batches.

    Arguments:
        runs: the runs.
        value: returns the largest value of the micro-batches that an event stands for.
        usual: returns their mean value.
    """
    lines = []
    for kind in ("stream", *_OTHERS):
        chosen = [each for each in runs if each.run == kind]
        if not chosen:
            continue
        name = "stream" if kind == "stream" else f"{kind}s"
        if kind == "stream" and is_thinned(chosen):
            lines.append(sampled("largest", chosen, value))
            lines.append(sampled("median", chosen, usual, statistics.median))
        else:
            lines.append(sampled(name, chosen, value))
    return lines


def _sources(runs: Sequence[RunHistory]) -> list[str]:
    return list({name: None for run in runs for batch in run.batches for name in batch.sources})


def _in(name: str, names: Sequence[str]) -> str:
    return "in" if len(names) == 1 else f"{name}, in"
