"""The user of a request, and what the user's role permits.

`gate.py` sets the user before a page is made; pages and actions ask `current_user`. To add a role, add it here, and
decide in `Role.writes` what it may do.
"""

from __future__ import annotations

import contextvars
import dataclasses
import enum


class Role(enum.Enum):
    """What a user may do. Viewers read; operators also write, where the server allows writes."""

    VIEWER = "viewer"
    OPERATOR = "operator"

    @property
    def writes(self) -> bool:
        """Whether the role permits changes."""
        return self is Role.OPERATOR


ROLES = tuple(each.value for each in Role)


def role_named(text: str) -> Role:
    """Return the role with a name. Raises `ValueError` with a message that lists the roles."""
    try:
        return Role(text)
    except ValueError:
        raise ValueError(f"expected a role ({' or '.join(ROLES)}), got {text!r:.60}") from None


@dataclasses.dataclass(frozen=True, slots=True)
class User:
    """The user of a request.

    Attributes:
        name: the name, for the page and the audit log.
        login: how the user logged in: "password", "token", "oidc", or "none".
        session: identifies the session; form tokens are bound to it.
        address: the address that the request came from.
    """

    name: str
    role: Role
    login: str
    session: str = ""
    address: str = ""


ANYONE = User("anyone", Role.OPERATOR, "none")
"""The user of a UI without a login."""

_CURRENT: contextvars.ContextVar[User] = contextvars.ContextVar("kafka_ui_user", default=ANYONE)


def current_user() -> User:
    """Return the user of the request that this code serves."""
    return _CURRENT.get()


def become(user: User) -> contextvars.Token[User]:
    """Set the user of this request; `leave` restores the previous one."""
    return _CURRENT.set(user)


def leave(token: contextvars.Token[User]) -> None:
    """Undo `become`."""
    _CURRENT.reset(token)
