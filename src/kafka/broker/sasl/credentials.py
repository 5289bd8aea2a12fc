"""Who may log in: passwords for PLAIN, and what SCRAM keeps instead of them."""

import hashlib
import hmac
import random
from collections.abc import Mapping
from typing import Final, NamedTuple

HASHES: Final[Mapping[str, str]] = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
MECHANISMS: Final = ("PLAIN", *HASHES)
ITERATIONS: Final = 4096
_SALT_BYTES: Final = 24


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


class Credentials:
    """The users of a broker.

    Arguments:
        users: passwords by name.
        randomness: where salts come from.
    """

    def __init__(self, users: Mapping[str, str], randomness: random.Random) -> None:
        self._passwords = {name.encode(): password.encode() for name, password in users.items()}
        self._random = randomness
        self._nobody = randomness.randbytes(32)
        self._scram: dict[tuple[str, str], ScramCredential] = {}

    def is_password(self, user: bytes, password: bytes) -> bool:
        """Whether this is the user's password; an unknown user takes as long."""
        known = self._passwords.get(user)
        # Digests are of one length, so that the time says nothing about that of the password either.
        expected = hmac.digest(self._nobody, b"" if known is None else known, "sha256")
        given = hmac.digest(self._nobody, password, "sha256")
        return hmac.compare_digest(expected, given) and known is not None

    def scram(self, mechanism: str, user: str) -> ScramCredential:
        """A user's credential; of an unknown one what looks like it, which no password fits.

        Made with the first login, as hashing a password costs some milliseconds.
        """
        found = self._scram.get((mechanism, user))
        if found is not None:
            return found
        password = self._passwords.get(user.encode())
        if password is None:
            return self._unknown(mechanism, user)
        salt = self._random.randbytes(_SALT_BYTES)
        salted = hashlib.pbkdf2_hmac(HASHES[mechanism], password, salt, ITERATIONS)
        made = self._scram[mechanism, user] = from_salted_password(mechanism, salt, ITERATIONS, salted)
        return made

    def _unknown(self, mechanism: str, user: str) -> ScramCredential:
        """The same salt each time, or who asks twice would see that there is no such user."""
        salt = hmac.digest(self._nobody, f"{mechanism},{user}".encode(), "sha256")[:_SALT_BYTES]
        size = hashlib.new(HASHES[mechanism]).digest_size
        return ScramCredential(salt, ITERATIONS, self._random.randbytes(size), self._random.randbytes(size))

    def new_nonce(self) -> str:
        """Printable, and no comma in it."""
        return self._random.randbytes(18).hex()
