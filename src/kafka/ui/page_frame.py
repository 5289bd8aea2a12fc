"""The frame that all pages share: title, header with the cluster, theme and menu. Its HTML is `templates/frame.jinja`.

To add a page, add it to `PAGES` here and to the routes in `web_server.py`.
"""

from typing import NamedTuple

from kafka.display.page_elements import Html, html, joined
from kafka.ui.health import health_of
from kafka.ui.session_note import session_note
from kafka.ui.shared_state import Ui
from kafka.ui.templating import render
from kafka.ui.view import THEMES, address_of, current_view

PAGES = (
    ("Cluster", (("Health", "/health"), ("Brokers", "/brokers"))),
    ("Data", (("Topics", "/"), ("Messages", "/messages"), ("Groups", "/groups"), ("Schemas", "/schemas"))),
    ("Access", (("ACLs", "/acls"), ("Users", "/users"), ("Quotas", "/quotas"))),
    ("Processing", (("Transactions", "/transactions"), ("Spark", "/spark"), ("Pipelines", "/pipelines"))),
)
"""The menu: groups of pages with their paths."""
_MARK = "[content]"


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
        health=health_of(newest, ui.poller.trouble).badge(),
    )
    start, end = whole.rsplit(_MARK, 1)
    return Frame(Html(start), Html(end))


def page(ui: Ui, title: str, current: str, content: Html) -> Html:
    """Return a static page."""
    around = frame(ui, title, current)
    return joined([around.start, content, around.end])


def live_page(ui: Ui, title: str, current: str, live: Html, source: str, still: Html = Html("")) -> Html:  # noqa: B008
    """Return a page with a live part, which is updated as the cluster changes.

    Arguments:
        live: the current content of the live part.
        source: the path and query from which the live part is updated.
        still: static content after the live part.
    """
    around = frame(ui, title, current, refresh=not still)
    return joined([around.start, html('<div data-live="{}">{}</div>', source, live), still, around.end])


def trouble(text: str) -> Html:
    """Return an error message as HTML."""
    return html('<p class="trouble" role="status">{}</p>', text) if text else Html("")


def live_address(part: str) -> str:
    """Return the address of a page's live part, with the query of the page."""
    return f"live/{address_of(part, current_view().query)}"
