"""Which users of an OpenID Connect provider may use the UI, and with which role.

A rule compares a claim of the user's ID token, for example ``groups=kafka-admins`` or ``email=ada@example.org``; the
rule ``*`` fits everyone who has an account at the provider.
"""

from __future__ import annotations

import dataclasses
import ipaddress
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from kafka.ui.access.user import Role

WELL_KNOWN = "/.well-known/openid-configuration"
_NAMES = ("preferred_username", "email", "sub")
"""Claims with the name to show; the first one that exists is used."""


class LoginRefusedError(Exception):
    """Raised if a login at the provider fails, or its user may not use the UI."""


class Rule(NamedTuple):
    """A claim and its value; `claim` is "*" if the rule fits everyone."""

    claim: str
    value: str = ""

    def fits(self, claims: Mapping[str, Any]) -> bool:
        """Return whether a user's claims fit. An e-mail address counts only if the provider has verified it."""
        if self.claim == "*":
            return True
        if self.claim == "email" and claims.get("email_verified") is not True:
            return False
        found = claims.get(self.claim)
        return self.value in found if isinstance(found, list) else isinstance(found, str) and found == self.value


def parse_rule(text: str) -> Rule:
    """Parse ``CLAIM=VALUE`` or ``*``. Raises `ValueError`."""
    if text == "*":
        return Rule("*")
    claim, equals, value = text.partition("=")
    if not claim or not equals or not value:
        raise ValueError(f"expected CLAIM=VALUE, such as groups=kafka-admins, or *, got {text!r:.100}")
    return Rule(claim, value)


@dataclasses.dataclass(frozen=True, slots=True)
class OidcSettings:
    """A provider, and the roles of its users.

    Arguments:
        url: the provider's issuer, or the URL of its discovery document.
        client_id: the id that the provider gave this application.
        client_secret: its secret; "" for a public client, which is protected by PKCE alone.
        viewers: rules for users who may view.
        operators: rules for users who may also write.
        scope: what to ask the provider for.
    """

    url: str
    client_id: str
    client_secret: str = dataclasses.field(default="", repr=False)
    viewers: tuple[Rule, ...] = ()
    operators: tuple[Rule, ...] = ()
    scope: str = "openid profile email"

    @property
    def discovery_url(self) -> str:
        """The URL of the discovery document. Raises `ValueError` unless it is https, or on this machine."""
        parts = urlsplit(self.url)
        if not (parts.scheme == "https" or (parts.scheme == "http" and _is_local(parts.hostname or ""))):
            raise ValueError(f"expected an https URL of an OpenID Connect provider, got {self.url!r:.200}")
        return self.url if WELL_KNOWN in self.url else self.url.rstrip("/") + WELL_KNOWN

    def role_of(self, claims: Mapping[str, Any]) -> Role | None:
        """Return the role of a user with these claims; None if the user may not use the UI."""
        if any(each.fits(claims) for each in self.operators):
            return Role.OPERATOR
        return Role.VIEWER if any(each.fits(claims) for each in self.viewers) else None


def name_of(claims: Mapping[str, Any]) -> str:
    """Return the name to show for a user."""
    return next((str(claims[each]) for each in _NAMES if claims.get(each)), "unknown")


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
