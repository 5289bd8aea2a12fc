"""The SCRAM credentials of users, to be stored in the cluster or deleted (KIP-554)."""

import hashlib
import os
from enum import IntEnum
from typing import ClassVar

from kafka.errors import IllegalArgumentError


class ScramMechanism(IntEnum):
    """The kinds of credentials."""

    UNKNOWN = 0
    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2

    @property
    def hash_name(self) -> str:
        """The hash function as `hashlib` names it."""
        if self is ScramMechanism.UNKNOWN:
            raise IllegalArgumentError("mechanism: UNKNOWN has no hash function")
        return "sha256" if self is ScramMechanism.SCRAM_SHA_256 else "sha512"


def _mechanism(given: ScramMechanism | int | str) -> ScramMechanism:
    try:
        if isinstance(given, str):
            return ScramMechanism[given.upper().replace("-", "_")]
        return ScramMechanism(given)
    except (KeyError, ValueError):
        raise IllegalArgumentError(f"mechanism: expected SCRAM-SHA-256 or SCRAM-SHA-512, got {given!r:.80}") from None


class UserScramCredentialDeletion:
    """That a user's credential shall be deleted.

    Arguments:
        mechanism: a `ScramMechanism`, its number, or its name, such as SCRAM-SHA-256.
    """

    def __init__(self, user: str, mechanism: ScramMechanism | int | str) -> None:
        self.user = user
        self.mechanism = _mechanism(mechanism)

    def __repr__(self) -> str:
        return f"UserScramCredentialDeletion({self.user!r}, {self.mechanism.name})"


class UserScramCredentialUpsertion:
    """That a user shall have a credential; the password itself is not kept.

    Arguments:
        mechanism: a `ScramMechanism`, its number, or its name, such as SCRAM-SHA-256.
        iterations: how often the password is hashed, `DEFAULT_ITERATIONS` if not given.
        salt: random bytes if not given.
    """

    DEFAULT_ITERATIONS: ClassVar[int] = 4096

    def __init__(
        self,
        user: str,
        mechanism: ScramMechanism | int | str,
        password: str | bytes,
        iterations: int | None = None,
        salt: bytes | None = None,
    ) -> None:
        self.user = user
        self.mechanism = _mechanism(mechanism)
        self.iterations = self.DEFAULT_ITERATIONS if iterations is None else iterations
        self.salt = os.urandom(24) if salt is None else salt
        secret = password.encode() if isinstance(password, str) else password
        self.salted_password = hashlib.pbkdf2_hmac(self.mechanism.hash_name, secret, self.salt, self.iterations)

    def __repr__(self) -> str:
        return f"UserScramCredentialUpsertion({self.user!r}, {self.mechanism.name}, iterations={self.iterations})"
