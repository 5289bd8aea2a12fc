"""The pages for pipelines: all pipelines; one pipeline with its graph, rules, charts, runs and dead letters."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from typing import NamedTuple

from kafka.consumer.bounds import WHERE_TOPICS_ARE
from kafka.display.page_elements import UNKNOWN, Html, count, html, joined, link
from kafka.errors import KafkaError, error_text
from kafka.pipelines.report import description, summary
from kafka.pipelines.report.charts import charts
from kafka.pipelines.report.dead_letter_list import dead_letter_list, replay_command
from kafka.pipelines.report.declared_parts import declared_parts
from kafka.pipelines.report.graph import graph
from kafka.pipelines.report.tables import balance_table, balance_text, rate_text, rule_table, run_table, time_text
from kafka.pipelines.run_history import History, Totals
from kafka.ui.page_frame import live_address, live_page, trouble
from kafka.ui.pipeline_logs import KEPT, PipelineState
from kafka.ui.shared_state import Ui
from kafka.ui.states import state
from kafka.ui.tables import Column, Columns, Table

_RECENT = 10
"""Number of micro-batches from which the current rate is computed."""


async def pipelines_page(ui: Ui) -> Html:
    """Return the page that lists all pipelines."""
    return live_page(
        ui, "Pipelines", "/pipelines", await pipelines_part(ui), live_address(ui, "pipelines"), of_cluster=False
    )


async def pipelines_part(ui: Ui) -> Html:
    """Return the live part of the page that lists all pipelines."""
    if ui.pipelines is None:
        return html(
            "<p>Start <code>kafka ui --pipelines DIRECTORY</code> with the directory of your pipelines, and they are "
            "shown here.</p>"
        )
    found, failed = await ui.read_pipelines()
    rows = [_Row(name, each.history) for name, each in found.items()]
    paths = ", ".join(map(str, ui.pipelines.paths))
    return joined([*map(trouble, failed), _table(f"No pipeline below {paths} has run yet.").html(rows)])


class _Row(NamedTuple):
    """A pipeline."""

    name: str
    history: History

    @property
    def totals(self) -> Totals:
        """The totals of all batches from streams."""
        return self.history.totals["stream"]

    @property
    def lag(self) -> int | None:
        """The lag of all sources; None if one is unknown."""
        lags = [each.lag for each in self.totals.sources.values()]
        return None if None in lags or not lags else sum(each for each in lags if each is not None)


def _table(empty: str) -> Table[_Row]:
    def number(title: str, value: Callable[[_Row], int | None]) -> Column[_Row]:
        return Column(title, lambda each: count(value(each)), value, is_number=True)

    columns: Columns[_Row] = (
        Column("pipeline", lambda each: link(each.name, "/pipeline", name=each.name), lambda each: each.name),
        Column("state", lambda each: _state(each.history), lambda each: _ending(each.history)),
        Column("last batch", lambda each: _last(each.history)),
        number("rows in", lambda each: each.totals.rows),
        number("out", lambda each: each.totals.out if each.totals.batches else None),
        number("dead letters", lambda each: each.totals.dead),
        number("dropped", lambda each: each.totals.dropped),
        number("lag", lambda each: each.lag),
        Column("rate", lambda each: rate_text(_rate(each.history)), lambda each: _rate(each.history), is_number=True),
        Column("balance", lambda each: balance_text(each.totals.difference)),
    )
    return Table(
        "Pipelines", columns, lambda each: f"{each.name} {_ending(each.history)}", sort="pipeline", empty=empty
    )


def _ending(found: History) -> str:
    return found.newest.ending if found.newest is not None else ""


def _state(found: History) -> Html:
    newest = found.newest
    if newest is None:
        return state("off", "not started")
    if newest.ending == "open":
        return html('{} <span class="note">or killed</span>', state("good", "running"))
    return state("off" if newest.ending == "stopped" else "bad", newest.ending)


def _last(found: History) -> Html:
    batches = [run.batches[-1] for run in found.runs_of("stream") if run.batches]
    if not batches:
        return Html(UNKNOWN)
    moment = batches[-1].moment.timestamp()
    ago = max(0, round(clock.time() - moment))
    return html('<span class="when">{}</span>{}', time_text(moment), f", {ago} s ago" if ago < 120 else "")


def _rate(found: History) -> float | None:
    newest = found.newest
    batches = [each for each in newest.batches[-_RECENT:] if each.busy] if newest is not None else []
    seconds = sum(each.busy for each in batches)
    return sum(each.rows for each in batches) / seconds if seconds > 0 else None


async def pipeline_page(ui: Ui, given: Mapping[str, str]) -> Html | None:
    """Return the page for a pipeline; None if it does not exist."""
    name = given.get("name", "")
    if name not in (await ui.read_pipelines())[0]:
        return None
    live = await pipeline_part(ui, name)
    return live_page(ui, f"Pipeline {name}", "/pipelines", live, live_address(ui, "pipeline"), of_cluster=False)


async def pipeline_part(ui: Ui, name: str) -> Html:
    """Return the live part of the page for a pipeline."""
    found, failed = await ui.read_pipelines()
    state = found.get(name)
    if state is None:
        gone = trouble(f"pipeline {name!r:.300} no longer exists")
        return joined([*map(trouble, failed), gone, html("<p>{}</p>", link("All pipelines", "/pipelines"))])
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
        html('<h2>Rules</h2><div class="cards">{}</div>', rule_table(state.history, parts)),
        html('<h2>Balance</h2><div class="cards">{}</div>', balance_table(state.history)),
        html('<h2>Runs</h2><div class="cards">{}</div>', run_table(state.history)),
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
        text = error_text(error).replace(WHERE_TOPICS_ARE, "see the Topics page")
        return joined([intro, trouble(f"the dead letters cannot be read: {text}")])
    if not letters:
        return joined([intro, html('<p class="quiet">There are none.</p>')])
    return joined([intro, dead_letter_list(letters, file, _message)])


def _message(topic: str, partition: int, offset: int) -> Html:
    return link("all bytes and headers", "/message", topic=topic, partition=partition, offset=offset)
