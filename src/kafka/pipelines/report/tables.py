"""The tables of the report: the balance of each source, the rules, and the runs."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from kafka.display.page_elements import UNKNOWN, Html, count, html, joined, rate, table
from kafka.display.time_axis import duration_text
from kafka.pipelines.report.declared_parts import PipelineParts
from kafka.pipelines.run_history import History, RunHistory

_MOST_ROWS = 100
"""Maximum number of rows of the tables of sources and rules."""
_MOST_RUNS = 50
"""Maximum number of runs in their table; these are the newest ones."""
_MOST_CAUSE = 500
_WORDS = {"dead_letter": "dead letter"}
_BALANCE = ("source", "rows in", "processed", "dead letters", "dropped", "balance")
_RULES = ("rule", "source", "a row that fails it", "rows that fail", "share", "holds")
_RUNS = ("run", "started", "ended", "duration", "batches", "rows in", "out", "dead letters", "pause before")


def time_text(seconds: float) -> str:
    """Format a time in UTC, with seconds."""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d %H:%M:%S")


def balance_table(found: History) -> Html:
    """Return the balance of each source: every row is processed, dead or dropped."""
    rows = [
        [
            name if run == "stream" else f"{name} ({run})",
            count(each.rows),
            count(each.processed),
            count(each.dead),
            count(each.dropped),
            balance_text(each.difference),
        ]
        for run, totals in found.totals.items()
        for name, each in totals.sources.items()
    ]
    return _limited(_BALANCE, rows, _BALANCE[1:], "Balance of each source", _MOST_ROWS)


def balance_text(difference: int) -> Html:
    """Return whether all rows have an outcome."""
    if difference:
        what = "without an outcome" if difference > 0 else "counted more than once"
        return html('<span class="bad">✗ {} {}</span>', count(abs(difference)), what)
    return Html('<span class="when">✓ balanced</span>')


def rule_table(found: History, parts: PipelineParts) -> Html:
    """Return the rules with the number of rows that fail them, the most frequent ones first."""
    rows = []
    for source in parts.sources:
        counts = found.totals["stream"].sources.get(source.name)
        for rule in source.rules:
            failed = counts.rules.get(rule.name, 0) if counts is not None else 0
            total = counts.rows if counts is not None else 0
            rows.append((failed, rule, source, total))
    rows.sort(key=lambda each: -each[0])
    cells = [
        [
            rule.name,
            source.name,
            _WORDS.get(rule.otherwise, rule.otherwise) or UNKNOWN,
            count(failed),
            share_text(failed, total),
            html("<code>{}</code>", rule.holds[:_MOST_CAUSE]) if rule.holds else UNKNOWN,
        ]
        for failed, rule, source, total in rows
    ]
    return _limited(_RULES, cells, ("rows that fail", "share"), "Rules", _MOST_ROWS)


def share_text(part: int, total: int) -> str:
    """Format a share as a percentage with two significant digits."""
    if not total or not part:
        return "0 %" if total else UNKNOWN
    percent = 100 * part / total
    if percent < 0.01:
        return "< 0.01 %"
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.2g} %"


def run_table(found: History) -> Html:
    """Return the runs, the newest first, and the pause before each."""
    rows = []
    ended: float | None = None
    for run in found.runs:
        pause = UNKNOWN
        if run.run == "stream":
            if ended is not None:
                pause = duration_text(max(0.0, run.start - ended))
            ended = run.end
        known = [each.out for each in run.batches]
        rows.append(
            [
                _run_name(run),
                _when(run.start),
                ending_text(run),
                duration_text(run.end - run.start),
                count(run.batch_count),
                count(run.rows),
                UNKNOWN if None in known else count(sum(each for each in known if each is not None)),
                count(sum(each.dead for each in run.batches)),
                pause,
            ]
        )
    return _limited(_RUNS, rows[::-1], _RUNS[3:], "Runs", _MOST_RUNS)


def _run_name(run: RunHistory) -> Html:
    """Return the kind of a run with its id, or how many runs it stands for, and how many of them did not succeed."""
    if run.count == 1:
        return html('{} <span class="note">{}</span>', run.name, run.run_id[:8])
    faults = "".join(
        f", {count(number)} {what}" for number, what in ((run.failed, "failed"), (run.killed, "killed")) if number
    )
    return html('{} <span class="note">{} runs{}</span>', run.name, count(run.count), faults)


def ending_text(run: RunHistory) -> Html:
    """Return when and how a run ended."""
    if run.ending == "stopped":
        return _when(run.end)
    if run.ending == "failed":
        return html('<span class="bad">failed</span> {}<br>{}', _when(run.end), run.cause[:_MOST_CAUSE])
    if run.ending == "killed":
        return html('<span class="bad">killed</span> after {}', _when(run.end))
    return html('<span class="note">no end recorded: it is running or was killed</span>')


def _when(seconds: float) -> Html:
    return html('<span class="when">{}</span>', time_text(seconds))


def rate_text(value: float | None) -> str:
    """Format rows per second."""
    return rate(value, " rows/s")


def _limited(
    titles: tuple[str, ...], rows: Sequence[Sequence[object]], numbers: tuple[str, ...], name: str, most: int
) -> Html:
    more = len(rows) - most
    left_out = html('<p class="note">and {} more</p>', count(more)) if more > 0 else Html("")
    return joined([table(titles, rows[:most], numbers, name), left_out])
