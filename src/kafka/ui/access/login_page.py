"""The login page: its form, the way to a provider and back, and the way out.

The page shows nothing about the cluster. `gate.py` lets everyone reach these routes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from kafka.display.page_elements import Html, address, html, joined, sent_back
from kafka.ui.access.audit_log import DONE, FAILED, AuditLog
from kafka.ui.access.gate import address_of
from kafka.ui.access.oidc_rules import LoginRefusedError
from kafka.ui.access.settings import Access
from kafka.ui.access.user import ANYONE, User, current_user
from kafka.ui.guard import Forms

_WRONG = "The name, password or token is wrong."


class LoginPages:
    """The routes for logging in and out.

    Arguments:
        access: the logins.
        forms: checks the form for logging out.
        audit: records logins.
    """

    def __init__(self, access: Access, forms: Forms, audit: AuditLog) -> None:
        self._access = access
        self._forms = forms
        self._audit = audit

    def routes(self) -> list[Route]:
        """Return the routes."""
        found = [
            Route("/login", self._form, methods=["GET"]),
            Route("/login", self._log_in, methods=["POST"]),
            Route("/logout", self._log_out, methods=["POST"]),
        ]
        if self._access.oidc is not None:
            found += [Route("/login-oidc", self._to_provider), Route("/login-callback", self._from_provider)]
        return found

    async def _form(self, request: Request) -> Response:
        return self._page(request.query_params.get("next", ""))

    async def _log_in(self, request: Request) -> Response:
        try:
            given = await self._forms.read(request)
        except ValueError as error:
            return self._page("", str(error), 413)
        except ClientDisconnect:
            return Response(status_code=400)
        name, next_page = given.get("name", "").strip(), given.get("next", "")
        brake, where = self._access.brake, address_of(request)
        if (wait_s := brake.wait_s(where, name)) > 0:
            text = f"There were too many attempts. Try again in {wait_s:,.0f} seconds."
            return self._page(next_page, text, 429, {"Retry-After": f"{wait_s:.0f}"})
        try:
            user = await self._user(name, given)
        except ValueError as error:
            return self._page(next_page, f"The login does not work: {error}", 500)
        if user is None:
            brake.failed(where, name)
            self._audit.add("log in", {}, FAILED, "wrong name, password or token", _attempt(request, name))
            return self._page(next_page, _WRONG, 401)
        brake.succeeded(name)
        return self._begin(request, user, next_page)

    async def _user(self, name: str, given: Mapping[str, str]) -> User | None:
        if given.get("login") == "token":
            return await self._access.by_token(given.get("token", "").strip())
        return await self._access.by_password(name, given.get("password", ""))

    def _begin(self, request: Request, user: User, next_page: str) -> Response:
        response = RedirectResponse(f".{safe_next(next_page)}", 303)
        begun = self._access.sessions.begin(request, response, user.name, user.role, user.login)
        self._audit.add("log in", {}, DONE, user=_from(request, begun))
        return response

    async def _log_out(self, request: Request) -> Response:
        try:
            given = await self._forms.fields(request)
        except (ValueError, ClientDisconnect):
            given = None
        if given is None:
            return self._page("", "This form is from an earlier session: go back and reload the page.", 403)
        response = RedirectResponse("./login", 303)
        self._access.sessions.end(request, response, current_user())
        self._audit.add("log out", {}, DONE)
        return response

    async def _to_provider(self, request: Request) -> Response:
        assert self._access.oidc is not None
        kept: dict[str, Any] = {}
        request.scope["session"] = kept
        try:
            response = await self._access.oidc.start(request, self._callback(request))
        except LoginRefusedError as error:
            return self._page(request.query_params.get("next", ""), f"The login failed: {error}", 502)
        data = {"session": kept, "next": request.query_params.get("next", "")[:2000]}
        self._access.sessions.keep_login(request, response, data)
        return response

    async def _from_provider(self, request: Request) -> Response:
        assert self._access.oidc is not None
        kept = self._access.sessions.kept_login(request)
        request.scope["session"] = kept.get("session", {})
        next_page = kept.get("next", "")
        try:
            found = await self._access.oidc.finish(request)
        except LoginRefusedError as error:
            self._audit.add("log in", {}, FAILED, str(error), _attempt(request, ""))
            response = self._page(next_page, f"The login failed: {error}", 401)
        else:
            response = self._begin(request, User(found.name, found.role, "oidc"), next_page)
        self._access.sessions.forget_login(request, response)
        return response

    def _callback(self, request: Request) -> str:
        base = self._access.settings.public_url or str(request.base_url)
        return f"{base.rstrip('/')}/login-callback"

    def _page(
        self, next_page: str, told: str = "", status: int = 200, headers: Mapping[str, str] | None = None
    ) -> Response:
        settings = self._access.settings
        onward = html('<input type="hidden" name="next" value="{}">', sent_back(safe_next(next_page)))
        ways = []
        if settings.users is not None:
            ways.append(
                html(
                    '<form method="post" action="login" class="login">{}<input type="hidden" name="login" '
                    'value="password"><label>Name<input name="name" autocomplete="username" required></label>'
                    '<label>Password<input type="password" name="password" autocomplete="current-password" required>'
                    "</label><button>Log in</button></form>",
                    onward,
                )
            )
        if settings.users is not None or settings.token is not None:
            ways.append(
                html(
                    '<form method="post" action="login" class="login">{}<input type="hidden" name="login" '
                    'value="token"><label>Token<input type="password" name="token" autocomplete="off" required></label>'
                    "<button>Log in with a token</button></form>",
                    onward,
                )
            )
        if self._access.oidc is not None:
            ways.append(
                html(
                    '<p><a class="button" href="{}">Log in with your organization’s account</a></p>',  # noqa: RUF001
                    address("/login-oidc", next=safe_next(next_page)),
                )
            )
        trouble = html('<p class="trouble" role="alert">{}</p>', told) if told else Html("")
        content = html(
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Log in – Kafka</title>'  # noqa: RUF001
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<link rel="icon" href="static/icon.svg"><link rel="stylesheet" href="static/style.css"></head>'
            '<body class="login-page"><main id="content"><h1>Log in to Kafka</h1>{}{}</main></body></html>',
            trouble,
            joined(ways),
        )
        return HTMLResponse(content.encode("utf-8", "backslashreplace"), status, headers)


def safe_next(text: str) -> str:
    """Return the page to show after a login: a path of this server with its query, or "/".

    Browsers treat backslashes as slashes and drop control characters, so that both could lead to another site.
    """
    if not text.startswith("/") or text[1:2] in ("/", "\\") or "\\" in text or not text.isprintable():
        return "/"
    try:
        parts = urlsplit(text)
    except ValueError:
        return "/"
    return "/" if parts.scheme or parts.netloc or parts.path.startswith("/log") else text[:2000]


def _attempt(request: Request, name: str) -> User:
    """Return the user for the audit log of a failed login."""
    return User(name or "unknown", ANYONE.role.VIEWER, "none", "", address_of(request))


def _from(request: Request, user: User) -> User:
    return User(user.name, user.role, user.login, user.session, address_of(request))
