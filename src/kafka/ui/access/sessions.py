"""Sessions in signed cookies: who is logged in, since when, and until when.

A cookie cannot be changed or extended without the server's key, which is new at each start: a restart ends all
sessions. A session that logs out is remembered until it would have ended, so that a copy of its cookie is worthless.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from itsdangerous import BadData, TimestampSigner, URLSafeTimedSerializer
from starlette.requests import HTTPConnection
from starlette.responses import Response

from kafka.ui.access.user import Role, User, role_named

_LOGIN_S = 600
"""Seconds that a user has to log in at the OpenID Connect provider."""


class Session(NamedTuple):
    """A valid session.

    Attributes:
        ends_in_s: seconds until it ends.
    """

    user: User
    ends_in_s: float


class Sessions:
    """Signs and reads the cookies of sessions.

    Arguments:
        longest_s: duration of a session in seconds.
        is_secure: whether the cookies are restricted to https.
        clock: returns the time in seconds since 1970.
    """

    def __init__(self, longest_s: float, is_secure: bool, clock: Callable[[], float] = time.time) -> None:
        class Signer(TimestampSigner):
            def get_timestamp(self) -> int:
                return int(clock())

        key = secrets.token_bytes(32)
        self._sessions = URLSafeTimedSerializer(key, salt="session", signer=Signer)
        self._logins = URLSafeTimedSerializer(key, salt="login", signer=Signer)
        self._longest_s = longest_s
        self._is_secure = is_secure
        self._clock = clock
        self._ended: dict[str, float] = {}

    def begin(self, request: HTTPConnection, response: Response, name: str, role: Role, login: str) -> User:
        """Begin a session: add its cookie to the response. Each session has a new id."""
        user = User(name, role, login, secrets.token_urlsafe(16))
        signed = self._sessions.dumps({"id": user.session, "name": name, "role": role.value, "login": login})
        self._set(response, self._name(request, "session"), str(signed), int(self._longest_s))
        return user

    def find(self, request: HTTPConnection) -> Session | None:
        """Return the session of a request; None if it has none, or it has ended, or its cookie was not signed here."""
        cookie = request.cookies.get(self._name(request, "session"))
        if not cookie:
            return None
        try:
            given, signed = self._sessions.loads(cookie, max_age=int(self._longest_s), return_timestamp=True)
            user = User(given["name"], role_named(given["role"]), given["login"], given["id"])
        except (BadData, ValueError):
            return None
        ends_in_s = signed.timestamp() + self._longest_s - self._clock()
        return None if user.session in self._ended else Session(user, ends_in_s)

    def end(self, request: HTTPConnection, response: Response, user: User) -> None:
        """End a user's session."""
        now = self._clock()
        self._ended = {each: until for each, until in self._ended.items() if until > now}
        self._ended[user.session] = now + self._longest_s + 1
        self._delete(response, self._name(request, "session"))

    def is_ended(self, user: User) -> bool:
        """Return whether the user has logged out."""
        return user.session in self._ended

    def keep_login(self, request: HTTPConnection, response: Response, data: dict[str, Any]) -> None:
        """Keep what a login at a provider needs when the browser comes back from there."""
        self._set(response, self._name(request, "login"), str(self._logins.dumps(data)), _LOGIN_S)

    def kept_login(self, request: HTTPConnection) -> dict[str, Any]:
        """Return what `keep_login` kept; empty if there is nothing, or it is too old."""
        try:
            found = self._logins.loads(request.cookies.get(self._name(request, "login"), ""), max_age=_LOGIN_S)
        except BadData:
            return {}
        return found if isinstance(found, dict) else {}

    def forget_login(self, request: HTTPConnection, response: Response) -> None:
        """Delete the cookie of `keep_login`."""
        self._delete(response, self._name(request, "login"))

    def _name(self, request: HTTPConnection, what: str) -> str:
        """Return the name of a cookie. It contains the port, because servers on one host share their cookies."""
        server = request.scope.get("server") or ("", 0)
        return f"{'__Host-' if self._is_secure else ''}kafka_ui_{what}_{server[1]}"

    def _set(self, response: Response, name: str, value: str, seconds: int) -> None:
        response.set_cookie(name, value, seconds, path="/", secure=self._is_secure, httponly=True, samesite="lax")

    def _delete(self, response: Response, name: str) -> None:
        response.delete_cookie(name, path="/", secure=self._is_secure, httponly=True, samesite="lax")
