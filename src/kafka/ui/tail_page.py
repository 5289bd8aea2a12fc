"""The live tail: new messages as they are written.

With scripts, `static/messages.js` reads `tail_events`, and can pause and continue. Without scripts, the page itself is
sent for as long as it is open, and the browser's Stop button ends it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from kafka.display.page_elements import Html, address, html, visible
from kafka.errors import KafkaError, error_text
from kafka.ui.message_fields import (
    error_of,
    form,
    kept_fields,
    number_field,
    page_link,
    parse_search,
    places_text,
    way_of,
)
from kafka.ui.message_rows import HEAD, rows_of
from kafka.ui.page_frame import badge, frame, sentence, trouble
from kafka.ui.shared_state import Ui
from kafka.ui.tail_reader import FASTEST
from kafka.ui.when import zone_named

_RATE = 20
_MOST_WITHOUT_SCRIPTS = 2000
"""Number of messages after which a page without scripts ends."""


async def tail_page(ui: Ui, given: Mapping[str, str]) -> AsyncGenerator[Html]:
    """Yield the page; with ``plain=1``, it contains new messages as they are written."""
    await ui.poller.snapshot()  # for the header
    around = frame(ui, "Live messages", "/messages")
    yield around.start
    yield await form(ui, given, "tail", "Follow")
    if not given.get("topic", "").strip():
        yield around.end
        return
    try:
        parse_search(ui, given)
        rate = _rate(given)
    except ValueError as error:
        yield joined_end(error_of(error), around.end)
        return
    region = Html('<div class="wide messages" tabindex="0" role="region" aria-label="New messages">')
    if given.get("plain"):
        yield html('<p class="note">New messages appear below. The browser’s Stop button ends this.</p>')  # noqa: RUF001
        yield html("{}<table>{}<tbody>", region, HEAD)
        async with aclosing(_plain(ui, given, rate)) as parts:
            async for part in parts:
                yield part
        yield around.end
        return
    fields = kept_fields(given, rate=rate)
    yield html(
        '<p class="actions">{}<noscript><span>{}</span></noscript></p>'
        '<div data-tail="{}"><p class="tail-state"><button type="button" data-pause hidden>Pause</button> '
        '<span role="status" data-told>Waiting for new messages …</span></p>{}<table>{}'
        "<tbody></tbody></table></div></div>",
        html("<span>{}</span>", page_link("Messages so far", "/messages", given)),
        page_link("Follow without scripts", "/tail", given, plain=1),
        *(address("/tail-events", **fields), region, HEAD),
    )
    yield around.end


def joined_end(first: Html, last: Html) -> Html:
    """Return two pieces of HTML as one."""
    return html("{}{}", first, last)


def _rate(given: Mapping[str, str]) -> int:
    return number_field("rate", given.get("rate", ""), _RATE, 1, FASTEST) or _RATE


async def _plain(ui: Ui, given: Mapping[str, str], rate: int) -> AsyncGenerator[Html]:
    found, told = 0, "the time limit was reached"
    search, zone = parse_search(ui, given), zone_named(given.get("zone", "").strip())
    try:
        async with aclosing(ui.tails.run(search, rate, ui.registry)) as parts:
            async for part in parts:
                found += len(part.records)
                yield await rows_of(ui, search.topic, part.records, way_of(given), zone)
                if part.skipped:
                    yield html('<tr><td colspan="5" class="note">{} more were not shown.</td></tr>', part.skipped)
                if found >= _MOST_WITHOUT_SCRIPTS:
                    told = f"{found:,} messages were shown"
                    break
    except (KafkaError, ValueError, TimeoutError) as error:
        told = error_text(error)
    yield html("</tbody></table></div>{}", trouble(f"This ended: {told}."))


async def tail_events(ui: Ui, given: Mapping[str, str], last_event: str) -> AsyncGenerator[bytes]:
    """Yield new messages as server-sent events, whose ids are the places to continue at.

    Events of the type "health" have the badge for the header, whenever it changes.

    Arguments:
        last_event: the id of the last event that a browser got before its connection broke; "" if none.
    """
    try:
        search = parse_search(ui, {**given, "after": last_event or given.get("after", "")})
        rate, zone = _rate(given), zone_named(given.get("zone", "").strip())
        health = ""
        async with aclosing(ui.tails.run(search, rate, ui.registry)) as parts:
            async for part in parts:
                ui.poller.begin()  # to notice that the cluster does not answer, which the consumer does not report
                if health != (health := badge(ui)):
                    yield _event(health, "", "health")
                if ui.poller.trouble and not part.records:
                    yield _event(sentence(ui.poller.trouble), "", "silent")
                    continue
                rows = await rows_of(ui, search.topic, part.records, way_of(given), zone)
                skipped = html('<tr class="skipped" data-skipped="{}"></tr>', part.skipped) if part.skipped else ""
                yield _event(html("{}{}", rows, skipped), places_text(part.places))
        yield _event("the time limit was reached", "", "ended")
    except (KafkaError, ValueError, TimeoutError, TypeError, OverflowError) as error:
        yield _event(error_text(error), "", "ended")


def _event(content: str, number: str, kind: str = "message") -> bytes:
    """Encode an event: HTML, or text if it is about the tail. Line breaks in the content would end it."""
    lines = [f"data: {line}\n" for line in visible(content).splitlines()] or ["data: \n"]
    head = f"event: {kind}\n" + (f"id: {number}\n" if number else "")
    return (head + "".join(lines) + "\n").encode("utf-8", "backslashreplace")
