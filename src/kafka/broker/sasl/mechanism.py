"""What a SASL mechanism is to a login, and how it ends where the client does not prove who it is."""

from typing import Protocol

REFUSED = "wrong name or password"
"""All that a client is told, whether the name is unknown or the password another."""


class LoginFailed(Exception):
    """The client did not log in; the text is for its eyes, and leaks nothing."""


class Exchange(Protocol):
    """The broker's side of one exchange.

    Attributes: `user`, who has logged in; None before.
    """

    user: str | None

    def answer(self, message: bytes) -> bytes:
        """The answer to the client's message. Raises `LoginFailed`."""
