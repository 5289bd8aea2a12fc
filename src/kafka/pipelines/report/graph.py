"""The graph of a pipeline as SVG: sources, their rules, the query, the sink and the dead letters, with their counts.

There are two pictures, as of each chart: from left to right for wide windows, and from top to bottom for narrow ones.
"""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Sequence

from kafka.display.page_elements import Html, count, html, joined
from kafka.pipelines.report.declared_parts import PipelineParts
from kafka.pipelines.run_history import SourceTotals, Totals

_MOST_SOURCES = 8
"""Maximum number of sources drawn."""
_CHARACTER = 6.9
_SMALL = 6.3
"""Widths of characters."""
_HEIGHT = 58
_GAP = 16

GRAPH_STYLE = """
.graph { width: 100%; height: auto; }
.graph.wide-chart { max-width: 62rem; } .graph.narrow-chart { max-width: 28rem; }
.graph text { fill: var(--front); font-size: 12px; } .graph text.quiet { fill: var(--quiet); font-size: 11px; }
.box { fill: var(--field); stroke: var(--quiet); stroke-width: 1; }
.box.warn { stroke: var(--warn); stroke-dasharray: 4 2; }
.edge { fill: none; stroke: var(--quiet); stroke-width: 1.3; }
.edge.warn { stroke: var(--warn); stroke-dasharray: 4 2; }
.arrow { fill: var(--quiet); } .arrow.warn { fill: var(--warn); }
"""
"""Style sheet of the graph, in addition to that of the charts."""


@dataclasses.dataclass(frozen=True, slots=True)
class Box:
    """A box of the graph: its place, three lines of text, and whether it shows rejected rows."""

    x: float
    y: float
    width: float
    lines: tuple[str, str, str]
    warn: bool = False

    def html(self) -> Html:
        """Draw the box. Text that is too long is cut, and shown completely as a tooltip."""
        texts = joined(
            html(
                '<text x="{}" y="{}"{}>{}</text>',
                f"{self.x + 8:.0f}",
                f"{self.y + 17 + 16 * at:.0f}",
                Html(' class="quiet"') if at != 1 else "",
                _cut(line, int((self.width - 14) / (_CHARACTER if at == 1 else _SMALL))),
            )
            for at, line in enumerate(self.lines)
        )
        return html(
            '<g><title>{}</title><rect class="box{}" x="{}" y="{}" width="{}" height="{}" rx="5"/>{}</g>',
            "\n".join(filter(None, self.lines)),
            " warn" if self.warn else "",
            f"{self.x:.0f}",
            f"{self.y:.0f}",
            f"{self.width:.0f}",
            _HEIGHT,
            texts,
        )

    @property
    def middle(self) -> float:
        return self.y + _HEIGHT / 2

    @property
    def center(self) -> float:
        return self.x + self.width / 2


def graph(parts: PipelineParts, totals: Totals) -> Html:
    """Draw the graph.

    Arguments:
        parts: the pipeline.
        totals: the totals of the stream.
    """
    label = "; ".join(
        [
            *(
                f"{name}: {count(each.rows)} rows read, {count(each.dead)} dead letters, {count(each.dropped)} dropped"
                for name, each in totals.sources.items()
            ),
            f"{count(totals.out)} rows to {parts.sink or 'the sink'}",
        ]
    )
    return joined([_wide(parts, totals, label), _narrow(parts, totals, label)])


def _wide(parts: PipelineParts, totals: Totals, label: str) -> Html:
    sources = parts.sources[:_MOST_SOURCES]
    columns = (2, 232, 476, 720)
    step = _HEIGHT + _GAP
    height = max(1, len(sources)) * step + (step if _rejects(parts, totals) else 0)
    middle = (max(1, len(sources)) - 1) * step / 2 + 2
    query = Box(columns[2], middle, 196, _query_lines(parts))
    sink = Box(columns[3], middle, 190, _sink_lines(parts, totals))
    boxes, edges = [query, sink], [_across(query, sink)]
    dead = Box(columns[1], len(sources) * step + 10, 190, _dead_lines(parts, totals), warn=True)
    for at, each in enumerate(sources):
        counts = totals.sources.get(each.name, SourceTotals())
        source = Box(columns[0], at * step + 2, 190, (_source_title(each.name), each.topic, _rows(counts.rows, "read")))
        rules = Box(columns[1], at * step + 2, 190, _rule_lines(len(each.rules), counts))
        boxes += [source, rules]
        edges += [_across(source, rules), _across(rules, query)]
        if _rejects(parts, totals):
            edges.append(_bypass(rules, dead))
    if _rejects(parts, totals):
        boxes.append(dead)
    return _svg("wide-chart", 912, height, label, [*edges, *(box.html() for box in boxes)])


def _narrow(parts: PipelineParts, totals: Totals, label: str) -> Html:
    sources = parts.sources[:_MOST_SOURCES]
    step = _HEIGHT + 22
    left, right = 2.0, 176.0
    boxes, edges = [], []
    bottom = max(1, len(sources)) * step + 12
    query = Box(left, bottom, 154, _query_lines(parts))
    sink = Box(left, bottom + step, 154, _sink_lines(parts, totals))
    dead = Box(right, bottom + step, 150, _dead_lines(parts, totals), warn=True)
    for at, each in enumerate(sources):
        counts = totals.sources.get(each.name, SourceTotals())
        source = Box(left, at * step + 2, 154, (_source_title(each.name), each.topic, _rows(counts.rows, "read")))
        rules = Box(right, at * step + 2, 150, _rule_lines(len(each.rules), counts))
        boxes += [source, rules]
        edges += [_across(source, rules), _around(rules, query)]
        if _rejects(parts, totals):
            edges.append(_bypass(rules, dead, shift=8))
    edges.append(_path(f"M{query.center:.0f} {query.y + _HEIGHT}V{sink.y - 5:.0f}", sink.center, sink.y, "down"))
    boxes += [query, sink]
    if _rejects(parts, totals):
        boxes.append(dead)
    return _svg("narrow-chart", 344, bottom + 2 * step - 18, label, [*edges, *(box.html() for box in boxes)])


def _svg(name: str, width: int, height: float, label: str, parts: Sequence[Html]) -> Html:
    return html(
        '<svg class="graph {}" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>',
        name, width, f"{height:.0f}", f"Graph. {label}", joined(parts),
    )  # fmt: skip


def _across(start: Box, end: Box) -> Html:
    """Draw an arrow from the right of a box to the left of another one."""
    x1, x2, y1, y2 = start.x + start.width, end.x, start.middle, end.middle
    bend = (x1 + x2) / 2
    return _path(f"M{x1:.0f} {y1:.0f}H{bend:.0f}V{y2:.0f}H{x2 - 5:.0f}", x2, y2, "right")


def _around(start: Box, end: Box) -> Html:
    """Draw an arrow from the bottom of a box to the right of a box below."""
    x = start.center - 26
    return _path(f"M{x:.0f} {start.y + _HEIGHT:.0f}V{end.middle:.0f}H{end.x + end.width + 5:.0f}",
                 end.x + end.width, end.middle, "left")  # fmt: skip


def _bypass(start: Box, end: Box, shift: float = 0.0) -> Html:
    """Draw an arrow for rejected rows, past the boxes between."""
    x1, x = start.x + start.width, start.x + start.width + 9 + shift
    return _path(f"M{x1:.0f} {start.middle + 14:.0f}H{x:.0f}V{end.middle:.0f}H{end.x + end.width + 5:.0f}",
                 end.x + end.width, end.middle, "left", warn=True)  # fmt: skip


_HEADS = {"right": "-6 -4 0 0 -6 4", "left": "6 -4 0 0 6 4", "down": "-4 -6 0 0 4 -6"}


def _path(path: str, x: float, y: float, direction: str, warn: bool = False) -> Html:
    kind = " warn" if warn else ""
    return html(
        '<path class="edge{}" d="{}"/><polygon class="arrow{}" transform="translate({} {})" points="{}"/>',
        kind, path, kind, f"{x:.0f}", f"{y:.0f}", _HEADS[direction],
    )  # fmt: skip


def _rejects(parts: PipelineParts, totals: Totals) -> bool:
    return bool(parts.dead_letters or totals.dead)


def _query_lines(parts: PipelineParts) -> tuple[str, str, str]:
    first, *others = textwrap.wrap(" ".join(parts.query.split())[:400], 26) or ["all columns"]
    return "query", first, " ".join(others)


def _sink_lines(parts: PipelineParts, totals: Totals) -> tuple[str, str, str]:
    return "sink", parts.sink or "unknown", "rows unknown" if totals.out is None else _rows(totals.out, "written")


def _dead_lines(parts: PipelineParts, totals: Totals) -> tuple[str, str, str]:
    return "dead letters", parts.dead_letters or "unknown", _rows(totals.dead, "rejected")


def _rule_lines(rules: int, counts: SourceTotals) -> tuple[str, str, str]:
    return (
        f"{rules} rule{'' if rules == 1 else 's'}",
        f"{count(counts.dead)} dead letter{'' if counts.dead == 1 else 's'}",
        f"{count(counts.dropped)} dropped",
    )


def _source_title(name: str) -> str:
    return "source" if name == "source" else f"source {name}"


def _rows(number: int, what: str) -> str:
    return f"{count(number)} row{'' if number == 1 else 's'} {what}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: max(1, most - 1)]}…"
