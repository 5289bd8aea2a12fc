"""PLAIN (RFC 4616): user name and password in clear, for connections that TLS protects."""

from typing import Self

from kafka.config import SecurityOptions
from kafka.errors import SaslAuthenticationFailedError


class Plain:
    """One exchange. Arguments: user name and password."""

    def __init__(self, user: str, password: str) -> None:
        self._user, self._password = user, password

    @classmethod
    def of(cls, security: SecurityOptions, host: str) -> Self:
        """Prepare an exchange with the credentials of these options."""
        return cls(security.sasl_plain_username or "", security.sasl_plain_password or "")

    def first(self) -> bytes:
        """The only message: no authorization id, user, password."""
        return b"\0".join((b"", self._user.encode(), self._password.encode()))

    def answer(self, challenge: bytes) -> bytes | None:
        """The broker sends no further message."""
        if challenge:
            raise SaslAuthenticationFailedError(f"expected the end of the PLAIN exchange, got {len(challenge)} bytes")
        return None
