"""The frame that all pages share: head, menu and title."""

from typing import NamedTuple

from kafka.display.page_elements import Html, address, html, joined
from kafka.ui.session_note import session_note
from kafka.ui.shared_state import Ui

_PAGES = (
    ("Topics", "/"),
    ("Messages", "/messages"),
    ("Groups", "/groups"),
    ("Schemas", "/schemas"),
    ("Spark", "/spark"),
    ("Pipelines", "/pipelines"),
)


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
    again = html('<noscript><meta http-equiv="refresh" content="{}"></noscript>', max(1, round(ui.settings.interval_s)))
    menu = joined(
        html('<li><a href="{}"{}>{}</a></li>', path, Html(' aria-current="page"') if path == current else "", name)
        for name, path in _PAGES
    )
    start = html(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{} – Kafka</title>'  # noqa: RUF001
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="/static/icon.svg">'
        '<link rel="stylesheet" href="/static/style.css">{}<script type="module" src="/static/live.js"></script></head>'
        '<body><a class="skip" href="#content">Skip to the content</a><header><strong>Kafka</strong>'
        '<nav aria-label="Pages"><ul>{}</ul></nav>{}</header><main id="content"><h1>{}</h1>',
        title,
        again if refresh else "",
        menu,
        session_note(ui),
        title,
    )
    return Frame(start, Html("</main></body></html>"))


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


def live_address(part: str, field: str = "", value: str = "") -> str:
    """Return the path of a page's live part."""
    return address(f"/live/{part}", **({field: value} if field else {}))
