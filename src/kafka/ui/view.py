"""What the current request says about how to show a page: its path, its query and the chosen theme.

`Viewed` is the middleware that reads it from each request; `current_view` returns it anywhere below, such as in the
frame of a page and in tables.
"""

import contextvars
import dataclasses
import re
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, QueryParams
from starlette.types import ASGIApp, Receive, Scope, Send

THEMES = ("system", "light", "dark")
"""The themes; "system" follows the preference of the browser."""
THEME_COOKIE = "kafka_ui_theme"
SEEN = "seen"
"""The field of a live part's address with the number of the state that its page shows."""
_BACK = re.compile(r"[a-z-]*(\?[!-~]*)?")


@dataclasses.dataclass(frozen=True, slots=True)
class View:
    """How to show a page.

    Arguments:
        path: the path of the page below the cluster's root, such as "/topics".
        query: the fields of the query string; of repeated fields, the last.
        theme: one of `THEMES`.
        up: the relative path from the page to the cluster's root: "" or a number of "../".
    """

    path: str = "/"
    query: Mapping[str, str] = dataclasses.field(default_factory=dict)
    theme: str = "system"
    up: str = ""

    @property
    def back(self) -> str:
        """The relative address of the page, with its query, for a form that returns to it."""
        return address_of(self.path, self.query)


_CURRENT: contextvars.ContextVar[View] = contextvars.ContextVar("view", default=View())  # noqa: B039  # a view is not changed


def current_view() -> View:
    """Return the view of the current request; outside of requests, that of the start page."""
    return _CURRENT.get()


class Viewed:
    """Makes the view of each request available to `current_view`. It belongs inside the mount of a cluster."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Set the view, and pass the request on."""
        if scope["type"] == "http":
            _CURRENT.set(view_of(scope))
        await self._app(scope, receive, send)


def view_of(scope: Scope) -> View:
    """Read the view from an ASGI scope."""
    given = QueryParams(scope.get("query_string", b""))
    path = scope["path"].removeprefix(scope.get("root_path", "")) or "/"
    return View(
        path=path,
        query={name: value for name, value in given.items() if name != SEEN},
        theme=_theme(Headers(scope=scope).get("cookie", "")),
        up="../" * (path.count("/") - 1),
    )


def number_seen(query: Mapping[str, str]) -> int | None:
    """Return the number in the address of a live part; None if there is none."""
    text = query.get(SEEN, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else None


def _theme(cookies: str) -> str:
    try:
        found = SimpleCookie(cookies).get(THEME_COOKIE)
    except CookieError:
        return THEMES[0]
    return found.value if found is not None and found.value in THEMES else THEMES[0]


def address_of(path: str, query: Mapping[str, str]) -> str:
    """Return the relative address of a page of the same cluster."""
    text = str(QueryParams({name: value for name, value in query.items() if value}))
    return f"{path.rpartition('/')[2] or './'}{'?' if text else ''}{text}"


def is_own_page(address: str) -> bool:
    """Return whether an address is relative and leads to a page of the same cluster, not to another site."""
    return address != "" and _BACK.fullmatch(address.removeprefix("./")) is not None
