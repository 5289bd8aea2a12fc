"""The simplest login: one token for everyone, which the command prints when it starts.

`KAFKA_UI_TOKEN` gives a token that stays the same; otherwise, there is a new one each time. Its user may write if the
server allows writes.
"""

from __future__ import annotations

from kafka.ui.access.password_hashes import matches, new_token, token_hash
from kafka.ui.access.user import Role

NAME = "token"
"""The name of the token's user, for the page and the audit log."""
SHORTEST = 16
"""Minimum length of a token from the environment, in characters."""


class OneToken:
    """A token that logs anyone in who has it.

    Arguments:
        token: the token; "" for a new random one.
        role: the role of its user.

    Attributes:
        token: the token in use.
        is_new: whether it was made at random, so that it has to be printed.

    Raises `ValueError` if the token is too short.
    """

    def __init__(self, token: str, role: Role) -> None:
        if token and len(token) < SHORTEST:
            raise ValueError(f"expected a token of at least {SHORTEST} characters in KAFKA_UI_TOKEN, got {len(token)}")
        self.is_new = not token
        self.token = token or new_token()
        self.role = role
        self._hash = token_hash(self.token)

    def matches(self, given: str) -> bool:
        """Return whether a token is this one; the comparison takes constant time."""
        return matches(given, self._hash)
