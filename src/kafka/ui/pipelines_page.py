"""The pages for pipelines: all pipelines; one pipeline with its graph, rules, charts, runs and dead letters."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping

from kafka.display.page_elements import UNKNOWN, Html, count, html, joined, link, table
from kafka.errors import KafkaError, error_text
from kafka.pipelines.report import description, summary
from kafka.pipelines.report.charts import charts
from kafka.pipelines.report.dead_letter_list import dead_letter_list, replay_command
from kafka.pipelines.report.declared_parts import declared_parts
from kafka.pipelines.report.graph import graph
from kafka.pipelines.report.tables import balance_table, balance_text, rate_text, rule_table, run_table, time_text
from kafka.pipelines.run_history import History
from kafka.ui.page_frame import live_address, live_page, trouble
from kafka.ui.pipeline_logs import KEPT, PipelineState
from kafka.ui.shared_state import Ui

_COLUMNS = ("pipeline", "state", "last batch", "rows in", "out", "dead letters", "dropped", "lag", "rate", "balance")
_RECENT = 10
"""Number of micro-batches from which the current rate is computed."""
_WORDS = {"stopped": "stopped", "failed": "failed", "killed": "killed"}


async def pipelines_page(ui: Ui) -> Html:
    """Return the page that lists all pipelines."""
    return live_page(ui, "Pipelines", "/pipelines", await pipelines_part(ui), live_address("pipelines"))


async def pipelines_part(ui: Ui) -> Html:
    """Return the live part of the page that lists all pipelines."""
    if ui.pipelines is None:
        return html(
            "<p>Start <code>kafka ui --pipelines DIRECTORY</code> with the directory of your pipelines, and they are "
            "shown here.</p>"
        )
    found, failed = await ui.read_pipelines()
    rows = [_row(name, each) for name, each in found.items()]
    paths = ", ".join(map(str, ui.pipelines.paths))
    none = html('<p class="quiet">No pipeline below {} has run yet.</p>', paths) if not found else Html("")
    return joined([*map(trouble, failed), table(_COLUMNS, rows, _COLUMNS[3:9], "Pipelines"), none])


def _row(name: str, state: PipelineState) -> list[object]:
    found = state.history
    totals = found.totals["stream"]
    lags = [each.lag for each in totals.sources.values()]
    lag = None if None in lags or not lags else sum(each for each in lags if each is not None)
    return [
        link(name, "/pipeline", name=name),
        _state(found),
        _last(found),
        count(totals.rows),
        count(totals.out) if totals.batches else UNKNOWN,
        count(totals.dead),
        count(totals.dropped),
        count(lag),
        rate_text(_rate(found)),
        balance_text(totals.difference),
    ]


def _state(found: History) -> Html:
    newest = found.newest
    if newest is None:
        return Html("not started")
    if newest.ending == "open":
        return Html('running <span class="note">or killed</span>')
    word = _WORDS[newest.ending]
    return html('<span class="bad">{}</span>', word) if word != "stopped" else Html(word)


def _last(found: History) -> Html:
    batches = [run.batches[-1] for run in found.runs_of("stream") if run.batches]
    if not batches:
        return Html(UNKNOWN)
    moment = batches[-1].moment.timestamp()
    ago = max(0, round(clock.time() - moment))
    return html('<span class="when">{}</span>{}', time_text(moment), f", {ago} s ago" if ago < 120 else "")


def _rate(found: History) -> float | None:
    newest = found.newest
    batches = [each for each in newest.batches[-_RECENT:] if each.rows] if newest is not None else []
    seconds = sum(each.seconds or 0.0 for each in batches)
    return sum(each.rows for each in batches) / seconds if seconds > 0 else None


async def pipeline_page(ui: Ui, given: Mapping[str, str]) -> Html | None:
    """Return the page for a pipeline; None if it does not exist."""
    name = given.get("name", "")
    if name not in (await ui.read_pipelines())[0]:
        return None
    live = await pipeline_part(ui, name)
    return live_page(ui, f"Pipeline {name}", "/pipelines", live, live_address("pipeline"))


async def pipeline_part(ui: Ui, name: str) -> Html:
    """Return the live part of the page for a pipeline."""
    found, failed = await ui.read_pipelines()
    state = found.get(name)
    if state is None:
        return joined([*map(trouble, failed), trouble(f"there is no pipeline {name!r:.300}; see the Pipelines page")])
    parts = declared_parts(state.declaration, state.history)
    totals = state.history.totals["stream"]
    unread = f"{count(state.unread)} lines of its files are not events" if state.unread else ""
    newest = html(
        '<p class="note">Totals and charts cover the newest {} events; <code>kafka.pipelines.report.html</code> covers '
        "all.</p>",
        count(KEPT),
    )
    sections = [
        *map(trouble, [*failed, unread]),
        description(parts),
        html("<p>{}</p>", _state(state.history)),
        summary(state.history) if state.history.runs else Html(""),
        newest if not state.is_complete else Html(""),
        html("<h2>Graph</h2>{}", graph(parts, totals)),
        html("<h2>Over time</h2>{}", html('<div class="charts">{}</div>', charts(state.history))),
        html("<h2>Rules</h2>{}", rule_table(state.history, parts)),
        html("<h2>Balance</h2>{}", balance_table(state.history)),
        html("<h2>Runs</h2>{}", run_table(state.history)),
        html("<h2>Dead letters</h2>{}", await _dead_letters(ui, state, parts.dead_letters)),
    ]
    return joined(sections)


async def _dead_letters(ui: Ui, state: PipelineState, topic: str) -> Html:
    if not topic:
        return html('<p class="quiet">The pipeline declares no topic for dead letters.</p>')
    file = state.file or f"{state.history.pipeline}.yaml"
    intro = html(
        '<p class="note">The newest ones in {}. A link shows all bytes of each. Replay all of them:</p>'
        '<pre class="command" tabindex="0">{}</pre>',
        link(topic, "/messages", topic=topic),
        replay_command(file),
    )
    try:
        letters = await ui.dead_letters.newest(topic, state.history.pipeline, state.history.totals["stream"].dead)
    except (KafkaError, TimeoutError) as error:
        return joined([intro, trouble(f"the dead letters cannot be read: {error_text(error)}")])
    if not letters:
        return joined([intro, html('<p class="quiet">There are none.</p>')])
    return joined([intro, dead_letter_list(letters, file, _message)])


def _message(topic: str, partition: int, offset: int) -> Html:
    return link("all bytes and headers", "/message", topic=topic, partition=partition, offset=offset)
