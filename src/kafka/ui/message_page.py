"""The page of a single message, which its topic, partition and offset identify, and its bytes for download."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from kafka.display.page_elements import Html, facts, html, joined, link, size, table
from kafka.display.payload_text import WAYS, Decoded, shown
from kafka.structs import TopicPartition
from kafka.ui.merged_scan import Found
from kafka.ui.message_fields import number_field, way_of
from kafka.ui.message_rows import cell, decoded, isolated, moment
from kafka.ui.page_frame import page
from kafka.ui.shared_state import Ui
from kafka.ui.when import zone_named

_WHOLE = 64 << 10
"""Maximum number of bytes of a key or value shown."""
_HEADERS_SHOWN = 100


async def one_record(ui: Ui, given: Mapping[str, str]) -> Found | None:
    """Return the message at the place that a query names; None if there is none.

    Raises `ValueError`, `KafkaError` and `TimeoutError`.
    """
    partition = number_field("partition", given.get("partition", ""), 0, 0, 2**31 - 1) or 0
    offset = given.get("offset", "")
    if not offset.isascii() or not offset.isdecimal() or len(offset) > 19:
        raise ValueError(f"expected an offset of at least 0, got {offset!r:.60}")
    return await ui.searches.one(TopicPartition(given.get("topic", ""), partition), int(offset))


def _way(each: str, way: str, where: Mapping[str, Any]) -> Html:
    """Return the name of a way to show bytes: a link, unless it is the one in use."""
    return html("<strong>{}</strong>", each) if each == way else link(each, "/message", **where, as_=each)


async def message_page(ui: Ui, given: Mapping[str, str]) -> Html | None:
    """Return the page for a message; None if there is no record at the offset. Raises as `one_record` does."""
    record = await one_record(ui, given)
    if record is None:
        return None
    topic, way = given.get("topic", ""), way_of(given)
    where = {"topic": topic, "partition": record.partition, "offset": record.offset}
    zone = zone_named(given.get("zone", ""))
    pairs = [
        ("topic", link(topic, "/topic", name=topic)),
        ("partition", record.partition),
        ("offset", record.offset),
        ("time", moment(record.timestamp, zone)),
        ("shown as", joined((_way(each, way, where) for each in WAYS), " · ")),
    ]
    (text,) = await decoded(ui, topic, [record], way)
    headers = [[name, cell(value, "auto")] for name, value in record.headers[:_HEADERS_SHOWN]]
    more = len(record.headers) - len(headers)
    content = joined(
        [
            facts(pairs),
            _actions(ui, topic, record, way),
            _whole("Key", record.key, way, text.key, where),
            _whole("Value", record.value, way, text.value, where),
            html(
                "<h2>Headers</h2>{}",
                html('<div class="headers">{}</div>', table(("Name", "Value"), headers, (), "Headers")),
            ),
            html('<p class="note">and {} more</p>', more) if more else Html(""),
        ]
    )
    return page(ui, f"Message {record.offset} of {topic}, partition {record.partition}", "/messages", content)


def _actions(ui: Ui, topic: str, record: Found, way: str) -> Html:
    """Return links to the neighbours in the partition, and to what can be done with the message."""
    where = {"topic": topic, "partition": record.partition, "as_": way if way != "auto" else None}
    around = {"topic": topic, "partition": record.partition, "before": f"{record.partition}:{record.offset + 1}"}
    links = [link("Messages around it", "/messages", **around)]
    if record.offset:
        links.append(link("← Previous offset", "/message", **where, offset=record.offset - 1))
    links.append(link("Next offset →", "/message", **where, offset=record.offset + 1))
    if ui.may_write:
        copied = {"topic": topic, "from_partition": record.partition, "from_offset": record.offset}
        links.append(link("Produce a copy", "/produce", **copied))
    return html('<p class="actions">{}</p>', joined((html("<span>{}</span>", each) for each in links), " "))


def _whole(title: str, data: bytes | None, way: str, text: Decoded | None, where: Mapping[str, object]) -> Html:
    found = shown(data, way, _WHOLE, whole=True, decoded=text)
    if data is None:
        return html('<h2>{}</h2><p class="quiet">null</p>', title)
    note = "; ".join(filter(None, [f"{found.way}, {size(len(data))}", found.note]))
    schema = Html("")
    if text is not None and text.schema_id is not None:
        schema = html(" · {}", link("its schema", "/schema", id=text.schema_id))
    bytes_link = link("download", "/message-bytes", **where, part=title.lower())
    return html(
        '<h2>{}</h2><p class="note">{}{} · {}</p><pre tabindex="0" data-copy{}>\n{}</pre>',
        *(
            title,
            note,
            schema,
            bytes_link,
            Html(' class="dump"') if found.way == "hex" else Html(""),
            _dump(found.text) if found.way == "hex" else isolated(found.text),
        ),
    )


def _dump(text: str) -> Html:
    """Return a hex dump with its columns marked, so that the style can put them below each other on phones."""
    lines = [html("<span><span>{}</span>  <span>{}</span>  <span>{}</span></span>", *_columns(line))
             for line in text.splitlines()]  # fmt: skip
    return joined(lines, "\n")


def _columns(line: str) -> tuple[str, str, str]:
    """Return the position, the bytes and the characters of a line of a hex dump."""
    return line[:8], line[10:57], line[59:]


async def message_bytes(ui: Ui, given: Mapping[str, str]) -> Response | None:
    """Return the key or value of a message as a file; None if there is none. Raises as `one_record` does."""
    record = await one_record(ui, given)
    data = None if record is None else record.key if given.get("part") == "key" else record.value
    if record is None or data is None:
        return None
    part = "key" if given.get("part") == "key" else "value"
    name = f"message-{record.partition}-{record.offset}-{part}.bin"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type="application/octet-stream", headers=headers)
