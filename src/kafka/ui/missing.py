"""Pages about something that does not exist, such as a deleted topic: similar names, a search, and other pages."""

import heapq
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kafka.display.page_elements import Html, address, html, joined, link, sent_back
from kafka.ui.page_frame import PAGES, page, trouble
from kafka.ui.shared_state import Ui
from kafka.ui.view import current_view

_MOST = 5
"""Maximum number of similar names."""
_LEAST = 0.4
"""Least similarity, from 0 to 1, of a name that is offered."""
_LONGEST = 300
"""Maximum number of characters of a name that are sent back in the search."""
_COMPARED = 60
"""Maximum number of characters of a name that are compared."""


class Missing(NamedTuple):
    """Something that does not exist.

    Arguments:
        text: what is missing, for the error message.
        kind: the list that could have it, such as "topics".
        list_path: the path of that list; "" if there is none.
        path: the path of the page of one entry of the list, such as "/topic".
        field: the field of that path with the name.
        name: the name that does not exist.
        known: the names that exist.
        more: links in addition to those of the list.
    """

    text: str
    kind: str = ""
    list_path: str = ""
    path: str = ""
    field: str = "name"
    name: str = ""
    known: Iterable[str] = ()
    more: Html = Html("")


def missing_page(ui: Ui, missing: Missing) -> Html:
    """Return the page, with ways to what exists."""
    return page(ui, "Not found", missing.list_path, joined([trouble(missing.text), onward(missing)]))


def onward(missing: Missing) -> Html:
    """Return similar names, a search in the list, and links to the list, or to all pages if there is none."""
    if missing.more:
        return missing.more
    if not missing.list_path:
        return _all_pages()
    return html(
        '{}<form method="get" action="{}" role="search"><label>Search {}'
        '<input type="search" name="q" value="{}" data-search></label><button>Search</button></form><p>{}</p>',
        similar_links(missing),
        *(address(missing.list_path), missing.kind, sent_back(missing.name[:_LONGEST])),
        link(f"All {missing.kind}", missing.list_path),
    )


def similar_links(missing: Missing) -> Html:
    """Return links to what has a similar name; "" if nothing has."""
    near = similar(missing.name, missing.known)
    names = joined(html("<li>{}</li>", link(each, missing.path, **{missing.field: each})) for each in near)
    return html("<h2>Similar {}</h2><ul>{}</ul>", missing.kind, names) if near else Html("")


def _all_pages() -> Html:
    up = current_view().up
    links = joined(
        html('<li><a href="{}">{}</a></li>', up + address(path), name) for _, pages in PAGES for name, path in pages
    )
    return html("<h2>Pages</h2><ul>{}</ul>", links)


def similar(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names that are most similar to a name, the most similar first.

    Two names are similar if they have many pairs of neighbouring letters in common. This takes a few microseconds for
    each name, so that a list of 10,000 does not delay other pages.
    """
    text = f" {name[:_COMPARED].casefold()} "
    wanted = {text[at : at + 2] for at in range(len(text) - 1)}

    def similarity(other: str) -> float:
        text = f" {other[:_COMPARED].casefold()} "
        return 2 * sum([pair in text for pair in wanted]) / (len(wanted) + len(text) - 1)

    rated = ((similarity(each), each) for each in known)
    near = heapq.nsmallest(_MOST, ((-found, each) for found, each in rated if found >= _LEAST))
    return [each for _, each in near]


async def no_topic(ui: Ui, given: Mapping[str, str]) -> Missing:
    """Return what is missing if there is no such topic."""
    name = given.get("name", "")
    return Missing(f"there is no topic {name!r:.300}", "topics", "/", "/topic", "name", name, topic_names(ui))


def topic_names(ui: Ui) -> list[str]:
    """Return the names of the topics, as far as they are known."""
    return list(ui.poller.newest.topics) if ui.poller.newest is not None else []


async def no_group(ui: Ui, given: Mapping[str, str]) -> Missing:
    """Return what is missing if there is no such group."""
    name = given.get("id", "")
    known = ui.poller.newest.groups if ui.poller.newest is not None else ()
    return Missing(f"there is no group {name!r:.300}", "groups", "/groups", "/group", "id", name, known)


async def no_broker(ui: Ui, given: Mapping[str, str]) -> Missing:
    """Return what is missing if there is no such broker."""
    known = map(str, ui.poller.newest.brokers if ui.poller.newest is not None else ())
    name = given.get("id", "")
    return Missing(f"there is no broker {name}", "brokers", "/brokers", "/broker", "id", name, known)


async def no_pipeline(ui: Ui, given: Mapping[str, str]) -> Missing:
    """Return what is missing if there is no such pipeline."""
    name, (known, _) = given.get("name", ""), await ui.read_pipelines()
    text = f"there is no pipeline {name!r:.300}"
    return Missing(text, "pipelines", "/pipelines", "/pipeline", "name", name, known)


async def no_partition(ui: Ui, given: Mapping[str, str]) -> Missing:
    """Return what is missing if the place of a message is in no known partition: the partition, or its topic."""
    topic, partition = given.get("topic", ""), given.get("partition") or "0"
    await ui.poller.snapshot()
    if topic not in topic_names(ui):
        return await no_topic(ui, {"name": topic})
    more = html('<p class="actions"><span>{}</span></p>', link(f"Topic {topic:.300}", "/topic", name=topic))
    return Missing(f"topic {topic!r:.300} has no partition {partition}", list_path="/messages", more=more)


async def no_message(_: Ui, given: Mapping[str, str]) -> Missing:
    """Return what is missing if there is no message at an offset."""
    topic, partition = given.get("topic", ""), given.get("partition") or "0"
    text = (
        f"partition {partition} of topic {topic!r:.300} has no record at offset {given.get('offset', '')}: "
        "it was deleted, or has not been written yet"
    )
    links = [
        link("First messages of the partition", "/messages", topic=topic, partition=partition, from_="earliest"),
        link("Newest messages of the partition", "/messages", topic=topic, partition=partition),
        link(f"Topic {topic:.300}", "/topic", name=topic),
    ]
    more = html('<p class="actions">{}</p>', joined((html("<span>{}</span>", each) for each in links), " "))
    return Missing(text, list_path="/messages", more=more)


def no_page(path: str, *, is_method: bool) -> Missing:
    """Return what is missing if an address does not exist.

    Arguments:
        is_method: whether it exists, but not for this method of HTTP, such as for the address of a form.
    """
    return Missing(f"{path!r} {'does not accept this request' if is_method else 'is not a page of this server'}")
