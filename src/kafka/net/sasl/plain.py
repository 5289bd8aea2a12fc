"""PLAIN (RFC 4616): sends the user name and password unencrypted, so connections should use TLS."""

from typing import Self

from kafka.config import SecurityOptions
from kafka.errors import SaslAuthenticationFailedError


class Plain:
    """A PLAIN exchange.

    Arguments:
        user, password: the credentials.
    """

    def __init__(self, user: str, password: str) -> None:
        self._user, self._password = user, password

    @classmethod
    def of(cls, security: SecurityOptions, host: str) -> Self:
        """Prepare an exchange with the credentials in the given options."""
        return cls(security.sasl_plain_username or "", security.sasl_plain_password or "")

    def first(self) -> bytes:
        """Return the only message: an empty authorization id, the user name and the password."""
        return b"\0".join((b"", self._user.encode(), self._password.encode()))

    def answer(self, challenge: bytes) -> bytes | None:
        """Check that the broker's message is empty."""
        if challenge:
            raise SaslAuthenticationFailedError(f"expected the end of the PLAIN exchange, got {len(challenge)} bytes")
        return None
