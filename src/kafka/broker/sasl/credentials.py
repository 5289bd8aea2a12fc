"""Who may log in: passwords for PLAIN, and what SCRAM keeps instead of them."""

import hashlib
import hmac
import random
from collections.abc import Mapping
from typing import Final

from kafka.broker.sasl.altered import AlteredCredentials
from kafka.broker.sasl.scram_credential import HASHES, ScramCredential, from_salted_password

MECHANISMS: Final = ("PLAIN", *HASHES)
ITERATIONS: Final = 4096
_SALT_BYTES: Final = 24


class Credentials:
    """The users of a broker.

    Arguments:
        users: passwords by name.
        randomness: where salts come from.
        altered: what administrators have set and deleted for SCRAM, which goes before.
    """

    def __init__(self, users: Mapping[str, str], randomness: random.Random, altered: AlteredCredentials) -> None:
        self.altered = altered
        self._passwords = {name.encode(): password.encode() for name, password in users.items()}
        self._random = randomness
        self._nobody = randomness.randbytes(32)
        self._scram: dict[str, dict[bytes, ScramCredential]] = {}
        """By mechanism and name."""

    def is_password(self, user: bytes, password: bytes) -> bool:
        """Whether this is the user's password; an unknown user takes as long."""
        known = self._passwords.get(user)
        # Digests are of one length, so that the time says nothing about that of the password either.
        expected = hmac.digest(self._nobody, b"" if known is None else known, "sha256")
        given = hmac.digest(self._nobody, password, "sha256")
        return hmac.compare_digest(expected, given) and known is not None

    def scram(self, mechanism: str, user: str) -> ScramCredential:
        """A user's credential; of an unknown one what looks like it, which no password fits."""
        if self.altered.has(mechanism, user):
            return self.altered.get(mechanism, user) or self._unknown(mechanism, user)
        if mechanism not in self._scram:
            # With the first login by it, as hashing a password costs some milliseconds. All at once: were each made
            # with its user's first login, the time of the answer would tell that there is such a user.
            self._scram[mechanism] = self._made(mechanism)
        return self._scram[mechanism].get(user.encode()) or self._unknown(mechanism, user)

    def _made(self, mechanism: str) -> dict[bytes, ScramCredential]:
        """What a mechanism keeps of the passwords, by name."""
        made = {}
        for name, password in self._passwords.items():
            salt = self._random.randbytes(_SALT_BYTES)
            salted = hashlib.pbkdf2_hmac(HASHES[mechanism], password, salt, ITERATIONS)
            made[name] = from_salted_password(mechanism, salt, ITERATIONS, salted)
        return made

    def iterations(self, user: str) -> dict[str, int]:
        """The mechanisms of SCRAM by which a user logs in, with the number of iterations; empty: there is none such."""
        found = {}
        for mechanism in HASHES:
            if self.altered.has(mechanism, user):
                kept = self.altered.get(mechanism, user)
                if kept is not None:
                    found[mechanism] = kept.iterations
            elif user.encode() in self._passwords:
                found[mechanism] = ITERATIONS
        return found

    def scram_users(self) -> list[str]:
        """Those who log in by a mechanism of SCRAM."""
        names = dict.fromkeys([*(name.decode() for name in self._passwords), *self.altered.users()])
        return [name for name in names if self.iterations(name)]

    def _unknown(self, mechanism: str, user: str) -> ScramCredential:
        """The same salt each time, or who asks twice would see that there is no such user."""
        salt = hmac.digest(self._nobody, f"{mechanism},{user}".encode(), "sha256")[:_SALT_BYTES]
        size = hashlib.new(HASHES[mechanism]).digest_size
        return ScramCredential(salt, ITERATIONS, self._random.randbytes(size), self._random.randbytes(size))

    def new_nonce(self) -> str:
        """Printable, and no comma in it."""
        return self._random.randbytes(18).hex()
