"""The pages for messages: the search form with its results, and a single message."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from kafka.consumer.bounds import WHERE_TOPICS_ARE
from kafka.display.page_elements import Html, count, facts, html, joined, link, sent_back, size, table, time
from kafka.display.payload_text import WAYS, Decoded, shown
from kafka.errors import KafkaError, error_text
from kafka.structs import TopicPartition
from kafka.ui.page_frame import frame, page, trouble
from kafka.ui.page_registry import RecordText
from kafka.ui.search import MOST, Found, Progress, Search, text_to_bytes
from kafka.ui.shared_state import Ui

_IN_A_ROW = 300
"""Maximum number of bytes of a key or value shown in a list."""
_WHOLE = 64 << 10
"""Maximum number of bytes of a key or value shown on the page of a single message."""
_HEADERS_SHOWN = 100


def parse_search(ui: Ui, given: Mapping[str, str]) -> Search:
    """Parse the search form. Raises `ValueError` with a message that names the allowed values."""
    as_hex = given.get("match") == "hex"
    start, end = given.get("from", "").strip(), given.get("until", "").strip()
    return Search(
        topic=given["topic"].strip(),
        partition=_number("partition", given.get("partition", ""), None, 0, 2**31 - 1),
        start=ui.settings.parse_position(start) if start else None,
        end=ui.settings.parse_position(end) if end else None,
        key=text_to_bytes(given.get("key", ""), as_hex),
        exact=bool(given.get("exact")),
        value=text_to_bytes(given.get("value", ""), as_hex),
        most=_number("most", given.get("most", ""), 50, 1, MOST) or 50,
    )


def _number(name: str, text: str, default: int | None, least: int, most: int) -> int | None:
    text = text.strip()
    if not text:
        return default
    if not text.isascii() or not text.isdecimal() or len(text) > 10 or not least <= int(text) <= most:
        raise ValueError(f"expected a number from {least} to {most} as {name}, got {text!r:.60}")
    return int(text)


def way_of(given: Mapping[str, str]) -> str:
    """Return how bytes are to be shown, as one of `WAYS`."""
    return given["as"] if given.get("as") in WAYS else "auto"


async def messages_page(ui: Ui, given: Mapping[str, str]) -> AsyncGenerator[Html]:
    """Yield the form, and then results as they are found, so that the browser can show them and stop the search."""
    around = frame(ui, "Messages", "/messages")
    yield around.start
    yield await _form(ui, given)
    if given.get("topic", "").strip():
        try:
            async with aclosing(_results(ui, parse_search(ui, given), way_of(given))) as parts:
                async for part in parts:
                    yield part
        except (ValueError, TypeError, OverflowError, KafkaError) as error:
            yield trouble(error_text(error))
    yield around.end


async def _results(ui: Ui, search: Search, way: str) -> AsyncGenerator[Html]:
    progress, failed = Progress(), ""
    yield html(
        '<div class="wide" tabindex="0" role="region" aria-label="Messages found"><table><thead><tr>'
        '<th scope="col" class="n">partition</th><th scope="col" class="n">offset</th><th scope="col">time</th>'
        '<th scope="col">key</th><th scope="col">value</th></tr></thead><tbody>'
    )
    try:
        async with aclosing(ui.searches.run(search, progress)) as batches:
            async for records in batches:
                texts = await _decoded(ui, search.topic, records, way)
                rows = zip(records, texts, strict=True)
                yield joined(_row(search.topic, record, way, text) for record, text in rows)
    except (KafkaError, TypeError, ValueError, OverflowError) as error:
        failed = error_text(error).replace(WHERE_TOPICS_ARE, "see the Topics page")
    yield html("</tbody></table></div>{}", trouble(failed) or _summary(search, progress))


def _summary(search: Search, progress: Progress) -> Html:
    text = f"{progress.found:,} found; {progress.looked_at:,} records of {progress.offsets:,} offsets were searched"
    if progress.ended:
        text += f". The search ended early: {progress.ended}. Narrow it with a later start, an end or a partition"
    elif search.start is None and not search.filters:
        text += ": the newest records, newest first"
    return html('<p class="note" role="status">{}.</p>', text)


async def _decoded(ui: Ui, topic: str, records: list[Found], way: str) -> list[RecordText]:
    """Decode records with their schemas, if the requested representation needs this."""
    if ui.registry is None or way not in ("auto", "schema"):
        return [RecordText()] * len(records)
    return await ui.registry.decoded(topic, records)


def _row(topic: str, record: Found, way: str, text: RecordText) -> Html:
    where = {"topic": topic, "partition": record.partition, "offset": record.offset}
    return html(
        '<tr><td class="n">{}</td><td class="n">{}</td><td>{}</td><td>{}</td><td>{}</td></tr>',
        record.partition,
        link(record.offset, "/message", **where, as_=way if way != "auto" else None),
        time(record.timestamp),
        _cell(record.key, way, text.key),
        _cell(record.value, way, text.value),
    )


def _cell(data: bytes | None, way: str, decoded: Decoded | None = None) -> Html:
    found = shown(data, way, _IN_A_ROW, decoded=decoded)
    if found.way == "null":
        return html('<span class="quiet">null</span>')
    note = html(' <span class="note">{}</span>', found.note) if found.note else ""
    return html("<code>{}</code>{}", found.text, note)


async def _form(ui: Ui, given: Mapping[str, str]) -> Html:
    now = await ui.poller.snapshot()
    names = joined(html('<option value="{}">', name) for name in (now.topics if now is not None else ()))
    return html(
        '{}<form method="get" action="messages" role="search">'
        '<label>Topic<input name="topic" list="topics" required value="{}"></label><datalist id="topics">{}</datalist>'
        '<label>Partition<input name="partition" inputmode="numeric" placeholder="all" value="{}"></label>'
        '<label>From<input name="from" placeholder="offset, time or 15m" value="{}"></label>'
        '<label>Until<input name="until" placeholder="offset, time or 15m" value="{}"></label>'
        '<label>Key contains<input name="key" value="{}"></label>'
        '<label class="tick"><input type="checkbox" name="exact" value="1"{}>exact match</label>'
        '<label>Value contains<input name="value" value="{}"></label>'
        '<label>Encoding<select name="match">{}</select></label><label>Show as<select name="as">{}</select></label>'
        '<label>Limit<input name="most" inputmode="numeric" placeholder="50" value="{}"></label>'
        '<button>Search</button></form><p class="note">Times: 2026-01-31T12:00, @1767225600000 (milliseconds), or how '
        "long ago: 90s, 15m, 2h, 3d. A search is limited to {} s and {} records; cancel it with the browser's Stop "
        "button.</p>",
        trouble(ui.poller.trouble),
        *(sent_back(given.get("topic")), names),
        *(sent_back(given.get(field)) for field in ("partition", "from", "until", "key")),
        Html(" checked") if given.get("exact") else "",
        sent_back(given.get("value")),
        _options(("text", "hex"), given.get("match")),
        _options(WAYS, given.get("as")),
        sent_back(given.get("most")),
        f"{ui.settings.search_s:g}",
        count(ui.settings.search_records),
    )


def _options(values: tuple[str, ...], chosen: str | None) -> Html:
    return joined(html("<option{}>{}</option>", Html(" selected") if each == chosen else "", each) for each in values)


async def message_page(ui: Ui, given: Mapping[str, str]) -> Html | None:
    """Return the page for a message; None if there is no record at the offset.

    Raises `ValueError`, `KafkaError` and `TimeoutError`.
    """
    topic, partition = given.get("topic", ""), _number("partition", given.get("partition", ""), 0, 0, 2**31 - 1) or 0
    offset_text = given.get("offset", "")
    if not offset_text.isascii() or not offset_text.isdecimal() or len(offset_text) > 19:
        raise ValueError(f"expected an offset of at least 0, got {offset_text!r:.60}")
    record = await ui.searches.one(TopicPartition(topic, partition), int(offset_text))
    if record is None:
        return None
    where = {"topic": topic, "partition": partition, "offset": record.offset}
    ways = joined((link(way, "/message", **where, as_=way) for way in WAYS), " · ")
    pairs = [
        ("topic", link(topic, "/topic", name=topic)),
        ("partition", partition),
        ("offset", record.offset),
        ("time", time(record.timestamp)),
        ("shown as", ways),
    ]
    (text,) = await _decoded(ui, topic, [record], way_of(given))
    headers = [[name, _cell(value, "auto")] for name, value in record.headers[:_HEADERS_SHOWN]]
    more = len(record.headers) - len(headers)
    content = joined(
        [
            facts(pairs),
            _whole("Key", record.key, way_of(given), text.key),
            _whole("Value", record.value, way_of(given), text.value),
            html("<h2>Headers</h2>{}", table(("name", "value"), headers, (), "Headers")),
            html('<p class="note">and {} more</p>', more) if more else Html(""),
        ]
    )
    return page(ui, f"Message {record.offset} of {topic}, partition {partition}", "/messages", content)


def _whole(title: str, data: bytes | None, way: str, decoded: Decoded | None) -> Html:
    found = shown(data, way, _WHOLE, whole=True, decoded=decoded)
    if data is None:
        return html('<h2>{}</h2><p class="quiet">null</p>', title)
    note = "; ".join(filter(None, [f"{found.way}, {size(len(data))}", found.note]))
    schema = Html("")
    if decoded is not None and decoded.schema_id is not None:
        schema = html(" · {}", link("its schema", "/schema", id=decoded.schema_id))
    return html('<h2>{}</h2><p class="note">{}{}</p><pre tabindex="0">\n{}</pre>', title, note, schema, found.text)
