"""PLAIN (RFC 4616): the client sends name and password."""

from kafka.broker.sasl.credentials import Credentials
from kafka.broker.sasl.mechanism import REFUSED, LoginFailed


class PlainExchange:
    """One exchange. An authorization id has to be empty or the name, as with Kafka."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self.user: str | None = None

    def answer(self, message: bytes) -> bytes:
        """Nothing, to the only message."""
        parts = message.split(b"\0")
        if len(parts) != 3 or not parts[1] or not parts[2]:
            raise LoginFailed("expected a message of PLAIN: authorization id, name and password")
        acting_as, user, password = parts
        if not self._credentials.is_password(user, password) or acting_as not in (b"", user):
            raise LoginFailed(REFUSED)
        self.user = user.decode()
        return b""
