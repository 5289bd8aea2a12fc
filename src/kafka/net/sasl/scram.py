"""SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, RFC 7677; KIP-84): prove knowledge of the password without sending it."""

import base64
import binascii
import hashlib
import hmac
import secrets
from typing import Self

from kafka.config import SecurityOptions
from kafka.errors import SaslAuthenticationFailedError
from kafka.net.peer_text import shown_text

_HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
_MIN_ITERATIONS = 4_096
_MAX_ITERATIONS = 1_000_000
"""Maximum number of iterations. Brokers store 4,096 to 16,384; a malicious broker could request hours of work."""
_GS2_HEADER = "n,,"


class Scram:
    """A SCRAM exchange.

    Arguments:
        mechanism: "SCRAM-SHA-256" or "SCRAM-SHA-512".
        user, password: the credentials, which Kafka encodes as UTF-8 without normalization.
        nonce: the client's nonce; None for a random one.
        tokenauth: whether the credentials are the id and the HMAC of a delegation token (KIP-48).
    """

    def __init__(
        self, mechanism: str, user: str, password: str, nonce: str | None = None, tokenauth: bool = False
    ) -> None:
        self._hash = _HASHES[mechanism]
        self._password = password.encode()
        self._nonce = nonce if nonce is not None else secrets.token_urlsafe(24)
        name = user.replace("=", "=3D").replace(",", "=2C")
        self._bare = f"n={name},r={self._nonce}" + (",tokenauth=true" if tokenauth else "")
        self._server_signature: bytes | None = None
        self._done = False

    @classmethod
    def of(cls, security: SecurityOptions, host: str) -> Self:
        """Prepare an exchange with the credentials in the given options."""
        user, password = security.sasl_plain_username or "", security.sasl_plain_password or ""
        return cls(security.sasl_mechanism or "", user, password, tokenauth=security.sasl_scram_tokenauth)

    def first(self) -> bytes:
        """Return the user name and the nonce."""
        return (_GS2_HEADER + self._bare).encode()

    def answer(self, challenge: bytes) -> bytes | None:
        """Return the proof for the broker's first message; None once the broker has also authenticated itself."""
        fields = _fields(challenge)
        if "e" in fields:
            raise SaslAuthenticationFailedError(f"the broker refused the credentials: {shown_text(fields['e'])}")
        if self._server_signature is None:
            return self._prove(challenge.decode(), fields)
        if self._done or not hmac.compare_digest(_decode(fields.get("v", "")), self._server_signature):
            raise SaslAuthenticationFailedError(
                "the broker did not prove that it knows the password: is the password correct?"
            )
        self._done = True
        return None

    def _prove(self, challenge: str, fields: dict[str, str]) -> bytes:
        nonce, salt, rounds = fields.get("r", ""), _decode(fields.get("s", "")), fields.get("i", "")
        if not nonce.startswith(self._nonce) or len(nonce) == len(self._nonce):
            raise SaslAuthenticationFailedError("the broker's nonce does not continue the client's")
        if not rounds.isascii() or not rounds.isdigit() or len(rounds) > 9 or not salt:
            raise SaslAuthenticationFailedError(f"expected a salt and a number of iterations, got {challenge!r}")
        if not _MIN_ITERATIONS <= int(rounds) <= _MAX_ITERATIONS:
            raise SaslAuthenticationFailedError(
                f"the broker requests {rounds} iterations; {_MIN_ITERATIONS} to {_MAX_ITERATIONS} are accepted"
            )
        final = f"c={base64.b64encode(_GS2_HEADER.encode()).decode()},r={nonce}"
        signed = f"{self._bare},{challenge},{final}".encode()
        salted = hashlib.pbkdf2_hmac(self._hash, self._password, salt, int(rounds))
        client_key = self._hmac(salted, b"Client Key")
        signature = self._hmac(hashlib.new(self._hash, client_key).digest(), signed)
        proof = bytes(key ^ sign for key, sign in zip(client_key, signature, strict=True))
        self._server_signature = self._hmac(self._hmac(salted, b"Server Key"), signed)
        return f"{final},p={base64.b64encode(proof).decode()}".encode()

    def _hmac(self, key: bytes, data: bytes) -> bytes:
        return hmac.digest(key, data, self._hash)


def _fields(message: bytes) -> dict[str, str]:
    """Parse ``a=1,b=2`` into a dict. Raises `SaslAuthenticationFailedError` for any other form."""
    try:
        parts = message.decode().split(",")
    except UnicodeDecodeError:
        parts = [""]
    if not all(part[1:2] == "=" for part in parts):
        raise SaslAuthenticationFailedError(f"expected a SCRAM message, got {message[:80]!r}")
    return {part[0]: part[2:] for part in parts}


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise SaslAuthenticationFailedError(f"expected base64 in a SCRAM message, got {text[:80]!r}") from None
