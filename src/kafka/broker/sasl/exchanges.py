"""The broker's side of the SASL mechanisms PLAIN (RFC 4616), SCRAM-SHA-256 and SCRAM-SHA-512.

With SCRAM (RFC 5802, RFC 7677; KIP-84) both sides prove that they know the password. Known gaps: delegation tokens
(``tokenauth``), and channel binding, which Kafka does not support either.
"""

import base64
import binascii
import functools
import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from kafka.broker.sasl.credentials import HASHES, Credentials, ScramCredential

REFUSED = "wrong name or password"
"""The message is the same for an unknown user and for a wrong password."""


class LoginFailed(Exception):
    """Raised if a login fails. The message is sent to the client, so it must not reveal anything."""


class Exchange(Protocol):
    """The broker's side of one authentication exchange.

    Attributes:
        user: the authenticated user; None before the authentication succeeds.
    """

    user: str | None

    def answer(self, message: bytes) -> bytes:
        """Return the response to the client's message; raises `LoginFailed`."""


class PlainExchange:
    """A PLAIN exchange. As in Kafka, the authorization id must be empty or equal to the user name."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self.user: str | None = None

    def answer(self, message: bytes) -> bytes:
        """Check the name and password in the client's only message; the response is empty."""
        parts = message.split(b"\0")
        if len(parts) != 3 or not parts[1] or not parts[2]:
            raise LoginFailed("expected a PLAIN message: authorization id, name and password")
        acting_as, user, password = parts
        if not self._credentials.is_password(user, password) or acting_as not in (b"", user):
            raise LoginFailed(REFUSED)
        self.user = user.decode()
        return b""


_NAME: Final = r"(?:[^\0,=]|=2C|=3D)+"
_NONCE: Final = r"[!-+\--~]+"
_MORE: Final = r"(?:,[A-Za-z]+=[^\0,]+)*"
_FIRST: Final = re.compile(rf"([ny],(?:a=({_NAME}))?,)(n=({_NAME}),r=({_NONCE})({_MORE}))")
_FINAL: Final = re.compile(rf"(c=([A-Za-z0-9+/=]+),r=({_NONCE}){_MORE}),p=([A-Za-z0-9+/=]+)")
_TOKEN: Final = ",tokenauth=true"
_LONGEST: Final = 4096
"""Maximum size of a SCRAM message in bytes; Kafka's names and nonces are far shorter."""


class ScramExchange:
    """A SCRAM exchange.

    Arguments:
        mechanism: "SCRAM-SHA-256" or "SCRAM-SHA-512".
    """

    def __init__(self, credentials: Credentials, mechanism: str) -> None:
        self._credentials = credentials
        self._mechanism = mechanism
        self._hash = HASHES[mechanism]
        self._name = ""
        self._header = b""
        self._nonce = ""
        self._said = ""
        self._credential: ScramCredential | None = None
        self.user: str | None = None

    def answer(self, message: bytes) -> bytes:
        """Respond to the first message with the salt and iteration count, and to the second with the broker's proof."""
        try:
            text = message.decode() if len(message) <= _LONGEST else ""
        except UnicodeDecodeError:
            text = ""
        return self._first(text) if self._credential is None else self._final(text, self._credential)

    def _first(self, text: str) -> bytes:
        match = _FIRST.fullmatch(text)
        if match is None:
            raise LoginFailed(f"expected the first message of {self._mechanism}, without channel binding")
        header, acting_as, bare, name, nonce, more = match.groups()
        if acting_as not in (None, name) or _TOKEN in more.lower():
            # Delegation tokens, and authorization ids other than the user's own name, are not supported.
            raise LoginFailed(REFUSED)
        self._header = header.encode()
        self._name = name.replace("=2C", ",").replace("=3D", "=")
        self._credential = known = self._credentials.scram(self._mechanism, self._name)
        self._nonce = nonce + self._credentials.new_nonce()
        challenge = f"r={self._nonce},s={base64.b64encode(known.salt).decode()},i={known.iterations}"
        self._said = f"{bare},{challenge}"
        return challenge.encode()

    def _final(self, text: str, known: ScramCredential) -> bytes:
        match = _FINAL.fullmatch(text)
        if match is None:
            raise LoginFailed(f"expected the last message of {self._mechanism}")
        unproved, binding, nonce, proof = match.groups()
        signed = f"{self._said},{unproved}".encode()
        signature = hmac.digest(known.stored_key, signed, self._hash)
        proved = _decoded(proof)
        if len(proved) != len(signature):
            raise LoginFailed(REFUSED)
        client_key = bytes(one ^ other for one, other in zip(proved, signature, strict=True))
        is_proved = hmac.compare_digest(hashlib.new(self._hash, client_key).digest(), known.stored_key)
        if not is_proved or _decoded(binding) != self._header or nonce != self._nonce:
            raise LoginFailed(REFUSED)
        self.user = self._name
        return b"v=" + base64.b64encode(hmac.digest(known.server_key, signed, self._hash))


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


EXCHANGES: Final[Mapping[str, Callable[[Credentials], Exchange]]] = {
    "PLAIN": PlainExchange,
    **{mechanism: functools.partial(ScramExchange, mechanism=mechanism) for mechanism in HASHES},
}
"""The mechanisms that the broker offers, each with a function that starts an exchange."""
