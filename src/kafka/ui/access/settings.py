"""The access that the command line asks for: logins, TLS, sessions, and the audit log.

`Access` keeps what a running server needs. To add a kind of login, add it to `AccessSettings`, check it in `Access`,
and offer it in `login_page.py`.
"""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import hmac
import pathlib
import secrets
from typing import TYPE_CHECKING

from kafka.ui.access.login_brake import LoginBrake
from kafka.ui.access.one_token import NAME, OneToken
from kafka.ui.access.sessions import Sessions
from kafka.ui.access.user import User
from kafka.ui.access.users_file import Entry, UsersFile

if TYPE_CHECKING:
    from kafka.ui.access.oidc import OidcLogin
    from kafka.ui.access.oidc_rules import OidcSettings

_MOST_KNOWN = 200
"""Maximum number of checked credentials of programs to remember."""
_AT_ONCE = 2
"""Maximum number of passwords to hash at once, because each takes memory and processor time."""


@dataclasses.dataclass(frozen=True, slots=True)
class AccessSettings:
    """The logins, and what goes with them.

    Arguments:
        token: a token for everyone; None for no such login.
        users: the file of users.
        oidc: an OpenID Connect provider.
        session_s: duration of a session in seconds.
        public_url: the URL under which browsers reach the UI; "" if that is the address of the server.
        tls_cert: a file with the certificate and its chain; None for no TLS.
        tls_key: a file with the certificate's key.
        proxy: addresses of proxies whose X-Forwarded-For header is trusted, separated by commas; "" for none.
        audit_log: the file of the audit log; None for standard error.
    """

    token: OneToken | None = dataclasses.field(default=None, repr=False)
    users: UsersFile | None = None
    oidc: OidcSettings | None = None
    session_s: float = 12 * 3600.0
    public_url: str = ""
    tls_cert: pathlib.Path | None = None
    tls_key: pathlib.Path | None = None
    proxy: str = ""
    audit_log: pathlib.Path | None = None

    @property
    def has_login(self) -> bool:
        """Whether users have to log in."""
        return self.token is not None or self.users is not None or self.oidc is not None

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach the UI with https."""
        return self.tls_cert is not None or self.public_url.startswith("https://")


class Access:
    """The logins of a running server."""

    def __init__(self, settings: AccessSettings) -> None:
        self.settings = settings
        self.sessions = Sessions(settings.session_s, settings.is_secure)
        self.brake = LoginBrake()
        self.oidc: OidcLogin | None = None
        if settings.oidc is not None:
            from kafka.ui.access.oidc import OidcLogin

            self.oidc = OidcLogin(settings.oidc)
        self._known: dict[bytes, User] = {}
        self._key = secrets.token_bytes(32)
        self._hashing = asyncio.Semaphore(_AT_ONCE)

    async def by_password(self, name: str, password: str) -> User | None:
        """Return the user with a name and password; None if there is none. Raises `ValueError` if the file is wrong."""
        users = self.settings.users
        if users is None:
            return None
        async with self._hashing:
            entry = await asyncio.to_thread(users.by_password, name, password)
        return None if entry is None else User(entry.name, entry.role, "password")

    async def by_token(self, token: str) -> User | None:
        """Return the user with a token; None if there is none."""
        one, users = self.settings.token, self.settings.users
        if one is not None and one.matches(token):
            return User(NAME, one.role, "token")
        entry: Entry | None = users.by_token(token) if users is not None else None
        return None if entry is None else User(entry.name, entry.role, "token")

    async def by_credentials(self, name: str | None, secret: str) -> User | None:
        """Return the user of a program that sends its password or token with each request; None if there is none.

        Arguments:
            name: the name; None if ``secret`` is a token.

        Credentials that were right are remembered, so that not each request takes as long as hashing a password.
        """
        version = self.settings.users.version() if self.settings.users is not None else ""
        text = f"{version}:{name!r}:{secret}".encode("utf-8", "backslashreplace")
        given = hmac.digest(self._key, text, hashlib.sha256)
        if (kept := self._known.get(given)) is not None:
            return kept
        user = await (self.by_token(secret) if name is None else self.by_password(name, secret))
        if user is not None:
            while len(self._known) >= _MOST_KNOWN:
                del self._known[next(iter(self._known))]
            self._known[given] = user
        return user

    def still_valid(self, user: User) -> User | None:
        """Return the user of a session with the current role; None if the user has been removed from the file.

        Raises `ValueError` if the file has become invalid.
        """
        users = self.settings.users
        if user.login == "oidc":
            return user if self.oidc is not None else None
        if user.login == "token" and user.name == NAME and self.settings.token is not None:
            return user
        role = users.role_of(user.name, user.login == "token") if users is not None else None
        return None if role is None else dataclasses.replace(user, role=role)
