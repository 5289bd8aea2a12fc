"""The report of a pipeline: one HTML file without scripts and external resources.

`html` makes the page. `tables`, `charts`, `graph` and `dead_letter_list` make its parts; the web UI shows them, too.
`time_series` computes the lines of the charts, and `declared_parts` reads the declaration. All text is escaped by
`kafka.display.html_tables.html`. To add a section: make it in a module, and add it to `_sections`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kafka.display.html_tables import html as filled
from kafka.display.page_elements import UNKNOWN, Html, count, facts, joined
from kafka.pipelines.events import Event
from kafka.pipelines.report.charts import charts
from kafka.pipelines.report.dead_letter_list import DeadLetterLike, chosen, dead_letter_list, replay_command
from kafka.pipelines.report.declared_parts import PipelineParts, declared_parts
from kafka.pipelines.report.graph import graph
from kafka.pipelines.report.style import STYLE
from kafka.pipelines.report.tables import balance_table, rate_text, rule_table, run_table, time_text
from kafka.pipelines.report.time_series import MOST_RUNS
from kafka.pipelines.run_history import History, history

if TYPE_CHECKING:
    from kafka.pipelines.declaration import Declaration

__all__ = ["html"]

_MOST_QUERY = 20_000


def html(
    events: Iterable[Event],
    dead_letters: Iterable[DeadLetterLike] = (),
    declaration: Declaration | Mapping[str, Any] | None = None,
    file: str = "",
) -> str:
    """Return the report of a pipeline as an HTML document.

    Arguments:
        events: the events of the pipeline, such as `read_events` returns.
        dead_letters: dead letters of the pipeline, in the order of preference. The report shows ten of them, with
            different rules if possible.
        declaration: the declaration of the pipeline, or a mapping with its keys; None for the one in the events.
        file: the path of the declaration, which the commands in the report contain; by default PIPELINE.yaml.
    """
    found = history(events)
    parts = declared_parts(declaration, found)
    name = found.pipeline or "no events"
    body = joined(_sections(found, parts, chosen(dead_letters), file or f"{found.pipeline or 'PIPELINE'}.yaml"))
    head = filled(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        "<title>{}: report of a pipeline</title>\n<style>{}</style>\n</head>\n",
        name,
        Html(STYLE),
    )
    content = filled(
        "<body>\n<main>\n<h1>Pipeline {}</h1>\n{}{}\n</main>\n</body>\n</html>\n", name, description(parts), body
    )
    return (head + content).encode("utf-8", "backslashreplace").decode()


def _sections(found: History, parts: PipelineParts, dead: list[DeadLetterLike], file: str) -> Iterable[Html]:
    totals = found.totals["stream"]
    if not found.runs:
        yield Html("<p>There are no events: the pipeline has not run yet, or its events are in another directory.</p>")
        return
    yield summary(found)
    yield filled('<section><h2>Graph</h2><div class="graphs">{}</div>{}</section>', graph(parts, totals), _query(parts))
    yield filled(
        '<section><h2>Balance</h2><p class="note">Each row that is read is processed by the query, written to the dead '
        "letters, or dropped.</p>{}</section>",
        balance_table(found),
    )
    yield filled("<section><h2>Rules</h2>{}</section>", rule_table(found, parts))
    yield filled(
        '<section><h2>Over time</h2><p class="note">All times are in UTC.{}</p><div class="charts">{}</div></section>',
        f" The newest {MOST_RUNS} of {count(sum(each.count for each in found.runs))} runs."
        if len(found.runs) > MOST_RUNS
        else "",
        charts(found),
    )
    yield filled(
        '<section><h2>Runs</h2><p class="note">All times are in UTC. A run without an event at its end was killed; it '
        "ended at some time after its last micro-batch.</p>{}</section>",
        run_table(found),
    )
    yield filled("<section><h2>Dead letters</h2>{}</section>", _dead_letters(totals.dead, dead, file))


def description(parts: PipelineParts) -> Html:
    """Return what the pipeline is for, if its declaration says so."""
    return filled("<p>{}</p>", parts.description) if parts.description else Html("")


def summary(found: History) -> Html:
    """Return the totals of the stream, and when it ran."""
    totals = found.totals["stream"]
    kinds = {run: sum(each.count for each in found.runs_of(run)) for run in found.totals}
    runs = ", ".join(
        f"{count(number)} of the stream" if run == "stream" else f"{count(number)} {run}{'' if number == 1 else 's'}"
        for run, number in kinds.items()
        if number
    )
    killed = sum(each.killed for each in found.runs)
    failed = sum(each.failed for each in found.runs)
    pairs = [
        ("rows in", count(totals.rows)),
        ("rows out", UNKNOWN if totals.out is None else count(totals.out)),
        ("dead letters", count(totals.dead)),
        ("dropped", count(totals.dropped)),
        ("late", count(totals.late)),
        ("rate while data was flowing", rate_text(totals.rate)),
        ("micro-batches", count(totals.batches)),
        (
            "runs",
            runs + (f"; {count(killed)} killed" if killed else "") + (f"; {count(failed)} failed" if failed else ""),
        ),
        ("from", time_text(min(each.start for each in found.runs)) + " UTC"),
        ("until", time_text(max(each.end for each in found.runs)) + " UTC"),
    ]
    trouble = Html("")
    if totals.difference:
        trouble = filled(
            '<p class="trouble" role="status">The counts do not add up: {} rows have no outcome, or more than one. '
            "<code>kafka pipeline audit</code> names their offsets.</p>",
            count(totals.difference),
        )
    return joined([filled('<div class="summary">{}</div>', facts(pairs)), trouble])


def _query(parts: PipelineParts) -> Html:
    return filled('<h3>Query</h3><pre tabindex="0">\n{}</pre>', parts.query[:_MOST_QUERY]) if parts.query else Html("")


def _dead_letters(total: int, dead: list[DeadLetterLike], file: str) -> Html:
    if not dead:
        text = f"{count(total)} rows were rejected; the report was made without them." if total else "None."
        return filled('<p class="quiet">{}</p>', text)
    intro = filled(
        '<p class="note">{} of {} are shown, from different rules if possible. Replay all of them:</p>'
        '<pre class="command" tabindex="0">{}</pre>',
        count(len(dead)),
        count(max(total, len(dead))),
        replay_command(file),
    )
    return joined([intro, dead_letter_list(dead, file)])
