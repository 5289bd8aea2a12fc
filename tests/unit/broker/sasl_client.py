"""The client's side of SASL logins, for the broker's tests."""

from __future__ import annotations

import base64
import hashlib
import hmac

from kafka.wire.api.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kafka.wire.api.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from unit.broker.wireclient import WireClient

HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
MECHANISMS = ["PLAIN", *HASHES]


async def handshake(client: WireClient, mechanism: str, version: int = 1) -> SaslHandshakeResponse:
    return await client.call(SaslHandshakeRequest(mechanism=mechanism), version)


async def say(client: WireClient, message: bytes, version: int = 2) -> SaslAuthenticateResponse:
    return await client.call(SaslAuthenticateRequest(auth_bytes=message), version)


class ScramClient:
    """One SCRAM exchange. Tests may change its parts between the steps."""

    def __init__(self, mechanism: str, user: str, password: str) -> None:
        self.hash = HASHES[mechanism]
        self.password = password.encode()
        self.header = "n,,"
        self.bare = f"n={user.replace('=', '=3D').replace(',', '=2C')},r=clients-nonce"
        self.challenge = self.nonce = self.salt = ""
        self.iterations = 0

    def first(self) -> bytes:
        return (self.header + self.bare).encode()

    def take(self, challenge: bytes) -> None:
        self.challenge = challenge.decode()
        fields = dict(part.split("=", 1) for part in self.challenge.split(","))
        self.nonce, self.salt, self.iterations = fields["r"], fields["s"], int(fields["i"])

    def final(self) -> bytes:
        unproved = f"c={base64.b64encode(self.header.encode()).decode()},r={self.nonce}"
        self.signed = f"{self.bare},{self.challenge},{unproved}".encode()
        salted = hashlib.pbkdf2_hmac(self.hash, self.password, base64.b64decode(self.salt), self.iterations)
        key = hmac.digest(salted, b"Client Key", self.hash)
        signature = hmac.digest(hashlib.new(self.hash, key).digest(), self.signed, self.hash)
        self.server_key = hmac.digest(salted, b"Server Key", self.hash)
        proof = bytes(one ^ other for one, other in zip(key, signature, strict=True))
        return f"{unproved},p={base64.b64encode(proof).decode()}".encode()

    def expected(self) -> bytes:
        """The broker's proof."""
        return b"v=" + base64.b64encode(hmac.digest(self.server_key, self.signed, self.hash))


async def log_in(
    client: WireClient, mechanism: str, user: str = "alice", password: str = "secret"
) -> SaslAuthenticateResponse:
    """Log in, check the broker's proof if there is one, and return the last response."""
    agreed = await handshake(client, mechanism)
    assert agreed.error_code == 0, agreed
    if mechanism == "PLAIN":
        return await say(client, f"\0{user}\0{password}".encode())
    scram = ScramClient(mechanism, user, password)
    answer = await say(client, scram.first())
    assert answer.error_code == 0, answer
    scram.take(answer.auth_bytes)
    answer = await say(client, scram.final())
    if answer.error_code == 0:
        assert answer.auth_bytes == scram.expected(), "the broker did not prove that it knows the password"
    return answer
