"""Finds the user of each request, and sends those who are not logged in to the login page.

Users are logged in with a session cookie, or, for programs, with the header Authorization: "Basic" with a name and
password, or "Bearer" with a token. `PUBLIC` lists what everyone may request.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import dataclasses
from urllib.parse import quote

from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kafka.ui.access.audit_log import FAILED, AuditLog
from kafka.ui.access.settings import Access
from kafka.ui.access.user import ANYONE, Role, User, become, leave

PUBLIC = ("/login", "/login-oidc", "/login-callback", "/static/style.css", "/static/icon.svg")


def address_of(request: HTTPConnection) -> str:
    """Return the address that a request came from."""
    return request.client.host if request.client is not None else ""


class Gate:
    """Passes requests on with their user.

    Arguments:
        access: the logins; None if there is no login, and everyone is `ANYONE`.
        audit: records failed logins of programs.
    """

    def __init__(self, app: ASGIApp, access: Access | None, audit: AuditLog) -> None:
        self._app = app
        self._access = access
        self._audit = audit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Find the user, and pass the request on or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = HTTPConnection(scope)
        found, ends_in_s, refusal = ANYONE, None, None
        if self._access is not None:
            found, ends_in_s, refusal = await self._user(request, self._access)
        if refusal is not None and scope["path"] not in PUBLIC:
            await refusal(scope, receive, send)
            return
        token = become(dataclasses.replace(found, address=address_of(request)))
        try:
            await self._pass_on(scope, receive, send, found, ends_in_s)
        finally:
            leave(token)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, user: User, ends_in_s: float | None) -> None:
        """Run the application until the session ends: a page that is followed must not outlive its session."""
        has_begun = has_ended = False

        async def sent(message: Message) -> None:
            nonlocal has_begun, has_ended
            if has_begun and self._access is not None and self._access.sessions.is_ended(user):
                limit.reschedule(0)
            has_begun = True
            has_ended = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        try:
            async with asyncio.timeout(ends_in_s) as limit:
                await self._app(scope, receive, sent)
        except TimeoutError:
            if not limit.expired():
                raise
            if not has_begun:
                await _to_login(HTTPConnection(scope))(scope, receive, send)
            elif not has_ended:
                await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _user(self, request: HTTPConnection, access: Access) -> tuple[User, float | None, Response | None]:
        """Return the user, how long the session lasts, and what to answer if there is no user."""
        nobody = dataclasses.replace(ANYONE, name="nobody", role=Role.VIEWER)
        try:
            if request.headers.get("authorization"):
                user, refusal = await self._of_program(request, access)
                return user or nobody, None, refusal
            session = access.sessions.find(request)
            user = access.still_valid(session.user) if session is not None else None
        except ValueError as error:
            return nobody, None, PlainTextResponse(f"the login does not work: {error}\n", 500)
        if session is None or user is None:
            return nobody, None, _to_login(request)
        return user, session.ends_in_s, None

    async def _of_program(self, request: HTTPConnection, access: Access) -> tuple[User | None, Response | None]:
        where = address_of(request)
        name, secret = _credentials(request.headers["authorization"])
        if (wait_s := access.brake.wait_s(where, name or "")) > 0:
            headers = {"Retry-After": f"{wait_s:.0f}"}
            return None, PlainTextResponse(f"too many attempts; try again in {wait_s:.0f} s\n", 429, headers)
        user = await access.by_credentials(name, secret) if secret else None
        if user is None:
            access.brake.failed(where, name or "")
            attempt = User(name or "unknown", Role.VIEWER, "none", "", where)
            self._audit.add("log in", {}, FAILED, "wrong Authorization header", attempt)
            return None, _not_logged_in("the name, password or token in the header Authorization is wrong")
        access.brake.succeeded(name or "")
        return dataclasses.replace(user, session=f"program {user.name}"), None


def _credentials(header: str) -> tuple[str | None, str]:
    """Return the name and password of an Authorization header, or None and a token; the secret is "" if invalid."""
    kind, _, given = header.partition(" ")
    if kind.lower() == "bearer":
        return None, given.strip()
    if kind.lower() != "basic":
        return None, ""
    try:
        name, _, password = base64.b64decode(given.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None, ""
    return name, password


def _to_login(request: HTTPConnection) -> Response:
    """Send browsers to the login page, and tell programs that they are not logged in."""
    method, accepts = request.scope["method"], request.headers.get("accept", "")
    if method in ("GET", "HEAD") and "text/html" in accepts:
        query = request.scope["query_string"].decode("latin-1")
        here = request.scope["path"] + (f"?{query}" if query else "")
        up = "../" * (request.scope["path"].count("/") - 1)
        return RedirectResponse(f"{up or './'}login?next={quote(here, safe='')}", 303)
    return _not_logged_in("log in at /login, or send a name and password or a token in the header Authorization")


def _not_logged_in(text: str) -> Response:
    return PlainTextResponse(f"{text}\n", 401, {"WWW-Authenticate": 'Bearer realm="kafka ui"'})
