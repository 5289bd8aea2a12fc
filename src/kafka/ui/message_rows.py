"""The rows of messages, which the list and the live tail share: time, place, key, value and headers."""

from __future__ import annotations

import datetime
import re

from kafka.display.page_elements import Html, html, joined, link, time
from kafka.display.payload_text import Decoded, Shown, shown
from kafka.ui.merged_scan import Found
from kafka.ui.page_registry import RecordText
from kafka.ui.shared_state import Ui
from kafka.ui.when import in_zone

_IN_A_ROW = 300
"""Maximum number of bytes of a key or value shown in a row."""
_LINES_IN_A_ROW = 8
_LONG_KEY = 40
"""Number of characters above which a key needs a wide column."""
_FOLDED_KEY = 160
"""Number of characters above which the list shows only the first lines of a key, until it is clicked."""
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
"""Letters of scripts that are written from right to left, such as Arabic and Hebrew."""
_JSON_STRING = re.compile(r'("(?:[^"\\\n]|\\.)*(?:"|\\?$))', re.MULTILINE)
"""A string, or what remains of it in its line: a search that failed at each quotation mark would take hours."""
HEAD = Html(
    '<thead><tr><th scope="col" class="n">Partition</th><th scope="col" class="n">Offset</th><th scope="col">Time</th>'
    '<th scope="col">Key</th><th scope="col">Value</th></tr></thead>'
)


async def rows_of(ui: Ui, topic: str, records: list[Found], way: str, zone: datetime.tzinfo) -> Html:
    """Return records as rows of a table.

    Arguments:
        way: how to show bytes, one of `WAYS`.
        zone: the zone in which times are shown, next to UTC.
    """
    texts = await decoded(ui, topic, records, way)
    return joined(_row(topic, record, way, text, zone) for record, text in zip(records, texts, strict=True))


async def decoded(ui: Ui, topic: str, records: list[Found], way: str) -> list[RecordText]:
    """Decode records with their schemas, if the requested representation needs this."""
    if ui.registry is None or way not in ("auto", "schema"):
        return [RecordText()] * len(records)
    return await ui.registry.decoded(topic, records)


def _row(topic: str, record: Found, way: str, text: RecordText, zone: datetime.tzinfo) -> Html:
    where = {"topic": topic, "partition": record.partition, "offset": record.offset}
    headers = f" · {len(record.headers)} header{'s' if len(record.headers) > 1 else ''}" if record.headers else ""
    return html(
        '<tr><td class="n" data-label="Partition">{}</td><td class="n" data-label="Offset">{}</td>'
        '<td class="when" data-label="Time">{}</td>{}<td data-label="Value">{}{}</td></tr>',
        record.partition,
        link(record.offset, "/message", **where, as_=way if way != "auto" else None),
        moment(record.timestamp, zone),
        _key_cell(record.key, way, text.key),
        cell(record.value, way, text.value),
        html('<span class="note">{}</span>', headers) if headers else "",
    )


def _key_cell(data: bytes | None, way: str, text: Decoded | None) -> Html:
    """Return the cell of a key. The style shows the first lines of a folded one until it is opened."""
    found = shown(data, way, _IN_A_ROW, decoded=text)
    content, length = _content(found), len(found.text)
    if length > _FOLDED_KEY:
        content = html('<details class="fold"><summary>{}</summary></details>', content)
    return html('<td{} data-label="Key">{}</td>', Html(' class="long-key"') if length > _LONG_KEY else "", content)


def moment(timestamp_ms: int, zone: datetime.tzinfo) -> Html:
    """Return a record's time: in the zone with UTC below it. Scripts add the browser's time if the zone is UTC."""
    utc, local = time(timestamp_ms), in_zone(timestamp_ms, zone)
    if not local:
        return html('<time data-ms="{}">{}</time>', timestamp_ms, utc) if timestamp_ms >= 0 else html("{}", utc)
    return html('<time>{}</time><br><span class="note">{}</span>', local, utc)


def cell(data: bytes | None, way: str, text: Decoded | None = None) -> Html:
    """Return a key, value or header for a row."""
    return _content(shown(data, way, _IN_A_ROW, decoded=text))


def _content(found: Shown) -> Html:
    if found.way == "null":
        return html('<span class="quiet">null</span>')
    lines = found.text.split("\n")
    told = "; ".join(filter(None, [f"{_LINES_IN_A_ROW} lines" if len(lines) > _LINES_IN_A_ROW else "", found.note]))
    note = html(' <span class="note">{}</span>', f"… {told}") if told else ""
    return html("<code>{}</code>{}", isolated("\n".join(lines[:_LINES_IN_A_ROW])), note)


def isolated(text: str) -> Html:
    """Return text in which each string of JSON keeps its place.

    Without this, browsers would show a name and its value in the opposite order if both are written from right to left.
    """
    if _RIGHT_TO_LEFT.search(text) is None:
        return html("{}", text)
    parts = _JSON_STRING.split(text)
    return joined(html("<bdi>{}</bdi>" if at % 2 else "{}", part) for at, part in enumerate(parts))
