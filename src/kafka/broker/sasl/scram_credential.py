"""What SCRAM keeps of a password."""

import hashlib
import hmac
from collections.abc import Mapping
from typing import Final, NamedTuple

HASHES: Final[Mapping[str, str]] = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}


class ScramCredential(NamedTuple):
    """What SCRAM keeps of a password (RFC 5802); who reads it can neither log in with it nor tell the password."""

    salt: bytes
    iterations: int
    stored_key: bytes
    server_key: bytes

    def __repr__(self) -> str:
        return f"ScramCredential(iterations={self.iterations})"


def from_salted_password(mechanism: str, salt: bytes, iterations: int, salted: bytes) -> ScramCredential:
    """What is kept of a password that was salted and hashed."""
    name = HASHES[mechanism]
    stored_key = hashlib.new(name, hmac.digest(salted, b"Client Key", name)).digest()
    return ScramCredential(salt, iterations, stored_key, hmac.digest(salted, b"Server Key", name))
