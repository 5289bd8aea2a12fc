"""The frame that all pages share: title, header with the cluster, theme and menu. Its HTML is `templates/frame.jinja`.

To add a page, add it to `PAGES` here and to the routes in `web_server.py`.
"""

import re
from collections.abc import Collection
from typing import NamedTuple

from kafka.display.page_elements import Html, html, joined, link
from kafka.display.page_elements import time as time_text
from kafka.display.time_axis import duration_text
from kafka.ui.health import health_of
from kafka.ui.session_note import session_note
from kafka.ui.shared_state import Ui
from kafka.ui.snapshot import GroupState, Snapshot, TopicState
from kafka.ui.templating import render
from kafka.ui.view import SEEN, THEMES, address_of, current_view

PAGES = (
    ("Cluster", (("Health", "/health"), ("Brokers", "/brokers"))),
    ("Data", (("Topics", "/"), ("Messages", "/messages"), ("Groups", "/groups"), ("Schemas", "/schemas"))),
    ("Access", (("ACLs", "/acls"), ("Users", "/users"), ("Quotas", "/quotas"))),
    ("Processing", (("Transactions", "/transactions"), ("Spark", "/spark"), ("Pipelines", "/pipelines"))),
)
"""The menu: groups of pages with their paths."""
_MARK = "[content]"
_WORD = re.compile(r"[a-z]+(?=[ ,]|'s )")
"""A word at the beginning of a text, as opposed to a name, which often contains other characters."""


class Frame(NamedTuple):
    """The HTML before and after a page's content."""

    start: Html
    end: Html


def frame(ui: Ui, title: str, current: str, refresh: bool = False) -> Frame:
    """Return the frame of a page.

    Arguments:
        current: the path of the page's menu entry.
        refresh: whether browsers without JavaScript reload the page at the polling interval.
    """
    view = current_view()
    newest = ui.poller.newest
    cluster = newest.cluster if newest is not None else ""
    profile = ui.settings.profile
    whole = render(
        "frame",
        title=title,
        current=current,
        refresh=max(1, round(ui.settings.interval_s)) if refresh else 0,
        groups=PAGES,
        up=view.up,
        theme=view.theme,
        themes=THEMES,
        token=ui.forms.token,
        back=view.back if not view.up else "./",
        profile=profile,
        cluster=cluster,
        cluster_name=profile or cluster or "cluster unknown",
        peers=[(name, f"{view.up}../{name}{current or '/'}") for name in ui.peers],
        mode=session_note(ui),
        health=badge(ui),
    )
    start, end = whole.rsplit(_MARK, 1)
    return Frame(Html(start), Html(end))


def page(ui: Ui, title: str, current: str, content: Html) -> Html:
    """Return a static page."""
    around = frame(ui, title, current)
    return joined([around.start, content, around.end])


def live_page(
    ui: Ui,
    title: str,
    current: str,
    live: Html,
    source: str,
    still: Html = Html(""),  # noqa: B008
    of_cluster: bool = True,
) -> Html:
    """Return a page with a live part, which is updated as the cluster changes.

    Arguments:
        live: the current content of the live part.
        source: the path and query from which the live part is updated.
        still: static content after the live part.
        of_cluster: whether the live part shows the cluster, so that the page says how old its snapshot is.
    """
    around = frame(ui, title, current, refresh=not still or ui.poller.newest is None)
    age = age_note(ui) if of_cluster else Html("")
    return joined([around.start, html('<div data-live="{}">{}{}</div>', source, age, live), still, around.end])


def trouble(text: str) -> Html:
    """Return an error message as HTML, as a sentence."""
    return html('<p class="trouble" role="status">{}</p>', sentence(text)) if text else Html("")


def gone(ui: Ui, what: str, kind: str, path: str) -> Html:
    """Return why a live part is empty: what it is about does not exist, or does not exist any more.

    Arguments:
        what: what the page is about, such as "topic 'orders'".
        kind: the list that had it, such as "topics".
        path: the path of that list.
    """
    if ui.poller.trouble:
        return trouble(ui.poller.trouble)
    return joined([trouble(f"there is no {what}"), html("<p>{}</p>", link(f"All {kind}", path))])


def sentence(text: str) -> str:
    """Return a text with a capital letter first, unless it begins with a name, such as that of a host or a config."""
    return f"{text[:1].upper()}{text[1:]}" if _WORD.match(text) is not None else text


def live_address(ui: Ui, part: str) -> str:
    """Return the address of a page's live part, with the query of the page and what the page shows already."""
    return f"live/{address_of(part, {**current_view().query, SEEN: str(ui.poller.number)})}"


def not_yet(ui: Ui) -> Html:
    """Return what a page shows before the first snapshot: why there is none, or that the cluster has not answered."""
    if ui.poller.trouble:
        after = html('<p class="quiet">This page shows the cluster as soon as it answers.</p>')
        return joined([trouble(ui.poller.trouble), after])
    return html('<p class="quiet" role="status">The cluster has not answered yet; this page shows what it answers.</p>')


def order_note(now: Snapshot, states: Collection[TopicState | GroupState], what: str) -> Html:
    """Say how complete and how old the details are by which a table is ordered or filtered."""
    unknown = sum(not each.is_detailed for each in states)
    if unknown:
        text = f"The details of {unknown:,} of {len(states):,} {what} have not been read yet; these come last."
        return html('<p class="note" role="status">{}</p>', text)
    oldest = min(map(now.read_at, states), default=now.time)
    if oldest >= now.time:
        return Html("")
    return html('<p class="note">Ordered by details as of {}, or newer.</p>', time_text(round(oldest * 1000)))


def badge(ui: Ui) -> Html:
    """Return the health of the cluster for the header."""
    return health_of(ui.poller.newest, ui.poller.trouble).badge()


def age_note(ui: Ui) -> Html:
    """Say how old the snapshot is, if it is from before a pause, or from before the cluster stopped to answer."""
    newest = ui.poller.newest
    if newest is None or not (ui.poller.is_resuming or ui.poller.trouble):
        return Html("")
    ago, when = duration_text(ui.poller.age_s), time_text(round(newest.time * 1000))
    if ui.poller.trouble:
        return html('<p class="note" role="status">The last known state, from {} ago ({}).</p>', ago, when)
    return html('<p class="note" role="status">From {} ago ({}). The cluster is being read again.</p>', ago, when)
