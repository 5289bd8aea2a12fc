"""The fields of the form for messages: parsing, the form itself, and links that keep its fields.

The same fields select the messages of the list, of downloads and of the live tail. To add one, add it to `KEPT`, to
`parse_search` and to `form`.
"""

from __future__ import annotations

import datetime
import heapq
from collections.abc import Mapping
from typing import Any

from kafka.display.page_elements import Html, address, count, html, joined, sent_back
from kafka.display.payload_text import WAYS
from kafka.filters import Filter, FilterError
from kafka.ui.missing import topic_names
from kafka.ui.page_frame import sentence, trouble
from kafka.ui.search import MOST, Search, text_to_bytes
from kafka.ui.shared_state import Ui
from kafka.ui.when import RELATIVE, parse_when, zone_named

KEPT = (
    *("topic", "partition", "from", "from_at", "until", "until_at", "key", "exact", "value", "match", "where", "order"),
    *("most", "as", "zone"),
)
"""The fields that links to other pages of the same search keep."""
_LONGEST_WHERE = 4000
_SUGGESTED = 50
"""Maximum number of topics that the field for the topic suggests at a time."""
_LONGEST_PLACES = 40_000


def parse_search(ui: Ui, given: Mapping[str, str], most: int | None = None) -> Search:
    """Parse the form.

    Arguments:
        most: maximum number of records; None for that of the form.

    Raises `ValueError` with a message that names the allowed values.
    """
    as_hex = given.get("match") == "hex"
    order = given.get("order", "")
    return Search(
        topic=given["topic"].strip(),
        partition=number_field("partition", given.get("partition", ""), None, 0, 2**31 - 1),
        start=_position(ui, given, "from"),
        end=_position(ui, given, "until"),
        key=text_to_bytes(given.get("key", ""), as_hex),
        exact=bool(given.get("exact")),
        value=text_to_bytes(given.get("value", ""), as_hex),
        most=most or number_field("most", given.get("most", ""), 50, 1, MOST) or 50,
        where=parse_where(given.get("where", "")),
        newest={"newest": True, "oldest": False}.get(order),
        before=parse_places(given.get("before", "")),
        after=parse_places(given.get("after", "")),
    )


def parse_where(text: str) -> Filter | None:
    """Parse a filter; None if there is none. Raises `ValueError` with the position of the mistake."""
    text = text.strip()
    if len(text) > _LONGEST_WHERE:
        raise ValueError(f"expected a filter of at most {_LONGEST_WHERE:,} characters, got {len(text):,}")
    return Filter(text) if text else None


def _position(ui: Ui, given: Mapping[str, str], name: str) -> Any:
    """Return a position from the text field, or else from the date picker next to it."""
    text = given.get(name, "").strip() or given.get(f"{name}_at", "").strip()
    if not text:
        return None
    zone = zone_named(given.get("zone", "").strip())
    return parse_when(text, zone, ui.settings.parse_position, datetime.datetime.now(datetime.UTC))


def number_field(name: str, text: str, default: int | None, least: int, most: int) -> int | None:
    """Parse a whole number. Raises `ValueError`."""
    text = text.strip()
    if not text:
        return default
    if not text.isascii() or not text.isdecimal() or len(text) > 10 or not least <= int(text) <= most:
        raise ValueError(f"expected a number from {least} to {most} as {name}, got {text!r:.60}")
    return int(text)


def parse_places(text: str) -> dict[int, int] | None:
    """Parse offsets by partition, as in "0:120,1:98"; None if there are none. Raises `ValueError`."""
    if not text:
        return None
    try:
        pairs = [each.split(":") for each in text[:_LONGEST_PLACES].split(",")]
        found = {int(number): int(offset) for number, offset in pairs}
    except ValueError:
        raise ValueError(f"expected offsets by partition, such as 0:120,1:98, got {text!r:.60}") from None
    if any(not 0 <= each < 2**63 for each in (*found, *found.values())):
        raise ValueError(f"expected offsets of at least 0, got {text!r:.60}")
    return found


def places_text(places: Mapping[int, int]) -> str:
    """Return offsets by partition as text for a link."""
    return ",".join(f"{number}:{offset}" for number, offset in places.items())


def kept_fields(given: Mapping[str, str], **more: object) -> dict[str, object]:
    """Return the fields of the form, and others, for a link."""
    return {name: given[name] for name in KEPT if given.get(name)} | more


def way_of(given: Mapping[str, str]) -> str:
    """Return how bytes are to be shown, as one of `WAYS`."""
    return given["as"] if given.get("as") in WAYS else "auto"


def error_of(error: ValueError) -> Html:
    """Return an error of the form as HTML. That of a filter shows the position of the mistake."""
    if not isinstance(error, FilterError):
        return trouble(str(error))
    return html(
        '<div class="trouble" role="status">{}<pre>{}\n{}</pre></div>', sentence(error.message), *error.excerpt()
    )


async def form(ui: Ui, given: Mapping[str, str], action: str, button: str) -> Html:
    """Return the form.

    Arguments:
        action: the path of the page that shows the result.
        button: the text of the button.
    """
    await ui.poller.snapshot()
    known = topic_names(ui)
    names = joined(html('<option value="{}">', name) for name in known[:_SUGGESTED])
    source = Html(' data-source="topic-names"') if len(known) > _SUGGESTED else Html("")
    ago = joined(html('<option value="{}">', each) for each in RELATIVE)
    has_more = any(given.get(each) for each in ("key", "value", "partition"))
    return html(
        '{}<form method="get" action="{}" role="search" class="search">'
        '<datalist id="topics"{}>{}</datalist><datalist id="ago">{}</datalist><div class="row">'
        '<label class="topic">Topic<input name="topic" list="topics" required value="{}"></label>'
        '<label class="grows">Filter<input name="where" class="code" spellcheck="false" autocomplete="off" '
        'placeholder="value.status = \'PAID\' and value.amount &gt; 10" value="{}"></label></div>'
        '<div class="row">{}<button class="main">{}</button></div>'
        "<details{}><summary>More conditions</summary>"
        '<div class="row"><label>Partition'
        '<input name="partition" size="6" inputmode="numeric" placeholder="all" value="{}"></label>'
        '<label>Key contains<input name="key" value="{}"></label>'
        '<label class="tick"><input type="checkbox" name="exact" value="1"{}>whole key</label>'
        '<label>Value contains<input name="value" value="{}"></label>'
        '<label>Encoding<select name="match">{}</select></label><label>Show as<select name="as">{}</select></label>'
        '<label>Time zone<input name="zone" size="16" placeholder="UTC" value="{}"></label>'
        '<label>Messages per page<input name="most" size="6" inputmode="numeric" placeholder="50" value="{}"></label>'
        "</div>"
        '<p class="note">Filters use key, value, headers.NAME, partition, offset, timestamp and fields of JSON, such '
        "as value.items[0].sku. Times without a zone are in the time zone above: 2026-01-31T12:00, @1767225600000 "
        "(milliseconds), an offset, earliest, 90s, 15m, 2h, 3d, 15 minutes ago, yesterday. A search reads at most {} "
        "records in {} s.</p></details></form>",
        _unreadable(ui, given.get("topic", "").strip()),
        *(action, source, names, ago),
        *(sent_back(given.get(field)) for field in ("topic", "where")),
        Html("") if action == "tail" else _times(given),
        button,
        Html(" open") if has_more else "",
        *(sent_back(given.get(field)) for field in ("partition", "key")),
        Html(" checked") if given.get("exact") else "",
        sent_back(given.get("value")),
        options([(each, each) for each in ("text", "hex")], given.get("match")),
        options([(each, each) for each in WAYS], given.get("as")),
        *(sent_back(given.get(field)) for field in ("zone", "most")),
        count(ui.settings.search_records),
        f"{ui.settings.search_s:g}",
    )


def suggested_topics(ui: Ui, text: str) -> list[str]:
    """Return names of topics that contain a text, in any case: first those that begin with it, each sorted by name."""
    wanted = text.strip().casefold()
    found = [(name.casefold().find(wanted) > 0, name) for name in topic_names(ui) if wanted in name.casefold()]
    return [name for _, name in heapq.nsmallest(_SUGGESTED, found)]


def _unreadable(ui: Ui, topic: str) -> Html:
    """Say why the cluster cannot be read, or else which partitions of the topic cannot be read."""
    if not topic or ui.poller.trouble:
        return trouble(ui.poller.trouble)
    known = ui.poller.newest.topics.get(topic) if ui.poller.newest is not None else None
    offline = [str(each.number) for each in known.partitions if each.is_offline] if known is not None else []
    if not offline:
        return Html("")
    which = f"Partition {offline[0]} has" if len(offline) == 1 else f"Partitions {', '.join(offline[:20])} have"
    more = f" and {len(offline) - 20:,} more" if len(offline) > 20 else ""
    return trouble(f"{which.replace(' have', f'{more} have')} no leader: messages there cannot be read now.")


def _times(given: Mapping[str, str]) -> Html:
    """Return the fields for times and order, which a live tail does not have."""
    return html(
        '<label>From<input name="from" list="ago" placeholder="15 minutes ago" value="{}"></label>'
        '<label>or from a date<input type="datetime-local" step="1" name="from_at" value="{}"></label>'
        '<label>Until<input name="until" list="ago" placeholder="now" value="{}"></label>'
        '<label>or until a date<input type="datetime-local" step="1" name="until_at" value="{}"></label>'
        '<label>Order<select name="order">{}</select></label>',
        *(sent_back(given.get(field)) for field in ("from", "from_at", "until", "until_at")),
        options((("", "automatic"), ("newest", "newest first"), ("oldest", "oldest first")), given.get("order")),
    )


def options(values: list[tuple[str, str]] | tuple[tuple[str, str], ...], chosen: str | None) -> Html:
    """Return the options of a list, as pairs of value and text."""
    return joined(
        html('<option value="{}"{}>{}</option>', value, Html(" selected") if value == chosen else "", text)
        for value, text in values
    )


def page_link(text: str, path: str, given: Mapping[str, str], **more: object) -> Html:
    """Return a link to a page with the same fields."""
    return html('<a href="{}">{}</a>', address(path, **kept_fields(given, **more)), text)
